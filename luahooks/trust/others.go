package trust

import (
	"maps"
	"slices"
	"time"
)

// Several programs share an agent directory, at a time and one after the other,
// and tools can write there too. The store says what was in force when a window
// opened and which windows are open. A window of another program, or one that was
// left, makes this one hold back what differs from that. While a window of its own
// is open, what this program knows is in force, whatever the store says by then:
// it is written back, and that is told.

// lookAtOthers finds out what other programs do and wrote down, and holds what
// tools of theirs changed. g.mu is held.
func (g *Guard) lookAtOthers() {
	if g.store == nil || g.doubt != nil {
		return
	}
	before, marked := maps.Clone(g.held), g.store.Pending()
	harmed := g.store.Look(g.mayCount)
	g.holdMarked()
	g.lookAtWindows()
	g.releaseUnmarked(marked)
	for _, path := range slices.Sorted(maps.Keys(g.held)) {
		if before[path] == nil {
			g.tell(g.held[path].pending(g, path))
		}
	}
	if m, ok := g.store.Pending()[g.store.Path()]; ok && m != g.told {
		g.told = m
		g.tell(g.pendingStore(m))
	}
	if w := g.window; w != nil && w.file != nil {
		if err := w.file.Keep(); err != nil || harmed {
			_ = g.change(nothing)
		}
		_ = g.inForce(w) // a tool may have removed the copies
	}
}

// mayCount reports whether what another program wrote may count for this one. It
// may not, while tools are at work, if it takes back what this one knows of, or
// approves what this one has not: then a tool may have written it.
func (g *Guard) mayCount(mine, theirs Data) bool {
	if g.window == nil && !g.atWork {
		return true
	}
	return mine.ApprovesLike(theirs) && g.sameWindow(mine, theirs) && knowsAll(mine.Known, theirs.Known) && g.holdsAll(mine, theirs)
}

// sameWindow reports whether the window of this program is in the store as it is.
func (g *Guard) sameWindow(mine, theirs Data) bool {
	file := g.runningFile()
	return file == nil || slices.Equal(mine.Windows[file.Name()].Groups, theirs.Windows[file.Name()].Groups)
}

func knowsAll(mine, theirs Known) bool {
	for path, f := range mine.Files {
		if theirs.Files[path] != f {
			return false
		}
	}
	for path, f := range theirs.Files {
		if was, known := mine.Was(path); known && was.Sum != f.Sum {
			return false
		}
	}
	for dir, scope := range mine.Dirs {
		if theirs.Dirs[dir] != scope {
			return false
		}
	}
	return true
}

// holdsAll reports whether the marks hold back what this program holds back, and
// have no other version in force. A file of a project needs approval in any case.
func (g *Guard) holdsAll(mine, theirs Data) bool {
	for path, m := range mine.Pending {
		their, marked := theirs.Pending[path]
		if h := g.held[path]; !marked && h != nil && h.old.same(g.onDisk(path)) {
			continue // it is again what it was
		}
		if !marked || their.Old != m.Old || their.Kept != m.Kept {
			return false
		}
	}
	for path, m := range theirs.Pending {
		was, known := mine.Known.Was(path)
		_, marked := mine.Pending[path]
		if !marked && path != g.store.Path() && (known && was.Sum != m.Old || !known && Scope(m.Scope) != ScopeProject) {
			return false
		}
	}
	return true
}

// lookAtWindows holds what differs while others may have tools at work, and ends
// the windows that were left and that nothing lives of. g.mu is held.
func (g *Guard) lookAtWindows() {
	open, left := g.store.Others(g.runningFile())
	g.atWork, g.known = false, Known{}
	if len(open)+len(left) == 0 {
		return
	}
	known := g.store.Known()
	g.compare(known)
	ended := g.ended(left)
	for _, w := range open {
		g.atWork = g.atWork || !w.Asks
	}
	if len(open)+len(left) > len(ended) {
		g.known = known
	}
	g.endWindows(ended)
}

