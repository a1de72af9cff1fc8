package screentest

import (
	"strconv"
	"strings"
)

// control does what a single control character says.
func (e *Emulator) control(b byte) {
	switch b {
	case '\t':
		e.move(e.cursor.row, (e.cursor.col/8+1)*8)
	case '\b':
		e.move(e.cursor.row, e.cursor.col-1)
	case '\r':
		e.cursor.col, e.cursor.full = 0, false
	case '\n', '\v', '\f':
		e.cursor.full = false
		e.down()
	case bell:
		e.bells++
	}
}

// escaped does what ESC and these bytes say.
func (e *Emulator) escaped(sequence string) {
	switch sequence {
	case "7":
		e.saved = e.cursor
	case "8":
		e.cursor = e.saved
		e.move(e.cursor.row, e.cursor.col)
	case "D":
		e.down()
	case "E":
		e.cursor.col, e.cursor.full = 0, false
		e.down()
	case "M":
		if e.cursor.row == e.top {
			e.scrollDown(e.top, 1)
		} else {
			e.move(e.cursor.row-1, e.cursor.col)
		}
	case "=", ">":
		e.modes.Keypad = sequence == "="
	case "c":
		e.reset()
	case "\\", "(B", ")B":
	default:
		e.noteUnknown("ESC " + sequence)
	}
}

func (e *Emulator) reset() {
	fresh := NewEmulator(e.cols, e.rows, e.reflow, e.profile)
	e.lines, e.cursor, e.saved, e.modes = fresh.lines, fresh.cursor, fresh.saved, fresh.modes
	e.top, e.last, e.other = 0, e.rows-1, nil
}

// sequence does what CSI, these parameters and this final byte say.
func (e *Emulator) sequence(params string, final byte) {
	prefix, middle := "", ""
	if params != "" && strings.IndexByte("<=>?", params[0]) >= 0 {
		prefix, params = params[:1], params[1:]
	}
	if i := strings.IndexFunc(params, func(r rune) bool { return r < '0' }); i >= 0 {
		params, middle = params[:i], params[i:]
	}
	a := newArguments(params)
	known := false
	switch prefix + middle {
	case "":
		known = e.motion(a, final) || e.editing(a, final) || e.plain(a, final)
	default:
		known = e.private(prefix+middle, a, final)
	}
	if !known {
		e.noteUnknown("CSI " + prefix + params + middle + string(final))
	}
}

// arguments are the parameters of a sequence.
type arguments []string

func newArguments(params string) arguments {
	if params == "" {
		return nil
	}
	return strings.Split(params, ";")
}

// at is the parameter i, or def where it is absent or no number.
func (a arguments) at(i, def int) int {
	if i < len(a) {
		if n, err := strconv.Atoi(a[i]); err == nil {
			return n
		}
	}
	return def
}

// count is the first parameter as a number of steps, at least one.
func (a arguments) count() int { return max(a.at(0, 1), 1) }

// motion moves the cursor.
func (e *Emulator) motion(a arguments, final byte) bool {
	row, col := e.cursor.row, e.cursor.col
	switch final {
	case 'A':
		row -= a.count()
	case 'B', 'e':
		row += a.count()
	case 'C', 'a':
		col += a.count()
	case 'D':
		col -= a.count()
	case 'E':
		row, col = row+a.count(), 0
	case 'F':
		row, col = row-a.count(), 0
	case 'G', '`':
		col = a.count() - 1
	case 'd':
		row = a.count() - 1 + e.origin()
	case 'H', 'f':
		row, col = a.count()-1+e.origin(), max(a.at(1, 1), 1)-1
	default:
		return false
	}
	e.move(row, col)
	return true
}

// origin is the row that absolute rows count from.
func (e *Emulator) origin() int {
	if e.modes.Origin {
		return e.top
	}
	return 0
}

// editing erases, inserts and scrolls.
func (e *Emulator) editing(a arguments, final byte) bool {
	row, col := e.cursor.row, e.cursor.col
	switch final {
	case 'J':
		return e.eraseScreen(a.at(0, 0))
	case 'K':
		switch a.at(0, 0) {
		case 0:
			e.erase(row, col, e.cols)
		case 1:
			e.erase(row, 0, col+1)
		default:
			e.erase(row, 0, e.cols)
		}
	case 'X':
		e.erase(row, col, col+a.count())
	case 'P':
		e.shift(row, col, -a.count())
	case '@':
		e.shift(row, col, a.count())
	case 'L':
		e.scrollDown(row, a.count())
	case 'M':
		e.deleteLines(row, a.count())
	case 'S':
		e.scrollUp(e.top, a.count())
	case 'T':
		e.scrollDown(e.top, a.count())
	default:
		return false
	}
	e.cursor.full = false
	return true
}

// deleteLines takes lines out; they are not kept, even at the top.
func (e *Emulator) deleteLines(row, n int) {
	kept := e.scrolled
	e.scrollUp(row, n)
	e.scrolled = kept
}

func (e *Emulator) eraseScreen(what int) bool {
	for row := range e.lines {
		switch {
		case what == 3:
			e.scrolled = nil
			return true
		case row == e.cursor.row && what == 0:
			e.erase(row, e.cursor.col, e.cols)
		case row == e.cursor.row && what == 1:
			e.erase(row, 0, e.cursor.col+1)
		case what == 2, what == 0 && row > e.cursor.row, what == 1 && row < e.cursor.row:
			e.erase(row, 0, e.cols)
		}
	}
	return what <= 3
}

// shift moves the rest of a row by n cells to the right, or to the left.
func (e *Emulator) shift(row, col, n int) {
	e.unpair(row, col)
	cells := e.lines[row].cells
	moved := make([]Cell, e.cols)
	copy(moved, cells[:col])
	for i := col; i < e.cols; i++ {
		if to := i + n; to >= col && to < e.cols {
			moved[to] = cells[i]
		}
	}
	e.lines[row].cells = moved
}

// plain are the sequences without a prefix that neither move nor edit.
func (e *Emulator) plain(a arguments, final byte) bool {
	switch final {
	case 'm':
		e.cursor.style.set(a)
	case 'r':
		e.top, e.last = max(a.at(0, 1), 1)-1, min(a.at(1, e.rows), e.rows)-1
		if e.top >= e.last {
			e.top, e.last = 0, e.rows-1
		}
		e.move(e.origin(), 0)
	case 's':
		e.saved = e.cursor
	case 'u':
		return e.restore()
	case 'n':
		e.report(a.at(0, 0))
	case 'c':
		e.answer("\x1b[?62;22c")
	case 't': // of the window
	case 'g':
	case 'h', 'l':
		return a.at(0, 0) == 20
	default:
		return false
	}
	return true
}

func (e *Emulator) restore() bool {
	e.cursor = e.saved
	e.move(e.cursor.row, e.cursor.col)
	return true
}

// noteUnknown notes a sequence that this terminal does not know.
func (e *Emulator) noteUnknown(sequence string) { e.unknown = append(e.unknown, sequence) }
