package luahooks

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"

	"pi/agent"
	"pi/luahooks/trust"
)

// A model cannot rewrite its own gate. Before the first tool of a run all files
// that decide what hooks do are looked at: hooks, modules, the directories of
// hooks, config.toml and the store of approvals. What differs after a batch of
// tools, when the agent has settled, and when the last process that a tool
// started has ended, is pending. No file events are needed for that, and while
// the window is open none has an effect.

// window is that time.
type window struct {
	base    map[string]version // how files were; what is missing was not there or not known
	scopes  map[string]Scope
	dirs    []trust.Dir
	file    *trust.Window // nil without a store
	groups  []int
	others  map[string]bool // windows that were there when this one opened
	settled bool            // the agent has; it only waits for processes
}

// had reports whether a file was v when the window opened.
func (w *window) had(path string, v version) bool {
	base, ok := w.base[path]
	return ok && base.same(v) || !ok && !v.exists()
}

// open begins a window, unless one is open: paths are the files that count and
// dirs where new ones would. It returns what is held now and was not before.
func (g *Guard) open(paths map[string]Scope, dirs []trust.Dir, before map[string]*held) (news []*Pending, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.window != nil {
		g.window.settled = false
		return nil, nil
	}
	w := &window{base: map[string]version{}, scopes: paths, dirs: dirs, groups: g.groups, others: g.past.names()}
	g.groups = nil
	for path, scope := range paths {
		w.base[path] = onDisk(path)
		g.holdSuspect(path, scope, w.base[path])
	}
	g.mark()
	g.window, g.past, news = w, others{}, g.heldSince(before)
	if g.store == nil || !g.store.Exists() {
		return news, nil // with nothing there, a program that leaves in the middle writes it
	}
	return news, g.writeWindow(w)
}

// writeWindow makes the file of a window. g.mu is held.
func (g *Guard) writeWindow(w *window) error {
	b := trust.Baseline{Store: g.store.Sum(), Files: map[string]trust.File{}, Dirs: w.dirs, Asks: g.askEdits}
	err := g.store.KeepKnown()
	for path, v := range w.base {
		if v.code != nil && err == nil {
			_, err = g.store.Keep(v.code)
		}
		if h := g.held[path]; h != nil {
			v = h.old // the mark knows the rest
		}
		b.Files[path] = trust.File{Sum: v.sum, Real: v.real, Scope: string(w.scopes[path])}
	}
	if err == nil {
		w.file, err = g.store.OpenWindow(b)
		g.wrote = true
	}
	for _, group := range w.groups {
		err = errors.Join(err, w.note(group))
	}
	return err
}

func (w *window) note(group int) error {
	if w.file == nil {
		return nil
	}
	return w.file.Group(group)
}

// checkNotes writes the window anew if a tool touched it, and removes windows that
// cannot be of another program: they appeared since, nobody has them open, and they
// tell other things of the files than is known here. g.mu is held.
func (g *Guard) checkNotes(w *window) {
	if w.file == nil {
		return
	}
	if !w.file.Intact() {
		w.file.Close()
		_ = g.writeWindow(w)
	}
	left, _ := g.store.Windows(w.file)
	for _, l := range left {
		if !w.others[l.Name()] && g.contradicts(w, l) {
			g.store.Forget(l)
		}
	}
}

func (g *Guard) contradicts(w *window, l trust.Leftover) bool {
	for path, f := range l.Files {
		base, known := w.base[path]
		if h := g.held[path]; h != nil {
			base = h.old
		}
		if known && base.sum != f.Sum {
			return true
		}
	}
	return false
}

// Started tells of a process group that a tool started.
func (g *Guard) Started(group int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.window == nil {
		return
	}
	g.window.groups = append(g.window.groups, group)
	_ = g.window.note(group)
}

// startedBy is Started for what a hook's own tool starts; what its handlers start is
// not the model's.
func (g *Guard) startedBy(ctx context.Context) func(group int) {
	if agent.CallID(ctx) == "" {
		return func(int) {}
	}
	return g.Started
}

// check holds what differs from when the window opened, and returns what is new
// of it.
func (g *Guard) check() (news []*Pending) {
	g.mu.Lock()
	defer g.mu.Unlock()
	w := g.window
	if w == nil || g.quiet() {
		return nil
	}
	for path, base := range w.base {
		is, h := onDisk(path), g.held[path]
		switch {
		case h != nil && h.old.same(is):
			g.release(path)
		case h != nil:
			h.now = is
		case !base.same(is):
			news = append(news, g.hold(change{path, w.scopes[path], base, is}, true).pending(g, path))
		}
	}
	news = append(news, g.added(w)...)
	if p := g.checkStore(); p != nil {
		news = append(news, p)
	}
	g.mark()
	g.checkNotes(w)
	sort.Slice(news, func(i, j int) bool { return news[i].Path < news[j].Path })
	return news
}

// added holds the hooks and modules that appeared in a directory. g.mu is held.
func (g *Guard) added(w *window) (news []*Pending) {
	for _, dir := range w.dirs {
		for _, path := range luaFiles(dir.Path) {
			if _, known := w.base[path]; known || g.held[path] != nil {
				continue
			}
			if is := onDisk(path); is.exists() {
				c := change{path, Scope(dir.Scope), version{err: fmt.Errorf("%s is %w", path, errNotApproved)}, is}
				news = append(news, g.hold(c, true).pending(g, path))
			}
		}
	}
	return news
}

// settle ends the window if nothing that a tool started lives any more, and
// reports whether it is closed. The caller has checked just before.
func (g *Guard) settle() (closed bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	w := g.window
	if w == nil {
		return true
	}
	w.settled = true
	w.groups = slices.DeleteFunc(w.groups, func(group int) bool { return !g.alive(group) })
	if len(w.groups) > 0 || g.askEdits {
		return false
	}
	switch {
	case w.file == nil:
	case g.unmarked != nil: // only the window knows what waits
		g.left = append(g.left, w.file.Leave())
	default:
		w.file.Close()
	}
	g.window = nil
	return true
}

// waiting reports whether an open window only waits for processes.
func (g *Guard) waiting() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.window != nil && g.window.settled
}

// leave ends the Guard with the program. A window that is still open stays so
// for the next one.
func (g *Guard) leave() {
	g.check()
	closed := g.settle()
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.wrote {
		g.store.Prune()
	}
	if closed {
		return
	}
	if g.window.file == nil && g.store != nil {
		_ = g.writeWindow(g.window) // there is nobody left to tell
	}
	if g.window.file != nil {
		g.window.file.Leave()
	}
	g.window = nil
}
