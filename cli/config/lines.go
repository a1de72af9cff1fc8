package config

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"
)

// lineIndex gives the line of each key and list element of a TOML file, by the
// path that keyPath and indexPath build. The parser keeps no positions of what
// it accepted, and a message without a line sends people searching.
type lineIndex map[string]int

// KeyPath returns the path of key in the table parent, with quotes where a TOML file needs
// them. It names settings in messages and origins.
func KeyPath(parent, key string) string {
	key = toml.Key{key}.String()
	if parent == "" {
		return key
	}
	return parent + "." + key
}

// indexPath returns the path of element i of a list, such as "hooks[0]".
func indexPath(list string, i int) string { return list + "[" + strconv.Itoa(i) + "]" }

// indexLines returns the line of each key and list element of a TOML text. Of a text that
// is no valid TOML it has them up to the mistake. It runs before the parser and refuses
// what is too deep or too long, so that the parser only gets texts it can cope with.
func indexLines(data string) (lineIndex, *tooMuch) {
	for _, mark := range byteOrderMarks() {
		if rest, ok := strings.CutPrefix(data, mark); ok {
			data = rest
			break
		}
	}
	s := newLineScanner(data)
	s.document()
	return s.lines, s.tooMuch
}

func newLineScanner(text string) *lineScanner {
	return &lineScanner{text: text, lastLine: 1, lines: lineIndex{}, tables: map[string]int{}}
}

// Bounds of a settings file, far above any that a user writes. Below them every
// path of a key is short, and their number is small: what is done for each is
// little, whoever wrote the file.
const (
	maxDepth = 16     // lists and tables inside each other; parts of a dotted key
	maxKey   = 256    // bytes of a key with all its parts
	maxItems = 10_000 // keys and elements of lists
)

// tooMuch is where a text goes beyond the bounds.
type tooMuch struct {
	line int
	text string
}

type lineScanner struct {
	text   string
	pos    int // at most the length of text
	lines  lineIndex
	tables map[string]int // how many [[path]] there are so far

	lastLine, lastPos int // of the last call of line

	depth   int // of lists and inline tables around here
	tooMuch *tooMuch

	layout *layout // where things are is noted in it; nil: nobody asks
}

// stop ends the scan because the text is beyond a limit. The first call decides what is
// reported.
func (s *lineScanner) stop(format string, args ...any) {
	if s.tooMuch == nil {
		s.tooMuch = &tooMuch{s.line(), fmt.Sprintf(format, args...)}
	}
	s.pos = len(s.text)
}

// document scans the whole text: table headers, and the keys below each.
func (s *lineScanner) document() {
	table := ""
	for s.skipSpace("\n"); s.pos < len(s.text); s.skipSpace("\n") {
		if s.peek() == '[' {
			table = s.header()
		} else {
			s.keyValue(table)
		}
	}
}

// header reads [a.b] or [[a.b]] and returns the path of that table, with its position in
// the list for the second.
func (s *lineScanner) header() string {
	start, line := s.pos, s.line()
	many := strings.HasPrefix(s.text[s.pos:], "[[")
	s.skip("[")
	s.skipSpace("")
	keys := s.dottedKey()
	path := ""
	for i, key := range keys {
		path = KeyPath(path, key)
		s.note(path, line)
		if last := i == len(keys)-1; last && many {
			s.tables[path]++
		}
		if n := s.tables[path]; n > 0 {
			path = indexPath(path, n-1)
			s.note(path, line)
		}
	}
	s.skip("] \t")
	if s.layout != nil {
		s.layout.sections = append(s.layout.sections, section{path, start, s.pos})
	}
	return path
}

// keyValue reads one key = value, notes its lines below the path table, and moves behind
// it. It always moves, also in a text that is not TOML.
func (s *lineScanner) keyValue(table string) {
	start, line := s.pos, s.line()
	for _, key := range s.dottedKey() {
		table = KeyPath(table, key)
		s.note(table, line)
	}
	s.skipSpace("")
	if s.peek() == '=' {
		s.advance(1)
	}
	s.skipSpace("")
	value := s.pos
	s.skipValue(table)
	s.layout.notePair(table, pair{start, value, value + len(strings.TrimRight(s.text[value:s.pos], " \t")), s.depth > 0})
	if s.pos == start { // not TOML: go on all the same
		s.advance(1)
	}
}

// dottedKey reads a key such as a."b c".d and returns its parts.
func (s *lineScanner) dottedKey() []string {
	var keys []string
	for start := s.pos; ; {
		keys = append(keys, s.key())
		if s.pos-start > maxKey {
			s.stop("a key is longer than %d bytes", maxKey)
		}
		if len(keys) > maxDepth {
			s.stop("a key has more than %d parts", maxDepth)
		}
		s.skipSpace("")
		if s.peek() != '.' {
			return keys
		}
		s.advance(1)
		s.skipSpace("")
	}
}

