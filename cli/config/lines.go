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

// KeyPath is the path of key in the table parent, written as in a TOML file.
func KeyPath(parent, key string) string {
	key = toml.Key{key}.String()
	if parent == "" {
		return key
	}
	return parent + "." + key
}

// indexPath is the path of element i, counted from 0, of a list.
func indexPath(list string, i int) string { return list + "[" + strconv.Itoa(i) + "]" }

// indexLines reads a text. The index of one that is not TOML is complete up to
// there. It reads before the parser does and by its own bounds: nothing that the
// parser then meets is larger.
func indexLines(data string) (lineIndex, *tooMuch) {
	for _, mark := range []string{"\xff\xfe", "\xfe\xff", "\xef\xbb\xbf"} { // of the order of bytes
		if rest, ok := strings.CutPrefix(data, mark); ok {
			data = rest
			break
		}
	}
	s := lineScanner{text: data, lastLine: 1, lines: lineIndex{}, tables: map[string]int{}}
	s.document()
	return s.lines, s.tooMuch
}

// Bounds of a settings file, far above any that a person writes. Below them every
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
}

// stop ends the reading, at the first thing that goes beyond the bounds.
func (s *lineScanner) stop(format string, args ...any) {
	if s.tooMuch == nil {
		s.tooMuch = &tooMuch{s.line(), fmt.Sprintf(format, args...)}
	}
	s.pos = len(s.text)
}

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

// header reads [a.b] or [[a.b]] and gives the path that its keys are below.
func (s *lineScanner) header() string {
	line := s.line()
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
	return path
}

// keyValue reads key = value in the table.
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
	s.skipValue(table)
	if s.pos == start { // not TOML: go on all the same
		s.advance(1)
	}
}

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

// unquoteKey has the parser resolve the escapes.
func unquoteKey(quoted string) string {
	var doc map[string]any
	if _, err := toml.Decode(quoted+" = 0", &doc); err == nil {
		for key := range doc {
			return key
		}
	}
	return quoted
}

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

// openNested skips the beginning of a list or inline table.
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

// note keeps the first line where a path appears.
func (s *lineScanner) note(path string, line int) {
	if _, known := s.lines[path]; !known {
		s.lines[path] = line
	}
	if len(s.lines) > maxItems {
		s.stop("there are more than %d keys and elements of lists", maxItems)
	}
}

// skipSpace skips blanks, comments before a line's end, and the bytes of also.
func (s *lineScanner) skipSpace(also string) {
	for s.skip(" \t\r" + also); s.peek() == '#'; s.skip(" \t\r" + also) {
		s.skipTo("\n")
	}
}

// skip skips the bytes of set.
func (s *lineScanner) skip(set string) {
	s.pos = len(s.text) - len(strings.TrimLeft(s.text[s.pos:], set))
}

// skipTo skips what is before the next byte of set.
func (s *lineScanner) skipTo(set string) {
	if n := strings.IndexAny(s.text[s.pos:], set); n >= 0 {
		s.pos += n
	} else {
		s.pos = len(s.text)
	}
}

func (s *lineScanner) advance(n int) { s.pos = min(s.pos+n, len(s.text)) }

// peek is the byte here, 0 at the end: a valid file has no such byte.
func (s *lineScanner) peek() byte {
	if s.pos >= len(s.text) {
		return 0
	}
	return s.text[s.pos]
}

// line is the line here.
func (s *lineScanner) line() int {
	s.lastLine += strings.Count(s.text[s.lastPos:s.pos], "\n")
	s.lastPos = s.pos
	return s.lastLine
}
