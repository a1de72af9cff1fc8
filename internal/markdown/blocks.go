package markdown

import (
	"strconv"
	"strings"

	"pi/internal/cells"
)

// container is a quote or the item of a list that other blocks lie in.
type container struct {
	isItem     bool
	indent     int    // of an item: the columns that its lines begin with
	mark, rest string // what its first row begins with, and the others
	begun      bool   // it has a row
	isEmpty    bool   // an item without a text in its first line, and nothing behind it yet
	list       list   // of the items that lie in it
}

// list is what the next item of a list has to know.
type list struct {
	isOpen   bool
	char     byte
	numbered bool
	next     int
}

// leafKind says what the lines belong to that are read now.
type leafKind int

const (
	noLeaf leafKind = iota
	textLeaf
	fencedLeaf
	indentedLeaf
	tableLeaf
)

// leaf is the block that lines go to. It is the last one of the innermost container.
type leaf struct {
	kind   leafKind
	text   *paragraph // nil as long as header is all that there is
	header string     // a line of the paragraph that may be the head of a table
	code   code
	table  table
}

// readLine reads a line, or the beginning of one that is certainly text.
func (s *Stream) readLine(line string) {
	c := cursor{rest: line}
	matched := s.match(&c)
	isWhole := matched == len(s.open)
	if isWhole && s.extend(c) {
		return
	}
	s.flushHeader()
	isLazy, isNew := s.leaf.kind == textLeaf, false
	for {
		inner, ok := s.enter(&c, matched, isWhole && isLazy)
		if !ok {
			break
		}
		s.closeTo(matched)
		s.push(inner)
		matched, isWhole, isLazy, isNew = len(s.open), true, false, true
	}
	switch {
	case !c.isBlank():
		s.startLeaf(c, matched, isLazy)
	case !isNew: // it is blank inside of its containers
		s.closeTo(matched)
		if s.blank < 0 {
			s.blank = matched
		}
	}
}

// match reads what a line has of the open containers, and returns how many go on.
func (s *Stream) match(c *cursor) int {
	for i, open := range s.open {
		switch {
		case open.isItem && c.isBlank():
			if open.isEmpty {
				return i
			}
		case open.isItem:
			if c.indent() < open.indent {
				return i
			}
			c.skip(open.indent)
		case c.indent() > 3 || strings.TrimLeft(c.rest, " \t") == "" || strings.TrimLeft(c.rest, " \t")[0] != '>':
			return i
		default:
			readQuote(c)
		}
	}
	return len(s.open)
}

func readQuote(c *cursor) {
	c.skip(c.indent())
	c.advance(1)
	c.skip(1)
}

// deepest is how many containers can lie in each other.
const deepest = 32

// enter reads the mark of a container that begins in the line, in so many others. In a
// paragraph an item has to have a text, and the number 1 if it has one.
func (s *Stream) enter(c *cursor, depth int, inText bool) (container, bool) {
	indent := c.indent()
	if indent > 3 || c.isBlank() || depth >= deepest {
		return container{}, false
	}
	ahead := *c
	ahead.skip(indent)
	if ahead.rest[0] == '>' {
		readQuote(c)
		mark := s.p.paint("│", "dim") + " "
		return container{mark: mark, rest: mark}, true
	}
	m, ok := parseMarker(ahead.rest)
	if !ok || isRule(ahead.rest) {
		return container{}, false
	}
	ahead.advance(m.length)
	if inText && (ahead.isBlank() || m.number > 1 || m.number == 0) {
		return container{}, false
	}
	item := container{isItem: true, isEmpty: ahead.isBlank()}
	blanks := ahead.indent()
	if item.isEmpty || blanks > 4 {
		blanks = 1
	}
	item.indent = indent + m.length + blanks
	ahead.skip(blanks)
	item.list = list{char: m.char, numbered: m.isNumbered(), next: m.number} // push puts it where it belongs
	*c = ahead
	return item, true
}

// push opens a container inside of the others.
func (s *Stream) push(inner container) {
	around := s.listIn(len(s.open))
	if len(s.open) > 0 {
		s.open[len(s.open)-1].isEmpty = false
	}
	if !inner.isItem {
		around.isOpen = false
		s.open = append(s.open, inner)
		return
	}
	m := inner.list
	inner.list = list{}
	if !around.isOpen || around.char != m.char || around.numbered != m.numbered {
		*around = list{isOpen: true, char: m.char, numbered: m.numbered, next: m.next}
	}
	mark := "-"
	if m.numbered {
		mark = strconv.Itoa(around.next) + string(m.char)
		around.next++
	}
	inner.mark, inner.rest = s.p.paint(mark, "accent")+" ", strings.Repeat(" ", len(mark)+1)
	s.open = append(s.open, inner)
}

// listIn is the list whose items lie in the innermost of depth containers.
func (s *Stream) listIn(depth int) *list {
	if depth == 0 {
		return &s.list
	}
	return &s.open[depth-1].list
}

