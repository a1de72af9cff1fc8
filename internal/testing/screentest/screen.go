package screentest

import (
	"fmt"
	"strings"
)

// Screen is what a terminal shows at one moment.
type Screen struct {
	Rows  []string // from the top, without the blanks at their ends
	Cells [][]Cell
	// Row and Col are the cursor's place, from 0; Hidden if it is not shown.
	Row, Col int
	Hidden   bool
	Modes    Modes
	Title    string
	wrapped  []bool // the row's text continues in the next
}

// Screen returns what is shown now.
func (e *Emulator) Screen() Screen {
	s := Screen{Rows: texts(e.lines), Row: e.cursor.row, Col: e.cursor.col, Hidden: e.modes.HiddenCursor, Modes: e.Modes(), Title: e.title}
	for _, l := range e.lines {
		s.Cells = append(s.Cells, append([]Cell{}, l.cells...))
		s.wrapped = append(s.wrapped, l.wrapped)
	}
	return s
}

// Text is the screen up to its last row that is not empty.
func (s Screen) Text() string { return strings.TrimRight(strings.Join(s.Rows, "\n"), "\n") }

// LastRow is the last row that is not empty.
func (s Screen) LastRow() string {
	text := s.Text()
	return text[strings.LastIndexByte(text, '\n')+1:]
}

// CursorRow is the row that the cursor is in.
func (s Screen) CursorRow() string { return s.Rows[s.Row] }

// Before is what the cursor's row shows left of the cursor, blanks included.
func (s Screen) Before() string {
	l := line{cells: s.Cells[s.Row][:s.Col]}
	return l.text(false)
}

// Joined is the text with the rows joined that the terminal has wrapped.
func (s Screen) Joined() string {
	var b strings.Builder
	for i, row := range s.Rows {
		if b.WriteString(row); !s.wrapped[i] {
			b.WriteByte('\n')
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

// Wrapped reports whether the terminal has wrapped a row: its text was too wide, and
// continues in the next one.
func (s Screen) Wrapped(row int) bool { return s.wrapped[row] }

// Count says how often a text is shown: in one row, or broken at the terminal's edge
// or between words.
func (s Screen) Count(text string) int {
	flat := strings.Join(strings.Fields(s.Text()), " ")
	return max(strings.Count(s.Text(), text), strings.Count(s.Joined(), text), strings.Count(flat, text))
}

// Shows says whether a text is shown, as Count finds it.
func (s Screen) Shows(text string) bool { return s.Count(text) > 0 }

// Find returns the place of a text that stands in one row, the lowest; row -1 if
// there is none. The column counts cells.
func (s Screen) Find(text string) (row, col int) {
	for row := len(s.Rows) - 1; row >= 0; row-- {
		if i := strings.Index(s.Rows[row], text); i >= 0 {
			return row, s.column(row, i)
		}
	}
	return -1, -1
}

// column is the cell in which byte i of a row's text is.
func (s Screen) column(row, i int) int {
	for col, c := range s.Cells[row] {
		if i <= 0 && !c.tail {
			return col
		}
		switch {
		case c.tail:
		case c.Text == "":
			i--
		default:
			i -= len(c.Text)
		}
	}
	return len(s.Cells[row])
}

// Widest is the largest number of cells that a row uses.
func (s Screen) Widest() int {
	widest := 0
	for _, cells := range s.Cells {
		for col, c := range cells {
			if c.Text != "" && c.Text != " " || c.tail {
				widest = max(widest, col+1)
			}
		}
	}
	return widest
}

// String draws the screen in a frame, with the cursor's place, for messages.
func (s Screen) String() string {
	width := 0
	if len(s.Cells) > 0 {
		width = len(s.Cells[0])
	}
	var b strings.Builder
	fmt.Fprintf(&b, "┌%s┐ %d×%d, cursor in row %d, column %d\n", strings.Repeat("─", width), width, len(s.Rows), s.Row, s.Col)
	last := max(strings.Count(s.Text(), "\n"), s.Row)
	for i := range min(last+1, len(s.Rows)) {
		mark := ""
		if i == s.Row {
			mark = " ◂"
		}
		l := line{cells: s.Cells[i]}
		fmt.Fprintf(&b, "│%s│%s\n", l.text(false), mark)
	}
	fmt.Fprintf(&b, "└%s┘", strings.Repeat("─", width))
	return b.String()
}
