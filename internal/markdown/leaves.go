package markdown

import (
	"strings"

	"pi/internal/cells"
)

// codeIndent stands before each line of code.
const codeIndent = "  "

// code is a block of code that is open.
type code struct {
	fence  fence
	prefix string
	blanks int // of an indented one: blank lines that may be its end
	lexer  lexer
}

func (s *Stream) startFenced(f fence) {
	prefix, rest := s.begin(false)
	s.leaf = leaf{kind: fencedLeaf, code: code{fence: f, prefix: rest, lexer: s.p.newLexer(f.language)}}
	if prefix != rest { // the mark of an item has a row, for code is not to be moved
		s.addMarks(prefix)
	}
}

func (s *Stream) readFenced(c cursor) {
	if s.leaf.code.fence.isClosedBy(c) {
		s.leaf = leaf{}
		return
	}
	c.skip(min(c.indent(), s.leaf.code.fence.indent))
	s.addCode(c.rest)
}

func (s *Stream) startIndented(c cursor) {
	prefix, rest := s.begin(false)
	s.leaf = leaf{kind: indentedLeaf, code: code{prefix: rest}}
	if prefix != rest {
		s.addMarks(prefix)
	}
	c.skip(4)
	s.addCode(c.rest)
}

// readIndented adds a line to the block if it belongs there. Blank lines do if another
// line of code follows.
func (s *Stream) readIndented(c cursor) bool {
	switch {
	case c.isBlank():
		s.leaf.code.blanks++
		s.blank = len(s.open)
		return true
	case c.indent() < 4:
		return false
	}
	for ; s.leaf.code.blanks > 0; s.leaf.code.blanks-- {
		s.addCode("")
	}
	s.blank = -1
	c.skip(4)
	s.addCode(c.rest)
	return true
}

// addCode adds a line of code as a row.
func (s *Stream) addCode(line string) {
	code := &s.leaf.code
	line = cells.ExpandTabs(line, tabStop)
	if line == "" {
		s.addMarks(code.prefix)
		return
	}
	s.add(code.prefix + codeIndent + code.lexer.paint(s.p, line))
}

// ruleLen is how long a rule is drawn: not as wide as the window, which would make it two
// rows in a narrower one.
const ruleLen = 24

func (s *Stream) addRule() {
	first, rest := s.begin(false)
	n := ruleLen
	if room := s.p.Columns - cells.Width(first); s.p.Columns > 0 {
		n = min(n, max(room, (s.p.Columns+1)/2))
	}
	s.add(cells.Hang(s.p.paint(strings.Repeat("─", n), "dim"), s.p.Columns, first, rest)...)
}

func (s *Stream) addHeading(level int, text string) {
	first, rest := s.begin(true)
	styles := []string{"accent", "bold"}
	if level == 1 {
		styles = append(styles, "underline")
	}
	painted := paintInline(s.p, text, styles...)
	if s.p.isPlain() {
		painted = strings.Repeat("#", level) + " " + painted
	}
	s.add(cells.Hang(painted, s.p.Columns, first, rest)...)
}
