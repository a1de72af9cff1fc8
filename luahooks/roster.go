package luahooks

import (
	"fmt"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"sync"
	"sync/atomic"

	"pi/agent"
	"pi/internal/child"
	"pi/internal/printable"
	"pi/internal/suggest"
	"pi/luahooks/api"
	"pi/luahooks/event"
	"pi/luahooks/text"
	"pi/luahooks/trust"
	"pi/luavm"
)

// roster is the hooks of a chain in their order, the events that they can listen
// to, and how many do. All methods may be called from any goroutine; who replaces
// the list or a hook of it holds the chain's changes.
type roster struct {
	names  *text.Names                // that authors may have meant
	events map[agent.Kind]*event.Spec // never changed
	hooks  atomic.Pointer[[]*hook]    // the list is replaced, never changed
	wanted [256]atomic.Int32          // handlers and closed gates, per agent.Kind

	reserved []string // names of the commands of the program
}

// newRoster makes one without hooks for a front end. Its events are those of another one,
// unless like is nil: to make them takes longer than the rest of a chain.
func newRoster(mode string, like *roster) *roster {
	r := &roster{}
	r.hooks.Store(&[]*hook{})
	if like != nil {
		r.names, r.events = like.names, like.events
		return r
	}
	r.names, r.events = text.NewNames(), map[agent.Kind]*event.Spec{}
	table := event.Table()
	for i := range table {
		table[i].InMode(mode)
		r.events[table[i].Kind] = &table[i]
	}
	others := event.OtherRoles()
	for i := range others {
		others[i].Key = api.ForAllRoles(others[i].Name)
		r.events[others[i].Kind] = &others[i]
	}
	return r
}

// KnowsType reports whether a hook that is loaded has a type of entries: it stands as a string in
// its text, or in that of a module of it. Nothing in a session tells more.
func (r *roster) KnowsType(typ string) bool {
	return slices.ContainsFunc(r.list(), func(h *hook) bool {
		in := h.current()
		return in != nil && in.script.HasText(typ)
	})
}

// list returns the hooks in their order. It must not be changed.
func (r *roster) list() []*hook { return *r.hooks.Load() }

func (r *roster) replace(hooks []*hook) { r.hooks.Store(&hooks) }

// listening returns the hooks with handlers for an event, in their order.
func (r *roster) listening(event string) (hooks []*hook) {
	for _, h := range r.list() {
		if len(h.current().handlers(event)) > 0 {
			hooks = append(hooks, h)
		}
	}
	return hooks
}

// named returns the hooks that a user means: by name, or by path as it is shown
// below dir or whole.
func (r *roster) named(name string, dir workdir) ([]*hook, error) {
	var hooks []*hook
	var names []string
	for _, h := range r.list() {
		names = append(names, h.Name)
		if name == h.Name || name == h.Path || name == dir.shown(h.Path) {
			hooks = append(hooks, h)
		}
	}
	if len(hooks) > 0 {
		return hooks, nil
	}
	if near := suggest.Nearest(name, names); near != "" {
		return nil, fmt.Errorf("no hook %q; did you mean %q?", name, near)
	}
	return nil, fmt.Errorf("no hook %q", name)
}

// tool returns the tool of a hook that a name means, that of the last hook which has
// one; nil: no hook has.
func (r *roster) tool(name string) *api.Tool {
	for _, h := range slices.Backward(r.list()) {
		if t, ok := h.registered().Tools.Find(name); ok {
			return t
		}
	}
	return nil
}

// wants reports whether a hook listens to k, or has a closed gate there.
func (r *roster) wants(k agent.Kind) bool { return r.wanted[k].Load() > 0 }

// count adds n, which may be negative, to the handlers that are registered under a key, for
// wants. It does not count events that hooks emit.
func (r *roster) count(key string, n int) {
	for kind, spec := range r.events {
		if spec.Key == key {
			r.wanted[kind].Add(int32(n))
		}
	}
}

// knows reports whether hooks can listen to an event.
func (r *roster) knows(event string) bool {
	for _, spec := range r.events {
		if spec.Name == event {
			return true
		}
	}
	return api.IsCustom(event)
}