// OthersAtWork reports whether another program runs that has tools at work: it holds
// back what is approved meanwhile.
func (g *Guard) OthersAtWork() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.store == nil {
		return false
	}
	open, _ := g.store.Others(g.runningFile())
	for _, w := range open {
		if !w.Asks {
			return true
		}
	}
	return false
}

// ended lists the windows that were left of which nothing lives, and those whose
// processes a window of this program waits for from now on. g.mu is held.
func (g *Guard) ended(left map[string]Window) (ended []string) {
	for name, w := range left {
		living := w.Living(g.alive)
		g.inherit(living)
		switch {
		case g.runningFile() != nil, len(living) == 0 && !w.Asks:
			ended = append(ended, name)
		case !w.Asks:
			g.atWork = true
		}
	}
	return ended
}

func (g *Guard) runningFile() *Running {
	if g.window == nil {
		return nil
	}
	return g.window.file
}

// inherit waits for processes of a program that has ended. g.mu is held.
func (g *Guard) inherit(groups []int) {
	to := &g.inherited
	if g.window != nil {
		to = &g.window.groups
	}
	for _, group := range groups {
		if !slices.Contains(*to, group) {
			*to = append(*to, group)
		}
	}
}

// TakeOver ends the windows that were left: this program's own, if there must be
// one, has begun.
func (g *Guard) TakeOver() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.store == nil || g.doubt != nil {
		return
	}
	_, left := g.store.Others(g.runningFile())
	ended := slices.DeleteFunc(slices.Collect(maps.Keys(left)), func(name string) bool {
		return len(left[name].Living(g.alive)) > 0 && g.runningFile() == nil
	})
	g.endWindows(ended)
}

func (g *Guard) endWindows(names []string) {
	if len(names) == 0 {
		return
	}
	_ = g.change(func(d *Data) {
		for _, name := range names {
			delete(d.Windows, name)
		}
	})
}

// compare holds what is not as it was. g.mu is held.
func (g *Guard) compare(known Known) {
	for path, f := range known.Files {
		g.holdIfChanged(path, f)
	}
	for dir := range known.Dirs {
		for _, path := range listLua(dir).files {
			if f, known := known.Was(path); known {
				g.holdIfChanged(path, f)
			}
		}
	}
}

// holdIfChanged holds a file that is not f. What this program has read is in force
// in the version that it has.
func (g *Guard) holdIfChanged(path string, f File) {
	if g.held[path] != nil {
		return
	}
	if f.Scope == string(scopeSpoken) {
		if is := g.onDisk(path); is.Sum != f.Sum {
			g.noteSpoken(path)
		}
		return
	}
	if was, read := g.files[path]; read {
		if is := g.onDisk(path); !was.same(is) && (f.Sum != is.Sum || f.Real != is.real) {
			g.hold(change{path, Scope(f.Scope), was, is}, true)
		}
		return
	}
	g.restore(path, Mark{Old: f.Sum, Kept: f.Kept, Real: f.Real, Scope: f.Scope, Since: time.Now().UTC()})
}

// holdOfOthers holds a file that tools of another program changed, since this one
// read it if it did. g.mu is held.
func (g *Guard) holdOfOthers(path string, scope Scope, is Version) {
	was, read := g.files[path]
	if g.held[path] != nil || read && was.same(is) || scope == scopeSpoken {
		return
	}
	f, known := g.known.Was(path)
	differs := known && (f.Sum != is.Sum || f.Real != "" && f.Real != is.real)
	m, marked := g.store.Pending()[path]
	switch {
	case !differs && !(marked && m.New == is.Sum):
		return
	case read:
		g.hold(change{path, scope, was, is}, true)
	default:
		g.holdIfChanged(path, f)
	}
	if h := g.held[path]; h != nil {
		g.tell(h.pending(g, path))
	}
}

// isOfTool reports whether a tool started this program: of what it approves
// nothing counts. g.mu is held.
func (g *Guard) isOfTool() bool {
	if g.store == nil || g.group <= 1 {
		return false
	}
	open, left := g.store.Others(g.runningFile())
	for _, windows := range []map[string]Window{open, left} {
		for _, w := range windows {
			if slices.Contains(w.Groups, g.group) {
				return true
			}
		}
	}
	return false
}
