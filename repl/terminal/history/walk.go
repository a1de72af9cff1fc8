package history

import (
	"slices"

	"pi/internal/edit"
	"pi/internal/fuzzy"
)

// Walk is the way through the entries that Up and Down take from one prompt. What a user
// changed in an entry, or typed before the first Up, is still there when they come back to
// it. A line that was sent ends the walk: the next one is a new one.
type Walk struct {
	history *History
	records []*record
	at      int                // of the entry that is shown; len(records): what was typed
	lines   map[int]edit.Draft // what the user made of entries
	begun   bool
}

// Walk begins at the newest end. It reads nothing before the first Up.
func (h *History) Walk() *Walk { return &Walk{history: h, lines: map[int]edit.Draft{}} }

// Up is the key: the cursor goes a row up, or from the first row, and from an entry that
// was just recalled, to the older entry. It reports false if there is none.
func (w *Walk) Up(b *edit.Buffer) bool {
	if !b.Recalled() && b.Do("up") {
		return true
	}
	w.begin()
	return w.find(b, -1)
}

// Down is the key: the cursor goes a row down, or from the last row, and from an entry
// that was just recalled, to the newer entry, and at last to what was typed. It reports
// false if that is shown.
func (w *Walk) Down(b *edit.Buffer) bool {
	if !b.Recalled() && b.Do("down") {
		return true
	}
	if w.at == len(w.records) { // also before the first Up
		return false
	}
	if !w.find(b, 1) {
		w.show(len(w.records), b)
	}
	return true
}

// find shows the nearest entry in a direction that is not what is shown already. It
// reports false if there is none.
func (w *Walk) find(b *edit.Buffer, by int) bool {
	shown := b.Text()
	for i := w.at + by; i >= 0 && i < len(w.records); i += by {
		_, changed := w.lines[i]
		if d, ok := w.records[i].draft(); changed || ok && d.Text != shown {
			w.show(i, b)
			return true
		}
	}
	return false
}

// Show puts an entry that a search found into the buffer. Up goes to the one before it
// then.
func (w *Walk) Show(e Entry, b *edit.Buffer) {
	w.begin()
	if i := slices.Index(w.records, e.record); i >= 0 {
		w.note(b)
		w.at = i
	}
	b.Recall(e.Draft)
}

// begin reads the entries, which may be more than at the last prompt.
func (w *Walk) begin() {
	if w.begun {
		return
	}
	w.begun = true
	w.records = w.history.now()
	w.at = len(w.records)
}

// show puts the entry i into the buffer, as it was left there.
func (w *Walk) show(i int, b *edit.Buffer) {
	w.note(b)
	w.at = i
	if d, changed := w.lines[i]; changed || i == len(w.records) {
		b.Restore(d)
		return
	}
	d, _ := w.records[i].draft()
	b.Recall(d)
}

// note remembers what is in the buffer, if it is not the entry as it was recalled.
func (w *Walk) note(b *edit.Buffer) {
	if w.at == len(w.records) || b.Text() != w.records[w.at].text() {
		w.lines[w.at] = b.Save()
	} else {
		delete(w.lines, w.at)
	}
}

// Entry is an entry that was found.
type Entry struct {
	edit.Draft
	record *record
}

// Search looks for entries. It knows those that there were when it was made.
type Search struct {
	entries []Entry // newest first, each text once
	filter  *fuzzy.Filter
}

// Search begins a search over the entries as they are now. What takes long is done here,
// once: a key costs little then.
func (h *History) Search() *Search {
	records := h.now()
	s := &Search{}
	known := make(map[string]bool, len(records))
	for i := len(records) - 1; i >= 0; i-- {
		if d, ok := records[i].draft(); ok && !known[d.Text] {
			known[d.Text] = true
			s.entries = append(s.entries, Entry{d, records[i]})
		}
	}
	s.filter = fuzzy.NewFilter(len(s.entries), func(i int) string { return s.entries[i].Text })
	s.filter.Find("")
	return s
}

// Len is the number of entries.
func (s *Search) Len() int { return len(s.entries) }

// Entry is the entry i, the newest first.
func (s *Search) Entry(i int) Entry { return s.entries[i] }

// Find returns which entries have all words of a query, in any order, case aside; the newest
// first. A query without a word finds all.
func (s *Search) Find(query string) []int { return s.filter.Find(query) }
