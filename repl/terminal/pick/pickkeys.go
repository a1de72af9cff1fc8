package pick

import (
	"slices"

	"pi/internal/edit"
	"pi/repl/terminal"
)

// Key gives the picker a key. Keys of actions come first, then those that move, then those
// of the filter. Esc and Ctrl+C leave, and so does Ctrl+D if nothing is typed.
func (p *Picker) Key(k terminal.Key) (used bool) {
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
		k = terminal.Key{Name: "space", Text: " "}
	}
	switch p.field.Key(k.Name, k.Text) {
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
