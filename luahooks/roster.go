package luahooks

import (
	"fmt"
	"slices"
	"sort"
	"sync/atomic"

	"pi/agent"
	"pi/internal/printable"
	"pi/internal/suggest"
	"pi/luahooks/api"
	"pi/luahooks/event"
	"pi/luahooks/text"
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
}

// newRoster makes one without hooks for a front end.
func newRoster(mode string) *roster {
	r := &roster{names: text.NewNames(), events: map[agent.Kind]*event.Spec{}}
	table := event.Table()
	for i := range table {
		table[i].InMode(mode)
		r.events[table[i].Kind] = &table[i]
	}
	r.hooks.Store(&[]*hook{})
	return r
}

// rosterLike is newRoster with the events of another one, unless that is nil: to make them
// takes longer than the rest of a chain.
func rosterLike(other *roster, mode string) *roster {
	if other == nil {
		return newRoster(mode)
	}
	r := &roster{names: other.names, events: other.events}
	r.hooks.Store(&[]*hook{})
	return r
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

// named returns the hooks that a person means: by name, or by path as it is shown
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

// count adds n, which may be negative, to the handlers of an event, for wants. It does not
// count events that hooks emit.
func (r *roster) count(event string, n int) {
	for kind, spec := range r.events {
		if spec.Name == event {
			r.wanted[kind].Add(int32(n))
		}
	}
}

// knows reports whether hooks can listen to an event.
func (r *roster) knows(event string) bool {
	return api.IsCustom(event) || slices.Contains(r.eventNames(), event)
}

// checkEvent says what is wrong with the name of an event, or with a group of its handlers.
func (r *roster) checkEvent(name string, group *api.Group) error {
	if r.knows(name) {
		return r.checkGroup(name, group)
	}
	return luavm.Misusef("%s", text.UnknownEvent(name, r.eventNames(), r.names.Modules("event", name)))
}

// checkGroup says why handlers of an event that is known cannot be in a group, or which key a
// result of it does not have. group may be nil.
func (r *roster) checkGroup(name string, group *api.Group) error {
	if group == nil {
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
	return names
}

// summary is one phrase, such as "2 hooks, 1 failed".
func (r *roster) summary() string {
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
