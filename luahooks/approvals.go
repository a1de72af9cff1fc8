package luahooks

import (
	"fmt"
	"maps"
	"time"

	"pi/luahooks/trust"
)

// The store of approvals, and what the windows are told of it. What somebody else
// writes to it while tools run is put aside and waits.

// change edits the store. While tools may be at work nothing counts that somebody
// else wrote. g.mu is held.
func (g *Guard) change(edit func(*trust.Data)) error {
	guarded := g.window != nil || len(g.past.windows()) > 0 || len(g.others().windows()) > 0
	err := g.store.Change(guarded, edit)
	g.noteStore()
	return err
}

// noteStore tells the windows what this program wrote to the store. g.mu is held.
func (g *Guard) noteStore() {
	_ = g.store.KeepKnown()
	sum := g.store.Sum()
	if g.window != nil && g.window.file != nil {
		_ = g.window.file.Stored(sum)
	}
	for _, w := range g.left {
		_ = w.Stored(sum)
	}
}

// noteFile tells them what a person approved. g.mu is held.
func (g *Guard) noteFile(path string, v version, scope Scope) {
	f := trust.File{Sum: v.sum, Real: v.real, Scope: string(scope)}
	if g.window != nil {
		g.window.base[path] = v
		if g.window.file != nil {
			_, _ = g.store.Keep(v.code)
			_ = g.window.file.Approved(path, f)
		}
	}
	for _, w := range g.left {
		_ = w.Approved(path, f)
	}
}

// checkStore puts the store back as it was if somebody else wrote to it. g.mu is
// held.
func (g *Guard) checkStore() *Pending {
	if g.store == nil {
		return nil
	}
	sum, tampered := g.store.Tampered()
	if !tampered {
		return nil
	}
	if marks, ok := g.onlyMarks(sum); ok {
		_ = g.change(func(d *trust.Data) { maps.Copy(d.Pending, marks) })
		return nil
	}
	was := g.store.Sum()
	m := trust.Mark{Old: was, New: sum, Since: time.Now().UTC()}
	_ = g.store.KeepKnown()
	if err := g.change(func(d *trust.Data) { d.Pending[g.store.Path()] = m }); err != nil {
		return nil // what this program knows is in force in any case
	}
	return g.pendingStore(m)
}

// onlyMarks reports whether what was written to the store is no more than marks
// of files as they were when the window opened, as another program writes them
// that saw the same. g.mu is held.
func (g *Guard) onlyMarks(sum string) (marks map[string]trust.Mark, ok bool) {
	marks, ok = g.store.OnlyMarks(sum)
	for path, m := range marks {
		if path == g.store.Path() { // another program put back what a tool wrote
			ok = ok && m.Old == g.store.Sum()
			continue
		}
		base := g.window.base[path]
		if h := g.held[path]; h != nil {
			base = h.old
		}
		ok = ok && m.Old == base.sum
	}
	return marks, ok
}

// recoverStore undoes what was written to the store in a window that nobody has
// closed.
func (g *Guard) recoverStore(o others) error {
	now, windows := g.store.Sum(), o.windows()
	if len(windows) == 0 || o.stored(now) {
		return nil
	}
	if err := g.store.Restore(windows[0].Store); err != nil {
		return fmt.Errorf("%s was changed while tools ran, and %w: nothing of it counts", g.store.Path(), err)
	}
	g.noteStore()
	return nil
}
