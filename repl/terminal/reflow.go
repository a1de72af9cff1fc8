package terminal

import (
	"math"
	"strings"

	"pi/internal/cells"
)

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
