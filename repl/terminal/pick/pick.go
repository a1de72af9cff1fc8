// Package pick has the panels in which a person chooses and answers: the one picker of the
// program ([Picker]), the questions that take a key or a line ([Confirm], [Input]), and the
// menu of completion ([Menu]). Each is a [terminal.Panel]: it is given keys, and returns
// rows that fit the window, whatever its size. None knows a terminal, an agent or a clock,
// so that each can be shown by any front end and tested without one.
//
// A picker looks like this:
//
//	Resume · this directory · 200 sessions  type to filter
//	  filter: token res  3 of 200
//	▸ refactor tokenizer   7 h  16 msg  … last: tests pass
//	  flaky test TestR…   22 h  16 msg  … last: add a sleep
//	  Enter open · Del delete · Tab all directories · Esc
//
// What is typed filters: a row stays if each word is somewhere in one of its columns, its
// description, or the text it is found by. Where a part of a word must not choose
// ([Options.Whole]), all rows stay, and none is selected until it is a whole one. Rows keep
// their order. The caller may replace them at any time ([Picker.SetRows]), because more were read or because an action changed
// them: the filter stays, and so does the selected row.
//
// Where only lines can be read, [Numbered] writes rows as a list and [Choose] reads what
// was typed; numbers choose only there.
//
// Texts of rows and questions may come from anybody: they lose control characters here.
// Nothing here is safe for concurrent use.
package pick

import (
	"slices"

	"pi/internal/edit"
	"pi/internal/fuzzy"
	"pi/repl/terminal"
)

// Row is one thing that can be chosen.
type Row struct {
	ID          string   // names the row among all; it is what the caller gets back
	Columns     []string // from left to right; where there is no room, those to the right are dropped first
	Description string   // is shown as a last column, dim, or below the list if it does not fit there
	Search      string   // what the row is found by besides what is shown; each line for itself
	Sought      string   // an id: who types its beginning finds the row, and sees it
	Dim         bool     // the row matters less than others
	Marked      bool     // of several choices: it is one from the start
	Further     bool     // leads to something else, and is offered also where nothing matches

	// Of a tree: how deep the row is indented, and the row that it is folded into, if
	// any. That comes before it.
	Depth  int
	Parent string
	Folded bool // the rows that have this one as their parent are not shown at first
}

// Action is something besides choosing that a key does in a picker.
type Action struct {
	Key   string // by its name, such as "delete"
	Label string // for the legend, such as "delete"; "" keeps it out of there

	// Do is called with the selected row; the zero Row if none is. It may replace the
	// rows, and must not wait.
	Do func(Row)
}

// Options say what a picker asks and how.
type Options struct {
	Title   string // the question; it may have several lines
	Right   string // stands behind the title where there is room
	Hook    string // the hook that asks; "" if the program does
	Enter   string // what Enter does, for the legend; "" is "choose"
	Initial string // the row that is selected at first; "" is the first one
	Multi   bool   // several rows can be marked, with the space bar
	Whole   bool   // nothing is filtered: what is typed chooses when it is the whole ID of a row
	Actions []Action
	Palette terminal.Palette
}

// Picker lets a person choose among rows. It is a [terminal.Panel].
type Picker struct {
	heading heading
	options Options
	table   *table
	marked  map[string]bool

	field   edit.Field
	filter  *fuzzy.Filter
	query   string
	shown   []int // rows, in order
	matched int   // of those: how many are no further rows
	at      int   // the selected one of shown; -1: none
	wanted  string
	touched bool // a key moved the selection
	from    int  // the first of shown that was drawn
	page    int  // how many were drawn

	done, chosen bool
}

// New returns a picker of rows.
func New(o Options, rows []Row) *Picker {
	p := &Picker{heading: newHeading(o.Title, o.Right, o.Hook, o.Palette), options: o, wanted: o.Initial,
		table: newTable(nil, map[string]bool{}), marked: map[string]bool{}, page: 8, at: -1}
	if o.Whole {
		p.field.Placeholder = "a whole word, or the arrows"
	}
	p.field.Faint = func(text string) string { return p.options.Palette.Paint("dim", text) }
	p.SetRows(rows)
	return p
}

// SetRows replaces the rows. The filter stays, and the selected row by its ID; if it is
// gone, the one that takes its place is selected. So do folds and marks.
func (p *Picker) SetRows(rows []Row) {
	selected, _ := p.Selected()
	old := p.table
	p.table = newTable(rows, old.folded)
	p.noteNew(old.rows)
	p.filter = fuzzy.NewFilter(len(rows), p.table.searched)
	p.show(selected.ID, max(p.at, 0))
}

// noteNew folds and marks the rows that were not there before, as they say.
func (p *Picker) noteNew(old []Row) {
	known := make(map[string]bool, len(old))
	for _, row := range old {
		known[row.ID] = true
	}
	for _, row := range p.table.rows {
		if row.Folded && !known[row.ID] {
			p.table.folded[row.ID] = true
		}
		if row.Marked && !known[row.ID] {
			p.marked[row.ID] = true
		}
	}
}

// SetTitle replaces the question and what stands behind it.
func (p *Picker) SetTitle(title, right string) { p.heading.title, p.heading.right = title, right }

// SetNote sets what stands first in the question, such as the time that is left for an
// answer; "" takes it away.
func (p *Picker) SetNote(note string) { p.heading.note = note }

// SetPalette has the picker painted in other colours.
func (p *Picker) SetPalette(palette terminal.Palette) {
	p.options.Palette, p.heading.Palette = palette, palette
}

// SetActions replaces the actions.
func (p *Picker) SetActions(actions []Action) { p.options.Actions = actions }

// Filter is what the person typed.
func (p *Picker) Filter() string { return p.field.Text() }

// SetFilter replaces what the person typed.
func (p *Picker) SetFilter(text string) {
	p.field.Set(text)
	p.refilter()
}

// Selected is the row that Enter would choose; false if there is none.
func (p *Picker) Selected() (Row, bool) {
	if p.at < 0 || p.at >= len(p.shown) {
		return Row{}, false
	}
	return p.table.rows[p.shown[p.at]], true
}

// Select selects a row by its ID, if it is shown.
func (p *Picker) Select(id string) {
	if at := slices.IndexFunc(p.shown, func(i int) bool { return p.table.rows[i].ID == id }); at >= 0 {
		p.at, p.wanted, p.touched = at, id, true
	}
}

// Done reports whether the person chose or left.
func (p *Picker) Done() bool { return p.done }

// Chosen returns the IDs of what was chosen: of several choices those that are marked, in
// the order of the rows, which may be none. ok is false if the person left, or has not
// answered.
func (p *Picker) Chosen() (ids []string, ok bool) {
	if !p.chosen {
		return nil, false
	}
	if !p.options.Multi || p.isFurther() {
		row, _ := p.Selected()
		return []string{row.ID}, true
	}
	for _, row := range p.table.rows {
		if p.marked[row.ID] {
			ids = append(ids, row.ID)
		}
	}
	return ids, true
}

// isFurther reports whether the selected row leads to something else.
func (p *Picker) isFurther() bool {
	row, ok := p.Selected()
	return ok && row.Further
}

var _ terminal.Panel = (*Picker)(nil)
