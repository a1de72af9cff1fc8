package pick

import (
	"pi/internal/edit"
	"pi/internal/keys"
)

// List is a picker without the question and the legend, which is a part of something larger:
// that decides what Enter and Esc mean, and gets the other keys that the list has no use for.
type List struct {
	picker  *Picker
	filters bool
}

// NewList returns a list of rows, of which the one with the ID initial is selected. With
// filters what is typed filters, in a row of its own above them.
func NewList(rows []Row, initial string, filters bool) *List {
	return &List{New(Options{Initial: initial, part: true}, rows), filters}
}

// SetRows replaces the rows, as [Picker.SetRows] does.
func (l *List) SetRows(rows []Row) { l.picker.SetRows(rows) }

// SetPalette has the list painted in other colours.
func (l *List) SetPalette(p Palette) { l.picker.SetPalette(p) }

// Selected is the row that is selected; false if there is none.
func (l *List) Selected() (Row, bool) { return l.picker.Selected() }

// Select selects a row by its ID, if it is shown.
func (l *List) Select(id string) { l.picker.Select(id) }

// Filter is what the user typed.
func (l *List) Filter() string { return l.picker.Filter() }

// Key gives the list a key that moves, or that filters. Tab is none: it leads to the next
// part.
func (l *List) Key(k keys.Key) (used bool) {
	switch k.Name {
	case "enter", "esc", "tab", "shift+tab":
		return false
	}
	switch {
	case k.Release:
		return false
	case l.picker.navigate(k.Name):
		return true
	case !l.filters:
		return false
	}
	used = l.picker.typed(k) == edit.Used
	l.picker.refilter()
	return used
}

// Render draws at most so many rows of the list around the selected one, and above them what
// is typed. A list that does not filter has no cursor.
func (l *List) Render(width, height int) (rows []string, cursorRow, cursorColumn int) {
	p := l.picker
	width, height = max(width, 1), max(1, min(height, max(1, len(p.shown))))
	p.table.measure()
	cursorRow, p.page = -1, height
	if l.filters {
		row, column := p.filterRow(width)
		rows, cursorRow, cursorColumn = append(rows, row), 0, column
	}
	list, _ := p.list(width, height)
	return append(rows, list...), cursorRow, cursorColumn
}
