package luahooks

import (
	"context"
	"maps"
	"slices"

	"pi/agent"
	"pi/luahooks/trust"
)

// Reload looks at all hook files again and puts what changed into the chain: new
// files appear, deleted ones disappear, changed ones get a new VM. A file that
// does not load leaves its last good version running. Handlers in flight finish
// on the old code. force loads also what has not changed. It returns when the
// hooks with new code have handled their session_start.
func (l *loader) Reload(ctx context.Context, force bool) { l.reload(ctx, force, true) }

// CatchUp puts in force what was saved a moment ago, as the watcher will.
func (l *loader) CatchUp(ctx context.Context) { l.reload(ctx, false, false) }

// reload is Reload; sure is that of update.
func (l *loader) reload(ctx context.Context, force, sure bool) {
	fresh, _ := l.update(ctx, force, sure)
	l.welcome(ctx, fresh)
}

// welcome emits session_start to hooks that run new code and waits for their handlers;
// then the context of an idle session is built anew.
func (l *loader) welcome(ctx context.Context, fresh []*hook) {
	host := l.audience.hostNow()
	if host == nil {
		return
	}
	for _, h := range fresh {
		waitDone(ctx, l.dispatcher.greet(ctx, h, host.Session()))
	}
	if len(fresh) > 0 && l.roster.wants(agent.KindContext) && host.IsIdle() {
		host.Context(ctx)
	}
}

// update brings the list in line with the files: new files appear, deleted ones
// disappear, changed ones get a new VM. force loads also what has not changed. It
// returns the hooks that run new code. Files that are gone or empty are often so for a moment only, while
// an editor saves; unless sure, such hooks do not change, and doubtful reports that
// somebody should look again.
func (l *loader) update(ctx context.Context, force, sure bool) (fresh []*hook, doubtful bool) {
	if l.above != nil { // which decides what runs
		l.follow(ctx)
		return nil, false
	}
	defer l.changing()()
	if l.behind.isEnding() {
		return nil, false
	}
	l.guard.WithholdChanges()
	l.edits.tellNotices(ctx)
	hooks, gone := l.compare()
	if len(gone) > 0 && !sure {
		hooks, doubtful = l.roster.list(), true // the next look brings the new ones too
		gone = nil
	}
	parts := partsOf(append(hooks[:len(hooks):len(hooks)], gone...))
	for _, path := range l.settingsFiles() {
		parts[path] = ""
	}
	agents, _ := l.guard.AgentPaths(l.places.NoProject)
	maps.Copy(parts, agents)
	maps.Copy(parts, l.guard.PackageFiles(*l.places))
	ask, unsure := l.guard.Judge(parts, sure)
	l.edits.tellNotices(ctx)
	if len(ask) > 0 {
		l.edits.ask(ctx, ask)
	}
	doubtful = doubtful || len(unsure) > 0
	if !doubtful {
		hooks, gone = l.compare() // without what is withheld now
	}
	l.roster.closeNew(hooks)
	l.roster.replace(hooks)
	for _, h := range gone {
		l.roster.openGates(h)
		h.replace(nil)
		l.audience.notify(ctx, agent.LevelInfo, "hook "+h.Name+" removed")
	}
	var changed []*hook
	for _, h := range hooks {
		if !h.off.Load() && !unsure[h.Path] && (force || l.hasChanged(h)) {
			changed = append(changed, h)
		}
	}
	for _, a := range l.attemptAll(ctx, changed) {
		if l.install(ctx, a) {
			fresh = append(fresh, a.hook)
			l.audience.notify(ctx, agent.LevelInfo, "hook "+a.hook.Name+" loaded")
		}
	}
	l.warnUnused(ctx, fresh)
	if len(fresh)+len(gone) > 0 {
		l.applyRegistered(ctx)
	}
	return fresh, doubtful
}

