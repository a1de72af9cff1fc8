package luahooks

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"pi/luahooks/trust"
)

// Several programs share an agent directory, at a time and one after the other. A
// change that tools of one of them made must not pass for an edit of the person's
// in another one, so each looks at what the others wrote down.

// others is what other programs wrote down.
type others struct {
	open  []trust.Leftover // their tools may be at work
	left  []trust.Leftover // they ended before their tools did
	marks map[string]trust.Mark
}

// others looks. g.mu is held.
func (g *Guard) others() (o others) {
	if g.store == nil {
		return o
	}
	var own *trust.Window
	if g.window != nil {
		own = g.window.file
	}
	o.left, o.open = g.store.Windows(own)
	o.marks = g.store.MarksOnDisk() // last: a mark is written before the window closes
	return o
}

// windows are all of them, those whose owner knows best first.
func (o others) windows() []trust.Leftover { return slices.Concat(o.open, o.left) }

func (o others) names() map[string]bool {
	names := map[string]bool{}
	for _, w := range o.windows() {
		names[w.Name()] = true
	}
	return names
}

// stored reports whether one of them knows the store by this hash.
func (o others) stored(sum string) bool {
	return slices.ContainsFunc(o.windows(), func(w trust.Leftover) bool { return w.Store == sum })
}

// atWork reports whether tools of others may be. Where every change is asked about,
// a window is open without any.
func (o others) atWork() bool {
	return slices.ContainsFunc(o.windows(), func(w trust.Leftover) bool { return !w.Asks })
}

// marked reports whether another program holds this version back.
func (o others) marked(path string, v version) bool {
	m, ok := o.marks[path]
	return ok && m.New == v.sum
}

// recover deals with what programs left behind: what differs from then is pending.
// It also puts what was pending before in force as it was.
func (g *Guard) recover() error {
	o := g.others()
	for range storeTries {
		if len(o.open) == 0 || o.stored(g.store.Sum()) {
			break
		}
		time.Sleep(storePause) // one of them may be about to note what it wrote
		g.store.Refresh()
		o = g.others()
	}
	err := g.recoverStore(o)
	for path, m := range g.store.Pending() {
		if path != g.store.Path() {
			g.restore(path, m)
		}
	}
	for _, w := range o.open {
		g.compare(w)
	}
	g.left = g.adopt(o.left)
	for _, w := range g.left {
		g.groups = append(g.groups, g.living(w)...)
	}
	g.past = others{open: o.open, left: g.left}
	g.ofTool = g.group > 1 && slices.ContainsFunc(o.windows(), func(w trust.Leftover) bool { return slices.Contains(w.Groups, g.group) })
	return errors.Join(err, g.unmarked)
}

const (
	storeTries = 5
	storePause = 10 * time.Millisecond
)

// adopt holds what differs from the windows that were left behind, and ends those
// that need not stay open. It returns the others.
func (g *Guard) adopt(left []trust.Leftover) (open []trust.Leftover) {
	for _, w := range left {
		g.compare(w)
	}
	g.mark()
	for _, w := range left {
		if w.Asks || len(g.living(w)) > 0 || g.unmarked != nil {
			open = append(open, w)
		} else {
			g.store.Forget(w)
		}
	}
	return open
}

func (g *Guard) living(w trust.Leftover) (groups []int) {
	for _, group := range w.Groups {
		if g.alive(group) {
			groups = append(groups, group)
		}
	}
	return groups
}

// takeOver ends the windows that were left behind: this program's own, if they
// must stay open, has begun.
func (g *Guard) takeOver() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.mark()
	g.past = others{}
	if g.unmarked != nil {
		return
	}
	for _, w := range g.left {
		g.store.Forget(w)
	}
	g.left = nil
}

// compare holds what is not as it was.
func (g *Guard) compare(w trust.Leftover) {
	for path := range w.Files {
		g.restoreIfChanged(path, w)
	}
	for _, dir := range w.Dirs {
		for _, path := range luaFiles(dir.Path) {
			g.restoreIfChanged(path, w)
		}
	}
}

func (g *Guard) restoreIfChanged(path string, w trust.Leftover) {
	if f, known := w.Was(path); known && g.held[path] == nil {
		g.restore(path, trust.Mark{Old: f.Sum, Real: f.Real, Scope: f.Scope, Since: time.Now().UTC()})
	}
}

// restore holds a file that has a mark, unless it is again what it was.
func (g *Guard) restore(path string, m trust.Mark) {
	h := &held{now: onDisk(path), scope: Scope(m.Scope), since: m.Since, marked: true}
	h.old = version{sum: m.Old, real: m.Real}
	if m.Old == h.now.sum && (m.Real == "" || m.Real == h.now.real) {
		return
	}
	switch m.Old {
	case "":
		h.old.err = fmt.Errorf("%s is %w", path, errNotApproved)
	case h.now.sum:
		h.old.code, h.old.err = h.now.code, h.now.err
	default:
		h.old.code, h.old.err = g.store.Kept(m.Old)
	}
	g.held[path] = h
}

// lookAtOthers is done before a window opens: what others changed is no part of how
// the files were. It returns what is held already.
func (g *Guard) lookAtOthers() (before map[string]*held) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.window == nil {
		g.past = g.others()
	}
	return maps.Clone(g.held)
}

// heldSince describes what is held and was not before. g.mu is held.
func (g *Guard) heldSince(before map[string]*held) (news []*Pending) {
	for _, path := range slices.Sorted(maps.Keys(g.held)) {
		if before[path] == nil {
			news = append(news, g.held[path].pending(g, path))
		}
	}
	return news
}

// readPast holds a file that tools of another program changed or added, before it
// is read for the first time. g.mu is held.
func (g *Guard) readPast(path string) {
	for _, w := range g.past.windows() {
		g.restoreIfChanged(path, w)
	}
	if m, ok := g.past.marks[path]; ok && m.Old == "" && g.held[path] == nil {
		g.restore(path, m)
	}
}

// holdSuspect holds a file that tools of another program changed, since this one
// read it if it did. g.mu is held.
func (g *Guard) holdSuspect(path string, scope Scope, is version) {
	was, read := g.files[path]
	switch {
	case !read:
		g.readPast(path)
	case g.held[path] == nil && !was.same(is) && (g.past.marked(path, is) || g.past.changed(path, is)):
		g.hold(change{path, scope, was, is}, true)
	}
}

// changed reports whether a file was another when one of the windows opened.
func (o others) changed(path string, v version) bool {
	return slices.ContainsFunc(o.windows(), func(w trust.Leftover) bool {
		f, known := w.Was(path)
		return known && (f.Sum != v.sum || f.Real != "" && f.Real != v.real)
	})
}
