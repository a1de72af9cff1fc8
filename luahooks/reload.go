package luahooks

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"pi/agent"
)

// Reload looks at all hook files again and puts what changed into the chain: new
// files appear, deleted ones disappear, changed ones get a new VM. A file that
// does not load leaves its last good version running. Handlers in flight finish
// on the old code. force loads also what has not changed.
func (c *Chain) Reload(ctx context.Context, force bool) {
	c.changes.Lock()
	fresh := c.update(ctx, force)
	c.changes.Unlock()
	if len(fresh) == 0 {
		return
	}
	for _, h := range fresh {
		c.restarted(ctx, h)
	}
	if host := c.hostNow(); host != nil && c.Wants(agent.KindContext) && host.IsIdle() {
		host.Context(ctx)
	}
}

// update brings the list in line with the files and returns the hooks that run
// new code. c.changes is held.
func (c *Chain) update(ctx context.Context, force bool) (fresh []*hook) {
	found := c.opts.Places.Discover()
	have := map[string]*hook{}
	for _, h := range c.list() {
		have[h.Path] = h
	}
	hooks := make([]*hook, 0, len(found.Sources))
	var added []*hook
	for _, s := range found.Sources {
		h := have[s.Path]
		delete(have, s.Path)
		if h == nil {
			h = &hook{Source: s}
			added = append(added, h)
		}
		hooks = append(hooks, h)
	}
	c.hooks.Store(&hooks)
	for _, gone := range have {
		c.remove(ctx, gone)
	}
	for _, h := range hooks {
		if c.renew(ctx, h, force || slices.Contains(added, h)) {
			fresh = append(fresh, h)
		}
	}
	return fresh
}

// remove takes out a hook whose file is gone. c.changes is held.
func (c *Chain) remove(ctx context.Context, h *hook) {
	old := h.current()
	h.close()
	c.applyProviders(nil, old)
	c.applyTools()
	c.notify(ctx, agent.LevelInfo, "hook "+h.Name+" removed")
}

// renew loads a hook again if its bytes changed, and reports whether it runs new
// code now. c.changes is held.
func (c *Chain) renew(ctx context.Context, h *hook, force bool) bool {
	if real, err := filepath.EvalSymlinks(h.Path); err == nil {
		h.Real = real
	}
	code, err := readHook(h.Real)
	if err != nil || len(code) == 0 {
		return false // between two writes of an editor; its next event comes
	}
	hash := hashOf(code) + moduleHash(h.current())
	h.mu.Lock()
	same := hash == h.hash
	h.hash = hash
	h.mu.Unlock()
	if same && !force {
		return false
	}
	return c.replace(ctx, h, code)
}

// moduleHash covers the modules that the running version required.
func moduleHash(in *instance) string {
	if in == nil {
		return ""
	}
	sum := ""
	for _, path := range in.files()[1:] {
		code, err := os.ReadFile(path)
		if err != nil {
			return "missing " + path
		}
		sum += hashOf(code)
	}
	return sum
}

func (c *Chain) replace(ctx context.Context, h *hook, code []byte) bool {
	old := h.current()
	var state json.RawMessage
	if old != nil {
		var err error
		if state, err = old.encodeState(ctx); err != nil {
			c.notify(ctx, agent.LevelWarning, fmt.Sprintf("hook %s: its state is not carried over: %v", h.Name, err))
		}
	}
	in, err := c.run(ctx, h, code, state)
	if err != nil {
		h.fault(err)
		c.log.write(h.Name, "load: "+fullText(err))
		c.notify(ctx, agent.LevelError, fmt.Sprintf("hook %s did not load%s: %v", h.Name, keeps(old), err))
		return false
	}
	c.install(ctx, h, in, old)
	h.mu.Lock()
	h.code, h.disabled, h.lastError = code, false, ""
	h.hash = hashOf(code) + moduleHash(in)
	h.mu.Unlock()
	c.notify(ctx, agent.LevelInfo, "hook "+h.Name+" loaded")
	c.watcher.follow(in.files())
	return true
}

func keeps(old *instance) string {
	if old != nil {
		return ", the last good version keeps running"
	}
	return ""
}

// restarted fires session_start with reason reload for one hook.
func (c *Chain) restarted(ctx context.Context, h *hook) {
	host := c.hostNow()
	if host == nil {
		return
	}
	s := host.Session()
	e := &agent.SessionStart{Reason: "reload", SessionID: s.ID(), SessionFile: s.File()}
	spec := c.events[agent.KindSessionStart]
	<-h.queue.add(c, func() { c.tellHook(ctx, h, spec, e) })
}
