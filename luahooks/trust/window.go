package trust

import (
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
)

// A model cannot rewrite its own gate. Before the first tool of a run all files
// that decide what hooks do are looked at: hooks, modules, the directories of
// hooks, config.toml and the store of approvals. A file that differs after a batch of tools,
// at the end of the run, or when the last process that a tool started has ended, is
// pending. No file events are needed for that, and while the window is open none has
// an effect.
//
// A batch makes, replaces and removes no file. After the first look of a run files are
// judged by their stamps, and at its end everything is read. The first batch writes into
// the store what is active and names a file, the mark, which then says in place whether
// tools are at work.

// OpenWindow begins a window, unless one is open: p says where hooks are, and parts are the
// files that running hooks were made of or looked for. Hooks that flags exclude from this
// run count too, since the next run has them. The error is why the window could not be
// written down; changes are withheld in any case. With idle it is for processes that no running
// tool starts, and waits for nothing else.
func (g *Guard) OpenWindow(p Places, parts map[string]Scope, idle bool) error {
	s := g.lock()
	s.inRun = s.inRun || !idle
	if s.window != nil {
		s.window.idle = s.window.idle && idle
		g.mu.Unlock()
		return nil
	}
	s.lookAtOthers() // before anything of what they changed is read
	s.withholdOfClients()
	p.NoHooks, p.Only, p.NoProject = false, false, !s.hasApprovals()
	if w := s.openAgain(p, parts); w != nil {
		defer g.mu.Unlock()
		return s.enterWindow(w, idle)
	}
	g.mu.Unlock()
	w := &openWindow{base: map[string]Version{}, places: p, parts: parts}
	w.scopes, w.dirs = g.deciding(p)
	maps.Copy(w.scopes, parts)
	s = g.lock()
	defer g.mu.Unlock()
	if s.window != nil { // another tool was faster
		return nil
	}
	s.lookAtBase(w)
	return s.enterWindow(w, idle)
}

// enterWindow makes w, of which everything was looked at, the window of this program.
func (s *state) enterWindow(w *openWindow, idle bool) error {
	w.idle, w.groups, w.changes = idle, s.others.inherited, s.ledger.changes
	s.window, s.others.inherited = w, nil
	if s.home.store == nil || s.mark == nil && !s.home.store.Exists() {
		return nil // with nothing there, a program that leaves in the middle writes it
	}
	return s.beginWindow(w)
}

// openAgain returns a window like the last one of this run, if neither what decides about the
// hooks nor a file of them has changed since; nil: something has, or this is the first.
func (s *state) openAgain(p Places, parts map[string]Scope) *openWindow {
	last := s.last
	if last == nil || last.changes != s.ledger.changes || len(s.others.known.Files) > 0 || !maps.Equal(last.parts, parts) || !reflect.DeepEqual(last.places, p) {
		return nil
	}
	for dir := range last.dirs {
		for _, path := range s.list(dir).files {
			if _, known := last.scopes[path]; !known {
				return nil
			}
		}
	}
	w := &openWindow{base: maps.Clone(last.base), scopes: last.scopes, dirs: last.dirs, places: p, parts: parts}
	l := s.home.newLook()
	for path, base := range last.base {
		if w.base[path] = l.onDisk(path, base); !w.base[path].same(base) {
			return nil
		}
	}
	return w
}

// lookAtBase looks at the files of a window that is being opened, and at those of the last
// one: what is no part of a hook any more counts as long as the run.
func (s *state) lookAtBase(w *openWindow) {
	last := map[string]Version{}
	if s.last != nil {
		last = s.last.base
		for path, scope := range s.last.scopes {
			if _, known := w.scopes[path]; !known {
				w.scopes[path] = scope
			}
		}
	}
	s.addKnownMissing(w.scopes, w.dirs)
	l := s.home.newLook()
	for path, scope := range w.scopes {
		w.base[path] = l.onDisk(path, last[path])
		s.withholdOfOthers(path, scope, w.base[path])
		if _, known := s.others.known.Files[path]; s.ledger.pending[path] != nil || known && scope != scopeInstructions {
			w.base[path] = s.readLocked(path) // the disk may say another thing at each look
		}
	}
}

