package pick

import (
	"strings"

	"pi/internal/cells"
	"pi/internal/printable"
	"pi/repl/terminal"
)

// heading is what stands above the rows of a panel: the question, who asks it, and what
// else is worth knowing, such as the time that is left.
type heading struct {
	terminal.Palette
	title, right, hook, note string
}

func newHeading(title, right, hook string, p terminal.Palette) heading {
	return heading{Palette: p, title: title, right: right, hook: hook}
}

// SetNote sets what stands first in the question, such as the time that is left for an
// answer; "" takes it away.
func (h *heading) SetNote(note string) { h.note = note }

// rows are the question, wrapped. The last of at most height rows ends in an ellipsis, if
// some are missing.
func (h *heading) rows(width, height int) (rows []string) {
	rows = cutRows(cells.Wrap(h.before(width)+strings.Trim(printable.Text(h.title), "\n"), width), width, height)
	for i, row := range rows {
		rows[i] = h.Paint("bold", row)
	}
	return rows
}

// before is what stands in front of the question, short enough to leave it room.
func (h *heading) before(width int) string {
	text := ""
	for _, part := range []string{h.hook, h.note} {
		if part != "" {
			text += "[" + cells.Cut(printable.Line(part), max(4, width/3)) + "] "
		}
	}
	return text
}

// behind appends to a row what stands to the right, if it fits.
func (h *heading) behind(row, text string, width int) string {
	if text = printable.Line(text); text == "" || cells.Width(row)+2+cells.Width(text) > width {
		return row
	}
	return row + "  " + h.Paint("dim", text)
}

// cutRows shortens rows to a number, and each to the width.
func cutRows(rows []string, width, height int) []string {
	if len(rows) > height {
		rows = rows[:max(height, 0)]
		if height > 0 {
			rows[height-1] += " …"
		}
	}
	for i, row := range rows {
		rows[i] = strings.TrimRight(cells.Cut(row, width), " ")
	}
	return rows
}

// fitting joins as many of the parts as fit into a row, in their order. A part that is
// needed has room before those that are not.
func fitting(parts []part, width int) string {
	const between = " · "
	used, taken := -cells.Width(between), make([]bool, len(parts))
	for _, needed := range []bool{true, false} {
		for i, p := range parts {
			if n := cells.Width(between + p.text); p.needed == needed && used+n <= width {
				used, taken[i] = used+n, true
			}
		}
	}
	var texts []string
	for i, p := range parts {
		if taken[i] {
			texts = append(texts, p.text)
		}
	}
	return strings.Join(texts, between)
}

// part is one of the things that a legend tells.
type part struct {
	text   string
	needed bool
}
