package screentest

// Resize gives the screen another size, as a user does who drags the window's
// corner. A terminal that reflows wraps its lines anew and takes rows back from above
// where there is room for more; the other one cuts what does not fit at the right and
// adds empty rows at the bottom. Both let rows leave at the top if the cursor's row
// would be lost otherwise.
func (e *Emulator) Resize(cols, rows int) {
	cols, rows = max(cols, 1), max(rows, 1)
	if e.reflow && !e.modes.Alternate && cols != e.cols {
		e.rewrap(cols)
	}
	e.lines = fitted(e.lines, cols)
	if e.other != nil {
		e.other = fitted(e.other, cols)
	}
	e.cols = cols
	e.setRows(rows)
	e.top, e.last = 0, rows-1
	full := e.cursor.full && e.cursor.col == cols-1
	e.move(e.cursor.row, e.cursor.col)
	e.cursor.full = full
	e.saved.row, e.saved.col = min(e.saved.row, rows-1), min(e.saved.col, cols-1)
}

// fitted are lines cut or filled up to a width.
func fitted(lines []*line, cols int) []*line {
	for _, l := range lines {
		cells := make([]Cell, cols)
		if n := copy(cells, l.cells); n < len(l.cells) {
			l.wrapped = false
			if cells[n-1].wide {
				cells[n-1] = Cell{}
			}
		}
		l.cells = cells
	}
	return lines
}

// setRows changes the height.
func (e *Emulator) setRows(rows int) {
	if up := e.cursor.row - (rows - 1); up > 0 {
		if !e.modes.Alternate {
			e.scrolled = append(e.scrolled, e.lines[:up]...)
		}
		e.lines = e.lines[up:]
		e.cursor.row -= up
	}
	if back := min(rows-len(e.lines), len(e.scrolled)); e.reflow && back > 0 && !e.modes.Alternate {
		at := len(e.scrolled) - back
		e.lines = append(append([]*line{}, fitted(e.scrolled[at:], e.cols)...), e.lines...)
		e.scrolled = e.scrolled[:at]
		e.cursor.row += back
	}
	e.rows = rows
	for _, screen := range []*[]*line{&e.lines, &e.other} {
		if *screen == nil {
			continue
		}
		if missing := rows - len(*screen); missing > 0 {
			*screen = append(*screen, e.blank(missing)...)
		}
		*screen = (*screen)[:rows]
	}
}

// rewrap lays all lines, those above the screen too, out at another width. The cursor
// stays at its character.
func (e *Emulator) rewrap(cols int) {
	all := append(append([]*line{}, e.scrolled...), e.lines...)
	at := len(e.scrolled) + e.cursor.row // the cursor's line
	for len(all) > at+1 && all[len(all)-1].isBlank() {
		all = all[:len(all)-1]
	}
	var laid []*line
	row, col, place := 0, 0, e.cursor.col
	if e.cursor.full {
		place++
	}
	for first := 0; first < len(all); {
		end := first + 1
		for end < len(all) && all[end-1].wrapped {
			end++
		}
		cells, offset := joined(all[first:end], at-first, place)
		lines, r, c := layOut(cells, offset, cols)
		if at >= first && at < end {
			row, col = len(laid)+r, c
		}
		laid = append(laid, lines...)
		first = end
	}
	e.place(laid, row, col)
}

// place shows the last of the lines, as many as fit with the cursor's line among
// them; the others are above the screen.
func (e *Emulator) place(laid []*line, row, col int) {
	start := min(max(len(laid)-e.rows, 0), row)
	e.scrolled, e.lines = laid[:start:start], laid[start:]
	last := len(laid[row].cells) - 1
	e.cursor.row, e.cursor.col, e.cursor.full = row-start, min(col, last), col > last
}

func (l *line) isBlank() bool {
	for _, c := range l.cells {
		if c.Text != "" || c.tail {
			return false
		}
	}
	return true
}

// joined are the cells of lines that are one text, without those at its end where
// nothing was written, and the place among them of a column of line n.
func joined(lines []*line, n, col int) (cells []Cell, offset int) {
	for i, l := range lines {
		if i == n {
			offset = len(cells) + col
		}
		end := len(l.cells)
		if last := end - 1; l.wrapped && last > 0 && l.cells[last].Text == "" && !l.cells[last].tail {
			end-- // a wide character did not fit there
		}
		cells = append(cells, l.cells[:end]...)
	}
	written := len(cells)
	for written > 0 && cells[written-1].Text == "" && !cells[written-1].tail {
		written--
	}
	return cells[:written], offset
}

// layOut breaks cells into lines of a width, and finds the place that offset has got.
func layOut(cells []Cell, offset, cols int) (lines []*line, row, col int) {
	current := &line{}
	lines = append(lines, current)
	for i, c := range cells {
		width := 1
		if c.wide {
			width = 2
		}
		if len(current.cells)+width > cols && !c.tail {
			current.wrapped = true
			current = &line{}
			lines = append(lines, current)
		}
		if i == offset {
			row, col = len(lines)-1, len(current.cells)
		}
		if len(current.cells) < cols {
			current.cells = append(current.cells, c)
		}
	}
	if offset >= len(cells) {
		row, col = len(lines)-1, min(len(current.cells)+offset-len(cells), cols) // cols: behind the last one
	}
	return fittedWrapped(lines, cols), row, col
}

// fittedWrapped fills lines up to a width; those that are wrapped stay so.
func fittedWrapped(lines []*line, cols int) []*line {
	for _, l := range lines {
		cells := make([]Cell, cols)
		copy(cells, l.cells)
		l.cells = cells
	}
	return lines
}
