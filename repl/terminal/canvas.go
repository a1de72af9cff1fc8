package terminal

import (
	"fmt"
	"math"
	"strings"

	"pi/internal/cells"
)

// Sequences that a frame is made of.
const (
	eraseBelow = "\x1b[J"
	eraseRight = "\x1b[K"
	hideCursor = "\x1b[?25l"
	showCursor = "\x1b[?25h"
	wrapOff    = "\x1b[?7l" // what is too wide is cut by the terminal
	wrapOn     = "\x1b[?7h"
	styleEnd   = "\x1b[0m"
)

// canvas is the live zone as the terminal shows it, and where the cursor is. The zone
// begins at the start of the row below the transcript. Its methods append to a frame what
// turns it into another. Rows are written with the terminal's wrapping off, so that each
// takes one row of the window even where the terminal has another idea of a character's
// width, or the window became narrower a moment ago.
type canvas struct {
	rows    []string
	row     int // of the cursor, counted from the zone's first
	column  int // of the cursor
	hidden  bool
	columns int // of the window when the zone was drawn; 0: it was not drawn yet
	height  int
	stale   bool     // the rows are not as they were drawn, only the row of the cursor is known
	lost    []string // rows of a zone that went into the scrollback right above the window
}

// fit cuts a zone to a window, so that the row of the cursor is among its rows.
func (z Zone) fit(columns, height int) Zone {
	z.Row = min(max(z.Row, 0), max(len(z.Rows)-1, 0))
	z.Column = min(max(z.Column, 0), columns-1)
	if extra := len(z.Rows) - height; extra > 0 {
		first := min(z.Row, extra)
		z.Rows = z.Rows[first : first+height]
		z.Row -= first
	}
	return z
}

// shows reports whether the terminal shows a zone already.
func (d *canvas) shows(z Zone) bool {
	if d.stale || len(d.rows) != len(z.Rows) || d.row != z.Row || d.column != z.Column || d.hidden != z.NoCursor {
		return false
	}
	for i, row := range z.Rows {
		if row != d.rows[i] {
			return false
		}
	}
	return true
}

// redraw appends to a frame what erases the zone, writes text, which is whole rows of the
// transcript, and draws a zone below.
func (d *canvas) redraw(frame, text []byte, z Zone) []byte {
	frame = d.erase(append(frame, hideCursor...))
	frame = append(frame, text...)
	if len(text) > 0 {
		d.lost = nil
	}
	if len(z.Rows) > 0 {
		frame = append(frame, wrapOff...)
		for i, row := range z.Rows {
			if i > 0 {
				frame = append(frame, "\r\n"...)
			}
			frame = appendRow(frame, row)
		}
		frame = append(frame, wrapOn...)
		d.row = len(z.Rows) - 1
		d.column = -1
	}
	d.hidden = true
	return d.finish(frame, z)
}

// erase appends to a frame what removes the zone, and leaves the cursor where it began.
func (d *canvas) erase(frame []byte) []byte {
	frame = append(frame, '\r')
	frame = appendMove(frame, d.row, 'A')
	frame = append(frame, eraseRight...)
	// Some terminals keep the whole screen in the scrollback when it is erased from its first
	// row on, so the erasing begins in the second one, where there surely is one.
	if d.row > 0 || !d.stale && len(d.rows) > 1 {
		frame = append(frame, "\x1b[B"+eraseBelow+"\x1b[A"...)
	} else {
		frame = append(frame, eraseBelow...)
	}
	d.rows, d.row, d.column, d.stale = nil, 0, 0, false
	return frame
}

// change appends to a frame what turns the zone into another: only rows that differ are
// written, and of those only what differs from the first difference on.
func (d *canvas) change(frame []byte, z Zone) []byte {
	var differ []int
	for i, row := range z.Rows {
		if i >= len(d.rows) || row != d.rows[i] {
			differ = append(differ, i)
		}
	}
	quiet := len(differ) > 1 || len(differ) == 1 && differ[0] != d.row || len(d.rows) > len(z.Rows)
	if quiet && !d.hidden {
		frame = append(frame, hideCursor...)
		d.hidden = true
	}
	if len(differ) > 0 {
		frame = append(frame, wrapOff...)
	}
	for _, i := range differ {
		old := ""
		if i < len(d.rows) {
			old = d.rows[i]
		}
		frame = d.rewrite(frame, i, old, z.Rows[i])
	}
	if len(differ) > 0 {
		frame = append(frame, wrapOn...)
	}
	if len(d.rows) > len(z.Rows) {
		frame = d.to(frame, len(z.Rows), 0)
		frame = append(frame, eraseBelow...)
	}
	return d.finish(frame, z)
}