// beginWindow says for other programs that a window is open, and which versions are active.
// The first of a run is written into the store; what another program with an open window wrote
// there before stays.
func (s *state) beginWindow(w *openWindow) (err error) {
	if s.damaged != nil {
		return nil // only a user mends it
	}
	if !s.home.store.isWritten() { // before bytes are kept: alone they say that it was removed
		if err := s.change(noEdit); err != nil {
			return fmt.Errorf("note the files before tools run: %w", err)
		}
	}
	known := s.activeFiles(w)
	switch {
	case s.mark == nil:
		s.mark, err = s.home.store.Begin(Window{Groups: w.groups, Asks: s.ledger.askEdits}, s.mayCount, func(d *Data) {
			if len(d.Windows) == 1 {
				d.Known = known
			}
			addKnown(d.Known, known) // what another program knew first stays
			s.ledger.setMarks(d)
		})
		s.wrote = true
	case !s.home.store.isNamed(s.mark.name):
		err = s.change(func(d *Data) { addKnown(d.Known, known) })
	}
	if s.mark == nil {
		return err
	}
	if failed := s.mark.Work(s.starting > 0, w.groups, s.newlyActive(known)); err == nil && failed != nil {
		err = fmt.Errorf("note the files before tools run: %w", failed)
	}
	return err
}

// newlyActive returns the versions of known that neither the store nor the mark of this
// program has.
func (s *state) newlyActive(known Known) map[string]File {
	have, live := s.home.store.Known(), map[string]File{}
	maps.Copy(have.Files, s.mark.mark.live)
	for path, f := range known.Files {
		if was, ok := have.Was(path); !ok || was != f {
			live[path] = f
		}
	}
	return live
}

// Starting is called before a process is started for a tool, and what it returns when that was
// done, once, with its group, or with 0 if there is none. In between the file of the window says
// that one is being started: the process may run and look there before its group can be
// written down, and until then no program approves anything (see [state.mayApprove]).
func (g *Guard) Starting() (started func(group int)) {
	s := g.lock()
	defer g.mu.Unlock()
	s.starting++
	s.noteStart()
	return func(group int) {
		s := g.lock()
		defer g.mu.Unlock()
		if s.starting--; group > 0 {
			s.noteStart(group)
		} else {
			s.noteStart()
		}
	}
}

// noteStart writes to the mark of the window that is open whether a process is being started,
// and groups for which that waits from now on: changes of hooks count as those of tools while
// one of them lives, and a start after a kill knows them.
func (s *state) noteStart(groups ...int) {
	if s.window != nil {
		s.window.groups = append(s.window.groups, groups...)
	}
	if mark := s.openMark(); mark != nil {
		_ = mark.Note(s.starting > 0, groups...) // if it fails, others do not believe what is there
	}
}

// WithholdChanges withholds the files that differ from when the window opened; without an
// open window it does nothing.
func (g *Guard) WithholdChanges() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.state.withholdChanges(true)
}

// withholdChanges is [Guard.WithholdChanges]. Unless sure, files are judged by their stamps.
func (s *state) withholdChanges(sure bool) {
	w := s.window
	if w == nil || s.isOpenToAsk() {
		return
	}
	told := len(s.notices.Began)
	l := s.home.newLook()
	for path, base := range w.base {
		if sure {
			base.stamp = stamp{}
		}
		is, h := l.onDisk(path, base), s.ledger.pending[path]
		switch {
		case h != nil && h.active.same(is):
			s.ledger.undo(path, is)
		case h != nil:
			h.now = is
		case !base.same(is) && w.scopes[path] == scopeInstructions:
			w.base[path] = is
			s.noteInstructions(path)
			_ = s.change(noEdit)
		case !base.same(is):
			s.withhold(change{path, w.scopes[path], base, is})
		}
	}
	if sure {
		clear(s.listed)
	}
	s.withholdAdded(w)
	slices.SortFunc(s.notices.Began[told:], func(a, b *Pending) int { return strings.Compare(a.Path, b.Path) })
	s.lookAtOthers()
	s.writeMarks()
}

