package luahooks

import (
	"context"
	"maps"
	"slices"
	"time"

	"pi/agent"
	"pi/luahooks/trust"
)

// Reload looks at all hook files again and puts what changed into the chain: new
// files appear, deleted ones disappear, changed ones get a new VM. A file that
// does not load leaves its last good version running. Handlers in flight finish
// on the old code. force loads also what has not changed. It returns when the
// hooks with new code have handled their session_start.
func (c *Chain) Reload(ctx context.Context, force bool) {
	fresh, _ := c.update(ctx, force, true)
	c.welcome(ctx, fresh)
}

// CatchUp puts in force what was saved a moment ago, as the watcher will.
func (c *Chain) CatchUp(ctx context.Context) {
	fresh, _ := c.update(ctx, false, false)
	c.welcome(ctx, fresh)
}

// welcome lets hooks that run new code know the session, and then everybody see
// its context.
func (c *Chain) welcome(ctx context.Context, fresh []*hook) {
	for _, h := range fresh {
		waitDone(ctx, c.greet(ctx, h))
	}
	if host := c.audience.hostNow(); host != nil && len(fresh) > 0 && c.Wants(agent.KindContext) && host.IsIdle() {
		host.Context(ctx)
	}
}

// update brings the list in line with the files and returns the hooks that run
// new code. Files that are gone or empty are often so for a moment only, while
// an editor saves; unless sure, they are left as they are, and doubtful says that
// somebody should look again.
func (c *Chain) update(ctx context.Context, force, sure bool) (fresh []*hook, doubtful bool) {
	c.changes.Lock()
	defer c.changes.Unlock()
	if c.behind.isEnding() {
		return nil, false
	}
	c.guard.WithholdChanges()
	c.tellNotices(ctx)
	hooks, gone := c.compare()
	if len(gone) > 0 && !sure {
		hooks, doubtful = c.roster.list(), true // the next look brings the new ones too
		gone = nil
	}
	unsure := c.review(ctx, append(hooks[:len(hooks):len(hooks)], gone...), sure)
	doubtful = doubtful || len(unsure) > 0
	if !doubtful {
		hooks, gone = c.compare() // without what is held now
	}
	c.gates.closeNew(hooks)
	c.roster.replace(hooks)
	for _, h := range gone {
		c.remove(ctx, h)
	}
	var changed []*hook
	for _, h := range hooks {
		if !h.off.Load() && !unsure[h.Path] && (c.look(h) || force) {
			changed = append(changed, h)
		}
	}
	for _, a := range c.attemptAll(ctx, changed) {
		if c.settle(ctx, a) {
			fresh = append(fresh, a.hook)
			c.audience.notify(ctx, agent.LevelInfo, "hook "+a.hook.Name+" loaded")
		}
	}
	if len(fresh)+len(gone) > 0 {
		c.takeEffect(ctx)
	}
	return fresh, doubtful
}

// compare searches for hooks anew. It returns them in their order and those that
// are no more. While a directory cannot be read, everything stays as it is.
func (c *Chain) compare() (hooks, gone []*hook) {
	have := map[string]*hook{}
	for _, h := range c.roster.list() {
		have[h.Path] = h
	}
	found := c.opts.Places.Discover(c.guard)
	for _, h := range c.roster.list() {
		if dir, ok := found.Hides(h.Source); ok { // what cannot be seen is not gone
			c.audience.notify(context.Background(), agent.LevelError, dir.Err.Error()+"; the hooks stay as they are")
			return c.roster.list(), nil
		}
	}
	for _, s := range found.Sources {
		h := have[s.Path]
		switch {
		case s.Removed() && (h == nil || !h.unloaded()):
			continue
		case h == nil || h.Scope != s.Scope:
			h = c.newcomer(s)
		case h.current() == nil:
			h.Real, h.Err = s.Real, s.Err
		}
		if have[s.Path] == h {
			delete(have, s.Path)
		}
		hooks = append(hooks, h)
	}
	for _, h := range c.roster.list() {
		if have[h.Path] == h {
			gone = append(gone, h)
		}
	}
	return hooks, gone
}

// newcomer is a hook that was not seen before. Where the directory of it could not be
// read until now, it may have stood there from the start.
func (c *Chain) newcomer(s trust.Source) *hook {
	n := newHook(s)
	n.counts = slices.ContainsFunc(c.roster.list(), func(h *hook) bool {
		return h.Err != nil && h.counts && s.Below(h.Path)
	})
	return n
}

// review puts the changes of the hooks' files in force that may be, and has the
// person asked about the others. Unless sure, files that are gone or empty are
// left for the next look: unsure has them. c.changes is held.
func (c *Chain) review(ctx context.Context, hooks []*hook, sure bool) (unsure map[string]bool) {
	paths := map[string]trust.Scope{}
	for _, h := range hooks {
		paths[h.Path] = h.Scope
		maps.Copy(paths, h.partPaths())
	}
	ask, unsure := c.guard.Judge(paths, sure)
	c.tellNotices(ctx)
	if len(ask) > 0 {
		c.askEdits(ctx, ask)
	}
	return unsure
}

// look reports whether the files of a hook that are in force are others than
// those of the last attempt to load it. The chain's changes are locked.
func (c *Chain) look(h *hook) bool {
	return h.sum != c.guard.Read(h.Path).Sum || h.tried != nil && h.tried.modulesChanged()
}

// partPaths are the files besides its own that a hook was made of or looked for,
// when it was loaded last and when it was tried last.
func (h *hook) partPaths() map[string]trust.Scope {
	paths := map[string]trust.Scope{}
	for _, in := range []*instance{h.tried, h.current()} {
		if in == nil {
			continue
		}
		for path := range in.script.Files() {
			paths[path] = h.Scope
		}
	}
	return paths
}

// remove takes out a hook whose file is gone. c.changes is held.
func (c *Chain) remove(ctx context.Context, h *hook) {
	c.gates.open(h)
	if in := h.now.Swap(nil); in != nil {
		in.close()
	}
	c.audience.notify(ctx, agent.LevelInfo, "hook "+h.Name+" removed")
}

// greet fires session_start with reason reload for one hook and returns what is
// closed when it has handled it.
func (c *Chain) greet(ctx context.Context, h *hook) <-chan struct{} {
	host := c.audience.hostNow()
	spec := c.roster.events[agent.KindSessionStart]
	if host == nil || len(h.current().handlers(spec.Name)) == 0 {
		done := make(chan struct{})
		close(done)
		return done
	}
	s := host.Session()
	e := &agent.SessionStart{Reason: "reload", SessionID: s.ID(), SessionFile: s.File()}
	return h.queue.add(c.behind, func(t *turn) {
		ctx, cancel := c.behind.detach(ctx)
		defer cancel()
		c.events.emitTo(ctx, &pendingEvent{hook: h}, spec, e, time.Time{}, t)
	})
}
