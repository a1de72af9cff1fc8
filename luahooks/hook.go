package luahooks

import (
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	"pi/luahooks/api"
	"pi/luahooks/trust"
)

// hook is one hook file for as long as it stands in the chain. What runs is its
// current instance; a reload replaces that.
type hook struct {
	trust.Source
	now     atomic.Pointer[instance]    // nil: it did not load, or is disabled
	closed  atomic.Pointer[closedGates] // gates that block without being asked
	queue   eventQueue
	updates updates

	stats  stats
	off    atomic.Bool // turned off by the person, for the session
	traced atomic.Bool // what its handlers do is told

	mu        sync.Mutex
	lastError string
	lastCount int    // how often that came
	rejected  string // why the version saved last does not run; "" if it does, or none runs
	disabled  bool   // for the session, after a VM that did not stop
	abandoned int
	code      []byte // the bytes that run

	// Only while the chain's changes are locked.
	tried  *instance // the last attempt to load it, maybe a failed one; nil before
	sum    string    // of the bytes that it was made of
	counts bool      // it stood here when the program began, or was turned on: it may be a gate until it loads
}

// newHook is a hook that was not looked at yet.
func newHook(s trust.Source) *hook { return &hook{Source: s, sum: notLooked} }

const notLooked = "not looked at"

func (h *hook) current() *instance { return h.now.Load() }

// replace puts an instance in force in place of the one before; nil: none.
func (h *hook) replace(in *instance) {
	if in != nil {
		in.script.Registered.Handlers.Enter()
	}
	if old := h.now.Swap(in); old != nil {
		old.close()
	}
}

// File is how messages name the hook: gate.lua, or gate/init.lua.
func (h *hook) File() string {
	base := filepath.Base(h.Path)
	if base == "init.lua" {
		return h.Name + "/" + base
	}
	return base
}

// fault notes what went wrong, for the n-th time.
func (h *hook) fault(err error, n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lastError, h.lastCount = err.Error(), n
}

// reject notes that a version did not load while another one runs.
func (h *hook) reject(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.rejected = err.Error()
}

func (h *hook) info(dir workdir, guard *trust.Guard) Info {
	h.mu.Lock()
	i := Info{Name: h.Name, Path: dir.shown(h.Path), Scope: h.Scope, State: "active", LastError: h.lastError, LastErrors: h.lastCount, Rejected: h.rejected, Shuts: h.unloaded(), Dropped: h.queue.lost()}
	disabled := h.disabled
	h.mu.Unlock()
	var all EventStats
	i.Stats, all = h.stats.list()
	i.Calls, i.Errors, i.P50, i.P99 = all.Calls, all.Errors, all.P50, all.P99
	in := h.current()
	switch {
	case disabled || h.off.Load():
		i.State = "disabled"
	case in == nil:
		i.State = "failed"
	default:
		i.add(&in.script.Registered)
		if guard.IsPending(h.Path) || slices.ContainsFunc(in.files(), guard.IsPending) {
			i.State = "pending"
		}
	}
	return i
}

// registered is what the version of the hook that runs has registered; nothing, if
// none runs.
func (h *hook) registered() *api.Registered {
	if in := h.current(); in != nil {
		return &in.script.Registered
	}
	return new(api.Registered)
}

// add describes what a hook registered.
func (i *Info) add(r *api.Registered) {
	i.Events = r.Handlers.Events()
	for _, c := range r.Commands.All() {
		i.Commands = append(i.Commands, c.Name)
	}
	for _, t := range r.Tools.All() {
		i.Tools = append(i.Tools, t.Spec().Name)
	}
	for _, p := range r.Providers.All() {
		i.Others = append(i.Others, "provider "+p.Settings.Name)
	}
	for _, f := range r.Flags.All() {
		i.Others = append(i.Others, "--"+f.Name)
	}
	for _, s := range r.Shortcuts.All() {
		i.Others = append(i.Others, "key "+s.Name)
	}
	for _, r := range r.Renderers.All() {
		i.Others = append(i.Others, "renderer "+r.Kind)
	}
}

// isOwn reports whether a hook is the person's own, wherever the program runs.
func (h *hook) isOwn() bool { return h.Scope == trust.ScopeGlobal || h.Scope == trust.ScopeCommand }
