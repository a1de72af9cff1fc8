package message

import "strings"

// CodeBlocks returns the texts of the fenced code blocks of a Markdown text, in their order,
// to the byte: without the fences, the indentation of these, and what the lists and quotes
// around them put at the beginning of each line. The rules are those of CommonMark. A block
// that is never closed ends with what it is in.
func CodeBlocks(text string) []string {
	s := fenceScanner{}
	for line := range strings.Lines(text) {
		s.line(line)
	}
	s.endBlock()
	return s.blocks
}

// fenceScanner reads a text line by line, and knows in which lists and quotes it is.
type fenceScanner struct {
	inside    []container
	paragraph bool // the line before was one of a paragraph
	fence     fence
	block     strings.Builder // the block so far, if there is a fence
	blocks    []string
}

// container is a quote, or an item of a list.
type container struct {
	quote  bool
	indent int  // of what is in the item, in columns from what the item is in
	empty  bool // the item has nothing yet: a second blank line ends it
}

// fence is the line that opened a block; a length of 0 is none.
type fence struct {
	mark   byte
	length int
	indent int
}

// line reads one line, with its end.
func (s *fenceScanner) line(line string) {
	rest, matched := s.continued(mdLine{text: line})
	if s.fence.length > 0 {
		if matched == len(s.inside) {
			s.fenced(rest)
			return
		}
		s.endBlock()
	}
	if rest.isBlank() {
		s.inside, s.paragraph = s.inside[:s.openAfterBlank(matched)], false
		return
	}
	for i := range matched {
		s.inside[i].empty = false
	}
	if s.paragraph && matched < len(s.inside) && !s.beginsBlock(rest) {
		return // a line of the paragraph before, which may do without the marks of what that is in
	}
	s.paragraph = s.paragraph && matched == len(s.inside)
	s.inside = s.inside[:matched]
	s.begin(rest)
}

// openAfterBlank returns how many containers are still open behind a blank line: a quote
// without its mark is not, nor an item without anything in it.
func (s *fenceScanner) openAfterBlank(matched int) int {
	for i, c := range s.inside {
		if i >= matched && c.quote || c.empty {
			return i
		}
	}
	return len(s.inside)
}

// continued takes from a line what continues the containers that are open, and returns the
// rest and how many those are.
func (s *fenceScanner) continued(line mdLine) (rest mdLine, matched int) {
	for _, c := range s.inside {
		switch {
		case c.quote:
			after, ok := cutQuote(line)
			if !ok {
				return line, matched
			}
			line = after
		case line.isBlank():
			line = mdLine{text: line.bare()} // however far it is indented
		case line.indent() < c.indent:
			return line, matched
		default:
			line = line.cut(c.indent)
		}
		matched++
	}
	return line, matched
}

// fenced reads a line inside of a block: one that closes it, or one of its text.
func (s *fenceScanner) fenced(line mdLine) {
	if f, info := fenceOf(line); f.mark == s.fence.mark && f.length >= s.fence.length && info == "" {
		s.endBlock()
		return
	}
	s.block.WriteString(line.cut(s.fence.indent).text)
}

// endBlock ends the block, if there is one.
func (s *fenceScanner) endBlock() {
	if s.fence.length > 0 {
		s.blocks = append(s.blocks, s.block.String())
	}
	s.fence, s.paragraph = fence{}, false
	s.block.Reset()
}

// beginsBlock reports whether a line begins something else than a line of a paragraph.
func (s *fenceScanner) beginsBlock(line mdLine) bool {
	if line.indent() > 3 {
		return false
	}
	_, _, isItem := cutItem(line, false)
	_, isQuote := cutQuote(line)
	f, _ := fenceOf(line)
	return isItem || isQuote || f.length > 0 || isRule(line) || isHeading(line)
}

// begin reads what a line has behind the containers that it continues: new ones, and then a
// fence or text.
func (s *fenceScanner) begin(line mdLine) {
	for line.indent() <= 3 && !isRule(line) {
		if after, ok := cutQuote(line); ok {
			s.inside, line, s.paragraph = append(s.inside, container{quote: true}), after, false
			continue
		}
		after, indent, ok := cutItem(line, s.paragraph)
		if !ok {
			break
		}
		s.inside, line, s.paragraph = append(s.inside, container{indent: indent, empty: after.isBlank()}), after, false
	}
	if f, _ := fenceOf(line); f.length > 0 {
		s.fence, s.paragraph = f, false
		return
	}
	isCode := !s.paragraph && line.indent() > 3
	s.paragraph = !line.isBlank() && !isCode && !isRule(line) && !isHeading(line)
}

