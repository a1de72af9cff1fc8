package luahooks

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

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
	settled bool // the agent has; it only waits for processes
}

// had reports whether a file was v when the window opened.
func (w *window) had(path string, v version) bool {
	base, ok := w.base[path]
	return ok && base.same(v) || !ok && !v.exists()
}

// recover deals with the windows that programs left behind: what differs from
// then is pending. It also puts what was pending before in force as it was.
func (g *Guard) recover() error {
	left, foreign := g.store.Windows(nil)
	var problems []error
	if err := g.recoverStore(left, foreign); err != nil {
		problems = append(problems, err)
	}
	for path, m := range g.store.Pending() {
		if path != g.store.Path() {
			g.restore(path, m)
		}
	}
	for _, w := range left {
		g.compare(w)
		for _, group := range w.Groups {
			if g.alive(group) {
				g.groups = append(g.groups, group)
			}
		}
	}
	g.mark()
	for _, w := range left {
		if len(g.groups) > 0 || w.Asks {
			g.left = append(g.left, w) // until a program has a window of its own
		} else {
			g.store.Forget(w)
		}
	}
	return errors.Join(problems...)
}

// takeOver ends the windows that were left behind: this program's own, if they
// must stay open, has begun.
func (g *Guard) takeOver() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, w := range g.left {
		g.store.Forget(w)
	}
	g.left = nil
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

// recoverStore undoes what was written to the store in a window that nobody
// closed.
func (g *Guard) recoverStore(left []trust.Leftover, foreign bool) error {
	now := g.store.Sum()
	if foreign || len(left) == 0 {
		return nil
	}
	for _, w := range left {
		if w.Store == now {
			return nil
		}
	}
	if err := g.store.Restore(left[0].Store); err != nil {
		return fmt.Errorf("%s was changed while tools ran, and %w: nothing of it counts", g.store.Path(), err)
	}
	return nil
}

// restore holds a file that has a mark.
func (g *Guard) restore(path string, m trust.Mark) {
	h := &held{now: onDisk(path), scope: Scope(m.Scope), since: m.Since, marked: true}
	h.old = version{sum: m.Old, real: m.Real}
	switch {
	case m.Old == "":
		h.old.err = fmt.Errorf("%s is %w", path, errNotApproved)
	case m.Old == h.now.sum:
		return // it is again what it was
	default:
		h.old.code, h.old.err = g.store.Kept(m.Old)
	}
	g.held[path] = h
}

// compare holds what is not as it was.
func (g *Guard) compare(w trust.Leftover) {
	for path, f := range w.Files {
		g.restoreIfChanged(path, trust.Mark{Old: f.Sum, Real: f.Real, Scope: f.Scope, Since: time.Now().UTC()})
	}
	for _, dir := range w.Dirs {
		paths, _ := hookFiles(dir.Path, nil)
		for _, path := range paths {
			s, err := source(path, Scope(dir.Scope), nil)
			if err != nil {
				continue
			}
			if _, known := w.Files[s.Path]; !known {
				g.restoreIfChanged(s.Path, trust.Mark{Scope: dir.Scope, Since: time.Now().UTC()})
			}
		}
	}
}

func (g *Guard) restoreIfChanged(path string, m trust.Mark) {
	if g.held[path] == nil && onDisk(path).sum != m.Old {
		g.restore(path, m)
	}
}

// foreignWindow reports whether tools of another program may be at work.
func (g *Guard) foreignWindow() bool {
	if g.store == nil {
		return false
	}
	g.mu.Lock()
	var own *trust.Window
	if g.window != nil {
		own = g.window.file
	}
	g.mu.Unlock()
	_, open := g.store.Windows(own)
	return open
}

// open begins a window, unless one is open: paths are the files that count and
// dirs where new ones would.
func (g *Guard) open(paths map[string]Scope, dirs []trust.Dir) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.window != nil {
		g.window.settled = false
		return nil
	}
	w := &window{base: map[string]version{}, scopes: paths, dirs: dirs, groups: g.groups}
	g.groups = nil
	for path := range paths {
		w.base[path] = onDisk(path)
	}
	g.window = w
	if g.store == nil || !g.store.Exists() {
		return nil // with nothing there, a program that leaves in the middle writes it
	}
	return g.writeWindow(w)
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
	slices.SortFunc(news, func(a, b *Pending) int { return strings.Compare(a.Path, b.Path) })
	return news
}

// added holds the hooks that appeared in a directory. g.mu is held.
func (g *Guard) added(w *window) (news []*Pending) {
	for _, dir := range w.dirs {
		paths, _ := hookFiles(dir.Path, nil)
		for _, path := range paths {
			s, err := source(path, Scope(dir.Scope), nil)
			if err != nil || g.held[s.Path] != nil {
				continue
			}
			if _, known := w.base[s.Path]; !known {
				was := version{err: fmt.Errorf("%s is %w", s.Path, errNotApproved)}
				news = append(news, g.hold(change{s.Path, Scope(dir.Scope), was, onDisk(s.Path)}, true).pending(g, s.Path))
			}
		}
	}
	return news
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
		_ = g.change(true, func(d *trust.Data) { maps.Copy(d.Pending, marks) })
		return nil
	}
	was := g.store.Sum()
	m := trust.Mark{Old: was, New: sum, Since: time.Now().UTC()}
	_ = g.store.KeepKnown()
	if err := g.change(true, func(d *trust.Data) { d.Pending[g.store.Path()] = m }); err != nil {
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
		base := g.window.base[path]
		if h := g.held[path]; h != nil {
			base = h.old
		}
		ok = ok && m.Old == base.sum
	}
	return marks, ok
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
	if w.file != nil {
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
	if g.settle() {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.window.file == nil && g.store != nil {
		_ = g.writeWindow(g.window) // there is nobody left to tell
	}
	if g.window.file != nil {
		g.window.file.Leave()
	}
	g.window = nil
}
