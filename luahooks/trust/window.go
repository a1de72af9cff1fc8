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
// hooks, config.toml and the store of approvals. A file that differs after a batch of tools,
// at the end of the run, or when the last process that a tool started has ended, is
// pending. No file events are needed for that, and while the window is open none has
// an effect.

// OpenWindow begins a window, unless one is open: p says where hooks are, and parts are the
// files that running hooks were made of or looked for. Hooks that flags exclude from this
// run count too, since the next run has them. The error is why the window could not be
// written down; changes are withheld in any case.
func (g *Guard) OpenWindow(p Places, parts map[string]Scope) error {
	return g.openWindow(p, parts, false)
}

// OpenIdleWindow is OpenWindow for processes that no running tool starts: the window waits for
// nothing else. One that is open stays as it is.
func (g *Guard) OpenIdleWindow(p Places, parts map[string]Scope) error {
	return g.openWindow(p, parts, true)
}

func (g *Guard) openWindow(p Places, parts map[string]Scope, idle bool) error {
	g.mu.Lock()
	if g.state.window == nil {
		g.state.lookAtOthers() // before anything of what they changed is read
	}
	g.mu.Unlock()
	p.NoHooks, p.Only, p.NoProject = false, false, !g.HasApprovals()
	paths, dirs := g.deciding(p)
	maps.Copy(paths, parts)
	s := g.lock()
	defer g.mu.Unlock()
	if s.window != nil {
		s.window.idle = s.window.idle && idle
		return nil
	}
	w := &openWindow{idle: idle, base: map[string]Version{}, scopes: paths, dirs: dirs, groups: s.others.inherited}
	s.addKnownMissing(paths, dirs)
	for path, scope := range paths {
		w.base[path] = s.home.onDisk(path)
		s.withholdOfOthers(path, scope, w.base[path])
		if _, known := s.others.known.Files[path]; s.ledger.withheld[path] != nil || known && scope != scopeInstructions {
			w.base[path] = s.readLocked(path) // the disk may say another thing at each look
		}
	}
	s.window, s.others.inherited = w, nil
	if s.home.store == nil || !s.home.store.Exists() {
		return nil // with nothing there, a program that leaves in the middle writes it
	}
	return s.beginWindow(w)
}

// beginWindow writes a window into the store, and which versions are in force. What another
// program with an open window wrote there before stays.
func (s *state) beginWindow(w *openWindow) (err error) {
	known := s.inForce(w)
	w.file, err = s.home.store.Begin(Window{Groups: w.groups, Asks: s.ledger.askEdits}, s.mayCount, func(d *Data) {
		if len(d.Windows) == 1 {
			d.Known = known
		}
		addKnown(d.Known, known) // what another program knew first stays
		s.ledger.setMarks(d)
	})
	s.wrote = true
	return err
}

// NoteGroup records a process group that a tool started. The window in which changes of
// hooks count as those of tools stays open while the group lives. The groups are written to
// the store, so that a start after a kill knows them; if that fails, the next write of the
// store brings them along.
func (g *Guard) NoteGroup(group int) {
	s := g.lock()
	defer g.mu.Unlock()
	if w := s.window; w != nil {
		w.groups = append(w.groups, group)
		if w.file != nil {
			_ = s.change(noEdit)
		}
	}
}

// WithholdChanges withholds the files that differ from when the window opened; without an
// open window it does nothing.
func (g *Guard) WithholdChanges() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.state.withholdChanges()
}

// withholdChanges is [Guard.WithholdChanges].
func (s *state) withholdChanges() {
	w := s.window
	if w == nil || s.isOpenToAsk() {
		return
	}
	var news []*Pending
	for path, base := range w.base {
		is, h := s.home.onDisk(path), s.ledger.withheld[path]
		switch {
		case h != nil && h.old.same(is):
			s.ledger.release(path)
		case h != nil:
			h.now = is
		case !base.same(is) && w.scopes[path] == scopeInstructions:
			w.base[path] = is
			s.news.noteInstructions(path)
			_ = s.change(noEdit)
		case !base.same(is):
			news = append(news, s.home.pending(path, s.ledger.withhold(change{path, w.scopes[path], base, is}, true)))
		}
	}
	news = append(news, s.withholdAdded(w)...)
	sort.Slice(news, func(i, j int) bool { return news[i].Path < news[j].Path })
	s.news.noteBegan(news...)
	s.lookAtOthers()
	s.writeMarks()
}

// withholdAdded withholds the hooks and modules that appeared in the directories of w since
// it opened, and returns them for the person.
func (s *state) withholdAdded(w *openWindow) (news []*Pending) {
	for dir, scope := range w.dirs {
		l := listLua(dir)
		s.news.large = append(s.news.large, l.large...)
		for _, path := range l.files {
			if _, known := w.base[path]; known || s.ledger.withheld[path] != nil {
				continue
			}
			if is := s.home.onDisk(path); is.exists() {
				c := change{path, scope, Version{Err: fmt.Errorf("%s is %w", path, ErrNotApproved)}, is}
				news = append(news, s.home.pending(path, s.ledger.withhold(c, true)))
			}
		}
	}
	return news
}

