package luahooks

import (
	"cmp"
	"context"
	"sync/atomic"
	"time"

	"pi/agent"
	"pi/luahooks/api"
	"pi/luahooks/record"
	"pi/luahooks/trust"
	"pi/luavm"
)

// Chain is the hooks of a program in their order. It is an [agent.Listener];
// all its methods may be called from any goroutine.
type Chain struct {
	opts     Options
	dir      workdir
	audience audience
	roster   *roster
	gates    gatekeeper
	reports  *reporter
	events   *dispatcher
	behind   *background // handlers that finish behind the agent, greetings, the watcher
	lanes    luavm.Lanes // what handlers run on
	shared   *shared     // by all instances
	valid    record.ValidJSON

	edits  *edits
	loader *loader

	tools     toolbox
	providers hookProviders
	dialogs   *dialogQueue
	always    answeredAlways

	watcher  atomic.Pointer[watcher]
	guard    *trust.Guard
	builtins []*builtin
}

// New returns a chain without hooks; [Chain.Load] fills it.
func New(o Options) *Chain {
	c := &Chain{opts: o, dir: workdir(o.Cwd), roster: rosterLike(o.like, o.Mode), behind: newBackground(),
		guard: o.Guard}
	if c.guard == nil {
		c.guard = trust.NewForRun(o.Places.Cwd)
	}
	c.gates = gatekeeper{c.roster}
	c.reports = &reporter{audience: &c.audience, log: &hookLog{path: o.LogPath}, isEnding: c.behind.isEnding}
	c.events = newDispatcher(dispatcher{roster: c.roster, modes: modes{c.roster, &c.audience}, gates: c.gates, reports: c.reports, behind: c.behind, lanes: &c.lanes,
		timeout: o.Timeout, grace: o.Grace})
	c.dialogs = newDialogQueue(c.events)
	c.edits = &edits{guard: c.guard, dir: c.dir, audience: &c.audience, behind: c.behind}
	c.loader = &loader{places: &c.opts.Places, guard: c.guard, dir: c.dir, roster: c.roster, gates: c.gates, audience: &c.audience,
		reports: c.reports, behind: c.behind, events: c.events, edits: c.edits, newInstance: c.newInstance, applyRegistered: c.applyRegistered,
		project: &projectApproval{guard: c.guard, places: &c.opts.Places, events: c.events, audience: &c.audience, approve: o.ApproveProject, ask: o.AskProject}}
	c.shared = &shared{dir: c.dir, guard: c.guard, reports: c.reports, keeper: c.loader, timeout: cmp.Or(o.testOnlyLoadTime, o.Timeout), names: c.roster.names, compiled: cmp.Or(o.Compiled, new(Compiled)),
		ending: newBackground(), isEnding: c.behind.isEnding}
	c.events.keeper, c.edits.reload = c.loader, c.loader.reload
	c.opts.Places.ProjectApproved = o.ApproveProject
	c.guard.NoteNamed(o.Places)
	c.providers = hookProviders{roster: c.roster, audience: &c.audience, models: o.Models, overlay: o.Overlay}
	c.tools = toolbox{program: o.Tools, inactive: o.Inactive, mayHave: o.MayHave, roster: c.roster, audience: &c.audience}
	return c
}

// Meet gives the chain its person before there is a front end.
func (c *Chain) Meet(ui agent.UI) { c.audience.ui.Store(&ui) }

// Attach gives the chain its host and its person. Hooks get their events from
// now on, and the host the tools that hooks brought.
func (c *Chain) Attach(host api.Host, ui agent.UI) {
	c.dialogs.attach(ui)
	sends := c.audience.attach(host, ui)
	c.tools.Apply("")
	for _, send := range sends {
		send(host)
	}
}

// PendingNotices returns the notices from before Attach, line by line, and drops them. It
// is for a start that fails: they may say why.
func (c *Chain) PendingNotices() []string { return c.audience.drainNotices() }

// Load finds the hooks and runs their files. Errors are reported, never
// returned: a hook that does not load keeps none of the others from loading. It
// returns the project's hooks that were left out because nobody approved them.
// Those of the project run last, when the others could say whether they may.
func (c *Chain) Load(ctx context.Context) (skipped []trust.Source) { return c.loader.load(ctx) }

// Reload looks at all hook files again and puts what changed into the chain: new
// files appear, deleted ones disappear, changed ones get a new VM. A file that
// does not load leaves its last good version running. Handlers in flight finish
// on the old code. force loads also what has not changed. It returns when the
// hooks with new code have handled their session_start.
func (c *Chain) Reload(ctx context.Context, force bool) { c.loader.reload(ctx, force, true) }

// CatchUp puts in force what was saved a moment ago, as the watcher will.
func (c *Chain) CatchUp(ctx context.Context) { c.loader.reload(ctx, false, false) }

