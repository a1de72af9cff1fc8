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
	case p.query != "" && p.matched == 0 && p.options.part:
		return "nothing matches"
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

const (
	betweenColumns = 2
	leastColumn    = 10 // cells that a column to the right has, if it needs them, or is dropped
)

// layout shares the width of a row among columns, by the cells that each needs at most. It
// returns the widths of those that are shown: columns to the right are dropped until each
// that remains has at least a part, the first one half of the row; what is free then is
// given from left to right.
func layout(needed []int, width int) []int {
	least := make([]int, len(needed))
	for i, n := range needed {
		least[i] = min(n, max(leastColumn, width/5))
	}
	if len(least) > 0 {
		least[0] = min(needed[0], max(1, width), max(leastColumn, width/2))
	}
	shown := len(least)
	for shown > 1 && total(least[:shown]) > width {
		shown--
	}
	widths := least[:shown]
	free := width - total(widths)
	for i := range widths {
		more := max(0, min(free, needed[i]-widths[i]))
		widths[i], free = widths[i]+more, free-more
	}
	return widths
}

// total is the width of columns with the blanks between them. A column without a width
// takes none, and no blanks.
func total(widths []int) (sum int) {
	for i, w := range widths {
		if w > 0 && i > 0 {
			w += betweenColumns
		}
		sum += w
	}
	return sum
}

// measure finds what each column needs at most, indentation included, and which have
// numbers: those are aligned at the right. Rows that lead further are no table.
func (t *table) measure() {
	if t.widths != nil {
		return
	}
	t.widths, t.numbers = make([]int, t.most+1), make([]bool, t.most+1)
	for c := 1; c < t.most; c++ {
		t.numbers[c] = true
	}
	for i, row := range t.rows {
		if row.Further {
			continue
		}
		for c, text := range t.cells(i) {
			w := cells.Width(text)
			if c == 0 {
				w += cells.Width(t.branch(i, deepest))
			}
			t.widths[c] = max(t.widths[c], w)
			t.numbers[c] = t.numbers[c] && (text == "" || isNumber(text))
		}
	}
}

// isNumber reports whether a text is a number with its unit.
func isNumber(text string) bool {
	text = strings.TrimLeft(text, " $≥−-+")
	return text != "" && text[0] >= '0' && text[0] <= '9'
}

// branch is what stands before the first column of a row in a tree: its indentation, of so
// many cells at most, and whether rows are folded into it.
func (t *table) branch(i, most int) string {
	if !t.tree && !t.folds {
		return ""
	}
	sign := ""
	if t.folds {
		sign = "  "
		if t.parent[i] {
			sign = "- "
			if t.folded[t.rows[i].ID] {
				sign = "+ "
			}
		}
	}
	return strings.Repeat("  ", min(t.rows[i].Depth, most/2)) + sign
}

// deepest is how many cells a row is indented at most.
const deepest = 24

// look is how rows are drawn: what was typed is set off.
type look struct {
	Palette
	words []string
}

// line is the text of a row in columns of these widths, with what was typed set off. The
// last one that has a text may go on to the end of the row.
func (t *table) line(i int, widths []int, width int, l look) string {
	if t.rows[i].Further {
		widths = []int{width}
	}
	last := len(widths) - 1
	for texts := t.cells(i); last > 0 && texts[last] == ""; {
		last--
	}
	var b strings.Builder
	used := 0
	for c, room := range widths[:last+1] {
		if room == 0 {
			continue
		}
		if used > 0 {
			b.WriteString(strings.Repeat(" ", betweenColumns))
			used += betweenColumns
		}
		if c == last && !t.numbers[c] {
			room = width - used
		}
		b.WriteString(t.column(i, c, room, c == last, l))
		used += room
	}
	return strings.TrimRight(b.String(), " ")
}

// column is the text of one column of a row, in so many cells; of the last one, in no more.
func (t *table) column(i, c, width int, last bool, l look) string {
	branch := ""
	if c == 0 {
		branch = t.branch(i, min(deepest, width/3))
	}
	text := shortened(t.cells(i)[c], width-cells.Width(branch))
	text = cells.Cut(branch+l.emphasized(text), width)
	switch {
	case t.numbers[c]:
		return cells.PadLeft(text, width)
	case c == t.most:
		text = l.Paint("dim", text)
	}
	if last {
		return text
	}
	return cells.Pad(text, width)
}

// emphasized sets off the parts of a text that were typed.
func (l look) emphasized(text string) string {
	if !l.On {
		return text
	}
	return underlined(text, fuzzy.WordSpans(text, l.words), l.Palette)
}

func underlined(text string, spans []fuzzy.Span, p Palette) string {
	var b strings.Builder
	at := 0
	for _, s := range spans {
		b.WriteString(text[at:s.Start] + p.Paint("underline", text[s.Start:s.End]))
		at = s.End
	}
	return b.String() + text[at:]
}

// leastMiddle is the width from which a text can be cut in its middle.
const leastMiddle = 8

// shortened fits a text into so many cells. One without blanks, which is a name or a path,
// loses its middle, because names that are listed together differ at their ends; others
// lose their end.
func shortened(text string, width int) string {
	if cells.Width(text) <= width || width < leastMiddle || strings.Contains(text, " ") {
		return cells.Cut(text, max(width, 1))
	}
	var clusters []string
	var widths []int
	for cluster, w := range cells.Clusters(text) {
		clusters, widths = append(clusters, cluster), append(widths, w)
	}
	head, room := 0, (width-1)/3
	for room >= widths[head] {
		room -= widths[head]
		head++
	}
	tail := len(clusters)
	for room += width - 1 - (width-1)/3; room >= widths[tail-1]; {
		tail--
		room -= widths[tail]
	}
	return strings.Join(clusters[:head], "") + "…" + strings.Join(clusters[tail:], "")
}