// withholdHidden reads, at the end of a run, everything that was judged by its stamps, and
// withholds what has other bytes under the same stamp. What changed visibly since the last
// tool is the user's.
func (s *state) withholdHidden() {
	if s.last == nil {
		return
	}
	for _, path := range slices.Sorted(maps.Keys(s.last.base)) {
		is, scope := s.home.onDisk(path), s.last.scopes[path]
		switch {
		case s.ledger.pending[path] != nil || !s.last.hides(path, is):
		case scope == scopeInstructions:
			s.noteInstructions(path)
			_ = s.change(noEdit)
		default:
			s.withhold(change{path, scope, s.last.base[path], is})
		}
	}
	s.lookAtOthers()
	s.writeMarks()
}

// withholdAdded withholds the hooks and modules that appeared in the directories of w since
// it opened.
func (s *state) withholdAdded(w *openWindow) {
	for dir, scope := range w.dirs {
		l := s.list(dir)
		s.notices.Large = append(s.notices.Large, l.large...)
		for _, path := range l.files {
			if _, known := w.base[path]; known || s.ledger.pending[path] != nil {
				continue
			}
			if is := s.home.onDisk(path); is.exists() {
				s.withhold(change{path, scope, Version{Err: fmt.Errorf("%s is %w", path, ErrNotApproved)}, is})
			}
		}
	}
}

// CloseWindow withholds what the tools of a batch changed, and closes the window if no process
// that one of them started lives any more and changes are not always asked about. Files are
// judged by their stamps, unless this was the last process that was left behind. It reports
// whether the window is closed.
func (g *Guard) CloseWindow() (closed bool) {
	s := g.lock()
	defer g.mu.Unlock()
	w := s.window
	s.withholdChanges(w != nil && w.left && !s.hasProcesses(w))
	return s.endWindow()
}

// EndRun is CloseWindow at the end of a run: everything is read, and what was written about
// the windows of the run is removed. If the window stays open, that happens when it closes.
func (g *Guard) EndRun() (closed bool) {
	s := g.lock()
	defer g.mu.Unlock()
	s.inRun = false
	return s.endRun()
}

// endRun is [Guard.EndRun].
func (s *state) endRun() (closed bool) {
	if s.window != nil {
		s.withholdChanges(true)
	} else {
		s.withholdHidden()
		s.withholdOfClients()
	}
	if closed = s.endWindow(); closed {
		s.endMark()
	}
	return closed
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
	if s.hasProcesses(w) {
		return false, true
	}
	s.withholdChanges(true)
	closed := s.endWindow()
	if closed && !s.inRun {
		s.endMark()
	}
	return true, !closed
}

// hasProcesses reports whether a process that tools started lives, or is being started.
func (s *state) hasProcesses(w *openWindow) bool {
	return s.starting > 0 || slices.ContainsFunc(w.groups, s.others.alive)
}

// NeedsWindowAtStart reports whether a window is open before any tool runs: every change is
// asked about, or processes of the program before live.
func (g *Guard) NeedsWindowAtStart() bool {
	s := g.lock()
	defer g.mu.Unlock()
	return s.ledger.askEdits || len(s.others.inherited) > 0
}

// endWindow closes the window, here and for other programs, unless processes or AskEdits keep
// it open; then it is idle. It reports whether no window is open. While the store does not
// have the marks of what is pending, the window counts for others.
func (s *state) endWindow() (closed bool) {
	w := s.window
	if w == nil {
		return true
	}
	w.idle = true
	w.groups = slices.DeleteFunc(w.groups, func(group int) bool { return !s.others.alive(group) })
	if s.hasProcesses(w) || s.ledger.askEdits {
		w.left = w.left || s.hasProcesses(w)
		return false
	}
	s.putBackIndex()
	if s.mark != nil && s.unwritten == nil {
		_ = s.mark.Rest() // if it fails, tools count as at work
	}
	s.last, s.window = w, nil
	return true
}