// Watch makes changes of hook files take effect until [Chain.Close] or the end
// of ctx. Without it only [Chain.Reload] does. It is called once, after Load.
func (c *Chain) Watch(ctx context.Context) error {
	w, err := startWatcher(ctx, c.loader, &c.opts.Places, c.behind)
	if err == nil {
		c.watcher.Store(w)
	}
	return err
}

// WatchFrom is Watch from the moment on in which begin says something: what was saved before
// takes effect then. failed is told if the files cannot be watched.
func (c *Chain) WatchFrom(ctx context.Context, begin <-chan time.Time, failed func(error)) {
	c.watcher.Store(startWatcherLater(ctx, c.loader, &c.opts.Places, c.behind, begin, failed))
}

// Wants reports whether a hook listens to k.
func (c *Chain) Wants(k agent.Kind) bool { return c.events.Wants(k) }

// Handle passes e along the chain. The error is only ever that of a chain whose
// context ended at a gate. After Close gates block, and nothing else happens.
func (c *Chain) Handle(ctx context.Context, e agent.Event) error { return c.events.Handle(ctx, e) }

// Watcher is the listener that opens and closes the window in which a change of a
// hook's file may be that of a tool. It listens before hooks do.
func (c *Chain) Watcher() agent.Listener {
	return &toolWatch{edits: c.edits, open: c.loader.openWindow, isIdle: func() bool {
		host := c.audience.hostNow()
		return host != nil && host.IsIdle()
	}}
}

// NoteClientWrites notes that a client writes the file at path for a tool. It is called
// before the write and after it.
func (c *Chain) NoteClientWrites(path string) { c.guard.NoteClientWrites(path) }

// WaitAtEnd lets the end of the session wait, until ctx ends, for what hooks have deferred it
// for (pi.defer_exit). Without it what is not done then is cut off. The cause of ctx says why
// not longer.
func (c *Chain) WaitAtEnd(ctx context.Context) { c.events.deferred.Allow(ctx) }

// Close ends the hooks: handlers in flight finish, or are cut off when ctx ends.
func (c *Chain) Close(ctx context.Context) {
	if !c.behind.announceEnd() {
		return
	}
	if w := c.watcher.Load(); w != nil {
		w.end()
		<-w.done
	}
	c.behind.close(ctx)
	c.endAll()
	c.shared.ending.stop()
	c.shared.ending.wg.Wait()
	c.lanes.Close()
	if !c.opts.borrowsGuard {
		c.guard.Close()
	}
	c.reports.log.close()
}

// endAll ends what runs of the hooks. Nothing is waited for here: who is to end may be
// about to change the chain.
func (c *Chain) endAll() {
	c.loader.changes.Lock()
	defer c.loader.changes.Unlock()
	for _, h := range c.roster.list() {
		if in := h.current(); in != nil {
			in.vm.Close() // it stays in its place, so that its gates are not open
			in.end()
		}
		h.endPrograms(c.shared.ending)
	}
	for _, b := range c.builtins {
		b.close()
	}
}

// AwaitHandlers waits until the handlers that finish behind the agent have ended, and reports
// whether they have before ctx ended.
func (c *Chain) AwaitHandlers(ctx context.Context) bool { return c.behind.wait(ctx) }

// applyRegistered puts what hooks registered in force.
func (c *Chain) applyRegistered(ctx context.Context) {
	c.providers.refresh()
	c.tools.Apply("")
	c.warnCommands(ctx)
}

// Pending lists the files of the chain that wait for approval.
func (c *Chain) Pending() []trust.Pending { return c.guard.ShowPending() }

// Approve puts what p describes in force, which [Chain.Pending] listed and a person
// was shown, and loads what is made of it. It fails for what changed since.
func (c *Chain) Approve(ctx context.Context, p trust.Pending) error {
	err := c.guard.AcceptExactly(&p)
	if err == nil {
		c.Reload(ctx, false)
	}
	return err
}

// SetEnabled turns hooks of a name off or on for the session. What is off is out
// of force at once, its gates too: the person asked for it. Turning on loads the
// file anew; the error is why that did not work.
func (c *Chain) SetEnabled(ctx context.Context, name string, on bool) error {
	hooks, err := c.roster.named(name, c.dir)
	if err != nil {
		return err
	}
	if on {
		return c.loader.turnOn(ctx, hooks)
	}
	c.loader.turnOff(ctx, hooks)
	return nil
}

// Trace turns on or off that each event that hooks of a name handle is told to
// the person and written to the hook log.
func (c *Chain) Trace(name string, on bool) error {
	hooks, err := c.roster.named(name, c.dir)
	for _, h := range hooks {
		h.traced.Store(on)
	}
	return err
}

// Summary is one phrase for the first line of a front end, such as "2 hooks".
func (c *Chain) Summary() string { return c.roster.summary() }

// Hooks describes the chain in its order.
func (c *Chain) Hooks() []Info {
	var infos []Info
	for _, h := range c.roster.list() {
		infos = append(infos, h.info(c.dir, c.guard))
	}
	return infos
}
