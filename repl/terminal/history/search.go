package history

import (
	"pi/internal/edit"
	"pi/internal/fuzzy"
)

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