// startLeaf reads the block that begins in a line, or the text that goes on there.
func (s *Stream) startLeaf(c cursor, matched int, isLazy bool) {
	if c.indent() > 3 {
		if isLazy {
			s.addText(strings.TrimLeft(c.rest, " \t"))
			return
		}
		s.closeTo(matched)
		s.startIndented(c)
		return
	}
	indent := c.indent()
	c.skip(indent)
	if level, text, ok := parseHeading(c.rest); ok {
		s.closeTo(matched)
		s.addHeading(level, text)
	} else if isRule(c.rest) {
		s.closeTo(matched)
		s.addRule()
	} else if f, ok := parseFence(c.rest); ok {
		s.closeTo(matched)
		f.indent = indent
		s.startFenced(f)
	} else if c.rest[0] == '|' && (!isLazy || matched == len(s.open)) {
		if !isLazy {
			s.closeTo(matched)
		}
		s.leaf.kind, s.leaf.header = textLeaf, c.rest
	} else {
		if !isLazy {
			s.closeTo(matched)
		}
		s.addText(c.rest)
	}
}

// extend hands a line to the block that goes on in it, if there is one that does not need
// a look at what else the line may be.
func (s *Stream) extend(c cursor) bool {
	switch {
	case s.leaf.kind == fencedLeaf:
		s.readFenced(c)
		return true
	case s.leaf.kind == indentedLeaf:
		return s.readIndented(c)
	case s.leaf.kind == tableLeaf:
		return s.readTableLine(c)
	case s.leaf.header != "":
		return s.startTable(c)
	}
	return false
}

// isText reports whether a line of which only the beginning is known can be nothing but
// text of a paragraph.
func (s *Stream) isText(line string) bool {
	c := cursor{rest: line}
	depth := s.match(&c)
	isWhole := depth == len(s.open)
	isLazy := s.leaf.kind == textLeaf
	switch {
	case isWhole && (s.leaf.kind == fencedLeaf || s.leaf.kind == indentedLeaf || s.leaf.kind == tableLeaf):
		return false
	case isWhole && s.leaf.header != "" && strings.Trim(c.rest, "|:- \t") == "":
		return false
	}
	for {
		if c.indent() > 3 {
			return isLazy && !c.isBlank()
		}
		if _, ok := s.enter(&c, depth, isWhole && isLazy); ok {
			depth, isWhole, isLazy = depth+1, true, false
			continue
		}
		c.skip(c.indent())
		if isLazy && isWhole {
			if m, ok := parseMarker(c.rest); ok && !isBlank(c.rest[m.length:]) && !isOneMark(c.rest) {
				return true // an item that cannot begin here
			}
		}
		return !mayBecome(c.rest)
	}
}

// closeTo closes the open block and all but the first containers.
func (s *Stream) closeTo(depth int) {
	s.endLeaf()
	for len(s.open) > depth {
		if last := s.open[len(s.open)-1]; last.isItem && !last.begun {
			mark, _ := s.begin(false)
			s.addMarks(mark)
		}
		s.open = s.open[:len(s.open)-1]
		s.blank = min(s.blank, len(s.open))
	}
}

// begin prepares for the first row of a block, and returns what that begins with, and
// what the others do.
func (s *Stream) begin(isSpaced bool) (first, rest string) {
	s.addSpace(isSpaced)
	s.listIn(len(s.open)).isOpen = false
	for i := range s.open {
		c := &s.open[i]
		if c.begun {
			first += c.rest
		} else {
			first += c.mark
		}
		rest += c.rest
		c.begun, c.isEmpty = true, false
	}
	return first, rest
}

// addSpace adds a blank row if there was a blank line, or if one has to be: with the marks
// of the containers that the line lay in.
func (s *Stream) addSpace(isSpaced bool) {
	depth := s.blank
	if depth < 0 && isSpaced {
		depth = len(s.open)
	}
	s.blank = -1
	if depth < 0 || !s.started {
		return
	}
	var row string
	for i := 0; i < depth && i < len(s.open) && s.open[i].begun; i++ {
		row += s.open[i].rest
	}
	s.addMarks(row)
}

// addMarks adds a row that has nothing but the marks of containers.
func (s *Stream) addMarks(marks string) { s.add(cells.Hang("", s.p.Columns, marks, "")...) }

// endLeaf ends the open block.
func (s *Stream) endLeaf() {
	s.flushHeader()
	switch s.leaf.kind {
	case textLeaf:
		if s.live {
			s.leaf.text.closeMarks()
		}
		s.add(s.leaf.text.end()...)
	case tableLeaf:
		s.addTable()
	}
	s.leaf = leaf{}
}

// flushHeader gives a line to the paragraph that turned out to be no head of a table.
func (s *Stream) flushHeader() {
	if header := s.leaf.header; header != "" {
		s.leaf.header = ""
		s.addText(header)
	}
}

// addText adds a line to the paragraph, and begins one where none is open.
func (s *Stream) addText(text string) {
	s.leaf.kind = textLeaf
	if s.leaf.text == nil {
		isFirst := len(s.open) > 0 && s.open[len(s.open)-1].isItem && !s.open[len(s.open)-1].begun
		first, rest := s.begin(false)
		if isFirst && isTask(text) {
			first, rest = first+s.p.paint(text[:3], "accent")+" ", rest+"    "
			text = strings.TrimLeft(text[3:], " \t")
		}
		s.leaf.text = &paragraph{p: s.p, rows: cells.NewWrapper(s.p.Columns, first, rest)}
	} else {
		s.leaf.text.write("\n")
	}
	s.leaf.text.write(text)
}