// rewrite appends to a frame what turns row i from old into row.
func (d *canvas) rewrite(frame []byte, i int, old, row string) []byte {
	same, column, style := samePrefix(old, row)
	was := cells.Width(old)
	if was > d.columns { // the terminal has cut it
		same, column, style = 0, 0, ""
	}
	frame = d.to(frame, i, column)
	if rest := row[same:]; rest != "" {
		frame = append(append(frame, style...), rest...)
		if painted := style != "" || strings.Contains(rest, "\x1b"); painted && !strings.HasSuffix(rest, styleEnd) {
			frame = append(frame, styleEnd...)
		}
	}
	width := cells.Width(row)
	if was > width && width < d.columns {
		frame = append(frame, eraseRight...)
	}
	d.column = width
	if width >= d.columns { // where the cursor is then depends on the terminal
		d.column = -1
	}
	return frame
}

// finish appends to a frame what puts the cursor where a zone has it, and notes that the zone is drawn.
func (d *canvas) finish(frame []byte, z Zone) []byte {
	frame = d.to(frame, z.Row, z.Column)
	if d.hidden && !z.NoCursor {
		frame = append(frame, showCursor...)
	} else if !d.hidden && z.NoCursor {
		frame = append(frame, hideCursor...)
	}
	d.rows, d.hidden = z.Rows, z.NoCursor
	return frame
}

// to appends to a frame what moves the cursor to a place in the zone, which may be in the row below
// its last one.
func (d *canvas) to(frame []byte, row, column int) []byte {
	if row == d.row && column == d.column {
		return frame
	}
	switch {
	case row > d.row:
		for range row - d.row {
			frame = append(frame, "\r\n"...)
		}
		d.column = 0
	case row < d.row:
		frame = appendMove(frame, d.row-row, 'A')
	}
	if column < d.column || d.column < 0 {
		frame = append(frame, '\r')
		d.column = 0
	}
	frame = appendMove(frame, column-d.column, 'C')
	d.row, d.column = row, column
	return frame
}

// appendMove appends the sequence that moves the cursor by n cells in a direction.
func appendMove(frame []byte, n int, direction byte) []byte {
	switch {
	case n <= 0:
		return frame
	case n == 1:
		return append(frame, '\x1b', '[', direction)
	}
	return fmt.Appendf(frame, "\x1b[%d%c", n, direction)
}

// appendRow appends a row. Colours that it leaves open are ended.
func appendRow(frame []byte, row string) []byte {
	frame = append(frame, row...)
	if strings.Contains(row, "\x1b") && !strings.HasSuffix(row, styleEnd) {
		frame = append(frame, styleEnd...)
	}
	return frame
}

// samePrefix counts the bytes that two rows begin with in the same way, and the columns
// that they take. style switches on the colours that are open there. It counts
// characters of ASCII and colours only, since terminals differ in the widths of others,
// and not the last one before others, which may combine with it.
func samePrefix(a, b string) (n, columns int, style string) {
	at := 0 // of the last character before n
	styleAt := ""
	for n < len(a) && n < len(b) && a[n] == b[n] && a[n] < 0x7f {
		if a[n] == keyEsc {
			length := colour(a[n:])
			if length == 0 || colour(b[n:]) != length || a[n:n+length] != b[n:n+length] {
				break
			}
			if sequence := a[n : n+length]; sequence == "\x1b[m" || sequence == styleEnd {
				style = ""
			} else {
				style += sequence
			}
			n += length
			continue
		}
		if a[n] < ' ' {
			break
		}
		at, styleAt = n, style
		n++
		columns++
	}
	if columns > 0 && (n < len(a) && a[n] >= 0x7f || n < len(b) && b[n] >= 0x7f) {
		return at, columns - 1, styleAt
	}
	return n, columns, style
}

// colour is the length of the colour sequence that s begins with, 0 if it begins with
// none.
func colour(s string) int {
	if len(s) < 3 || s[1] != '[' {
		return 0
	}
	for i := 2; i < len(s); i++ {
		switch c := s[i]; {
		case c == 'm':
			return i + 1
		case (c < '0' || c > '9') && c != ';' && c != ':':
			return 0
		}
	}
	return 0
}

// When a window becomes narrower, some terminals cut rows that are too wide, and others
// break them into several. What is known then is the row of the zone that the cursor is
// in; how far the zone's first row is above it depends on the terminal.

// resize notes that the window has another size. The next frame erases the zone: from the row
// that its first one is in now, or a later one where that is not certain, so that no row
// of the transcript is erased. reflows says that the terminal breaks rows; at is the row of
// the window that the cursor is in now, -1 if nobody knows.
//
// Rows of the zone that were pushed out of the window are brought back by some terminals when
// it becomes larger. They are erased then. In other terminals the zone is at the top of
// the window and nothing is above it.
func (d *canvas) resize(columns, height int, reflows bool, at int) {
	breaks := columns
	if !reflows {
		breaks = math.MaxInt
	}
	above := d.row
	if reflows {
		above = d.rowsAbove(columns)
	}
	switch {
	case at > above:
		above += d.takeLost(at-above, breaks)
	case at < 0 && height > d.height:
		above += d.takeLost(height-d.height, breaks)
	}
	most := height - 1
	if at >= 0 {
		most = at
	}
	if above > most {
		d.keepLost(above-most, breaks)
		above = most
	}
	d.row, d.column, d.stale = above, -1, true
	d.columns, d.height = columns, height
}

