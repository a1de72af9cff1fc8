package luahooks

import (
	"context"
	"sync/atomic"
	"time"

	"pi/agent"
	"pi/luahooks/api"
	"pi/luahooks/trust"
)

// Chain is the hooks of a program in their order. It is an [agent.Listener];
// all its methods may be called from any goroutine.
//
// Its parts stand on each other: which hooks there are (roster) and whom they talk to
// (audience), how events pass along them (dispatcher), and how files become what runs
// (loader).
type Chain struct {
	*loader
	watcher atomic.Pointer[watcher]
}

// New returns a chain without hooks; [Chain.Load] fills it.
func New(o Options) *Chain {
	d := &dispatcher{roster: newRoster(o.Mode, o.like), audience: &audience{log: hookLog{path: o.LogPath}},
		behind: newBackground(), timeout: o.Timeout, grace: o.Grace}
	d.keeper = newLoader(o, d)
	return &Chain{loader: d.keeper}
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
	c.ending.stop()
	c.ending.wg.Wait()
	c.lanes.Close()
	if !c.opts.borrowsGuard {
		c.guard.Close()
	}
	c.log.close()
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

// Trace turns on or off that each event that hooks of a name handle is told to
// the person and written to the hook log.
func (c *Chain) Trace(name string, on bool) error {
	hooks, err := c.roster.named(name, c.dir)
	for _, h := range hooks {
		h.traced.Store(on)
	}
	return err
}

// Hooks describes the chain in its order.
func (c *Chain) Hooks() []Info {
	var infos []Info
	for _, h := range c.roster.list() {
		infos = append(infos, h.info(c.dir, c.guard))
	}
	return infos
}
