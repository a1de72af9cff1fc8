package edit

import (
	"slices"
	"strings"

	"pi/internal/cells"
)

// geometry is what the rows depend on, besides the text.
type geometry struct {
	width       int
	asked       [2]string // prompts of the first row and of the others, as they were given
	first, rest string    // those that are drawn
	roomFirst   int       // cells for text in the first row
	room        int       // in the others
}

// lineLayout is how a line is divided into rows, for some geometry.
type lineLayout struct {
	first, rest int      // cells in the first row and in the others; 0: not laid out
	starts      []int    // of each row, among the elements
	full        bool     // nothing more fits into the last row
	painted     []string // rows; "": not painted yet
}

// View is a part of the rows, to be drawn.
type View struct {
	Rows   []string // each with its prompt
	Row    int      // of the cursor, in Rows
	Column int      // of the cursor, in cells: where the next character appears
	Above  int      // rows before those of the view
	Below  int      // rows behind them
}

// SetTokenStyle has the labels of tokens drawn by a function, which adds colours and
// nothing that takes a cell. nil draws them as they are.
func (b *Buffer) SetTokenStyle(paint func(label string) string) {
	b.paint = paint
	for _, l := range b.text.lines {
		l.layout.painted = nil
	}
}

// Layout returns all rows as they are drawn at a width of at least 1, and the cursor's
// row and column among them, counted from 0. The prompt first stands before the first
// row and rest before the others; they may have colours. A prompt that would leave less
// than half of the width to the text is left out.
//
// Rows end where the text has line ends, and between words where the width is used up; in a
// word only if it is longer than a row. Blanks for which there is no room at the end of a
// row take none. Tabs are shown as blanks, control characters as signs, those that nobody
// would see as <U+E0041>, tokens as their labels; what is wider than a whole row is cut. "up" and "down" move by the rows of the last Layout or Window; before that,
// by lines.
func (b *Buffer) Layout(width int, first, rest string) (rows []string, row, column int) {
	b.layOut(width, first, rest)
	top := b.top
	defer func() { b.top = top }()
	v := b.view(b.rowCount())
	return v.Rows, v.Row, v.Column
}

// Window is Layout for at most height of the rows, at least 1, the cursor's among them. It
// moves no further than needed from the rows that it returned before.
func (b *Buffer) Window(width, height int, first, rest string) View {
	b.layOut(width, first, rest)
	return b.view(max(1, height))
}

// layOut divides all lines into rows.
func (b *Buffer) layOut(width int, first, rest string) {
	width = max(1, width)
	if g := &b.geometry; g.width != width || g.asked != [2]string{first, rest} {
		*g = geometry{width: width, asked: [2]string{first, rest}}
		g.first, g.roomFirst = fitPrompt(first, width)
		g.rest, g.room = fitPrompt(rest, width)
	}
	for i, l := range b.text.lines {
		first := b.geometry.room
		if i == 0 {
			first = b.geometry.roomFirst
		}
		if l.layout.first != first || l.layout.rest != b.geometry.room {
			l.layOut(first, b.geometry.room)
		}
	}
}

// fitPrompt returns a prompt, or none if it takes more than half of the width, and the
// cells that it leaves.
func fitPrompt(prompt string, width int) (string, int) {
	n := cells.Width(prompt)
	if 2*n > width {
		return "", width
	}
	return prompt, width - n
}

// layOut divides a line into rows with so many cells.
func (l *line) layOut(first, rest int) {
	starts, used, room := append(l.layout.starts[:0], 0), 0, first
	word := 0 // where the one begins that is laid out
	for i := 0; i < len(l.elements); i++ {
		e := l.elements[i]
		if e.isAlone() {
			word = i
		}
		n := e.cells(used, room)
		if used > 0 && used+n > room {
			if word <= starts[len(starts)-1] {
				word = i // it is longer than the row
			}
			starts, used, room = append(starts, word), 0, rest
			i = word - 1
			continue
		}
		if used += n; e.isAlone() || e.isWrapped() {
			word = i + 1
		}
	}
	l.layout = lineLayout{first: first, rest: rest, starts: starts, full: used >= room}
}

// isAlone reports whether a row may end before an element and behind it, whatever it is
// between: a token, and a character of East Asia or of pictures.
func (e element) isAlone() bool { return e.token != nil || e.width > 1 }

// isWrapped reports whether an element parts words, and takes no room at the end of a full
// row.
func (e element) isWrapped() bool { return e.text == " " || e.text == "\t" }

// cells is how many cells an element takes behind the used ones of a row with room.
func (e element) cells(used, room int) int {
	switch {
	case used >= room && e.isWrapped():
		return 0
	case e.text == "\t":
		return max(1, min(tabStop-used%tabStop, room-used))
	case e.width > room:
		return room
	}
	return e.width
}

// rowCount is the number of rows, with the one that the cursor has to itself behind a
// full row.
func (b *Buffer) rowCount() int {
	count := 0
	for _, l := range b.text.lines {
		count += len(l.layout.starts)
	}
	if b.behindFull() {
		count++
	}
	return count
}

// behindFull reports whether the cursor is at the end of a line whose last row is full, so
// that what is typed next appears in a row that is not there yet.
func (b *Buffer) behindFull() bool {
	l := b.text.lines[b.cursor.line]
	return l.layout.full && b.cursor.col == len(l.elements)
}