// endMark removes what was written about the windows of a run. If the store cannot be written
// it stays there, abandoned.
func (s *state) endMark() {
	s.last = nil
	if s.mark == nil {
		return
	}
	if err := s.change(func(d *Data) { delete(d.Windows, s.mark.name) }); err != nil {
		s.mark.Abandon() // for the next program
	} else {
		s.mark.End()
	}
	s.mark = nil
}

// Close ends the Guard with the program. A window that is still open stays so
// for the next one.
func (g *Guard) Close() {
	s := g.lock()
	defer g.mu.Unlock()
	closed := s.endRun()
	if s.wrote {
		s.home.store.Prune()
	}
	if closed {
		return
	}
	if s.mark == nil && s.home.store != nil {
		_ = s.beginWindow(s.window) // there is nobody left to tell
	}
	if s.mark != nil {
		_ = s.change(noEdit) // so that the store knows which processes live
		s.mark.Abandon()
	}
	s.window, s.mark = nil, nil
}

// TestOnlyKill lets go of what the system closes when a program is killed.
func (g *Guard) TestOnlyKill() {
	s := g.lock()
	defer g.mu.Unlock()
	s.mark.Abandon()
	s.window, s.last, s.mark, s.home.store, s.wrote = nil, nil, nil, nil, false
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
		g.state.notices.Large = append(g.state.notices.Large, l.large...)
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
	g.mu.Lock()
	h.addServers(paths, p)
	h.addAgents(paths, dirs, p.NoProject)
	g.mu.Unlock()
	g.addPackages(paths, dirs, p)
	for _, path := range p.Named() {
		paths[path], paths[filepath.Join(path, "init.lua")] = "", ""
	}
	found := p.Discover(g)
	for _, s := range slices.Concat(found.Sources, found.Disabled) {
		if s.Err != nil {
			continue // the directories and names below are looked at
		}
		paths[s.Path] = s.Scope
		looked, _ := g.literalModules(s)
		maps.Copy(paths, looked)
	}
	return paths, dirs
}

// RemoveAbandonedWindows removes the windows of programs that are gone from the store, but
// those with living processes only if the window of this program waits for them.
func (g *Guard) RemoveAbandonedWindows() {
	s := g.lock()
	defer g.mu.Unlock()
	s.endAbandoned(func(w Window) bool {
		return !w.mayLive(s.others.alive) || !w.isUnsure() && s.openMark() != nil
	})
}

// openWindow is the window of this program: the time in which its tools could change
// files, and how the files were before.
type openWindow struct {
	base   map[string]Version // how files were; what is missing was not there or not known
	scopes map[string]Scope   // of the files in base
	dirs   map[string]Scope   // directories in which a new file would be a hook or a module
	groups []int              // processes that tools started
	idle   bool               // the run has ended; the window only waits for processes
	left   bool               // processes have outlived their tools

	// What base, scopes and dirs were found with.
	places  Places
	parts   map[string]Scope
	changes int // of the ledger
}

// hides reports whether a file has other bytes than at the last look and the same stamp, as
// it has when a process writes into a page of it that is shared. w may be nil.
func (w *openWindow) hides(path string, is Version) bool {
	if w == nil {
		return false
	}
	base := w.base[path]
	return base.stamp.tells() && base.stamp == is.stamp && base.Sum != is.Sum
}

// had reports whether v is the version of a file from when the window opened. A file that the
// window does not know was not there.
func (w *openWindow) had(path string, v Version) bool {
	base, ok := w.base[path]
	return ok && base.same(v) || !ok && !v.exists()
}

// openMark is the mark of this program while its window is open; nil: there is no window, or no
// mark of it.
func (s *state) openMark() *Running {
	if s.window == nil {
		return nil
	}
	return s.mark
}