// checkEvent says what is wrong with the name of an event, why handlers of it cannot ask for
// all roles or be in a group, or which key of that a result does not have. group may be nil.
func (r *roster) checkEvent(name string, allRoles bool, group *api.Group) error {
	switch {
	case !r.knows(name):
		return luavm.Misusef("%s", text.UnknownEvent(name, r.eventNames(), r.names.Modules("event", name)))
	case allRoles && !slices.ContainsFunc(event.OtherRoles(), func(s event.Spec) bool { return s.Name == name }):
		return luavm.Misusef("option \"roles\" belongs to message_start and message_end, not to %s", name)
	case group == nil:
		return nil
	}
	for _, spec := range r.events {
		if spec.Name != name || !spec.MayGroup() {
			continue
		}
		if group.Rule == api.GroupLast && !spec.MayWithdraw() {
			return luavm.Misusef("group: handlers of %s see what those before them answered, so nothing is taken back; the rule last is not for them", name)
		}
		for _, key := range group.Keys {
			if !spec.MayReturn(key) {
				return luavm.Misusef("group: %v", spec.UnknownKey(key))
			}
		}
		return nil
	}
	return luavm.Misusef("group: handlers of %s have none; what each of them answers counts, or nothing does", name)
}

// eventNames returns the names of the program's own events, sorted.
func (r *roster) eventNames() []string {
	var names []string
	for _, spec := range r.events {
		names = append(names, spec.Name)
	}
	sort.Strings(names)
	return slices.Compact(names)
}

// Summary is one phrase for the first line of a front end, such as "2 hooks, 1 failed".
func (r *roster) Summary() string {
	loaded, failed := 0, 0
	for _, h := range r.list() {
		if h.current() != nil {
			loaded++
		} else {
			failed++
		}
	}
	summary := printable.Count(loaded, "hook")
	if failed > 0 {
		summary += fmt.Sprintf(", %d failed", failed)
	}
	return summary
}

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
	off    atomic.Bool // turned off by the user, for the session
	traced atomic.Bool // what its handlers do is told

	mu        sync.Mutex // guards what follows, up to code
	lastError string
	lastCount int    // how often that happened
	rejected  string // why the version saved last does not run; "" if it does, or none runs
	disabled  bool   // for the session, after a VM that did not stop
	code      []byte // the bytes that run

	// Only while the chain's changes are locked.
	tried  *instance // the last attempt to load it, maybe a failed one; nil before
	sum    string    // of the bytes that it was made of
	told   string    // what the settings said of it then, see [loader.toldOf]
	counts bool      // it was there when the program began, or was turned on: it may be a gate until it loads
	of     *instance // in a child: that of the agent above which it is like; nil: none runs there
}

// newHook is a hook whose file nobody has read yet.
func newHook(s trust.Source) *hook { return &hook{Source: s, sum: notLooked} }

const notLooked = "not looked at"

func (h *hook) current() *instance { return h.now.Load() }

// replace puts an instance in force in place of the one before; nil: none.
func (h *hook) replace(in *instance) {
	if old := h.current(); old != nil {
		old.endServers() // before the next version wants servers of the same names
	}
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

// mending is what a user can do about a hook that does not load, beside turning it off.
func (h *hook) mending() string {
	switch {
	case h.Package == "":
		return "mend or remove " + h.File()
	case h.Scope == trust.ScopeProject:
		return "have package " + h.Package + " mended where the project has it from"
	}
	return "update or remove package " + h.Package
}

// File is how messages name the hook: gate.lua, or gate/init.lua; of a package by its name.
func (h *hook) File() string {
	if h.Package != "" {
		return h.Name
	}
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

// isOwn reports whether a hook is the user's own, wherever the program runs.
func (h *hook) isOwn() bool { return h.Scope == trust.ScopeGlobal || h.Scope == trust.ScopeCommand }

// workdir is the working directory of a chain.
type workdir string

// shown is how a path is written in messages: relative below the working directory,
// whole elsewhere.
func (d workdir) shown(path string) string {
	if rel, err := filepath.Rel(string(d), path); err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return rel
	}
	return path
}
