package luahooks

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"pi/agent"
	"pi/luahooks/event"
	"pi/luahooks/record"
	"pi/luahooks/trust"
	"pi/luavm"
	"pi/session"

	lua "github.com/yuin/gopher-lua"
)

// Load finds the hooks and runs their files. Errors are reported, never
// returned: a hook that does not load keeps none of the others from loading. It
// returns the project's hooks that were left out because nobody approved them.
// Those of the project run last, when the others could say whether they may.
func (c *Chain) Load(ctx context.Context) (skipped []trust.Source) {
	found := c.opts.Places.Discover(c.guard)
	for _, err := range found.Problems {
		c.audience.notify(ctx, agent.LevelError, err.Error())
	}
	hooks := make([]*hook, len(found.Sources))
	var others, ofProject []*hook
	for i, s := range found.Sources {
		hooks[i] = newHook(s)
		hooks[i].counts = true
		if s.Scope == trust.ScopeProject {
			ofProject = append(ofProject, hooks[i])
		} else {
			others = append(others, hooks[i])
		}
	}
	c.roster.replace(hooks)
	c.loadAll(ctx, others)
	skipped = found.Untrusted
	if len(ofProject) > 0 {
		may := c.decideProject(ctx) // hooks are asked, so nothing is locked
		ofProject, skipped = c.leaveOut(ofProject, may)
		c.loadAll(ctx, ofProject)
	}
	c.changes.Lock()
	defer c.changes.Unlock()
	c.takeEffect(ctx)
	c.guardEdits(ctx)
	if warning := c.gates.warning(); warning != "" {
		c.audience.notify(ctx, agent.LevelError, warning)
	}
	return skipped
}

func (c *Chain) loadAll(ctx context.Context, hooks []*hook) {
	c.changes.Lock()
	defer c.changes.Unlock()
	for _, a := range c.attemptAll(ctx, hooks) {
		c.settle(ctx, a)
	}
}

// leaveOut takes the hooks of the project that may not run out of the chain.
func (c *Chain) leaveOut(ofProject []*hook, may bool) (run []*hook, skipped []trust.Source) {
	c.changes.Lock()
	defer c.changes.Unlock()
	c.opts.Places.NoProject = !may
	out := func(h *hook) bool { return h.Scope == trust.ScopeProject && !(may && c.approvedHook(h)) }
	for _, h := range ofProject {
		switch {
		case !out(h):
			run = append(run, h)
		case h.Err == nil:
			skipped = append(skipped, h.Source)
		}
	}
	hooks := slices.DeleteFunc(slices.Clone(c.roster.list()), out)
	c.roster.replace(hooks)
	return run, skipped
}

// approvedHook reports whether a hook of the project is approved, or may be and
// cannot be read.
func (c *Chain) approvedHook(h *hook) bool {
	if h.Err != nil {
		return true // Discover has asked
	}
	v := c.guard.Read(h.Path)
	return c.guard.MayRunVersion(h.Scope, h.Path, v) || v.Err != nil && c.guard.WasApproved(h.Path)
}

// guardEdits opens the window that never closes, where every change is asked
// about, and goes on with one whose processes outlived the program before. c.changes
// is held.
func (c *Chain) guardEdits(ctx context.Context) {
	if c.guard.NeedsWindowAtStart() {
		c.openWindow(ctx)
		if !c.guard.CloseWindow() {
			c.awaitProcesses()
		}
	}
	c.guard.RemoveAbandonedWindows()
}

// attempt is one try to load a hook's file.
type attempt struct {
	hook *hook
	code []byte
	in   *instance // nil if it did not load
	err  error
}

// attemptAll loads the files of hooks side by side. c.changes is held.
func (c *Chain) attemptAll(ctx context.Context, hooks []*hook) []attempt {
	attempts := make([]attempt, len(hooks))
	var loads sync.WaitGroup
	for i, h := range hooks {
		loads.Go(func() { attempts[i] = c.attempt(ctx, h) })
	}
	loads.Wait()
	return attempts
}