// keepLost notes that the first n rows of the zone as the terminal shows it were pushed out.
func (d *canvas) keepLost(n, columns int) {
	for _, row := range d.rows {
		if n <= 0 {
			return
		}
		shown := brokenRows(row, columns, -1) + 1
		d.lost = append(d.lost, firstRows(row, columns, n))
		n -= shown
	}
}

// takeLost notes that at most n rows came back, and returns how many there are.
func (d *canvas) takeLost(n, columns int) (back int) {
	for len(d.lost) > 0 && back < n {
		last := &d.lost[len(d.lost)-1]
		shown := brokenRows(*last, columns, -1) + 1
		if extra := back + shown - n; extra > 0 {
			*last = firstRows(*last, columns, extra)
			return n
		}
		back += shown
		d.lost = d.lost[:len(d.lost)-1]
	}
	return back
}

// firstRows is the part of a row that is in its first n rows when it was broken.
func firstRows(row string, columns, n int) string {
	used, at := 0, 0
	for piece, width := range cells.Pieces(row) {
		if width > 0 && used > 0 && used+width > columns {
			if n--; n == 0 {
				return row[:at]
			}
			used = 0
		}
		used += width
		at += len(piece)
	}
	return row
}

// rowsAbove counts the rows between the zone's first one and the cursor, when each row that
// is wider than the window has been broken.
func (d *canvas) rowsAbove(columns int) int {
	if d.stale || len(d.rows) == 0 {
		return d.row
	}
	above := 0
	for _, row := range d.rows[:d.row] {
		above += brokenRows(row, columns, -1) + 1
	}
	return above + brokenRows(d.rows[d.row], columns, d.column)
}

// brokenRows counts how often a row is broken before a column of it in a window of so many
// columns; -1 is its end. A cursor behind the text is in the last row of the text.
func brokenRows(row string, columns, before int) (breaks int) {
	used, all := 0, 0
	for _, width := range cells.Pieces(row) {
		if width == 0 {
			continue
		}
		if used > 0 && used+width > columns {
			breaks++
			used = 0
		}
		if before >= 0 && all+width > before {
			return breaks
		}
		used += width
		all += width
	}
	return breaks
}

// reflows reports whether a terminal breaks rows that are too wide for a window that became
// narrower, by what it says of itself in the environment, and by its answers to the
// questions for its name (XTVERSION) and its version (the second attributes of a device),
// "" if there was none. It is false for a terminal that says nothing of itself, since rows of the transcript would be erased if it cut rows; what may
// remain there of the zone is part of its broken rows.
func reflows(getenv func(string) string, name, version string) bool {
	kind := getenv("TERM")
	switch {
	case strings.HasPrefix(kind, "tmux"), strings.HasPrefix(kind, "screen") && getenv("TMUX") != "" && getenv("STY") == "":
		return true // whatever terminal tmux itself runs in
	case getenv("STY") != "", strings.HasPrefix(kind, "screen"), kind == "linux", getenv("MOSH_CONNECTION") != "":
		return false
	case name != "":
		return reflowsByName(name)
	case getenv("XTERM_VERSION") != "":
		return false
	}
	for _, variable := range []string{"VTE_VERSION", "KITTY_WINDOW_ID", "ALACRITTY_WINDOW_ID", "WEZTERM_PANE", "KONSOLE_VERSION",
		"WT_SESSION", "GHOSTTY_RESOURCES_DIR", "ITERM_SESSION_ID", "ZELLIJ"} {
		if getenv(variable) != "" {
			return true
		}
	}
	switch getenv("TERM_PROGRAM") {
	case "Apple_Terminal", "iTerm.app", "WezTerm", "ghostty", "vscode", "kitty", "WarpTerminal", "mintty":
		return true
	}
	for _, prefix := range []string{"alacritty", "foot", "xterm-kitty", "xterm-ghostty", "contour", "wezterm", "rxvt-unicode"} {
		if strings.HasPrefix(kind, prefix) {
			return true
		}
	}
	return version != "" && reflowsByVersion(version)
}

// reflowsByVersion is reflows for a terminal that has told its version only. Nearly all
// that have no name break rows, so those that cut them are listed.
func reflowsByVersion(version string) bool {
	for _, cuts := range []string{
		"41;",    // xterm
		"83;",    // screen
		"0;136;", // PuTTY
		"1;10;0", // mosh
		"82;",    // rxvt
		"67;",    // cygwin
	} {
		if strings.HasPrefix(version, cuts) {
			return false
		}
	}
	return true
}

// reflowsByName is reflows for a terminal that has said its name and version.
func reflowsByName(name string) bool {
	name = strings.ToLower(name)
	for _, known := range []string{"vte", "kitty", "alacritty", "wezterm", "konsole", "ghostty", "iterm2", "foot", "tmux", "contour",
		"mintty", "xterm.js", "windows terminal", "warp", "rio"} {
		if strings.HasPrefix(name, known) {
			return true
		}
	}
	return false
}
