package luahooks

import (
	"fmt"
	"slices"
	"strings"

	"pi/agent"
	"pi/luahooks/api"
	"pi/luahooks/event"
	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// asking is what a walk knows of the handlers that it asks.
type asking struct {
	seen agent.Event // the copy that handlers get; nil: the event has changed, so start makes one
	last *question   // of the handler that was asked last

	groups *groups // of the handlers; nil: none was in one so far

	until    place // at a gate: the handlers before it are asked; no hook: all
	rewriter place // at a gate: of the last handler that rewrote the arguments
}

// apply carries out on the event what the last handler, which ended with err, returned. With
// an error, as of a handler that is late, that has no effect. stop reports whether no later
// handler is to be asked.
func (w *walk) apply(err error) (stop bool) {
	if err != nil {
		return false
	}
	a := &w.asking
	if m := a.last.member; m != nil {
		if a.groups == nil {
			a.groups = &groups{spec: w.spec, event: w.event}
		}
		for _, key := range slices.Sorted(slices.Values(m.omitted)) {
			w.dispatcher.log.write(w.hook.Name, fmt.Sprintf("%s: %s is left out: another handler of the group %s gave one first", w.spec.Name, key, m.group.Name))
		}
	}
	if a.last.apply != nil {
		a.groups.apply(a.last.member, a.last.apply)
		a.seen = nil
	}
	return a.last.stop
}

// place is a handler's place in the chain.
type place struct {
	hook *hook
	mode string // "" where n is among the handlers of the event, else it is in the gate of this mode
	in   *instance
	n    int // among the handlers of in
}

// question is one handler asked about an event. apply, stop and result are written by
// its job and read only when the job ended in time. The job reads only its own copy
// of the event, because it may still run when the event continues without it.
type question struct {
	in    *instance
	spec  *event.Spec
	event agent.Event // that apply changes
	seen  agent.Event // the copy that the handler gets
	fn    *lua.LFunction

	member *member // of a group; nil: the handler is in none

	apply  func()
	stop   bool
	result string // its keys, where the hook is traced; "" for no opinion
}

// run calls the handler and reads what it returned into apply, stop and result. It is the
// function of the job.
func (q *question) run(L *lua.LState) error {
	result := q.in.script.Call(L, q.fn, q.spec.Table(q.in.events, L, q.seen))
	if result == lua.LNil {
		return nil
	}
	t, err := q.table(L, result)
	if err == nil {
		q.apply, q.stop, err = q.spec.Merge(q.in.events, L, q.event, q.seen, t)
	}
	return api.WithPlace(q.fn, err)
}

// table returns what a handler returned as a table, or an error if it is none or has a key
// that a result of the event may not have.
func (q *question) table(L *lua.LState, v lua.LValue) (*lua.LTable, error) {
	t, ok := luavm.TableOf(L, v)
	if !ok {
		return nil, fmt.Errorf("a handler of %s returns nil or a table, not a %s", q.spec.Name, v.Type())
	}
	if meta, ok := t.Metatable.(*lua.LTable); ok && meta.RawGetString("__index") != lua.LNil {
		// The keys that it inherits would be left out, and a block among them with them.
		return nil, fmt.Errorf("the result of %s has __index in its metatable; return a plain table", q.spec.Name)
	}
	var keys []string
	for k, _ := t.Next(lua.LNil); k != lua.LNil; k, _ = t.Next(k) {
		name, ok := k.(lua.LString)
		if !ok || !q.spec.MayReturn(string(name)) {
			return nil, q.spec.UnknownKey(k.String())
		}
		keys = append(keys, string(name))
	}
	if q.member != nil {
		t, keys = q.member.countingOf(L, t, keys)
	}
	if len(keys) > 0 && q.in.hook.traced.Load() {
		slices.Sort(keys)
		q.result = "{" + strings.Join(keys, ", ") + "}"
	}
	return t, nil
}