func (c *Chain) attempt(ctx context.Context, h *hook) attempt {
	v := c.guard.Read(h.Path)
	h.sum = v.Sum
	code, err := v.Code, cmp.Or(h.Err, v.Err)
	if err == nil && !c.guard.MayRunVersion(h.Scope, h.Path, v) {
		err = c.errUnapproved(h.Path, v)
	}
	if err != nil {
		return attempt{hook: h, err: err}
	}
	var state json.RawMessage
	if old := h.current(); old != nil {
		var lost error
		if state, lost, err = old.script.State(ctx); interrupted(ctx, err) {
			return attempt{hook: h, err: err}
		} else if err = cmp.Or(err, lost); err != nil {
			c.audience.notify(ctx, agent.LevelWarning, "hook "+h.Name+": not carried over: "+err.Error())
		}
	}
	in, err := c.run(ctx, h, code, state)
	h.tried = in
	if err != nil {
		in = nil
	}
	return attempt{h, code, in, err}
}

// settle puts what came of an attempt into the chain. Without a VM the last good
// version keeps running. It reports whether the hook runs new code now. c.changes
// is held.
func (c *Chain) settle(ctx context.Context, a attempt) bool {
	h, old := a.hook, a.hook.current()
	if a.err != nil && old == nil {
		c.shutUnasked(h, a)
	}
	if interrupted(ctx, a.err) {
		h.sum = notLooked // the next look tries again
		return false
	}
	if a.err != nil {
		if old != nil {
			h.reject(a.err)
		} else {
			h.fault(a.err, 1)
		}
		c.reports.log.write(h.Name, "load: "+fullText(a.err))
		c.audience.notify(ctx, agent.LevelError, "hook "+h.Name+" did not load"+keeps(h, old)+": "+a.err.Error())
		c.behind.run(func() { c.reports.tellFailed(ctx, failureOf(h, "load", a.err, 1), "") }) // the chain is being changed
		return false
	}
	a.in.script.Registered.Handlers.Enter()
	h.now.Store(a.in)
	if old != nil {
		old.close()
	}
	c.gates.open(h)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.code, h.disabled, h.lastError, h.rejected = a.code, false, "", ""
	return true
}

// shutUnasked shuts the gates of a hook that has no version that runs.
func (c *Chain) shutUnasked(h *hook, a attempt) {
	if c.guard.IsLost(h.Path) {
		c.gates.closeLost(h)
	} else {
		c.gates.closeUnloaded(h, a.err)
	}
}

func keeps(h *hook, old *instance) string {
	closed := h.closed.Load()
	switch {
	case old != nil:
		return ", the last good version keeps running"
	case closed == nil:
		return ""
	case closed.unloaded:
		return ", tools are shut"
	}
	return ", its gate stays shut"
}

// takeEffect brings what hooks registered in line with the chain.
func (c *Chain) takeEffect(ctx context.Context) {
	c.applyProviders()
	c.tools.Apply("")
	c.warnCommands(ctx)
}

// run makes a VM that runs code for h. state is pi.state of the version before.
// The instance of a failed run is closed; it still knows the files it wanted.
func (c *Chain) run(ctx context.Context, h *hook, code []byte, state json.RawMessage) (*instance, error) {
	in := c.newInstance(h)
	in.code = code
	err := in.load(ctx, code, state)
	if err != nil {
		in.close()
	}
	return in, err
}

func (in *instance) load(ctx context.Context, code []byte, state json.RawMessage) error {
	name := in.chain.dir.shown(in.hook.Path)
	if err := checkAPI(name, code); err != nil {
		return err
	}
	proto, err := luavm.Compile(name, code)
	if err != nil {
		return err
	}
	return in.vm.Run(ctx, luavm.Job{Name: "load", Loading: true, Timeout: cmp.Or(in.chain.opts.testOnlyLoadTime, in.chain.opts.Timeout), Run: func(L *lua.LState) error {
		in.script.Run(L, proto, state)
		return nil
	}})
}