// key reads one part of a key, quoted or bare, and returns it without quotes.
func (s *lineScanner) key() string {
	start := s.pos
	if c := s.peek(); c == '"' || c == '\'' {
		s.skipString()
		if s.pos-start > maxKey {
			return "" // dottedKey says so
		}
		return unquoteKey(s.text[start:s.pos])
	}
	s.skipTo(".=]}[,#\"' \t\r\n")
	return s.text[start:s.pos]
}

// unquoteKey returns a quoted key with its escapes resolved, by the TOML parser. A key
// that is not valid stays as it is.
func unquoteKey(quoted string) string {
	var doc map[string]any
	if _, err := toml.Decode(quoted+" = 0", &doc); err == nil {
		for key := range doc {
			return key
		}
	}
	return quoted
}

// skipValue moves behind a value, and notes the lines of the elements and keys inside of
// it, below path.
func (s *lineScanner) skipValue(path string) {
	switch s.peek() {
	case '"', '\'':
		s.skipString()
	case '[':
		s.openNested()
		for i := 0; s.nextElement(']'); i++ {
			at := indexPath(path, i)
			s.note(at, s.line())
			s.skipValue(at)
		}
		s.depth--
	case '{':
		s.openNested()
		for s.nextElement('}') {
			s.keyValue(path)
		}
		s.depth--
	default:
		s.skipTo(",]}#\r\n")
	}
}

// openNested moves behind the opening bracket of a list or inline table and counts how
// deep it is nested.
func (s *lineScanner) openNested() {
	s.advance(1)
	if s.depth++; s.depth > maxDepth {
		s.stop("lists and tables stand inside each other deeper than %d levels", maxDepth)
	}
}

// nextElement moves to the next element of a list or inline table; at the end it
// moves behind it and returns false.
func (s *lineScanner) nextElement(end byte) bool {
	for s.skipSpace("\n"); s.peek() == ','; s.skipSpace("\n") {
		s.advance(1)
	}
	switch s.peek() {
	case 0, end:
		s.advance(1)
		return false
	case ']', '}': // the other kind: not TOML
		return false
	}
	return true
}

// skipString skips a string of any of the four kinds.
func (s *lineScanner) skipString() {
	quote := s.peek()
	end := s.text[s.pos : s.pos+1]
	if long := strings.Repeat(end, 3); strings.HasPrefix(s.text[s.pos:], long) {
		end = long
	}
	s.advance(len(end))
	for s.pos < len(s.text) && !strings.HasPrefix(s.text[s.pos:], end) {
		if s.peek() == '\\' && quote == '"' {
			s.advance(1)
		}
		s.advance(1)
	}
	s.advance(len(end))
	if len(end) == 3 { // up to two quotes may stand before the closing three
		s.skip(end)
	}
}

// note remembers the line where path appears first.
func (s *lineScanner) note(path string, line int) {
	if _, known := s.lines[path]; !known {
		s.lines[path] = line
	}
	if len(s.lines) > maxItems {
		s.stop("there are more than %d keys and elements of lists", maxItems)
	}
}

// skipSpace skips blanks, comments to the end of their line, and the bytes in also.
func (s *lineScanner) skipSpace(also string) {
	for s.skip(" \t\r" + also); s.peek() == '#'; s.skip(" \t\r" + also) {
		start := s.pos
		s.skipTo("\n")
		if s.layout != nil {
			s.layout.comments = append(s.layout.comments, span{start, s.pos})
		}
	}
}

// skip skips the bytes of set.
func (s *lineScanner) skip(set string) {
	s.pos = len(s.text) - len(strings.TrimLeft(s.text[s.pos:], set))
}

// skipTo moves to the next byte that is in set, or to the end.
func (s *lineScanner) skipTo(set string) {
	if n := strings.IndexAny(s.text[s.pos:], set); n >= 0 {
		s.pos += n
	} else {
		s.pos = len(s.text)
	}
}

func (s *lineScanner) advance(n int) { s.pos = min(s.pos+n, len(s.text)) }

// peek returns the next byte without moving; 0 at the end, a byte that no valid file has.
func (s *lineScanner) peek() byte {
	if s.pos >= len(s.text) {
		return 0
	}
	return s.text[s.pos]
}

// line returns the number of the line that the scan has reached. It counts from the last
// call on, so positions must not go back.
func (s *lineScanner) line() int {
	s.lastLine += strings.Count(s.text[s.lastPos:s.pos], "\n")
	s.lastPos = s.pos
	return s.lastLine
}

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
