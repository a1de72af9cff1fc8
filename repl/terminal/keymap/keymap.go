// Package keymap is the table of what the keys do: the actions with their usual keys, what
// [keys] of config.toml changes, and the way from a key that was pressed to an action.
//
//	Parse      the table in force, with what is wrong in [keys]
//	Map        the table: which keys an action has, which keys are taken, rows for /hotkeys
//	Reader     keys as they are pressed; waits for the second key of a chord
//
// Keys have the names that the terminal gives them ("a", "enter", "ctrl+x", "alt+left"). A
// chord is two keys with a blank between them ("ctrl+x up"). [ParseChord] reads what a
// user wrote. A Map is never changed and safe for concurrent use, a Reader is not.
package keymap

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"pi/internal/edit"
	"pi/internal/suggest"
)

// Map is a table of keys.
type Map struct {
	actions []Action          // with the keys in force
	bound   map[string]string // actions by chords
}

// Default is the table without any settings.
func Default() *Map {
	m, _ := Parse(nil)
	return m
}

// Parse makes a table from chords by action, as [keys] has them; an empty list takes all
// keys from an action. Warnings are sentences for the user about what cannot be: an
// unknown action or key, two actions for one key. What they are about stays as it is
// without the setting.
//
// A key that the program uses must be taken from its action before another one gets it. An
// action of the text gives a key away if it has others.
func Parse(table map[string][]string) (*Map, []string) {
	p := parser{all: Actions(), set: map[string]bool{}}
	p.keys = map[string][]string{}
	for _, a := range p.all {
		p.keys[a.Name] = a.Keys
	}
	for _, name := range slices.Sorted(maps.Keys(table)) {
		p.read(name, table[name])
	}
	p.giveAway()
	for p.part() {
	}
	return p.result(), p.warnings
}

// parser makes a Map.
type parser struct {
	all      []Action
	keys     map[string][]string // by action
	set      map[string]bool     // actions whose keys are those of the settings
	warnings []string
}

func (p *parser) warn(format string, args ...any) {
	p.warnings = append(p.warnings, fmt.Sprintf(format, args...))
}

// required are the actions without which a user can neither send nor stop anything.
func required() []string { return []string{"send", "clear", "interrupt"} }

