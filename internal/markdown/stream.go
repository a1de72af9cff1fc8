package markdown

import (
	"bytes"
	"slices"

	"pi/internal/printable"
)

// Stream paints a text that arrives in parts. It is for one goroutine.
type Stream struct {
	p     Painter
	clean printable.Cleaner
	line  []byte // the line that has not ended, as far as no block has it
	inRow bool   // the paragraph has the beginning of the line

	open    []container
	list    list // of the items that are in no container
	leaf    leaf
	blank   int // how many containers the last blank line lay in; -1: no blank line
	started bool
	rows    []string
	live    bool // a copy that is painted as it is now
}

// NewStream begins a text.
func NewStream(p Painter) *Stream {
	p.parser = newParser()
	return &Stream{p: p, blank: -1}
}

// Write adds a part of the text, and returns the rows that are known for good.
func (s *Stream) Write(delta string) []string {
	from := len(s.line)
	s.line = s.clean.Append(s.line, delta)
	s.readLines(from)
	if len(s.line) > 0 {
		s.readPart()
	}
	return s.takeRows()
}

// readLines hands the lines that have ended to the blocks. The first from bytes are
// known to have no line end.
func (s *Stream) readLines(from int) {
	begin := 0
	for {
		i := bytes.IndexByte(s.line[from:], '\n')
		if i < 0 {
			break
		}
		s.endLine(string(s.line[begin : from+i]))
		from += i + 1
		begin = from
	}
	s.line = append(s.line[:0], s.line[begin:]...)
}

// endLine reads the end of a line, or all of it.
func (s *Stream) endLine(rest string) {
	if s.inRow {
		s.leaf.text.write(rest)
		s.inRow = false
		return
	}
	s.readLine(rest)
}

// mostLook is how many bytes of a line are looked at to find that it can be nothing but
// text. One that needs more waits for its end.
const mostLook = 256

// readPart hands what there is of a line to the paragraph, if it can be nothing but text.
func (s *Stream) readPart() {
	switch {
	case s.inRow:
		s.leaf.text.write(string(s.line))
	case s.isText(string(s.line[:min(len(s.line), mostLook)])):
		s.readLine(string(s.line))
		s.inRow = true
	default:
		return
	}
	s.line = s.line[:0]
}

// mostLiveLine is how many bytes of a line are shown that no block has yet.
const mostLiveLine = 4 << 10

func (s *Stream) takeRows() []string {
	if s.leaf.text != nil {
		s.add(s.leaf.text.rows.TakeRows()...)
	}
	rows := s.rows
	s.rows = nil
	return rows
}

// Live returns the rows that follow those that were given out, as they are if nothing
// more is written. Of a long table it has the last lines only, and of a long line that no
// block has yet, such as one of code, the beginning.
func (s *Stream) Live() []string {
	c := *s
	c.live = true
	c.line = slices.Clone(s.line[:min(len(s.line), mostLiveLine)])
	c.open = slices.Clone(s.open)
	if s.leaf.text != nil {
		c.leaf.text = s.leaf.text.clone()
	}
	c.clean = printable.Cleaner{} // what it keeps is not a character yet
	return c.End()
}

// IsInside reports whether the rows that were given out last are those of a block that goes
// on, of code or a table: a row of others behind them would stand in the middle of it.
func (s *Stream) IsInside() bool {
	return s.leaf.kind == fencedLeaf || s.leaf.kind == indentedLeaf || s.leaf.kind == tableLeaf
}

// End ends the text and returns the rows that were not given out yet.
func (s *Stream) End() []string {
	from := len(s.line)
	s.line = s.clean.Finish(s.line)
	s.readLines(from)
	if s.inRow || len(s.line) > 0 {
		s.endLine(string(s.line))
	}
	s.line = s.line[:0]
	s.closeTo(0)
	return s.takeRows()
}

// SetColumns gives the rows another width that were not given out yet.
func (s *Stream) SetColumns(columns int) {
	s.p.Columns = columns
	if s.leaf.text != nil {
		s.leaf.text.p.Columns = columns
		s.leaf.text.rows.SetColumns(columns)
	}
}

// add appends finished rows.
func (s *Stream) add(rows ...string) {
	s.rows = append(s.rows, rows...)
	s.started = s.started || len(rows) > 0
}
