package shown

import "unicode/utf8"

// row is one row of the window: a character for each cell.
type row struct {
	cells   []rune
	marks   map[int]string // what combines with the character of a cell
	wrapped bool           // the terminal broke the row: its line goes on in the next one
}

// Cells that are no character.
const (
	blank = rune(0)  // nothing was written there
	tail  = rune(-1) // belongs to the character or the tab before it
)

// put writes printable ASCII from a column on.
func (x *row) put(column int, text []byte) {
	x.reserve(column, len(text))
	for i, c := range text {
		x.cells[column+i] = rune(c)
	}
}

// putWide writes a character of width cells.
func (x *row) putWide(column int, c rune, width int) {
	x.reserve(column, width)
	x.cells[column] = c
	for i := 1; i < width; i++ {
		x.cells[column+i] = tail
	}
}

// reserve makes room for n cells from a column on. Of a character that is overwritten in
// part nothing is left.
func (x *row) reserve(column, n int) {
	if column < len(x.cells) {
		x.free(column)
		x.free(column + n)
		for at := range x.marks {
			if at >= column && at < column+n {
				delete(x.marks, at)
			}
		}
	}
	for len(x.cells) < column+n {
		x.cells = append(x.cells, blank)
	}
}

// free removes the character that begins before a cell and ends behind its beginning.
func (x *row) free(column int) {
	if column >= len(x.cells) || x.cells[column] != tail {
		return
	}
	from, to := column, column
	for from > 0 && x.cells[from] == tail {
		from--
	}
	for to < len(x.cells) && x.cells[to] == tail {
		to++
	}
	clear(x.cells[from:to])
	delete(x.marks, from)
}

// tab writes a tab over cells that are empty. Over others a tab only moves the cursor.
func (x *row) tab(column, next int) {
	for i := column; i < min(next, len(x.cells)); i++ {
		if x.cells[i] != blank {
			return
		}
	}
	x.putWide(column, '\t', next-column)
}

// mark adds what combines with the character that ends before a column.
func (x *row) mark(column int, c rune) {
	at := min(column, len(x.cells)) - 1
	for at > 0 && x.cells[at] == tail {
		at--
	}
	if at < 0 || x.cells[at] == blank || x.cells[at] == '\t' || len(x.marks[at]) > longestMark {
		return
	}
	if x.marks == nil {
		x.marks = map[int]string{}
	}
	x.marks[at] += string(c)
}

// longestMark is how many bytes combine with one character, before more are dropped.
const longestMark = 64

// erase empties the cells from one column up to another, that one excluded.
func (x *row) erase(from, to int) {
	if to = min(to, len(x.cells)); from >= to {
		return
	}
	x.free(from)
	x.free(to)
	clear(x.cells[from:to])
	for at := range x.marks {
		if at >= from && at < to {
			delete(x.marks, at)
		}
	}
	if to == len(x.cells) {
		x.cells = x.cells[:from]
	}
}

// shift moves what is in a column and behind it by n cells: to the right if n is positive,
// where blanks appear, else to the left, over what is there.
func (x *row) shift(column, n, columns int) {
	if column >= len(x.cells) {
		return
	}
	x.free(column)
	x.marks = nil
	rest := append([]rune{}, x.cells[column:]...)
	if n < 0 {
		x.free(column - n)
		rest = append([]rune{}, x.cells[min(column-n, len(x.cells)):]...)
	} else {
		rest = append(make([]rune, n), rest...)
	}
	x.cells = append(x.cells[:column], rest...)
	if len(x.cells) > columns {
		x.free(columns)
		x.cells = x.cells[:columns]
	}
}

// empty reports whether nothing is shown in the row.
func (x *row) empty() bool {
	for _, c := range x.cells {
		if c != blank {
			return false
		}
	}
	return true
}

// appendText appends the text of the row, with blanks for the empty cells that something
// follows.
func (x *row) appendText(dst []byte) []byte {
	cells := x.cells
	for !x.wrapped && len(cells) > 0 && cells[len(cells)-1] == blank {
		cells = cells[:len(cells)-1]
	}
	for i, c := range cells {
		switch {
		case c == blank:
			dst = append(dst, ' ')
		case c == tail:
		case c < utf8.RuneSelf:
			dst = append(dst, byte(c))
		default:
			dst = utf8.AppendRune(dst, c)
		}
		if len(x.marks) > 0 {
			dst = append(dst, x.marks[i]...)
		}
	}
	return dst
}

// reset empties the row for another line.
func (x *row) reset() { *x = row{cells: x.cells[:0]} }
