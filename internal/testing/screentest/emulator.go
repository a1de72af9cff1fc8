// Package screentest runs a program in a pseudo-terminal with a screen, for tests of
// what a user sees. Only tests import it.
//
// Start runs any command; its terminal is then typed at and looked at:
//
//	s := screentest.Start(t, exec.Command("sh"), screentest.Options{Cols: 40, Rows: 8})
//	s.Type("echo hello\r")
//	s.See("hello")
//	s.Press("ctrl+d")
//	status := s.Wait()
//	s.CheckRestored()
//
// Nothing sleeps in order to wait: Until and its kin look at each screen that the
// program shows until a condition is fulfilled, and fail with a picture of the last one.
// Screen is a snapshot with rows, cells, styles, modes and the cursor; Transcript is what
// was shown and has left the screen, too; Output has every byte. Watch sees each screen
// that ever was.
//
// The screen is an Emulator of our own: it knows wide characters and clusters, keeps
// what scrolls away, and comes in both kinds that matter when a window is resized, one
// that wraps its lines anew (Options.Clips not set) and one that cuts them. It answers
// what programs ask a terminal (Profile says how much it knows), and lists in Unknown
// which sequences it did not know.
package screentest

import (
	"strings"
)

// Emulator is the screen of a terminal: it reads what a program writes, and knows
// what is shown then, where the cursor is, what has left the screen at its top, and
// which modes are set. Characters have the width of their grapheme cluster. It is
// not safe for concurrent use.
type Emulator struct {
	cols, rows int
	reflow     bool
	profile    Profile
	reply      func(string) // gets what a terminal answers; may be nil

	lines     []*line // of the screen, rows of them
	scrolled  []*line // what left at the top, oldest first
	other     []*line // of the screen that is not shown while the alternate one is
	cursor    cursor
	saved     cursor // by DECSC
	main      cursor // of the main screen while the alternate one is shown
	mainSaved cursor // by DECSC in the main screen: each of the two has its own
	top, last int    // the rows that scroll
	modes     Modes
	parser    parser

	title, clipboard string
	bells            int
	notices          []string // of OSC 9 and OSC 777
	unknown          []string
}

// Profile says what a terminal knows beyond the least.
type Profile struct {
	// Silent terminals answer no question.
	Silent bool
	// NoPaste terminals say that they do not know bracketed paste.
	NoPaste bool
	// Keyboard terminals know the keyboard protocol with codes for all keys.
	Keyboard bool
	// Background answers OSC 11, "" being black.
	Background string
}

// Modes are what a program has switched on. The zero value is a terminal as a shell
// wants it.
type Modes struct {
	BracketedPaste, HiddenCursor, Mouse, Focus, Alternate    bool
	CursorKeys, Keypad, Origin, NoWrap, Margins, Synchronous bool
	Keyboard, OtherKeys                                      int // levels of the keyboard protocol, and of modifyOtherKeys
	Style                                                    string
}

// Cell is one cell of the screen.
type Cell struct {
	Text  string // a grapheme cluster; "" in the second cell of a wide one, and where nothing was written
	Style string // the parameters of SGR in force, as "1;31"; "" for none
	wide  bool
	tail  bool // the second cell of a wide one
}

type line struct {
	cells   []Cell
	wrapped bool // the text continues in the next line
}

type cursor struct {
	row, col int
	full     bool // the last column was written, the next character wraps
	style    style
}

// NewEmulator returns an empty screen. If reflow is set, lines that were wrapped are
// wrapped anew when the width changes; otherwise they are cut.
func NewEmulator(cols, rows int, reflow bool, profile Profile) *Emulator {
	e := &Emulator{cols: max(cols, 1), rows: max(rows, 1), reflow: reflow, profile: profile}
	e.lines = e.blank(e.rows)
	e.last = e.rows - 1
	return e
}

func (e *Emulator) blank(n int) []*line {
	lines := make([]*line, n)
	for i := range lines {
		lines[i] = &line{cells: make([]Cell, e.cols)}
	}
	return lines
}

// Write shows what a program writes. It takes everything and never fails.
func (e *Emulator) Write(p []byte) (int, error) {
	for _, b := range p {
		e.parser.feed(e, b)
	}
	return len(p), nil
}

// print shows one rune at the cursor, or joins it to the cluster before.
func (e *Emulator) print(r rune) {
	if e.join(r) {
		return
	}
	width := clusterWidth(string(r))
	if width == 0 {
		return
	}
	if e.cursor.full || width == 2 && e.cursor.col == e.cols-1 && e.cols > 1 {
		e.wrap(width)
	}
	e.put(string(r), width)
}

// wrap goes on in the next line. If wrapping is off, what is width cells wide replaces the end of
// this one.
func (e *Emulator) wrap(width int) {
	e.cursor.full = false
	if e.modes.NoWrap {
		e.cursor.col = max(e.cols-width, 0)
		return
	}
	e.lines[e.cursor.row].wrapped = true
	e.cursor.col = 0
	e.down()
}

