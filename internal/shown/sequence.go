package shown

// escape does what ESC and a character mean.
func (r *Recorder) escape(c rune) {
	switch {
	case c == '=' || c == '>':
		r.modes.keypad = c == '='
	case c == 'c':
		r.alternate, r.noWrap, r.modes = false, false, modes{}
		r.eraseRows(0, r.height)
		r.top, r.bottom = 0, r.height-1
		r.move(0, 0)
	case r.alternate:
	case c == '7':
		r.saved = r.at
	case c == '8':
		r.move(r.saved.row, r.saved.column)
	case c == 'D':
		r.down()
	case c == 'E':
		r.at.column, r.wide = 0, false
		r.down()
	case c == 'M':
		r.up()
	}
}

// sequence does what a control sequence means: kind are its bytes that are no numbers.
func (r *Recorder) sequence(kind string, values []int, final rune) {
	switch {
	case kind == "?" && (final == 'h' || final == 'l'):
		for _, mode := range values {
			r.setMode(mode, final == 'h')
		}
	case kind == ">" && final == 'u':
		r.modes.keyboard++
	case kind == "<" && final == 'u':
		r.modes.keyboard = max(0, r.modes.keyboard-max(1, values[0]))
	case kind != "" || r.alternate:
	case r.moves(values, final):
	default:
		r.changes(values, final)
	}
}

// moves does what a sequence means that moves the cursor.
func (r *Recorder) moves(values []int, final rune) bool {
	n, second := max(1, values[0]), 1
	if len(values) > 1 {
		second = max(1, values[1])
	}
	switch final {
	case 'A':
		r.move(max(r.at.row-n, r.edge(r.top, 0, r.at.row >= r.top)), r.at.column)
	case 'B', 'e':
		r.move(min(r.at.row+n, r.edge(r.bottom, r.height-1, r.at.row <= r.bottom)), r.at.column)
	case 'C', 'a':
		r.move(r.at.row, r.at.column+n)
	case 'D':
		r.move(r.at.row, r.at.column-n)
	case 'E':
		r.move(min(r.at.row+n, r.edge(r.bottom, r.height-1, r.at.row <= r.bottom)), 0)
	case 'F':
		r.move(max(r.at.row-n, r.edge(r.top, 0, r.at.row >= r.top)), 0)
	case 'G', '`':
		r.move(r.at.row, n-1)
	case 'd':
		r.move(n-1, r.at.column)
	case 'H', 'f':
		r.move(n-1, second-1)
	case 's':
		r.saved = r.at
	case 'u':
		r.move(r.saved.row, r.saved.column)
	default:
		return false
	}
	return true
}

// edge is the margin if the cursor is inside of it, else the edge of the window.
func (r *Recorder) edge(margin, window int, inside bool) int {
	if inside {
		return margin
	}
	return window
}

// changes does what a sequence means that changes what is shown.
func (r *Recorder) changes(values []int, final rune) {
	n := max(1, values[0])
	switch final {
	case 'J':
		r.eraseScreen(values[0])
	case 'K':
		r.eraseLine(values[0])
	case 'X':
		r.eraseCells(r.at.column, r.at.column+n)
	case '@':
		r.row().shift(r.at.column, min(n, r.columns-r.at.column), r.columns)
	case 'P':
		r.row().shift(r.at.column, -min(n, r.columns-r.at.column), r.columns)
	case 'L':
		r.insert(r.at.row, n)
	case 'M':
		r.remove(r.at.row, n)
	case 'S':
		for range min(n, r.height) {
			r.scroll(r.top, r.bottom)
		}
	case 'T':
		r.insert(r.top, n)
	case 'b':
		for range min(n, r.columns) {
			if r.last != 0 {
				r.character(r.last)
			}
		}
	case 'r':
		r.margins(values)
	}
	if final != 'b' && final != 'm' && final != 'J' {
		r.wide = false
	}
}

// eraseScreen erases what is below the cursor, what is above it, or all.
func (r *Recorder) eraseScreen(what int) {
	switch what {
	case 0:
		r.eraseLine(0)
		r.eraseRows(r.at.row+1, r.height)
	case 1:
		r.eraseLine(1)
		r.eraseRows(0, r.at.row)
	case 2:
		r.eraseRows(0, r.height)
	}
}

// eraseLine erases what is right of the cursor, what is left of it, or all of its row.
func (r *Recorder) eraseLine(what int) {
	switch what {
	case 0:
		r.eraseCells(r.at.column, r.columns)
	case 1:
		r.eraseCells(0, r.at.column+1)
	case 2:
		r.row().reset()
	}
}

// eraseCells empties cells of the cursor's row. One whose last cell is erased does not go
// on in the next row.
func (r *Recorder) eraseCells(from, to int) {
	x := r.row()
	x.erase(from, to)
	if to >= r.columns {
		x.wrapped = false
	}
}

// margins sets which rows scroll.
func (r *Recorder) margins(values []int) {
	top, bottom := max(1, values[0]), 0
	if len(values) > 1 {
		bottom = values[1]
	}
	if bottom == 0 || bottom > r.height {
		bottom = r.height
	}
	if top < bottom {
		r.top, r.bottom = top-1, bottom-1
		r.move(0, 0)
	}
}