// fenceOf returns the fence that a line is, and what is behind it; a length of 0: it is
// none.
func fenceOf(line mdLine) (f fence, info string) {
	indent, text := line.indent(), strings.TrimRight(line.bare(), " \t\r\n")
	if indent > 3 || text == "" || text[0] != '`' && text[0] != '~' {
		return fence{}, ""
	}
	info = strings.TrimLeft(text, text[:1])
	length := len(text) - len(info)
	if length < 3 || text[0] == '`' && strings.Contains(info, "`") {
		return fence{}, ""
	}
	return fence{text[0], length, indent}, strings.TrimSpace(info)
}

// cutQuote removes the mark of a quote from a line.
func cutQuote(line mdLine) (rest mdLine, ok bool) {
	if line.indent() > 3 || !strings.HasPrefix(line.bare(), ">") {
		return line, false
	}
	return line.behind(1).cut(1), true
}

// cutItem removes the mark of an item of a list from a line. indent is that of the lines
// that belong to the item. Inside of a paragraph only some marks count.
func cutItem(line mdLine, paragraph bool) (rest mdLine, indent int, ok bool) {
	before, text := line.indent(), line.bare()
	width := markOf(text)
	if before > 3 || width == 0 {
		return line, 0, false
	}
	after := line.behind(width)
	blanks := after.indent()
	switch {
	case after.isBlank():
		blanks = 1
		if paragraph {
			return line, 0, false
		}
	case blanks == 0:
		return line, 0, false
	case blanks > 4: // indented code in the item
		blanks = 1
	}
	if first := text[0]; paragraph && first >= '0' && first <= '9' && strings.TrimLeft(text[:width-1], "0") != "1" {
		return line, 0, false
	}
	return after.cut(blanks), before + width + blanks, true
}

// markOf returns how long the mark of an item is with which a line begins; 0: it has none.
func markOf(text string) int {
	if text == "" {
		return 0
	}
	if strings.IndexByte("-+*", text[0]) >= 0 {
		return 1
	}
	digits := len(text) - len(strings.TrimLeft(text, "0123456789"))
	if digits == 0 || digits > 9 || digits == len(text) || text[digits] != '.' && text[digits] != ')' {
		return 0
	}
	return digits + 1
}

// isRule reports whether a line is a thematic break.
func isRule(line mdLine) bool {
	if line.indent() > 3 {
		return false
	}
	text := strings.NewReplacer(" ", "", "\t", "", "\r", "", "\n", "").Replace(line.text)
	return len(text) >= 3 && strings.IndexByte("-_*", text[0]) >= 0 && strings.Trim(text, text[:1]) == ""
}

// isHeading reports whether a line is a heading with number signs.
func isHeading(line mdLine) bool {
	text := line.bare()
	level := len(text) - len(strings.TrimLeft(text, "#"))
	return level >= 1 && level <= 6 && (len(text) == level || strings.IndexByte(" \t\r\n", text[level]) >= 0)
}

// mdLine is what is left of a line behind the marks of what it is in.
type mdLine struct {
	text   string
	column int // at which it begins; tabs count from the beginning of the line
}

// indent returns how many columns of blanks and tabs the line begins with.
func (l mdLine) indent() int {
	column := l.column
	for _, c := range []byte(l.text) {
		switch c {
		case ' ':
			column++
		case '\t':
			column += 4 - column%4
		default:
			return column - l.column
		}
	}
	return column - l.column
}

// bare returns the text behind the blanks and tabs.
func (l mdLine) bare() string { return strings.TrimLeft(l.text, " \t") }

func (l mdLine) isBlank() bool { return strings.Trim(l.text, " \t\r\n") == "" }

// behind returns the line behind its indentation and so many bytes more.
func (l mdLine) behind(width int) mdLine {
	return mdLine{l.bare()[width:], l.column + l.indent() + width}
}

// cut removes so many columns of blanks and tabs, or as many as there are. Of a tab that is
// wider, the rest becomes blanks.
func (l mdLine) cut(columns int) mdLine {
	for columns > 0 && l.text != "" {
		width := 1
		switch l.text[0] {
		case ' ':
		case '\t':
			width = 4 - l.column%4
		default:
			return l
		}
		used := min(width, columns)
		l = mdLine{strings.Repeat(" ", width-used) + l.text[1:], l.column + used}
		columns -= used
	}
	return l
}
