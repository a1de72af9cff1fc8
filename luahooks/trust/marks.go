package trust

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// What is held back is marked in the store, so that it is held back in the next
// program too. Marks are written with everything else that this program knows: a
// change of the store writes all of them.

// recover deals with what programs left behind, and puts what was pending before
// in force as it was.
func (g *Guard) recover() error {
	if g.doubt = g.store.Doubt(); g.doubt != nil {
		return nil
	}
	g.holdMarked()
	g.lookAtWindows()
	g.told = g.store.Pending()[g.store.Path()]
	return g.unwritten
}

// holdMarked holds what the store says is pending. g.mu is held.
func (g *Guard) holdMarked() {
	for path, m := range g.store.Pending() {
		if path != g.store.Path() && g.held[path] == nil {
			g.restore(path, m)
		}
	}
}

// restore holds a file that has a mark, unless it is again what it was. Then this
// look is the one that counts, for the next may see another file.
func (g *Guard) restore(path string, m Mark) {
	h := &held{now: g.onDisk(path), scope: Scope(m.Scope), since: m.Since, marked: true}
	h.old = Version{Sum: m.Old, real: m.Real}
	was, read := g.files[path]
	if m.Old == h.now.Sum && (m.Real == "" || m.Real == h.now.real) {
		if !read && h.now.exists() {
			g.files[path] = h.now
		}
		return
	}
	switch {
	case read && was.Sum == m.Old:
		h.old = was
	case m.Old == "":
		h.old.Err = fmt.Errorf("%s is %w", path, ErrNotApproved)
	case m.Old == h.now.Sum:
		h.old.Code, h.old.Err = h.now.Code, h.now.Err
	default:
		h.old.Code, h.old.Err = g.store.Kept(cmp.Or(m.Kept, m.Old))
	}
	g.held[path], g.files[path], g.marked[path] = h, h.old, true
}

// mark brings the marks of the store in line with what is held. g.mu is held.
func (g *Guard) mark() {
	if g.store == nil || g.doubt != nil {
		return
	}
	want := Data{Pending: g.store.Pending()}
	g.setMarks(&want)
	if !sameMarks(g.store.Pending(), want.Pending) {
		_ = g.change(nothing)
	}
}

func sameMarks(a, b map[string]Mark) bool {
	return maps.EqualFunc(a, b, func(x, y Mark) bool { return x.Old == y.Old && x.New == y.New })
}

// nothing edits nothing: a change writes the marks and the window in any case.
func nothing(*Data) {}

// change edits the store. g.mu is held.
func (g *Guard) change(edit func(*Data)) error {
	if g.store == nil {
		return nil
	}
	g.unwritten = g.store.Change(g.mayCount, func(d *Data) {
		g.setMarks(d)
		g.setWindow(d)
		maps.Copy(d.Spoken, g.changedSpoken)
		edit(d)
	})
	return g.unwritten
}

// setWindow notes the processes that the window waits for.
func (g *Guard) setWindow(d *Data) {
	if file := g.runningFile(); file != nil {
		w := file.Window()
		w.Groups = slices.Clone(g.window.groups)
		d.Windows[file.Name()] = w
	}
}

// setMarks marks what is held, and nothing else that this program has ever held.
// Another process may have added marks since.
func (g *Guard) setMarks(d *Data) {
	for path := range g.marked {
		if h := g.held[path]; h == nil || !h.marked {
			delete(d.Pending, path)
		}
	}
	for path, h := range g.held {
		if h.marked {
			g.marked[path] = true
			d.Pending[path] = g.markOf(path, h)
		}
	}
}

func (g *Guard) markOf(path string, h *held) Mark {
	f := g.fileOf(path, h.old, h.scope)
	return Mark{Old: f.Sum, Kept: f.Kept, New: h.now.Sum, Real: f.Real, Scope: f.Scope, Since: h.since}
}

// notMarked is why the store does not tell what waits, if anything does. g.mu is held.
func (g *Guard) notMarked() error {
	for _, h := range g.held {
		if h.marked {
			return g.unwritten
		}
	}
	return nil
}

// noteApproved tells the window and the store of a version that a person approved.
// g.mu is held.
func (g *Guard) noteApproved(path string, v Version, scope Scope) {
	if g.window != nil {
		g.window.base[path] = v
	}
	f := g.fileOf(path, v, scope)
	_ = g.change(func(d *Data) {
		if _, known := d.Known.Was(path); known {
			d.Known.Files[path] = f
		}
	})
}

// releaseUnmarked ends the holds whose marks another program has taken back: a
// person approved there. g.mu is held.
func (g *Guard) releaseUnmarked(before map[string]Mark) {
	if g.window != nil || g.atWork {
		return
	}
	now := g.store.Pending()
	for path := range before {
		if _, marked := now[path]; !marked && g.held[path] != nil {
			g.release(path)
		}
	}
}
