package luahooks

import (
	"path/filepath"
	"sync"
	"sync/atomic"

	"pi/internal/child"
	"pi/luahooks/api"
	"pi/luahooks/trust"
)

// hook is one hook file for as long as it is in the chain. What runs is its
// current instance; a reload replaces that.
type hook struct {
	trust.Source
	now     atomic.Pointer[instance]    // nil: it did not load, or is disabled
	closed  atomic.Pointer[closedGates] // gates that block without being asked
	queue   eventQueue
	updates updates
	kept    child.Kept // programs of it that survive a reload

	stats  stats
	off    atomic.Bool // turned off by the person, for the session
	traced atomic.Bool // what its handlers do is told

	mu        sync.Mutex // guards what follows, up to code
	lastError string
	lastCount int    // how often that happened
	rejected  string // why the version saved last does not run; "" if it does, or none runs
	disabled  bool   // for the session, after a VM that did not stop
	abandoned int
	code      []byte // the bytes that run

	// Only while the chain's changes are locked.
	tried  *instance // the last attempt to load it, maybe a failed one; nil before
	sum    string    // of the bytes that it was made of
	counts bool      // it was there when the program began, or was turned on: it may be a gate until it loads
}

// newHook is a hook whose file nobody has read yet.
func newHook(s trust.Source) *hook { return &hook{Source: s, sum: notLooked} }

const notLooked = "not looked at"

func (h *hook) current() *instance { return h.now.Load() }

// replace puts an instance in force in place of the one before; nil: none.
func (h *hook) replace(in *instance) {
	if in != nil {
		in.script.Registered.Handlers.Enter()
	}
	old := h.now.Swap(in)
	if old == nil {
		return
	}
	old.close()
	if in == nil {
		h.endPrograms(old.loader.ending)
	}
}

// endPrograms ends the programs of a hook that would survive a reload, behind.
func (h *hook) endPrograms(behind *background) {
	for _, c := range h.kept.TakeAll() {
		behind.run(c.Close)
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

// fault notes an error of the hook, for [Info]; its line has failed n times.
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

// registered returns what the running version of the hook has registered; nothing if
// none runs.
func (h *hook) registered() *api.Registered {
	if in := h.current(); in != nil {
		return &in.script.Registered
	}
	return new(api.Registered)
}

// isOwn reports whether a hook is the person's own, wherever the program runs.
func (h *hook) isOwn() bool { return h.Scope == trust.ScopeGlobal || h.Scope == trust.ScopeCommand }
