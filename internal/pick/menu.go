package pick

import (
	"fmt"
	"strings"

	"pi/internal/cells"
	"pi/internal/fuzzy"
	"pi/internal/keys"
	"pi/internal/printable"
)

// menuRows is how many rows a menu has at most.
const menuRows = 8

// MenuItem is one of the things that a word can become.
type MenuItem struct{ Label, Description string }

// Menu is the list below the word that is being completed. The word stays in the line: the
// caller gives the menu the keys first, edits the line with those that it does not use, and
// sets the items anew. It is a panel without a cursor.
type Menu struct {
	Palette
	items  []MenuItem
	typed  string
	column int
	at     int
	from   int
	idle   bool // no item is selected, and no key is the menu's
	done   bool
	taken  bool
}

// NewMenu returns a menu without items.
func NewMenu(p Palette) *Menu { return &Menu{Palette: p} }

// SetIdle has the menu only show what there is: no item is selected and all keys are the
// line's, until it is set so no more.
func (m *Menu) SetIdle(idle bool) { m.idle = idle }

// IsIdle reports whether the menu only shows what there is.
func (m *Menu) IsIdle() bool { return m.idle }

// SetItems sets what the word can become, what is typed of it, and the column in which it
// begins. The selected item stays, if it is still there and a key had moved to it.
func (m *Menu) SetItems(items []MenuItem, typed string, column int) {
	var selected MenuItem
	if m.at > 0 && m.at < len(m.items) {
		selected = m.items[m.at]
	}
	m.items, m.typed, m.column, m.at, m.from = items, typed, column, 0, 0
	for i, item := range items {
		if item == selected {
			m.at = i
		}
	}
}

// Key gives the menu a key: those that move, Enter and Tab, which take the selected item,
// and Esc. Others are the line's.
func (m *Menu) Key(k keys.Key) (used bool) {
	n := len(m.items)
	if k.Release || m.done || n == 0 || m.idle {
		return false
	}
	switch k.Name {
	case "up", "ctrl+p", "shift+tab":
		m.at = (m.at - 1 + n) % n
	case "down", "ctrl+n":
		m.at = (m.at + 1) % n
	case "pageup":
		m.at = max(0, m.at-menuRows+1)
	case "pagedown":
		m.at = min(n-1, m.at+menuRows-1)
	case "enter", "tab":
		m.done, m.taken = true, true
	case "esc":
		m.done = true
	default:
		return false
	}
	return true
}

// Done reports whether an item was taken, or the user left.
func (m *Menu) Done() bool { return m.done }

// Selected is the position of the selected item.
func (m *Menu) Selected() int { return m.at }

// Taken returns the position of the item that was taken; false if the user left, or has
// not chosen.
func (m *Menu) Taken() (item int, ok bool) { return m.at, m.taken }

// Render draws the items around the selected one below their word.
func (m *Menu) Render(width, height int) (rows []string, cursorRow, cursorColumn int) {
	width, height = max(width, 1), max(1, min(height, menuRows))
	m.from = max(0, min(m.from, m.at, len(m.items)-height))
	if m.at >= m.from+height {
		m.from = m.at - height + 1
	}
	shown := m.items[m.from:min(len(m.items), m.from+height)]
	labels, needed := make([]string, len(shown)), []int{0, 0}
	for i, item := range shown {
		labels[i] = cell(item.Label)
		needed[0] = max(needed[0], cells.Width(labels[i]))
		needed[1] = max(needed[1], cells.Width(printable.Line(item.Description)))
	}
	lead := 2
	if width < 4 {
		lead = 0
	}
	indent := max(0, min(m.column-lead, width-lead-total(needed)))
	widths := layout(needed, width-lead-indent)
	which := m.which(len(shown))
	for i, item := range shown {
		row := m.label(shortened(labels[i], widths[0]))
		if description := printable.Line(item.Description); description != "" && len(widths) > 1 && widths[1] > 0 {
			row = cells.Pad(row, widths[0]) + "  " + m.Paint("dim", cells.Cut(description, widths[1]))
		}
		room := width
		if left := width - 2 - cells.Width(which); i == len(shown)-1 && left >= lead+indent+widths[0] {
			room = left // a description gives way to it, a label does not
		}
		rows = append(rows, m.row(row, indent, lead, room, m.from+i))
	}
	if len(rows) > 0 {
		h := heading{Palette: m.Palette}
		rows[len(rows)-1] = h.behind(rows[len(rows)-1], which, width)
	}
	return rows, -1, 0
}

// which says where the selected item is among those that are not all shown, or how one
// chooses; "" if they are.
func (m *Menu) which(shown int) string {
	switch n := len(m.items); {
	case n <= shown:
		return ""
	case m.idle:
		return fmt.Sprintf("%d · Tab chooses", n)
	default:
		return fmt.Sprintf("%d of %d", m.at+1, n)
	}
}

// label is a label with what was typed set off.
func (m *Menu) label(label string) string {
	if !m.On {
		return label
	}
	return underlined(label, fuzzy.Spans(label, m.typed), m.Palette)
}

// row puts an item into a row with its mark.
func (m *Menu) row(text string, indent, lead, width, at int) string {
	mark := "  "
	if at == m.at && !m.idle {
		mark = "▸ "
	}
	if lead == 0 {
		mark = strings.TrimSpace(mark)
	}
	text = cells.Cut(strings.Repeat(" ", indent)+mark+text, width)
	if at == m.at && !m.idle {
		text = m.Paint("accent", text)
	}
	return strings.TrimRight(text, " ")
}
