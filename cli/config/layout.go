package config

import "strings"

// layout says where in a text of settings its tables, keys and comments are, in bytes.
// It is filled by a lineScanner. The methods that note something do nothing on nil.
type layout struct {
	sections []section // in their order; the first is what stands above all headers
	pairs    map[string]pair
	order    []string // the paths of pairs that are lines of their own
	owner    map[string]int
	comments []span
}

// section is a [table] or [[table]]. start and end are those of its header.
type section struct {
	path       string
	start, end int
}

// pair is a key with its value.
type pair struct {
	key, value, end int  // where the key begins, where the value does, and where it ends
	nested          bool // it is in a list or an inline table
}

type span struct{ start, end int }

// newLayout returns the layout of a text within the bounds of a settings file, without a
// mark of the order of bytes.
func newLayout(text string) *layout {
	l := &layout{sections: []section{{}}, pairs: map[string]pair{}, owner: map[string]int{}}
	s := newLineScanner(text)
	s.layout = l
	s.document()
	return l
}

func (l *layout) notePair(path string, p pair) {
	if l == nil {
		return
	}
	if _, known := l.pairs[path]; known {
		return
	}
	l.pairs[path] = p
	l.owner[path] = len(l.sections) - 1
	if !p.nested {
		l.order = append(l.order, path)
	}
}

// find returns the last section with this path, which is not that of a list; false if
// there is none. That above all headers has the path "".
func (l *layout) find(path string) (index int, ok bool) {
	for i, s := range l.sections {
		if s.path == path {
			index, ok = i, true
		}
	}
	return index, ok
}

// below returns the last line of a section whose key is at prefix or below it.
func (l *layout) below(section int, prefix string) (p pair, ok bool) {
	for _, path := range l.order {
		if l.owner[path] == section && (prefix == "" || path == prefix || strings.HasPrefix(path, prefix+".")) {
			p, ok = l.pairs[path], true
		}
	}
	return p, ok
}

// statement returns the line of its own in which a pair stands.
func (l *layout) statement(p pair) pair {
	for _, path := range l.order {
		if outer := l.pairs[path]; outer.key <= p.key && p.end <= outer.end {
			return outer
		}
	}
	return p
}

// lastIn returns where the last pair in the value of an inline table ends; false if the
// table is empty.
func (l *layout) lastIn(table pair) (end int, ok bool) {
	for _, p := range l.pairs {
		if p.nested && p.key > table.value && p.end < table.end {
			end, ok = max(end, p.end), true
		}
	}
	return end, ok
}