// put writes a cluster at the cursor and moves it on.
func (e *Emulator) put(text string, width int) {
	width = min(width, e.cols-e.cursor.col)
	cells := e.lines[e.cursor.row].cells
	for i := range width {
		e.unpair(e.cursor.row, e.cursor.col+i)
	}
	at := e.cursor.col
	cells[at] = Cell{Text: text, Style: e.cursor.style.String(), wide: width == 2}
	if width == 2 {
		cells[at+1] = Cell{Style: cells[at].Style, tail: true}
	}
	if e.cursor.col += width; e.cursor.col >= e.cols {
		e.lines[e.cursor.row].wrapped = false
		e.cursor.col, e.cursor.full = e.cols-1, true
	}
}

// unpair clears the other half of a wide cluster whose half is overwritten.
func (e *Emulator) unpair(row, col int) {
	cells := e.lines[row].cells
	if cells[col].tail && col > 0 {
		cells[col-1] = Cell{}
	}
	if cells[col].wide && col+1 < len(cells) {
		cells[col+1] = Cell{}
	}
	cells[col] = Cell{}
}

// join adds a rune to the cluster before the cursor, if it belongs to it.
func (e *Emulator) join(r rune) bool {
	if r < 0x80 {
		return false
	}
	cells, at := e.lines[e.cursor.row].cells, e.cursor.col-1
	if e.cursor.full {
		at = e.cursor.col
	}
	if at >= 0 && cells[at].tail {
		at--
	}
	if at < 0 || cells[at].Text == "" || !isOneCluster(cells[at].Text+string(r)) {
		return false
	}
	cells[at].Text += string(r)
	if !cells[at].wide && clusterWidth(cells[at].Text) == 2 && at+1 < e.cols && !e.cursor.full {
		text := cells[at].Text
		e.cursor.col = at
		e.put(text, 2)
	}
	return true
}

// down moves the cursor a row down, and scrolls at the bottom.
func (e *Emulator) down() {
	if e.cursor.row == e.last {
		e.scrollUp(e.top, 1)
	} else if e.cursor.row < e.rows-1 {
		e.cursor.row++
	}
}

// scrollUp moves the rows from top on up by n. What leaves the main screen at its
// very top is kept.
func (e *Emulator) scrollUp(top, n int) {
	n = min(n, e.last-top+1)
	if top == 0 && !e.modes.Alternate {
		e.scrolled = append(e.scrolled, e.lines[:n]...)
	}
	kept := append([]*line{}, e.lines[top+n:e.last+1]...)
	copy(e.lines[top:], append(kept, e.blank(n)...))
}

func (e *Emulator) scrollDown(top, n int) {
	n = min(n, e.last-top+1)
	kept := append([]*line{}, e.lines[top:e.last+1-n]...)
	copy(e.lines[top:], append(e.blank(n), kept...))
}

// move puts the cursor at a place, or as near to it as there is one.
func (e *Emulator) move(row, col int) {
	low, high := 0, e.rows-1
	if e.modes.Origin {
		low, high = e.top, e.last
	}
	e.cursor.row, e.cursor.col, e.cursor.full = min(max(row, low), high), min(max(col, 0), e.cols-1), false
}

// erase clears the cells from one place up to another, that one excluded.
func (e *Emulator) erase(row, from, to int) {
	for col := max(from, 0); col < min(to, e.cols); col++ {
		e.unpair(row, col)
	}
	if to >= e.cols {
		e.lines[row].wrapped = false
	}
}

// Scrollback returns the rows that have left the screen at its top, oldest first.
func (e *Emulator) Scrollback() []string { return texts(e.scrolled) }

// Transcript returns all rows from the first that left the screen to the last that
// is not empty, wrapped ones joined.
func (e *Emulator) Transcript() string {
	shown := e.lines
	if e.modes.Alternate {
		shown = e.other
	}
	var b strings.Builder
	for _, l := range append(append([]*line{}, e.scrolled...), shown...) {
		b.WriteString(l.text(!l.wrapped))
		if !l.wrapped {
			b.WriteByte('\n')
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

// text is what a line shows, without the blanks at its end if trimmed.
func (l *line) text(trimmed bool) string {
	var b strings.Builder
	for _, c := range l.cells {
		switch {
		case c.tail:
		case c.Text == "":
			b.WriteByte(' ')
		default:
			b.WriteString(c.Text)
		}
	}
	if trimmed {
		return strings.TrimRight(b.String(), " ")
	}
	return b.String()
}

func texts(lines []*line) []string {
	rows := make([]string, len(lines))
	for i, l := range lines {
		rows[i] = l.text(true)
	}
	return rows
}