// compare searches for hook files anew. It returns the hooks that there are, in their order
// and with new ones for new files, and those whose files are gone. It changes no hook that
// runs. If a directory of hooks cannot be read, it tells, and all stay as they are.
func (l *loader) compare() (hooks, gone []*hook) {
	have := map[string]*hook{}
	for _, h := range l.roster.list() {
		have[h.Path] = h
	}
	found := l.places.Discover(l.guard)
	for _, h := range l.roster.list() {
		if dir, ok := found.Hides(h.Source); ok { // what cannot be seen is not gone
			l.audience.notify(context.Background(), agent.LevelError, dir.Err.Error()+"; the hooks stay as they are")
			return l.roster.list(), nil
		}
	}
	for _, s := range found.Sources {
		h := have[s.Path]
		switch {
		case s.Removed() && (h == nil || !h.unloaded()):
			continue
		case h == nil || h.Scope != s.Scope:
			h = newHook(s)
			// Where its directory could not be read until now, it may have been there from the start.
			h.counts = slices.ContainsFunc(l.roster.list(), func(h *hook) bool { return h.Err != nil && h.counts && s.Below(h.Path) })
		case h.current() == nil:
			h.Real, h.Err = s.Real, s.Err
		}
		if have[s.Path] == h {
			delete(have, s.Path)
		}
		hooks = append(hooks, h)
	}
	for _, h := range l.roster.list() {
		if have[h.Path] == h {
			gone = append(gone, h)
		}
	}
	return hooks, gone
}

// hasChanged reports whether the version in force of a hook's file, or of one that it
// required or looked for, is another one than at the last attempt to load it. changes is held.
func (l *loader) hasChanged(h *hook) bool {
	if h.sum != l.guard.Read(h.Path).Key() || h.sum != notLooked && h.told != l.toldOf(h) {
		return true
	}
	if h.tried != nil {
		for path, sum := range h.tried.script.Files() {
			if l.guard.Read(path).Key() != sum {
				return true
			}
		}
	}
	return false
}

// openWindow opens the window for the first of some tools.
func (l *loader) openWindow(ctx context.Context) {
	l.changes.Lock()
	defer l.changes.Unlock()
	l.edits.open(ctx, *l.places, partsOf(l.roster.list()), false)
}

// startingLate is called before a process is started for a tool that may have ended. The
// function that it returns is told the group of the process, or 0: the window is open while
// that lives, also if it was closed.
func (l *loader) startingLate(ctx context.Context) (started func(group int)) {
	l.changes.Lock()
	defer l.changes.Unlock()
	note := l.guard.Starting() // first: it keeps the window open that is opened now
	l.edits.open(ctx, *l.places, partsOf(l.roster.list()), true)
	return func(group int) {
		note(group)
		l.edits.waitForProcesses()
	}
}

// partsOf returns the files of hooks, and the modules that they required or looked for,
// in the version that runs and in the one that was tried last.
func partsOf(hooks []*hook) map[string]trust.Scope {
	parts := map[string]trust.Scope{}
	for _, h := range hooks {
		parts[h.Path] = h.Scope
		for _, in := range []*instance{h.tried, h.current()} {
			if in == nil {
				continue
			}
			for path := range in.script.Files() {
				parts[path] = h.Scope
			}
		}
	}
	return parts
}

// files returns the files of hooks, and the modules that they required or looked for
// when they were tried last.
func (l *loader) files() (files []string) {
	l.changes.Lock()
	defer l.changes.Unlock()
	for _, h := range l.roster.list() {
		files = append(files, h.Path)
		if h.tried != nil {
			files = append(files, h.tried.files()...)
		}
	}
	for path := range l.guard.PackageFiles(*l.places) {
		files = append(files, path)
	}
	return append(files, l.settingsFiles()...)
}

// agentFolders lists the folders of agents, in which every entry counts.
func (l *loader) agentFolders() []string {
	l.changes.Lock()
	defer l.changes.Unlock()
	_, dirs := l.guard.AgentPaths(l.places.NoProject)
	return dirs
}

// Agents returns the files that define agents as they are in force, those of the user first, and
// with noProject none of the project. A user is asked about those of the project that changed, and
// nobody waits for the answer. It may be called while hooks are loaded.
func (l *loader) Agents(ctx context.Context, noProject bool) []trust.AgentFile {
	files, ask := l.guard.Agents(noProject)
	l.edits.tellNotices(ctx)
	if len(ask) > 0 {
		l.edits.ask(ctx, ask)
	}
	return files
}
