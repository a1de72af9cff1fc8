// Package shown keeps what a command showed in a terminal, as text: what it has
// overwritten or erased is gone, what its colours and titles were made of is not there,
// and a program that took the whole screen, such as an editor, has left nothing.
//
//	r := shown.New(columns, rows, out)
//	r.Write(output)   // any number of times; rows that scroll away are written to out
//	r.Resize(c, r)    // the window has another size
//	r.AtRowStart()    // whether the next output begins a row
//	r.Modes(false)    // the sequences that undo the modes that the command has set
//	r.Finish()        // the rows that are left are written to out
//
// The text is that of the rows from top to bottom. A row that the terminal broke because
// it was too wide is one line again, and a tab is a tab. However long the output is, no
// more is kept here than one window of rows. The package knows nothing of the rest of the
// program.
package shown

import (
	"io"
	"unicode/utf8"
)

// Recorder is a terminal without a screen. It is for one goroutine.
type Recorder struct {
	out io.Writer

	columns, height int
	rows            []row // of the window, from its top; those below the last are empty
	at, saved       place
	wide            bool // the last column was written: the next character begins a row
	top, bottom     int  // the rows that scroll
	last            rune // the last character, for a sequence that repeats it
	line            []byte

	alternate bool // a program has the whole screen
	noWrap    bool
	modes     modes
	parser    parser
	partial   []byte // the beginning of a character
}

// place is a cell of the window, counted from 0.
type place struct{ row, column int }

// What a window is taken for that does not say its size.
const (
	usualColumns = 80
	usualHeight  = 24
)

// New returns a recorder for a window of this size; 0 is one that is not known. Errors of
// out are not reported.
func New(columns, height int, out io.Writer) *Recorder {
	r := &Recorder{out: out}
	r.Resize(columns, height)
	return r
}

// Resize notes another size of the window. What is shown is not broken anew.
func (r *Recorder) Resize(columns, height int) {
	if columns <= 0 {
		columns = usualColumns
	}
	if height <= 0 {
		height = usualHeight
	}
	for extra := len(r.rows) - height; extra > 0; extra-- {
		if r.at.row < len(r.rows)-1 { // what is below the cursor goes first
			r.rows = r.rows[:len(r.rows)-1]
			continue
		}
		r.scroll(0, len(r.rows)-1)
		r.rows = r.rows[:len(r.rows)-1]
		r.at.row--
	}
	r.columns, r.height, r.top, r.bottom = columns, height, 0, height-1
	r.move(r.at.row, min(r.at.column, columns))
	r.saved = place{min(r.saved.row, height-1), min(r.saved.column, columns-1)}
}

// Write takes output of the command. A character or a sequence may be divided between
// two calls. It takes everything and never fails.
func (r *Recorder) Write(output []byte) (int, error) {
	n := len(output)
	if len(r.partial) > 0 {
		output = append(r.partial, output...)
		r.partial = nil
	}
	for len(output) > 0 {
		if n := r.run(output); n > 0 {
			output = output[n:]
			continue
		}
		if b := output[0]; b < utf8.RuneSelf {
			r.parser.feed(r, rune(b))
			output = output[1:]
			continue
		}
		if !utf8.FullRune(output) {
			r.partial = append([]byte{}, output...)
			break
		}
		c, size := utf8.DecodeRune(output)
		r.parser.feed(r, c)
		output = output[size:]
	}
	return n, nil
}

// run shows the printable ASCII that output begins with, as far as it fits into the row,
// and returns how much that was.
func (r *Recorder) run(output []byte) int {
	if r.parser.state != stateText || r.alternate || r.wide {
		return 0
	}
	most := min(len(output), r.columns-r.at.column)
	n := 0
	for n < most && output[n] >= ' ' && output[n] < 0x7f {
		n++
	}
	if n == 0 {
		return 0
	}
	x := r.row()
	x.put(r.at.column, output[:n])
	if r.at.column+n == r.columns {
		x.wrapped = false
	}
	r.last = rune(output[n-1])
	r.advance(n)
	return n
}

// AtRowStart reports whether the cursor is at the start of a row. While the alternate
// screen is shown it tells of the other one, which comes back.
func (r *Recorder) AtRowStart() bool { return r.at.column == 0 && !r.wide }

// Finish writes the rows that are left, up to the last that is not empty. The line of the
// last one has an end only if the command has ended it.
func (r *Recorder) Finish() {
	if len(r.partial) > 0 {
		r.parser.feed(r, utf8.RuneError)
		r.partial = nil
	}
	last := len(r.rows) - 1
	for last >= 0 && r.rows[last].empty() {
		last--
	}
	for i := range last + 1 {
		r.flush(&r.rows[i], i < last || r.at.row > last)
	}
	r.rows = nil
}

// flush writes a row that cannot change any more. If ended is not set its line has no end
// yet; one that the terminal broke never has.
func (r *Recorder) flush(x *row, ended bool) {
	r.line = x.appendText(r.line[:0])
	if ended && !x.wrapped {
		r.line = append(r.line, '\n')
	}
	_, _ = r.out.Write(r.line)
}
