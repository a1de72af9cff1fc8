package pick

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"pi/internal/cells"
	"pi/internal/fuzzy"
)

// numberedShown is how many rows a list has at most.
const numberedShown = 30

// Numbered writes rows as a list, each under its number among all of them: those that
// which names, or with nil all. Of many it is the first, and how many are missing.
func Numbered(rows []Row, which []int) (lines []string) {
	if which == nil {
		which = make([]int, len(rows))
		for i := range which {
			which[i] = i
		}
	}
	shown := which[:min(len(which), numberedShown)]
	widths := numberedWidths(rows, shown)
	for _, i := range shown {
		texts := numberedTexts(rows[i])
		for c := range texts[:max(0, len(texts)-1)] {
			texts[c] = cells.Pad(texts[c], widths[c])
		}
		line := strings.Repeat("  ", rows[i].Depth) + strings.TrimRight(strings.Join(texts, "  "), " ")
		lines = append(lines, fmt.Sprintf("%3d  %s", i+1, line))
	}
	if n := len(which) - len(shown); n > 0 {
		lines = append(lines, fmt.Sprintf("     … %d more: type a part of the name", n))
	}
	return lines
}

// numberedWidths are what the columns of rows need. The last one of a row needs nothing.
func numberedWidths(rows []Row, which []int) (widths []int) {
	for _, i := range which {
		texts := numberedTexts(rows[i])
		for c, text := range texts[:max(0, len(texts)-1)] {
			if c == len(widths) {
				widths = append(widths, 0)
			}
			widths[c] = max(widths[c], cells.Width(text))
		}
	}
	return widths
}

// numberedTexts are the columns of a row and its description.
func numberedTexts(row Row) (texts []string) {
	for _, column := range row.Columns {
		texts = append(texts, cell(column))
	}
	if row.Description != "" {
		texts = append(texts, cell(row.Description))
	}
	return texts
}

// Choose finds the rows that a typed line means: one by its number, one by the whole text
// of its first column or its ID, or those that have each word of it. An empty line means
// all. Rows that lead further are what a line means that no row has.
func Choose(rows []Row, line string) (found []int) {
	line = strings.TrimSpace(line)
	if n, err := strconv.Atoi(line); err == nil && n >= 1 && n <= len(rows) {
		return []int{n - 1}
	}
	for i, row := range rows {
		if line != "" && (row.ID == line || len(row.Columns) > 0 && cell(row.Columns[0]) == line) {
			return []int{i}
		}
	}
	return fuzzy.NewFilter(len(rows), func(i int) string {
		return strings.Join(numberedTexts(rows[i]), "\n") + "\n" + rows[i].Search
	}).Find(line)
}

// ChooseWhole finds the row that a typed line means where it has to be a whole word: the ID
// of one, case aside; -1 if there is none.
func ChooseWhole(rows []Row, line string) int {
	line = strings.TrimSpace(line)
	return slices.IndexFunc(rows, func(row Row) bool { return strings.EqualFold(row.ID, line) })
}

// ChooseSeveral finds the rows that a typed line means where several may be chosen: their
// numbers with blanks or commas between them, or one as [Choose] does. An empty line is
// none. unclear is a part of the line that means no row, or more than one; "" if there is
// no such part.
func ChooseSeveral(rows []Row, line string) (found []int, unclear string) {
	if one := Choose(rows, line); strings.TrimSpace(line) != "" && len(one) == 1 {
		return one, ""
	}
	for _, word := range strings.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == ',' || r == '\t' }) {
		one := Choose(rows, word)
		if len(one) != 1 {
			return nil, word
		}
		found = append(found, one[0])
	}
	slices.Sort(found)
	return slices.Compact(found), ""
}
