package trust

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"sort"
)

// A model cannot rewrite its own gate. Before the first tool of a run all files
// that decide what hooks do are looked at: hooks, modules, the directories of
// hooks, config.toml and the store of approvals. What differs after a batch of
// tools, when the agent has settled, and when the last process that a tool
// started has ended, is pending. No file events are needed for that, and while
// the window is open none has an effect.

// window is that time.
type window struct {
	base    map[string]Version // how files were; what is missing was not there or not known
	scopes  map[string]Scope
	dirs    map[string]Scope
	file    *Running // nil without a store
	groups  []int
	settled bool // the agent has; it only waits for processes
}

// had reports whether a file was v when the window opened.
func (w *window) had(path string, v Version) bool {
	base, ok := w.base[path]
	return ok && base.same(v) || !ok && !v.exists()
}

// Open begins a window, unless one is open: p says where hooks are, and parts are the
// files that those which run were made of or looked for. Those that flags leave out of
// this run count too: the next run has them. The error says that the window could not
// be written down; what changes is held also then.
func (g *Guard) Open(p Places, parts map[string]Scope) error {
	g.lookBefore()
	p.NoHooks, p.Only, p.NoProject = false, false, !g.AnyApproved()
	paths, dirs := g.deciding(p)
	maps.Copy(paths, parts)
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.window != nil {
		g.window.settled = false
		return nil
	}
	w := &window{base: map[string]Version{}, scopes: paths, dirs: dirs, groups: g.inherited}
	g.addAway(paths, dirs)
	for path, scope := range paths {
		w.base[path] = g.onDisk(path)
		g.holdOfOthers(path, scope, w.base[path])
		if _, known := g.known.Files[path]; g.held[path] != nil || known && scope != scopeSpoken {
			w.base[path] = g.readLocked(path) // the disk may say another thing at each look
		}
	}
	g.window, g.inherited = w, nil
	if g.store == nil || !g.store.Exists() {
		return nil // with nothing there, a program that leaves in the middle writes it
	}
	return g.begin(w)
}

// lookBefore looks at what others changed, before any of it is read.
func (g *Guard) lookBefore() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.window == nil {
		g.lookAtOthers()
	}
}

// addAway adds to paths what is known to be in dirs and was not there at the moment
// in which they were listed. g.mu is held.
func (g *Guard) addAway(paths, dirs map[string]Scope) {
	for path, f := range g.known.Files {
		if _, listed := paths[path]; listed {
			continue
		}
		for dir := range dirs {
			if isBelow(path, dir) {
				paths[path] = Scope(f.Scope)
			}
		}
	}
}

// begin writes a window down, and what is in force. g.mu is held.
func (g *Guard) begin(w *window) (err error) {
	known := g.inForce(w)
	w.file, err = g.store.Begin(Window{Groups: w.groups, Asks: g.askEdits}, g.mayCount, func(d *Data) {
		if len(d.Windows) == 1 {
			d.Known = known
		}
		addKnown(d.Known, known) // what another program knew first stays
		g.setMarks(d)
	})
	g.wrote = true
	return err
}

// inForce is what a window begins with. The versions are kept, so that they can
// go on to be in force. g.mu is held.
func (g *Guard) inForce(w *window) Known {
	known := Known{Files: map[string]File{}, Dirs: map[string]string{}}
	for path, v := range w.base {
		if h := g.held[path]; h != nil {
			v = h.old
		}
		known.Files[path] = g.fileOf(path, v, w.scopes[path])
	}
	for dir, scope := range w.dirs {
		known.Dirs[dir] = string(scope)
	}
	return known
}

func (g *Guard) fileOf(path string, v Version, scope Scope) File {
	f := File{Sum: v.Sum, Real: v.real, Scope: string(scope)}
	if code, ok := g.masked(path, v.Code); ok && g.store != nil && scope != scopeSpoken {
		// What is not kept is lost with the program, and says so.
		if kept, _ := g.store.Keep(code); kept != f.Sum {
			f.Kept = kept
		}
	}
	return f
}

func addKnown(to, from Known) {
	for path, f := range from.Files {
		if _, known := to.Was(path); !known {
			to.Files[path] = f
		}
	}
	for dir, scope := range from.Dirs {
		if to.Dirs[dir] == "" {
			to.Dirs[dir] = scope
		}
	}
}

// Started tells of a process group that a tool started.
func (g *Guard) Started(group int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if w := g.window; w != nil {
		w.groups = append(w.groups, group)
		if w.file != nil {
			_ = g.change(nothing)
		}
	}
}

// Check holds what differs from when the window opened.
func (g *Guard) Check() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.look()
}

