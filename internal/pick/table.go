package pick

import (
	"slices"
	"strings"

	"pi/internal/printable"
)

// table is the rows of a picker with what is known of them.
type table struct {
	rows    []Row
	texts   [][]string // of the columns and the description, fit to be shown; nil before they are needed
	most    int        // columns that a row has
	total   int        // rows that are no further ones
	parents []int      // by row; -1: none
	parent  []bool     // by row: others can be folded into it
	folded  map[string]bool
	tree    bool // a row is indented
	folds   bool // a row can be folded

	widths  []int  // the widest of each column and of the descriptions; nil before they are needed
	numbers []bool // the columns that have only numbers
}

// newTable returns a table of rows, of which those with these IDs are folded.
func newTable(rows []Row, folded map[string]bool) *table {
	t := &table{rows: slices.Clone(rows), texts: make([][]string, len(rows)), most: 1,
		parents: make([]int, len(rows)), parent: make([]bool, len(rows)), folded: folded}
	position := make(map[string]int, len(rows))
	for i, row := range rows {
		t.tree = t.tree || row.Depth > 0
		t.most = max(t.most, len(row.Columns))
		if !row.Further {
			t.total++
		}
		t.parents[i] = -1
		if parent, ok := position[row.Parent]; ok && row.Parent != "" {
			t.parents[i], t.parent[parent], t.folds = parent, true, true
		}
		position[row.ID] = i
	}
	return t
}

// cell is a text of others as it can stand in a row. Blanks stay, because some callers
// make columns of them.
func cell(text string) string {
	text = strings.NewReplacer("\n", " ", "\t", " ").Replace(printable.Text(text))
	return strings.TrimRight(text, " ")
}

// cells are the texts of a row: as many columns as any row has, and its description. Those
// of a row that leads further are one.
func (t *table) cells(i int) []string {
	if t.texts[i] != nil {
		return t.texts[i]
	}
	row, texts := t.rows[i], make([]string, t.most+1)
	for c, column := range row.Columns {
		texts[c] = cell(column)
	}
	texts[t.most] = cell(row.Description)
	if row.Further {
		all := slices.DeleteFunc(slices.Clone(texts), func(s string) bool { return s == "" })
		clear(texts)
		texts[0] = strings.Join(all, "  ")
	}
	t.texts[i] = texts
	return texts
}

// searched is the text that a row is found by.
func (t *table) searched(i int) string {
	return strings.Join(t.cells(i), "\n") + "\n" + t.rows[i].Search
}

// leastID is how many characters of an id have to be typed: fewer are in too many ids.
const leastID = 3

// sought is the id of a row, if query is the beginning of it; else "".
func (t *table) sought(i int, query string) string {
	id := t.rows[i].Sought
	if query = strings.ToLower(strings.TrimSpace(query)); len(query) < leastID || !strings.HasPrefix(strings.ToLower(id), query) {
		return ""
	}
	return cell(id)
}

// unfolded are the rows that are not folded into one before them.
func (t *table) unfolded() (rows []int) {
	away := make([]bool, len(t.rows))
	rows = make([]int, 0, len(t.rows))
	for i, parent := range t.parents {
		away[i] = parent >= 0 && (away[parent] || t.folded[t.rows[parent].ID])
		if !away[i] {
			rows = append(rows, i)
		}
	}
	return rows
}

// below counts the rows that are folded into row i, at any depth.
func (t *table) below(i int) (n int) {
	under := map[int]bool{i: true}
	for k := i + 1; k < len(t.rows); k++ {
		if under[t.parents[k]] {
			under[k] = true
			n++
		}
	}
	return n
}
