package fuzzy

import (
	"slices"
	"strings"
)

// Filter narrows a list of rows to those that have all typed words.
type Filter struct {
	text   func(i int) string
	folded []string // by row; "" before it is needed, and for an empty row
	known  []bool

	words []string // of the last search
	found []int    // what it found
	asked bool
}

// NewFilter returns a filter of n rows. The text of a row has its columns on lines of
// their own; it is asked for once, when it is first needed. A word that is looked for is
// found within one column.
func NewFilter(n int, text func(i int) string) *Filter {
	return &Filter{text: text, folded: make([]string, n), known: make([]bool, n)}
}

// Find returns the rows, in their order, that have each word of query in one of their
// columns; all rows for a query without a word. The result is the caller's.
//
// A query that only adds to the one before is looked for in what that found.
func (f *Filter) Find(query string) []int {
	words := Words(query)
	from := f.found
	if !f.asked || !narrows(f.words, words) {
		from = make([]int, len(f.folded))
		for i := range from {
			from[i] = i
		}
	}
	found := make([]int, 0, len(from))
	for _, i := range from {
		if hasAll(f.row(i), words) {
			found = append(found, i)
		}
	}
	f.words, f.found, f.asked = words, found, true
	return slices.Clone(found)
}

// row is the folded text of a row.
func (f *Filter) row(i int) string {
	if !f.known[i] {
		f.folded[i], f.known[i] = foldString(f.text(i)), true
	}
	return f.folded[i]
}

// narrows reports whether what has all of the words has all of the words before too.
func narrows(before, words []string) bool {
	for _, old := range before {
		if !slices.ContainsFunc(words, func(w string) bool { return strings.Contains(w, old) }) {
			return false
		}
	}
	return true
}

// hasAll reports whether a folded text has each of the words.
func hasAll(text string, words []string) bool {
	for _, word := range words {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}

// Words returns the words of a query, folded, as [WordSpans] takes them.
func Words(query string) []string { return strings.Fields(foldString(query)) }

// WordSpans returns the parts of a text that have one of the words, in order; nil if none
// has.
func WordSpans(text string, words []string) (spans []Span) {
	if len(words) == 0 {
		return nil
	}
	f := foldText(text)
	for i := range f.runes {
		longest := 0
		for _, word := range words {
			if n := prefixLength(f.runes[i:], word); n > longest {
				longest = n
			}
		}
		if longest > 0 {
			spans = addSpan(spans, Span{f.offsets[i], f.end(i + longest - 1)})
		}
	}
	return spans
}

// prefixLength returns how many characters word has, if text begins with it; else 0.
func prefixLength(text []rune, word string) (n int) {
	for _, r := range word {
		if n == len(text) || text[n] != r {
			return 0
		}
		n++
	}
	return n
}