// look is check with g.mu held.
func (g *Guard) look() {
	w := g.window
	if w == nil || g.quiet() {
		return
	}
	var news []*Pending
	for path, base := range w.base {
		is, h := g.onDisk(path), g.held[path]
		switch {
		case h != nil && h.old.same(is):
			g.release(path)
		case h != nil:
			h.now = is
		case !base.same(is) && w.scopes[path] == scopeSpoken:
			w.base[path] = is
			g.noteSpoken(path)
			_ = g.change(nothing)
		case !base.same(is):
			news = append(news, g.hold(change{path, w.scopes[path], base, is}, true).pending(g, path))
		}
	}
	news = append(news, g.added(w)...)
	sort.Slice(news, func(i, j int) bool { return news[i].Path < news[j].Path })
	g.tell(news...)
	g.lookAtOthers()
	g.mark()
}

// added holds the hooks and modules that appeared in a directory. g.mu is held.
func (g *Guard) added(w *window) (news []*Pending) {
	for dir, scope := range w.dirs {
		l := listLua(dir)
		g.large = append(g.large, l.large...)
		for _, path := range l.files {
			if _, known := w.base[path]; known || g.held[path] != nil {
				continue
			}
			if is := g.onDisk(path); is.exists() {
				c := change{path, scope, Version{Err: fmt.Errorf("%s is %w", path, ErrNotApproved)}, is}
				news = append(news, g.hold(c, true).pending(g, path))
			}
		}
	}
	return news
}

// Settle looks at what the tools changed and ends the window, if nothing that one of
// them started lives any more. It reports whether the window is closed.
func (g *Guard) Settle() (closed bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.look()
	return g.endWindow()
}

// SettleIdle is settle for a window that only waits for processes, once none lives.
// waits reports whether there is such a window and one lives.
func (g *Guard) SettleIdle() (closed, waits bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	w := g.window
	if w == nil || !w.settled || g.askEdits {
		return false, false
	}
	if slices.ContainsFunc(w.groups, g.alive) {
		return false, true
	}
	g.look()
	closed = g.endWindow()
	return closed, !closed
}

// OpensAtStart reports whether a window is open before any tool runs: every change is
// asked about, or processes of the program before live.
func (g *Guard) OpensAtStart() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.askEdits || len(g.inherited) > 0
}

// endWindow ends the window if nothing keeps it open. g.mu is held.
func (g *Guard) endWindow() (closed bool) {
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
		g.end(w)
	}
	g.window = nil
	return true
}

// end takes a window out of the store. What cannot be written stays as it was, for
// the next program. g.mu is held.
func (g *Guard) end(w *window) {
	if err := g.change(func(d *Data) { delete(d.Windows, w.file.Name()) }); err != nil {
		w.file.Leave()
		return
	}
	w.file.End()
}

// Close ends the Guard with the program. A window that is still open stays so
// for the next one.
func (g *Guard) Close() {
	closed := g.Settle()
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.wrote {
		g.store.Prune()
	}
	if closed {
		return
	}
	if g.window.file == nil && g.store != nil {
		_ = g.begin(g.window) // there is nobody left to tell
	}
	if g.window.file != nil {
		g.window.file.Leave()
	}
	g.window = nil
}

// TestOnlyKill lets go of what the system closes when a program is killed.
func (g *Guard) TestOnlyKill() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.window.file.Leave()
	g.window, g.store, g.wrote = nil, nil, false
}

// deciding lists the files that decide what the hooks of p do, and the directories
// where a new one would.
func (g *Guard) deciding(p Places) (paths, dirs map[string]Scope) {
	paths, dirs = map[string]Scope{}, map[string]Scope{p.GlobalDir(): ScopeGlobal}
	if !p.NoProject {
		dirs[p.ProjectDir()] = ScopeProject
	}
	for dir, scope := range dirs {
		l := listLua(dir)
		for _, path := range l.files {
			paths[path] = scope
		}
		g.noteLarge(l)
	}
	for _, path := range g.configs {
		paths[path] = ""
	}
	if g.keys != "" {
		paths[g.keys] = ""
	}
	for _, path := range g.spoken {
		paths[path] = scopeSpoken
	}
	for _, path := range p.Named() {
		paths[path], paths[filepath.Join(path, "init.lua")] = "", ""
	}
	found := p.Discover(g)
	for _, s := range slices.Concat(found.Sources, found.Disabled) {
		if s.Err != nil {
			continue // the directories and names below are looked at
		}
		paths[s.Path] = s.Scope
		looked, _ := g.literal(s.Path, s.dirs(), s.Scope)
		maps.Copy(paths, looked)
	}
	return paths, dirs
}