// CloseWindow withholds what the tools changed, and closes the window if no process that one
// of them started lives any more and changes are not always asked about. It reports whether
// the window is closed.
func (g *Guard) CloseWindow() (closed bool) {
	s := g.lock()
	defer g.mu.Unlock()
	s.withholdChanges()
	return s.endWindow()
}

// CloseIdleWindow is CloseWindow for a window that only waits for processes. While one lives
// it does nothing; looked reports that none did. waits reports that the window is still
// open, also after a look: that may find processes of a program that was killed.
func (g *Guard) CloseIdleWindow() (looked, waits bool) {
	s := g.lock()
	defer g.mu.Unlock()
	w := s.window
	if w == nil || !w.idle || s.ledger.askEdits {
		return false, false
	}
	if slices.ContainsFunc(w.groups, s.others.alive) {
		return false, true
	}
	s.withholdChanges()
	return true, !s.endWindow()
}

// NeedsWindowAtStart reports whether a window is open before any tool runs: every change is
// asked about, or processes of the program before live.
func (g *Guard) NeedsWindowAtStart() bool {
	s := g.lock()
	defer g.mu.Unlock()
	return s.ledger.askEdits || len(s.others.inherited) > 0
}

// endWindow closes the window, here and in the store, unless processes or AskEdits keep it
// open; then it is idle. It reports whether no window is open. If the store cannot be written
// the window stays there, abandoned.
func (s *state) endWindow() (closed bool) {
	w := s.window
	if w == nil {
		return true
	}
	w.idle = true
	w.groups = slices.DeleteFunc(w.groups, func(group int) bool { return !s.others.alive(group) })
	if len(w.groups) > 0 || s.ledger.askEdits {
		return false
	}
	if w.file != nil {
		if err := s.change(func(d *Data) { delete(d.Windows, w.file.Name()) }); err != nil {
			w.file.Abandon() // what cannot be written stays as it was, for the next program
		} else {
			w.file.End()
		}
	}
	s.window = nil
	return true
}

// Close ends the Guard with the program. A window that is still open stays so
// for the next one.
func (g *Guard) Close() {
	s := g.lock()
	defer g.mu.Unlock()
	s.withholdChanges()
	closed := s.endWindow()
	if s.wrote {
		s.home.store.Prune()
	}
	if closed {
		return
	}
	if s.window.file == nil && s.home.store != nil {
		_ = s.beginWindow(s.window) // there is nobody left to tell
	}
	if s.window.file != nil {
		s.window.file.Abandon()
	}
	s.window = nil
}

// TestOnlyKill lets go of what the system closes when a program is killed.
func (g *Guard) TestOnlyKill() {
	s := g.lock()
	defer g.mu.Unlock()
	s.window.file.Abandon()
	s.window, s.home.store, s.wrote = nil, nil, false
}

// deciding returns the files that decide what the hooks of p do, whether they are there or
// not, and the directories where a new file would, with their scopes: hooks, the modules
// that they name, settings, commands of keys, instructions.
func (g *Guard) deciding(p Places) (paths, dirs map[string]Scope) {
	h := g.state.home
	paths, dirs = map[string]Scope{}, map[string]Scope{p.GlobalDir(): ScopeGlobal}
	if !p.NoProject {
		dirs[p.ProjectDir()] = ScopeProject
	}
	for dir, scope := range dirs {
		l := listLua(dir)
		for _, path := range l.files {
			paths[path] = scope
		}
		g.mu.Lock()
		g.state.news.large = append(g.state.news.large, l.large...)
		g.mu.Unlock()
	}
	for _, path := range h.configs {
		paths[path] = ""
	}
	if h.keys != "" {
		paths[h.keys] = ""
	}
	for _, path := range h.instructions {
		paths[path] = scopeInstructions
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
		looked, _ := g.literalModules(s.Path, s.dirs(), s.Scope)
		maps.Copy(paths, looked)
	}
	return paths, dirs
}

// RemoveAbandonedWindows removes the windows of programs that are gone from the store, but
// those with living processes only if the window of this program waits for them.
func (g *Guard) RemoveAbandonedWindows() {
	s := g.lock()
	defer g.mu.Unlock()
	if s.home.store == nil || s.doubt != nil {
		return
	}
	_, abandoned := s.home.store.OtherWindows(s.window.running())
	ended := slices.DeleteFunc(slices.Collect(maps.Keys(abandoned)), func(name string) bool {
		return len(abandoned[name].Living(s.others.alive)) > 0 && s.window.running() == nil
	})
	s.endWindows(ended)
}