// read reads the keys of one action.
func (p *parser) read(name string, chords []string) {
	if !p.known(name) {
		p.warn("[keys] %s is no action%s", name, suggest.Hint(name, p.names()))
		return
	}
	var keys []string
	wrong := false
	for _, chord := range chords {
		if strings.TrimSpace(chord) == "" {
			continue
		}
		key, err := ParseChord(chord)
		if err != nil {
			p.warn("[keys] %s: %v", name, err)
			wrong = true
			continue
		}
		if !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	switch {
	case len(keys) > 0:
	case wrong:
		return
	case slices.Contains(required(), name):
		p.warn("[keys] %s needs a key; it stays %s", name, strings.Join(p.keys[name], ", "))
		return
	}
	p.keys[name], p.set[name] = keys, true
}

func (p *parser) known(name string) bool { return p.action(name).Name != "" }

func (p *parser) action(name string) Action {
	for _, a := range p.all {
		if a.Name == name {
			return a
		}
	}
	return Action{}
}

func (p *parser) names() (names []string) {
	for _, a := range p.all {
		names = append(names, a.Name)
	}
	return names
}

// giveAway takes keys that the settings bind from actions of the text that have others.
func (p *parser) giveAway() {
	for _, a := range p.all {
		if !a.Edits || p.set[a.Name] {
			continue
		}
		left := slices.DeleteFunc(slices.Clone(p.keys[a.Name]), func(key string) bool {
			return slices.ContainsFunc(p.all, func(other Action) bool {
				return p.set[other.Name] && slices.ContainsFunc(p.keys[other.Name], func(k string) bool { return clash(k, key) })
			})
		})
		if len(left) > 0 {
			p.keys[a.Name] = left
		}
	}
}

// clash reports whether two chords cannot both be bound: they are the same, or one begins
// the other. The chord of two esc goes with the key: it is told by what was before.
func clash(a, b string) bool {
	if a == escEsc || b == escEsc {
		return a == b
	}
	return a == b || strings.HasPrefix(a, b+" ") || strings.HasPrefix(b, a+" ")
}

// part parts two actions that want the same key: whoever has it from the settings loses
// it, and has its usual keys if no other is left. It reports false if there are no such
// two. Each time the settings have fewer keys, so this ends.
func (p *parser) part() bool {
	for i, a := range p.all {
		for _, b := range p.all[i+1:] {
			for _, key := range p.keys[a.Name] {
				for _, other := range p.keys[b.Name] {
					if clash(key, other) {
						p.refuse(a.Name, key, b.Name, other)
						return true
					}
				}
			}
		}
	}
	return false
}

// refuse takes a key from two actions and says so.
func (p *parser) refuse(a, key, b, other string) {
	said := fmt.Sprintf("[keys] %s is bound to both %s and %s", key, a, b)
	if key != other {
		said = fmt.Sprintf("[keys] %s is bound to %s and %s to %s, and one begins the other", key, a, other, b)
	}
	var stays []string
	for _, x := range []struct{ name, key string }{{a, key}, {b, other}} {
		if p.set[x.name] {
			p.drop(x.name, x.key)
		}
		keys := cmp.Or(strings.Join(p.keys[x.name], " and "), "without a key")
		stays = append(stays, fmt.Sprintf("%s stays %s", x.name, keys))
	}
	p.warn("%s; %s", said, strings.Join(stays, ", "))
}

// drop takes a key of the settings from an action.
func (p *parser) drop(name, key string) {
	p.keys[name] = slices.DeleteFunc(slices.Clone(p.keys[name]), func(k string) bool { return k == key })
	if len(p.keys[name]) == 0 {
		p.keys[name], p.set[name] = p.action(name).Keys, false
	}
}

func (p *parser) result() *Map {
	m := &Map{bound: map[string]string{}}
	for _, a := range p.all {
		a.Keys = p.keys[a.Name]
		m.actions = append(m.actions, a)
		for _, key := range a.Keys {
			m.bound[key] = a.Name
		}
	}
	return m
}

// Keys are the chords that an action has; none for one that has none, or is none.
func (m *Map) Keys(action string) []string {
	for _, a := range m.actions {
		if a.Name == action {
			return slices.Clone(a.Keys)
		}
	}
	return nil
}

// Label is the first key of an action as people write it, for hints such as "Esc
// interrupts"; "" if it has none.
func (m *Map) Label(action string) string {
	if keys := m.Keys(action); len(keys) > 0 {
		return Label(keys[0])
	}
	return ""
}

// Action is the action of a chord; "" if there is none.
func (m *Map) Action(chord string) string {
	keys := strings.Fields(chord)
	for i, key := range keys {
		keys[i] = canonical(key)
	}
	return m.bound[strings.Join(keys, " ")]
}

// Edits reports whether an action is one of the text, for edit.Buffer.Do.
func (m *Map) Edits(action string) bool {
	return slices.ContainsFunc(m.actions, func(a Action) bool { return a.Name == action && a.Edits })
}

// begins reports whether a key begins a chord of the table.
func (m *Map) begins(key string) bool {
	for chord := range m.bound {
		if chord != escEsc && strings.HasPrefix(chord, key+" ") {
			return true
		}
	}
	return false
}

// Reserved reports whether hooks cannot have a chord, written in any way: the table needs
// it, it types something, or it is none. They can have "esc esc".
func (m *Map) Reserved(chord string) bool {
	chord, err := ParseChord(chord)
	if err != nil {
		return true
	}
	if chord == escEsc {
		return false
	}
	for bound := range m.bound {
		if clash(bound, chord) {
			return true
		}
	}
	return false
}

// Action is something that a key can be bound to.
type Action struct {
	Name    string
	Keys    []string // the usual ones, as ParseChord writes them
	Meaning string   // for /hotkeys
	Edits   bool     // it is one of [edit.Buffer.Do]
}

// Actions are all actions: first those of the program, then those of the text.
func Actions() []Action {
	var all []Action
	for _, a := range programActions() {
		a.Edits = slices.Contains(edit.Actions(), a.Name)
		all = append(all, a)
	}
	return append(all, editActions(all)...)
}

func programActions() []Action {
	return []Action{
		{Name: "send", Keys: []string{"enter"}, Meaning: "send the line; while the agent works: after the running tools"},
		{Name: "newline", Keys: []string{"ctrl+j", "shift+enter"}, Meaning: "a new row; so does \\ at the end of the line, and Enter"},
		{Name: "follow_up", Keys: []string{"alt+enter"}, Meaning: "send the line when the agent has finished"},
		{Name: "take_back", Keys: []string{"alt+up", "ctrl+x up"}, Meaning: "put the last queued message back into the line"},
		{Name: "interrupt", Keys: []string{"esc"}, Meaning: "stop the work; close a menu, a search, a question"},
		{Name: "clear", Keys: []string{"ctrl+c"}, Meaning: "stop the work; at rest clear the line; twice in an empty line: quit"},
		{Name: "quit", Keys: []string{"ctrl+d"}, Meaning: "quit, in an empty line; else remove the next character"},
		{Name: "suspend", Keys: []string{"ctrl+z"}, Meaning: "stop the program; fg goes on"},
		{Name: "complete", Keys: []string{"tab"}, Meaning: "complete a command, its argument, an @path, a path after !"},
		{Name: "history_search", Keys: []string{"ctrl+r"}, Meaning: "search what was typed before"},
		{Name: "cycle_model", Keys: []string{"ctrl+p"}, Meaning: "the next model"},
		{Name: "cycle_model_back", Keys: []string{"ctrl+shift+p"}, Meaning: "the model before"},
		{Name: "redraw", Keys: []string{"ctrl+l"}, Meaning: "draw anew what another program has written over"},
		{Name: "pick_model", Keys: []string{"alt+m"}, Meaning: "choose a model"},
		{Name: "cycle_mode", Keys: []string{"shift+tab"}, Meaning: "the next mode; without modes the next thinking level"},
		{Name: "cycle_thinking", Keys: []string{"alt+t"}, Meaning: "the next thinking level"},
		{Name: "show_thinking", Keys: []string{"ctrl+t"}, Meaning: "show or hide thinking"},
		{Name: "expand", Keys: []string{"ctrl+o"}, Meaning: "show the last folded output whole; again: the one before"},
		{Name: "editor", Keys: []string{"ctrl+g"}, Meaning: "edit the line in $VISUAL, $EDITOR or vi"},
		{Name: "paste_image", Keys: []string{"ctrl+v"}, Meaning: "attach the image of the clipboard"},
		{Name: "tree", Keys: []string{escEsc}, Meaning: "the tree of the session, in an empty line at rest"},
		{Name: "undo", Keys: []string{"ctrl+_"}, Meaning: "undo in the line; brings a cleared line back"},
		{Name: "redo", Keys: []string{"alt+r"}, Meaning: "redo what was undone"},
	}
}

// editActions are the actions of the text that are not among the others, with those of
// their usual keys that the others leave them.
func editActions(others []Action) (all []Action) {
	taken := map[string]bool{}
	for _, a := range others {
		for _, key := range a.Keys {
			taken[key] = true
		}
	}
	for _, m := range editMeanings() {
		a := Action{Name: m[0], Meaning: m[1], Edits: true}
		for key, name := range edit.Keys() {
			if name == a.Name && !taken[key] {
				a.Keys = append(a.Keys, key)
			}
		}
		slices.SortFunc(a.Keys, func(a, b string) int { return cmp.Or(len(a)-len(b), strings.Compare(a, b)) }) // the shorter first
		all = append(all, a)
	}
	return all
}

// editMeanings are actions of the text with what they do, in the order of /hotkeys.
func editMeanings() [][2]string {
	return [][2]string{
		{"left", "one character back"},
		{"right", "one character on"},
		{"word_left", "one word back"},
		{"word_right", "one word on"},
		{"up", "one row up; in the first row: what was typed before"},
		{"down", "one row down; in the last row: what was typed after"},
		{"row_start", "to the start of the row; again: of the text"},
		{"row_end", "to the end of the row; again: of the text"},
		{"text_start", "to the start of the text"},
		{"text_end", "to the end of the text"},
		{"backspace", "remove the character before the cursor"},
		{"delete", "remove the character at the cursor"},
		{"delete_word_back", "remove the word before the cursor"},
		{"delete_word", "remove the word behind the cursor"},
		{"delete_blank_back", "remove what is between the cursor and the blank before it"},
		{"kill_row_start", "remove the row up to the cursor"},
		{"kill_row_end", "remove the row from the cursor on"},
		{"yank", "put back what was last removed so"},
		{"yank_pop", "after that: what was removed before it, instead"},
		{"transpose", "exchange two characters"},
	}
}

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
