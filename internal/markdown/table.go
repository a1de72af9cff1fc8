package markdown

import (
	"strings"

	"pi/internal/cells"
)

// table is a table whose lines are still being read.
type table struct {
	align []alignment
	head  []string
	lines [][]string
}

type alignment int

const (
	left alignment = iota
	right
	center
)

// mostLive is how many lines of an open table are painted, and measured, while it grows.
const mostLive = 40

// startTable reads the line below a possible head.
func (s *Stream) startTable(c cursor) bool {
	if c.indent() > 3 {
		return false
	}
	head := splitCells(s.leaf.header)
	align, ok := parseAlignment(strings.Trim(c.rest, " \t"))
	if !ok || len(align) != len(head) {
		return false
	}
	s.leaf.header = ""
	text := s.leaf.text
	if text != nil {
		s.add(text.end()...)
	}
	s.leaf = leaf{kind: tableLeaf, table: table{align: align, head: head}}
	return true
}

// parseAlignment reads the line that tells a table from a text.
func parseAlignment(line string) (align []alignment, ok bool) {
	if strings.Trim(line, "|:- \t") != "" || !strings.Contains(line, "|") {
		return nil, false
	}
	for _, cell := range splitCells(line) {
		dashes := strings.Trim(cell, ":")
		if dashes == "" || strings.Trim(dashes, "-") != "" {
			return nil, false
		}
		begins, ends := cell[0] == ':', cell[len(cell)-1] == ':'
		switch {
		case begins && ends:
			align = append(align, center)
		case ends:
			align = append(align, right)
		default:
			align = append(align, left)
		}
	}
	return align, true
}

// splitCells divides a line at each | that no backslash precedes.
func splitCells(line string) []string {
	line = strings.Trim(line, " \t")
	line = strings.TrimPrefix(line, "|")
	var found []string
	var cell strings.Builder
	ended := false
	for i := 0; i < len(line); i++ {
		ended = false
		switch {
		case line[i] == '\\' && i+1 < len(line) && line[i+1] == '|':
			cell.WriteByte('|')
			i++
		case line[i] == '|':
			found = append(found, strings.Trim(cell.String(), " \t"))
			cell.Reset()
			ended = true
		default:
			cell.WriteByte(line[i])
		}
	}
	if ended {
		return found
	}
	return append(found, strings.Trim(cell.String(), " \t"))
}

// readTableLine adds a line to the table, unless the table has ended.
func (s *Stream) readTableLine(c cursor) bool {
	if c.isBlank() || c.indent() > 3 || !strings.Contains(c.rest, "|") {
		return false
	}
	ahead := c
	if _, ok := s.enter(&ahead, len(s.open), false); ok {
		return false
	}
	c.skip(c.indent())
	_, _, isHeading := parseHeading(c.rest)
	_, isFence := parseFence(c.rest)
	if isHeading || isFence || isRule(c.rest) {
		return false
	}
	line := splitCells(c.rest)
	line = append(line, make([]string, max(0, len(s.leaf.table.head)-len(line)))...)
	s.leaf.table.lines = append(s.leaf.table.lines, line[:len(s.leaf.table.head)])
	return true
}

// addTable paints a table: its columns side by side if they fit, else as records.
func (s *Stream) addTable() {
	t := s.leaf.table
	if s.live && len(t.lines) > mostLive {
		t.lines = t.lines[len(t.lines)-mostLive:]
	}
	first, rest := s.begin(false)
	grid := [][]string{paintCells(s.p, t.head, "bold")}
	for _, line := range t.lines {
		grid = append(grid, paintCells(s.p, line))
	}
	widths, total := measure(grid)
	if room := s.p.Columns - max(cells.Width(first), cells.Width(rest)); s.p.Columns > 0 && total > room {
		s.addRecords(grid, first, rest)
		return
	}
	for i, line := range grid {
		s.add(first + t.row(s.p, line, widths))
		if first = rest; i == 0 {
			s.add(first + t.line(s.p, widths))
		}
	}
}

func paintCells(p Painter, line []string, styles ...string) []string {
	var painted []string
	for _, cell := range line {
		painted = append(painted, paintInline(p, cell, styles...))
	}
	return painted
}

// measure returns the width of each column, and of all with what stands between them.
func measure(grid [][]string) (widths []int, total int) {
	widths = make([]int, len(grid[0]))
	for _, line := range grid {
		for i, cell := range line {
			widths[i] = max(widths[i], cells.Width(cell))
		}
	}
	for _, width := range widths {
		total += width + len(" | ")
	}
	return widths, total - len(" | ")
}

// row is a line of the table. It ends with its last text.
func (t *table) row(p Painter, line []string, widths []int) string {
	var padded []string
	for i, cell := range line {
		switch space := widths[i] - cells.Width(cell); {
		case t.align[i] == right:
			cell = cells.PadLeft(cell, widths[i])
		case t.align[i] == center:
			cell = strings.Repeat(" ", space/2) + cell
		}
		if i < len(line)-1 {
			cell = cells.Pad(cell, widths[i])
		}
		padded = append(padded, cell)
	}
	return strings.TrimRight(strings.Join(padded, " "+p.paint("│", "dim")+" "), " ")
}

// line stands below the head.
func (t *table) line(p Painter, widths []int) string {
	var parts []string
	for _, width := range widths {
		parts = append(parts, strings.Repeat("─", width))
	}
	return p.paint(strings.Join(parts, "─┼─"), "dim")
}

// addRecords paints a table that is too wide: each line as a record, with a row for each
// cell that has a text.
func (s *Stream) addRecords(grid [][]string, first, rest string) {
	if len(grid) == 1 {
		s.add(cells.Hang(strings.Join(grid[0], ", "), s.p.Columns, first, rest)...)
	}
	for i, line := range grid[1:] {
		if i > 0 {
			s.addMarks(rest)
		}
		for column, cell := range line {
			if cell == "" {
				continue
			}
			if label := grid[0][column]; label != "" {
				cell = label + ": " + cell
			}
			s.add(cells.Hang(cell, s.p.Columns, first, rest+"  ")...)
			first = rest
		}
	}
}
