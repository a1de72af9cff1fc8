package shown

import "pi/internal/cells"

// row is the row of the cursor.
func (r *Recorder) row() *row { return r.rowAt(r.at.row) }

// rowAt returns a row of the window, which is there from now on.
func (r *Recorder) rowAt(i int) *row {
	for len(r.rows) <= i {
		r.rows = append(r.rows, row{})
	}
	return &r.rows[i]
}

// advance moves the cursor to the right of what was written.
func (r *Recorder) advance(width int) {
	if r.at.column += width; r.at.column >= r.columns {
		r.at.column, r.wide = r.columns-1, true
	}
}

// move puts the cursor at a place, or as near to it as there is one.
func (r *Recorder) move(row, column int) {
	r.at = place{min(max(row, 0), r.height-1), min(max(column, 0), r.columns-1)}
	r.wide = false
}

// character shows a character.
func (r *Recorder) character(c rune) {
	width := 1
	if c >= 0x7f {
		width = cells.Width(string(c))
	}
	if width == 0 {
		column := r.at.column
		if r.wide {
			column = r.columns
		}
		r.row().mark(column, c)
		return
	}
	if r.wide || r.at.column+width > r.columns {
		r.wrap()
	}
	r.row().putWide(r.at.column, c, min(width, r.columns-r.at.column))
	if r.at.column+width >= r.columns {
		r.row().wrapped = false
	}
	r.last = c
	r.advance(width)
}

// wrap goes on in the next row, unless wrapping is off.
func (r *Recorder) wrap() {
	r.wide = false
	if r.noWrap {
		r.at.column = max(0, r.columns-1)
		return
	}
	r.row().wrapped = true
	r.at.column = 0
	r.down()
}

// down moves the cursor a row down, and scrolls at the bottom.
func (r *Recorder) down() {
	switch r.at.row {
	case r.bottom:
		r.scroll(r.top, r.bottom)
	case r.height - 1:
	default:
		r.at.row++
	}
}

// up moves the cursor a row up, and scrolls the other way at the top.
func (r *Recorder) up() {
	if r.at.row == r.top {
		r.insert(r.top, 1)
	} else {
		r.move(r.at.row-1, r.at.column)
	}
}

// scroll moves the rows from top to bottom up by one. What leaves the window is written
// out.
func (r *Recorder) scroll(top, bottom int) {
	r.rowAt(bottom)
	gone := r.rows[top]
	if top == 0 {
		r.flush(&gone, true)
	}
	copy(r.rows[top:bottom], r.rows[top+1:bottom+1])
	gone.reset()
	r.rows[bottom] = gone
}

// insert puts n empty rows before a row, in place of those at the bottom.
func (r *Recorder) insert(at, n int) {
	if at < r.top || at > r.bottom {
		return
	}
	r.rowAt(r.bottom)
	for range min(n, r.bottom-at+1) {
		copy(r.rows[at+1:r.bottom+1], r.rows[at:r.bottom])
		r.rows[at] = row{}
	}
}

// remove takes n rows out, from a row on.
func (r *Recorder) remove(at, n int) {
	if at < r.top || at > r.bottom {
		return
	}
	r.rowAt(r.bottom)
	for range min(n, r.bottom-at+1) {
		copy(r.rows[at:r.bottom], r.rows[at+1:r.bottom+1])
		r.rows[r.bottom] = row{}
	}
}

// eraseRows empties the rows from one up to another, that one excluded.
func (r *Recorder) eraseRows(from, to int) {
	for i := max(from, 0); i < min(to, len(r.rows)); i++ {
		r.rows[i].reset()
	}
}

// control does what a control character means.
func (r *Recorder) control(c rune) {
	switch c {
	case '\n', '\v', '\f':
		r.wide = false
		r.down()
	case '\r':
		r.at.column, r.wide = 0, false
	case '\b':
		r.move(r.at.row, r.at.column-1)
	case '\t':
		next := min((r.at.column/8+1)*8, r.columns-1)
		if r.wide = false; next > r.at.column {
			r.row().tab(r.at.column, next)
			r.at.column = next
		}
	}
}
