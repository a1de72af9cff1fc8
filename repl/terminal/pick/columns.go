package pick

import (
	"strings"

	"pi/internal/cells"
	"pi/internal/fuzzy"
	"pi/repl/terminal"
)

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
	terminal.Palette
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

func underlined(text string, spans []fuzzy.Span, p terminal.Palette) string {
	var b strings.Builder
	at := 0
	for _, s := range spans {
		b.WriteString(text[at:s.Start] + p.Paint("underline", text[s.Start:s.End]))
		at = s.End
	}
	return b.String() + text[at:]
}