func (c *Chain) newInstance(h *hook) *instance {
	in := &instance{chain: c, hook: h, real: c.guard.RealPath(h.Source), behind: newBackground(), failures: map[failure]int{}}
	in.vm = luavm.New(luavm.Options{
		Print:         func(line string) { c.audience.notify(context.Background(), agent.LevelInfo, h.Name+": "+line) },
		MemoryLimit:   c.opts.Memory,
		StrictGlobals: true,
		Lanes:         &c.lanes,
		Waits: func(job, function string) {
			// For its tools, models and timers waiting is nothing special.
			if c.roster.knows(job) || strings.HasPrefix(job, "/") || strings.HasPrefix(job, "shortcut ") {
				c.audience.notify(context.Background(), agent.LevelInfo, "hook "+h.Name+": "+job+" still waits for "+function)
			}
		},
		Panicked: func(function string, value any, stack []byte) {
			c.reports.log.write(h.Name, fmt.Sprintf("panic in %s: %v\n%s", function, value, stack))
		},
	})
	in.records = record.NewConverter(in.vm, &c.valid)
	in.script = NewScript(in.vm, in.records, c.program(in))
	in.events = event.NewSource(in.vm, in.records, h.Name, in.script.Signal, c.currentBranch)
	return in
}

// currentBranch is that of the session; known is false without one.
func (c *Chain) currentBranch() (branch []*session.Entry, known bool) {
	host := c.audience.hostNow()
	if host == nil {
		return nil, false
	}
	return host.Session().Branch(), true
}

// pinnedWithin is in how many lines of a hook's head the API may be pinned.
const pinnedWithin = 10

// checkAPI refuses a hook that was written for another version of the API.
func checkAPI(name string, code []byte) error {
	lines := bytes.SplitN(code, []byte("\n"), pinnedWithin+1)
	for i, line := range lines[:min(pinnedWithin, len(lines))] {
		pin := apiPin(string(line))
		if pin == fmt.Sprint(API) {
			return nil
		}
		if pin != "" {
			return fmt.Errorf("%s:%d: the hook wants pi-api %s, this program has %d", name, i+1, pin, API)
		}
	}
	return nil
}

// apiPin is the version that a line "-- pi-api: 1" names, "" for any other line.
func apiPin(line string) string {
	comment, isComment := strings.CutPrefix(line, "--")
	pin, pins := strings.CutPrefix(strings.TrimSpace(comment), "pi-api:")
	if words := strings.Fields(pin); isComment && pins && len(words) == 1 {
		return words[0]
	}
	return ""
}

// maxAbandoned bounds how many VMs that did not stop may pile up.
const (
	maxAbandonedHook    = 1
	maxAbandonedProcess = 2
)

// revive replaces a VM that had to be given up by a fresh one that runs the same
// bytes. The next time, the hook is disabled for the session. It does nothing for
// a VM that is well.
func (c *Chain) revive(ctx context.Context, h *hook, dead *instance) {
	if !dead.vm.Dead() {
		return
	}
	c.changes.Lock()
	defer c.changes.Unlock()
	if h.current() != dead || c.behind.isEnding() {
		return
	}
	ctx, cancel := c.behind.detach(ctx) // who is interrupted wants a working hook afterwards too
	defer cancel()
	h.mu.Lock()
	h.abandoned++
	n, code := h.abandoned, h.code
	h.mu.Unlock()
	if total := c.abandoned.Add(1); n > maxAbandonedHook || total > maxAbandonedProcess {
		c.disable(ctx, h, dead)
		return
	}
	in, err := c.run(ctx, h, code, nil)
	if err != nil {
		h.fault(err, 1)
		c.disable(ctx, h, dead)
		return
	}
	in.script.Registered.Handlers.Enter()
	h.now.Store(in)
	dead.close()
	c.takeEffect(ctx)
	c.audience.notify(ctx, agent.LevelWarning, "hook "+h.Name+" did not stop; a fresh copy of it goes on")
	c.greet(ctx, h)
}

// disable takes a hook out of the chain for the session. Its gates go on to
// block: a gate that is gone must not be an open one.
func (c *Chain) disable(ctx context.Context, h *hook, in *instance) {
	c.gates.closeDisabled(h, in)
	h.mu.Lock()
	h.disabled = true
	h.mu.Unlock()
	h.now.Store(nil)
	in.close()
	c.takeEffect(ctx)
	c.audience.notify(ctx, agent.LevelError, "hook "+h.Name+" is disabled for this session: it did not stop again; change its file to load it anew")
}