// rowOf is the row of its line that the cursor is in.
func (b *Buffer) rowOf() int {
	starts := b.text.lines[b.cursor.line].layout.starts
	if b.behindFull() {
		return len(starts)
	}
	i, found := slices.BinarySearch(starts, b.cursor.col)
	if found {
		return i
	}
	return i - 1
}

// columnOf is the cell of the cursor in its row, counted from the prompt's.
func (b *Buffer) columnOf() int {
	row := b.rowOf()
	l, prompt, room := b.text.lines[b.cursor.line], b.geometry.promptWidth(b.cursor.line, row), b.geometry.roomOf(b.cursor.line, row)
	if row == len(l.layout.starts) {
		return prompt
	}
	used := 0
	for _, e := range l.elements[l.layout.starts[row]:b.cursor.col] {
		used += e.cells(used, room)
	}
	return prompt + used
}

func (g *geometry) roomOf(line, row int) int {
	if line == 0 && row == 0 {
		return g.roomFirst
	}
	return g.room
}

func (g *geometry) promptWidth(line, row int) int { return g.width - g.roomOf(line, row) }

// view returns the rows of a window of so many.
func (b *Buffer) view(height int) View {
	row := b.rowOf()
	for _, l := range b.text.lines[:b.cursor.line] {
		row += len(l.layout.starts)
	}
	total := b.rowCount()
	b.top = max(min(b.top, row, total-height), row-height+1, 0)
	n := min(height, total-b.top)
	return View{Rows: b.paintRows(b.top, n), Row: row - b.top, Column: min(b.columnOf(), b.geometry.width-1), Above: b.top, Below: total - b.top - n}
}

// paintRows returns n rows, beginning with one of them.
func (b *Buffer) paintRows(from, n int) []string {
	rows := make([]string, 0, n)
	for i, l := range b.text.lines {
		count := len(l.layout.starts)
		if i == b.cursor.line && b.behindFull() {
			count++
		}
		if from >= count {
			from -= count
			continue
		}
		for ; from < count && len(rows) < n; from++ {
			prompt := b.geometry.rest
			if i == 0 && from == 0 {
				prompt = b.geometry.first
			}
			rows = append(rows, prompt+b.paintRow(i, from))
		}
		if from = 0; len(rows) == n {
			break
		}
	}
	return rows
}

// paintRow is a row of a line without its prompt.
func (b *Buffer) paintRow(i, row int) string {
	l := b.text.lines[i]
	starts := l.layout.starts
	if row == len(starts) {
		return ""
	}
	if l.layout.painted == nil {
		l.layout.painted = make([]string, len(starts))
	}
	if l.layout.painted[row] == "" {
		end := len(l.elements)
		if row+1 < len(starts) {
			end = starts[row+1]
		}
		l.layout.painted[row] = b.paintElements(l.elements[starts[row]:end], b.geometry.roomOf(i, row))
	}
	return l.layout.painted[row]
}

// paintElements draws elements into a row with so many cells.
func (b *Buffer) paintElements(elements []element, room int) string {
	var out strings.Builder
	used := 0
	for _, e := range elements {
		n := e.cells(used, room)
		used += n
		switch {
		case e.token != nil:
			label := e.token.label
			if cells.Width(label) > n {
				label = cells.Cut(label, n)
			}
			if b.paint != nil {
				label = b.paint(label)
			}
			out.WriteString(label)
		case n == 0 && e.isWrapped():
		case e.text == "\t":
			out.WriteString("    "[:n])
		case e.width > n:
			out.WriteString(e.cut(n))
		default:
			out.WriteString(e.sign())
		}
	}
	return out.String()
}

// vertical moves the cursor by a row, up with -1 and down with 1. The column is that of
// the first of such movements that follow each other.
func (b *Buffer) vertical(by int) bool {
	if b.geometry.width == 0 {
		b.layOut(1<<30, "", "")
	} else { // what has changed since the last Layout or Window
		b.layOut(b.geometry.width, b.geometry.asked[0], b.geometry.asked[1])
	}
	line, row := b.cursor.line, b.rowOf()
	if b.goal < 0 {
		b.goal = b.columnOf()
	}
	switch row += by; {
	case row < 0 && line == 0, row >= len(b.text.lines[line].layout.starts) && line == len(b.text.lines)-1:
		return false
	case row < 0:
		line--
		row = len(b.text.lines[line].layout.starts) - 1
	case row >= len(b.text.lines[line].layout.starts):
		line, row = line+1, 0
	}
	b.cursor = b.placeInRow(line, row, b.goal)
	return true
}

// placeInRow is the place in a row that is nearest to a column, before it if between two.
func (b *Buffer) placeInRow(line, row, column int) place {
	l, room := b.text.lines[line], b.geometry.roomOf(line, row)
	starts, end := l.layout.starts, len(l.elements)
	if row+1 < len(starts) {
		end = starts[row+1] - 1 // behind the last element is the next row
	}
	col, used := starts[row], b.geometry.promptWidth(line, row)
	prompt := used
	for ; col < end; col++ {
		if used += l.elements[col].cells(used-prompt, room); used > column {
			break
		}
	}
	return place{line, col}
}
