// Package pick has the panels in which a user chooses and answers: the one picker of the
// program ([Picker]), the questions that take a key or a line ([Confirm], [Input]), and the
// menu of completion ([Menu]), and the list that is a part of something larger ([List]). Each
// is a panel: it is given keys, and returns rows that fit the window, whatever its size. None knows a terminal, an agent or a clock,
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
// their order; a user who has not moved is at one that begins with what was typed, if there is
// one. The caller may replace them at any time ([Picker.SetRows]), because more were read or
// because an action changed them: the filter stays, and so does the selected row.
//
// Where only lines can be read, [Numbered] writes rows as a list and [Choose] reads what
// was typed; numbers choose only there.
//
// Texts of rows and questions may come from anybody: they lose control characters here.
// Nothing here is safe for concurrent use.
package pick

import (
	"slices"
	"strings"
	"unicode/utf8"

	"pi/internal/edit"
	"pi/internal/fuzzy"
	"pi/internal/keys"
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
	Palette Palette

	part bool // it is the rows of a List, and others decide what Esc does
}

// Picker lets a user choose among rows. It is a panel.
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
func (p *Picker) SetPalette(palette Palette) {
	p.options.Palette, p.heading.Palette = palette, palette
}

// SetActions replaces the actions.
func (p *Picker) SetActions(actions []Action) { p.options.Actions = actions }

// Filter is what the user typed.
func (p *Picker) Filter() string { return p.field.Text() }

// SetFilter replaces what the user typed.
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

// Done reports whether the user chose or left.
func (p *Picker) Done() bool { return p.done }

// Chosen returns the IDs of what was chosen: of several choices those that are marked, in
// the order of the rows, which may be none. ok is false if the user left, or has not
// answered.
func (p *Picker) Chosen() (ids []string, ok bool) {
	if !p.chosen {
		return nil, false
	}
	if row, ok := p.Selected(); !p.options.Multi || ok && row.Further { // which leads to something else
		return []string{row.ID}, true
	}
	for _, row := range p.table.rows {
		if p.marked[row.ID] {
			ids = append(ids, row.ID)
		}
	}
	return ids, true
}

// refilter shows the rows that what is typed means now.
func (p *Picker) refilter() {
	if query := p.field.Text(); query != p.query {
		selected, _ := p.Selected()
		if selected.Further { // a match is meant rather
			selected.ID, p.wanted = "", ""
		}
		p.query = query
		p.show(selected.ID, 0)
		p.selectBeginning()
	}
}

// selectBeginning selects the first row that begins with what is typed, unless the user has moved or is
// at one: who types the name of something means that before what only has the word in its description.
func (p *Picker) selectBeginning() {
	words := fuzzy.Words(p.query)
	if p.touched || p.options.Whole || len(words) != 1 || p.matched == 0 {
		return
	}
	begins := func(i int) bool {
		label := fuzzy.Words(strings.Join(p.table.rows[i].Columns, " "))
		return len(label) > 0 && strings.HasPrefix(label[0], words[0])
	}
	if at := slices.IndexFunc(p.shown[:p.matched], begins); at >= 0 && !begins(p.shown[p.at]) {
		p.at = at
	}
}

// show finds the rows to show. Selected is then the row with this ID; else the one that
// was wanted, else the one at near. A user who has not moved yet waits for the row that
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

// Key gives the picker a key. Keys of actions come first, then those that move, then those
// of the filter. Esc and Ctrl+C leave, and so does Ctrl+D if nothing is typed.
func (p *Picker) Key(k keys.Key) (used bool) {
	if k.Release || p.done {
		return false
	}
	if p.act(k.Name) || p.navigate(k.Name) {
		return true
	}
	if k.Name == "space" && p.options.Multi {
		p.mark()
		return true
	}
	if k.Name == "ctrl+space" || k.Name == "alt+space" { // where the space bar marks
		k = keys.Key{Name: "space", Text: " "}
	}
	switch p.typed(k) {
	case edit.Submitted:
		p.choose()
	case edit.Cancelled:
		p.done = true
	case edit.Unused:
		return false
	}
	p.refilter()
	return true
}

// mostTyped is how long what filters may be, in bytes. Nobody types more, and a large text that
// is pasted by mistake would be sought in each row, for minutes.
const mostTyped = 500

// typed gives a key to the text that filters. What has no room in it is left out.
func (p *Picker) typed(k keys.Key) edit.Outcome {
	room := max(0, mostTyped-len(p.field.Text()))
	if len(k.Text) <= room {
		return p.field.Key(k.Name, k.Text)
	}
	for room > 0 && !utf8.RuneStart(k.Text[room]) {
		room--
	}
	if room == 0 {
		return edit.Used
	}
	return p.field.Key(k.Name, k.Text[:room])
}

// act runs the action of a key and reports whether it has one.
func (p *Picker) act(key string) bool {
	i := slices.IndexFunc(p.options.Actions, func(a Action) bool { return a.Key == key })
	if i < 0 {
		return false
	}
	if do := p.options.Actions[i].Do; do != nil {
		row, _ := p.Selected()
		do(row)
	}
	return true
}

// navigate moves the selection, or folds rows of a tree. It reports false for a key that
// does neither.
func (p *Picker) navigate(key string) bool {
	switch key {
	case "up", "ctrl+p", "shift+tab":
		p.move(-1)
	case "down", "ctrl+n", "tab":
		p.move(1)
	case "pageup":
		p.jump(p.at - max(p.page-1, 1))
	case "pagedown":
		p.jump(p.at + max(p.page-1, 1))
	case "home":
		p.jump(0)
	case "end":
		p.jump(len(p.shown) - 1)
	case "left", "right":
		if !p.table.folds || !p.field.Empty() {
			return false
		}
		if key == "left" {
			p.fold()
		} else {
			p.unfold()
		}
	default:
		return false
	}
	return true
}

// move goes to the next row, or with -1 to the one before; behind the last is the first.
func (p *Picker) move(by int) {
	n := len(p.shown)
	switch {
	case n == 0:
		return
	case p.at < 0 && by < 0:
		p.jump(n - 1)
	default:
		p.jump((p.at + by + n) % n)
	}
}

// jump selects the row at a place among those shown, or the nearest there is.
func (p *Picker) jump(at int) {
	if len(p.shown) == 0 {
		return
	}
	if p.options.Whole {
		p.field.Set("") // what is selected is what Enter takes
		p.query = ""
	}
	p.at = max(0, min(at, len(p.shown)-1))
	p.wanted, p.touched = p.table.rows[p.shown[p.at]].ID, true
}

// mark marks the selected row, or takes its mark away.
func (p *Picker) mark() {
	row, ok := p.Selected()
	if !ok || row.Further {
		return
	}
	if p.marked[row.ID] {
		delete(p.marked, row.ID)
	} else {
		p.marked[row.ID] = true
	}
}

// choose ends the picker with what Enter means: the selected row, or of several choices
// those that are marked. It does nothing where nothing matches.
func (p *Picker) choose() {
	_, ok := p.Selected()
	if ok || p.options.Multi && (len(p.table.rows) == 0 || len(p.marked) > 0) {
		p.done, p.chosen = true, true
	}
}
