package edit

import "slices"

// kind is what the newest action was, as far as the next one may go on with it.
type kind int

const (
	kindOther     kind = iota
	kindTyping         // undone together
	kindBackspace      // undone together
	kindDelete         // undone together
	kindKill           // what is killed next is joined to it
	kindYank           // may be followed by yank_pop
	kindVertical       // the column is kept
)

// step is what one undo takes back.
type step struct {
	changes       []change
	before, after place // the cursor
}

// history has the steps to undo, and behind done those to redo.
type history struct {
	steps []step
	done  int
}

// note adds a change, to the last step if it goes on with that.
func (h *history) note(c change, before, after place, goesOn bool) {
	h.steps = slices.Delete(h.steps, h.done, len(h.steps))
	if !goesOn || h.done == 0 {
		h.steps = append(h.steps, step{before: before})
		h.done++
	}
	s := &h.steps[h.done-1]
	s.after = after
	s.add(c)
}

// moved says where the cursor went after the newest step, if there was one.
func (h *history) moved(cursor place, stepped bool) {
	if stepped {
		h.steps[h.done-1].after = cursor
	}
}

// add appends a change. What only goes on typing becomes one change with what was typed
// before.
func (s *step) add(c change) {
	if n := len(s.changes); n > 0 && len(c.removed) == 0 {
		last := &s.changes[n-1]
		if c.at == endOf(last.at, last.inserted) {
			last.inserted = append(last.inserted, c.inserted...)
			return
		}
	}
	s.changes = append(s.changes, c)
}

// undoStep takes the newest step back.
func (b *Buffer) undoStep() bool {
	if b.undo.done == 0 {
		return false
	}
	b.undo.done--
	s := b.undo.steps[b.undo.done]
	for _, c := range slices.Backward(s.changes) {
		b.text.splice(c.at, endOf(c.at, c.inserted), c.removed)
	}
	b.cursor = s.before
	return true
}

// redoStep does again what undo took back.
func (b *Buffer) redoStep() bool {
	if b.undo.done == len(b.undo.steps) {
		return false
	}
	s := b.undo.steps[b.undo.done]
	b.undo.done++
	for _, c := range s.changes {
		b.text.splice(c.at, endOf(c.at, c.removed), c.inserted)
	}
	b.cursor = s.after
	return true
}
