package pick

import (
	"fmt"
	"strings"

	"pi/internal/cells"
	"pi/internal/fuzzy"
	"pi/internal/printable"
)

const (
	leastList   = 3 // rows of the list that come before more of the question, and the legend
	fullList    = 6 // rows of the list that come before the description of the selected one
	mostDetails = 2 // rows of a description below the list
)

// Render draws the picker. The selected row is always there, in a window of more than one
// row also the question, in one of more than two the filter. What gives way first is the
// description below the list, then the rest of the question, then the legend, then rows of
// the list.
func (p *Picker) Render(width, height int) (rows []string, cursorRow, cursorColumn int) {
	width, height = max(width, 1), max(height, 1)
	p.table.measure()
	plan := p.plan(width, height)
	rows = append(rows, plan.question...)
	if height > 2 {
		cursorRow = len(rows)
		row, column := p.filterRow(width)
		rows, cursorColumn = append(rows, row), column
	}
	list, selected := p.list(width, plan.list)
	if height <= 2 {
		cursorRow = len(rows) + selected
	}
	rows = append(append(append(rows, list...), plan.details...), plan.legend...)
	for i, row := range rows {
		rows[i] = cells.Cut(row, width)
	}
	return rows, cursorRow, cursorColumn
}

// plan says what there is room for.
type plan struct {
	question, details, legend []string
	list                      int // rows
}

func (p *Picker) plan(width, height int) (l plan) {
	rest := height
	if height > 1 {
		l.question = p.heading.rows(width, 1)
		rest -= len(l.question)
	}
	if height > 2 {
		rest--
	}
	want := len(p.shown)
	if p.message() != "" {
		want++
	}
	hasLegend := rest > min(want, leastList) && p.legend(width) != ""
	if hasLegend {
		rest--
	}
	if n := rest - min(want, leastList); n > 0 && len(l.question) == 1 {
		l.question = p.heading.rows(width, 1+n)
		rest -= len(l.question) - 1
	}
	if len(l.question) == 1 {
		l.question[0] = p.heading.behind(l.question[0], p.heading.right, width)
	}
	if n := rest - min(want, fullList); n > 0 {
		l.details = p.details(width, min(n, mostDetails))
		rest -= len(l.details)
	}
	l.list = min(want, rest)
	p.page = max(1, l.list)
	if hasLegend {
		l.legend = []string{p.options.Palette.Paint("dim", p.legend(width))}
	}
	return l
}

// filterRow is the row in which is typed, with how many rows match, and where in it the
// cursor is.
func (p *Picker) filterRow(width int) (row string, column int) {
	label := "  filter: "
	if p.options.Whole {
		label = "  answer: "
	}
	if width < 2*len(label) {
		label = "> "[:min(2, max(0, width-2))]
	}
	count := p.count()
	room := width - len(label)
	if n := cells.Width(count) + betweenColumns; room-n >= leastColumn {
		room -= n
	} else {
		count = ""
	}
	text, column := p.field.Render(room)
	row = p.options.Palette.Paint("dim", label) + text
	if text == "" && count == "" {
		row = p.options.Palette.Paint("dim", strings.TrimRight(label, " "))
	}
	if count != "" {
		gap := betweenColumns
		if column == cells.Width(text) {
			gap++ // for the cursor
		}
		row += strings.Repeat(" ", min(gap, room+betweenColumns-cells.Width(text))) + p.options.Palette.Paint("dim", count)
	}
	return row, len(label) + column
}

// count says how many rows match, and without a filter how many there are, if they are not
// all in sight.
func (p *Picker) count() string {
	switch {
	case p.query != "" && !p.options.Whole:
	case len(p.shown) <= p.page:
		return ""
	default:
		return fmt.Sprint(p.table.total)
	}
	return fmt.Sprintf("%d of %d", p.matched, p.table.total)
}

// list draws so many of the rows around the selected one, and says which of those that is.
func (p *Picker) list(width, height int) (rows []string, selected int) {
	if text := p.message(); text != "" && (height > 1 || p.at < 0) {
		rows = append(rows, p.options.Palette.Paint("dim", strings.Repeat(" ", p.lead(width))+text))
	}
	height -= len(rows)
	p.page = max(height, 1)
	p.from = max(0, min(p.from, p.at, len(p.shown)-height))
	if p.at >= p.from+height {
		p.from = p.at - height + 1
	}
	room := width - p.lead(width)
	widths := layout(p.table.widths, room)
	for at := p.from; at < min(len(p.shown), p.from+height); at++ {
		if at == p.at {
			selected = len(rows)
		}
		rows = append(rows, p.row(at, widths, width))
	}
	return rows, selected
}

