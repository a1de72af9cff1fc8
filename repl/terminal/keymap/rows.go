package keymap

import "strings"

// Row is a row of /hotkeys.
type Row struct {
	Action  string // "" for a shortcut
	Keys    string // as people write them; "" for an action that has none
	Meaning string
	Hook    string // whose shortcut it is
}

// Shortcut is a key of a hook.
type Shortcut struct {
	Key, Meaning, Hook string
}

// Rows are what the keys do: actions in their order, then the shortcuts of hooks in theirs.
// A shortcut whose key the table needs is marked as without effect.
func (m *Map) Rows(shortcuts []Shortcut) (rows []Row) {
	takenEsc := false
	for _, s := range shortcuts {
		chord, _ := ParseChord(s.Key)
		takenEsc = takenEsc || chord == escEsc
	}
	for _, a := range m.actions {
		var labels []string
		for _, key := range a.Keys {
			if key != escEsc || !takenEsc {
				labels = append(labels, Label(key))
			}
		}
		rows = append(rows, Row{Action: a.Name, Keys: strings.Join(labels, ", "), Meaning: a.Meaning})
	}
	for _, s := range shortcuts {
		row := Row{Keys: s.Key, Meaning: s.Meaning, Hook: s.Hook}
		if chord, err := ParseChord(s.Key); err == nil {
			row.Keys = Label(chord)
		}
		if m.Reserved(s.Key) {
			row.Meaning = strings.TrimSpace(row.Meaning + " (without effect: the key is taken)")
		}
		rows = append(rows, row)
	}
	return rows
}
