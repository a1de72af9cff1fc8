package pick

import (
	"slices"
	"strings"
)

// refilter shows the rows that what is typed means now.
func (p *Picker) refilter() {
	if query := p.field.Text(); query != p.query {
		selected, _ := p.Selected()
		if selected.Further { // a match is meant rather
			selected.ID, p.wanted = "", ""
		}
		p.query = query
		p.show(selected.ID, 0)
	}
}

// show finds the rows to show. Selected is then the row with this ID; else the one that
// was wanted, else the one at near. A person who has not moved yet waits for the row that
// was wanted.
func (p *Picker) show(selected string, near int) {
	p.find()
	if p.options.Whole && p.query != "" {
		p.at = slices.Index(p.shown, ChooseWhole(p.table.rows, p.query))
		return
	}
	order := []string{selected, p.wanted}
	if !p.touched && p.query == "" {
		slices.Reverse(order)
	}
	p.at = min(near, len(p.shown)-1)
	if p.matched == 0 && p.query != "" {
		p.at = -1 // Enter chooses nothing by accident
	}
	for _, id := range order {
		at := slices.IndexFunc(p.shown, func(i int) bool { return p.table.rows[i].ID == id })
		if id != "" && at >= 0 {
			p.at = at
			return
		}
	}
}

// find sets the rows to show: without a filter, those that are not folded away; else those
// that match, and behind them those that lead further.
func (p *Picker) find() {
	p.shown, p.matched = p.shown[:0], 0
	if strings.TrimSpace(p.query) == "" || p.options.Whole {
		p.shown, p.matched = p.table.unfolded(), p.table.total
		return
	}
	found := p.filter.Find(p.query)
	for i, row := range p.table.rows {
		at, matches := slices.BinarySearch(found, i)
		found = found[at:]
		if !row.Further && (matches || p.table.sought(i, p.query) != "") {
			p.shown = append(p.shown, i)
		}
	}
	p.matched = len(p.shown)
	for i, row := range p.table.rows {
		if row.Further {
			p.shown = append(p.shown, i)
		}
	}
}

// fold folds the selected row, or if it is none that can be folded goes to its parent.
func (p *Picker) fold() {
	if p.at < 0 {
		return
	}
	i := p.shown[p.at]
	switch row := p.table.rows[i]; {
	case p.table.parent[i] && !p.table.folded[row.ID]:
		p.touched = true
		p.table.folded[row.ID] = true
		p.show(row.ID, 0)
	case p.table.parents[i] >= 0:
		p.Select(p.table.rows[p.table.parents[i]].ID)
	}
}

// unfold shows what is folded into the selected row, or goes to the row below it.
func (p *Picker) unfold() {
	if p.at < 0 {
		return
	}
	i := p.shown[p.at]
	switch row := p.table.rows[i]; {
	case !p.table.parent[i]:
	case p.table.folded[row.ID]:
		delete(p.table.folded, row.ID)
		p.touched = true
		p.show(row.ID, 0)
	default:
		p.move(1)
	}
}