// message says why there are no rows to choose; "" if there are some.
func (p *Picker) message() string {
	switch {
	case p.options.Whole && p.at < 0:
		return "nothing matches: a whole word, or the arrows; Esc leaves"
	case p.query != "" && p.matched == 0:
		return "nothing matches; Esc leaves"
	case len(p.shown) == 0:
		return "nothing to choose"
	}
	return ""
}

// lead is how many cells stand before the text of a row.
func (p *Picker) lead(width int) int {
	switch {
	case width < 4:
		return 0
	case !p.options.Multi || width < 10:
		return 2
	case p.options.Palette.On:
		return 4
	}
	return 6
}

// row draws a row, at a place among those shown.
func (p *Picker) row(at int, widths []int, width int) string {
	i := p.shown[at]
	row, mark := p.table.rows[i], "  "
	if at == p.at {
		mark = "▸ "
	}
	lead := p.lead(width)
	switch lead {
	case 0:
		mark = ""
		if at == p.at {
			mark = "▸"
			width--
		}
		if width == 0 {
			return p.options.Palette.Paint("accent", mark)
		}
	case 4, 6:
		mark += p.box(row)
	}
	words := fuzzy.Words(p.query)
	if p.options.Whole {
		words = nil
	}
	text := mark + p.table.line(i, widths, width-lead, look{p.options.Palette, words})
	if id := p.table.sought(i, p.query); id != "" {
		text = p.heading.behind(text, id, width)
	}
	if n := p.hidden(i); n > 0 {
		text = p.heading.behind(text, fmt.Sprintf("%d more", n), width)
	}
	switch {
	case at == p.at:
		return p.options.Palette.Paint("accent", text)
	case row.Dim:
		return p.options.Palette.Paint("dim", text)
	}
	return text
}

// box shows whether a row is marked: by a sign, or in letters where there are no colours,
// since that may be for somebody who does not see signs.
func (p *Picker) box(row Row) string {
	on, off := "☑ ", "☐ "
	if !p.options.Palette.On {
		on, off = "[x] ", "[ ] "
	}
	switch {
	case row.Further:
		return strings.Repeat(" ", cells.Width(off))
	case p.marked[row.ID]:
		return on
	}
	return off
}

// hidden counts the rows that are folded into row i now.
func (p *Picker) hidden(i int) int {
	if !p.table.folded[p.table.rows[i].ID] || p.query != "" {
		return 0
	}
	return p.table.below(i)
}

// details are the description of the selected row, if it has no room in the list.
func (p *Picker) details(width, height int) []string {
	row, ok := p.Selected()
	if !ok || row.Description == "" || row.Further {
		return nil
	}
	lead := p.lead(width)
	widths := layout(p.table.widths, width-lead)
	text := printable.Line(row.Description)
	if len(widths) > p.table.most && cells.Width(text) <= width-lead-total(widths[:p.table.most])-betweenColumns {
		return nil
	}
	indent := strings.Repeat(" ", lead)
	rows := cutRows(cells.Hang(text, width, indent, indent), width, height)
	for i, row := range rows {
		rows[i] = p.options.Palette.Paint("dim", row)
	}
	return rows
}

// legend says what keys do, as far as there is room; "" if there is none.
func (p *Picker) legend(width int) string {
	enter := p.options.Enter
	if enter == "" {
		enter = "choose"
	}
	parts := []part{{"Enter " + enter, true}}
	if p.options.Multi {
		parts = append(parts, part{"Space mark", false})
	}
	for _, a := range p.options.Actions {
		if a.Label != "" {
			parts = append(parts, part{keyLabel(a.Key) + " " + a.Label, false})
		}
	}
	if p.table.folds {
		parts = append(parts, part{"←/→ fold", false})
	}
	if len(p.shown) > p.page {
		parts = append(parts, part{"PgUp/PgDn", false})
	}
	legend := fitting(append(parts, part{"Esc", true}), width-2)
	if legend == "" {
		return ""
	}
	return "  " + legend
}

// keyLabel writes the name of a key as it is on keyboards.
func keyLabel(name string) string {
	parts := strings.Split(name, "+")
	for i, part := range parts {
		switch part {
		case "delete":
			parts[i] = "Del"
		case "insert":
			parts[i] = "Ins"
		case "pageup":
			parts[i] = "PgUp"
		case "pagedown":
			parts[i] = "PgDn"
		case "":
			parts[i] = "+"
		default:
			parts[i] = strings.ToUpper(part[:1]) + part[1:]
		}
	}
	return strings.Join(parts, "+")
}
