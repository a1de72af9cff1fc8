package api

import (
	"context"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"time"

	"pi/luahooks/text"
	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// events are pi.on, and pi.emit, by which hooks talk to each other: events of their
// own have names with a colon.
type events struct {
	*bridge
	meta *lua.LTable // of the tables of such events; only while the VM is held
}

func (e *events) part() part { return part{"on": e.on, "emit": e.emit} }

// on is pi.on(event, fn, {group = {name, rule, keys}, roles = "all"}) → off.
func (e *events) on(L *lua.LState, event string, fn *lua.LFunction, _ lua.LValue) (*lua.LFunction, error) {
	var group *lua.LTable
	var roles *string
	luavm.Unpack(L, 3, "on", luavm.Opt("group", &group), luavm.Opt("roles", &roles))
	if roles != nil && *roles != "all" {
		luavm.Raise(L, "on: option \"roles\" must be \"all\", not %q; without it messages are those of the model", *roles)
	}
	handlers, in := &e.registered.Handlers, groupOf(L, group)
	if err := e.CheckEvent(event, roles != nil, in); err != nil {
		return nil, err
	}
	off := handlers.on(event, &Handler{Fn: fn, Group: in})
	if roles == nil {
		return e.vm.Func("off", off), nil
	}
	offAll := handlers.on(ForAllRoles(event), &Handler{Fn: fn, Group: in})
	return e.vm.Func("off", func() { off(); offAll() }), nil
}

// ForAllRoles is the key under which a handler of an event is registered, besides the name of
// that, if it wants the messages of all roles.
func ForAllRoles(event string) string { return event + allRoles }

const allRoles = " of all roles"

// groupOf reads the option group of pi.on; nil for none. Misuse raises.
func groupOf(L *lua.LState, t *lua.LTable) *Group {
	if t == nil {
		return nil
	}
	g := &Group{}
	var rule string
	luavm.UnpackTable(L, t, "on: group", luavm.Opt("name", &g.Name).Required(), luavm.Opt("rule", &rule).Required(), luavm.Opt("keys", &g.Keys))
	g.Rule = GroupRule(rule)
	rules := []string{string(GroupFirst), string(GroupLast), string(GroupStop)}
	switch {
	case !slices.Contains(rules, rule):
		luavm.Raise(L, "on: group: there is no rule %q; there are %s", rule, strings.Join(rules, ", "))
	case g.Keys != nil && g.Rule != GroupFirst:
		luavm.Raise(L, "on: group: keys belong to the rule first")
	}
	return g
}

// IsCustom reports whether an event is one that hooks emit.
func IsCustom(event string) bool { return strings.Contains(event, ":") }

// maxEmits is how deep handlers of such events may emit further ones.
const maxEmits = 8

type emitDepthKey struct{}

// emit is pi.emit(name, data): the other hooks' handlers of name get
// {type = name, data = data}, in chain order. It returns when they have ended;
// other jobs may use the VM until then, so that they may emit back.
func (e *events) emit(L *lua.LState) int {
	name := L.CheckString(1)
	if !IsCustom(name) {
		luavm.Raise(L, "%s", text.NoEventName(e.Hook.Name, name))
	}
	e.mustHaveLoaded(L, "emit")
	data := e.encodeArg(L, 2, "emit", "data")
	depth, _ := e.vm.Context().Value(emitDepthKey{}).(int)
	if depth >= maxEmits {
		luavm.Raise(L, "emit: %s is the %dth event in a row that hooks answer with an event; they would never end", name, maxEmits+1)
	}
	_ = e.wait(L, "emit", func(ctx context.Context) error {
		e.Emit(context.WithValue(ctx, emitDepthKey{}, depth+1), name, data)
		return nil
	})
	L.Push(lua.LTrue)
	return 1
}

// table returns the event that another hook emitted as handlers get it: {type, data}.
// Reading another field raises.
func (e *events) table(L *lua.LState, name string, data json.RawMessage) *lua.LTable {
	if e.meta == nil {
		e.meta = e.vm.Strict(&luavm.Fields{Of: "the event", Names: func() []string { return []string{"type", "data"} }})
	}
	t := luavm.NewRecord(L, 2)
	luavm.Set(t, "type", lua.LString(name))
	luavm.Set(t, "data", e.records.JSON(data))
	t.Metatable = e.meta
	return t
}

// deferrals are what a hook still has to do when the program ends.
type deferrals struct{ *bridge }

// deferExit is pi.defer_exit(text, {timeout?}) → done: the end of the program waits until
// done() is called, or the hook is reloaded, and says what for.
func (d *deferrals) deferExit(L *lua.LState) int {
	d.mustHaveLoaded(L, "defer_exit")
	text := L.CheckString(1)
	if strings.TrimSpace(text) == "" {
		luavm.RaiseArg(L, 1, "defer_exit", "say what is to be finished")
	}
	const unsaid = time.Duration(math.MaxInt64)
	limit := unsaid
	luavm.Unpack(L, 2, "defer_exit", luavm.Opt("timeout", &limit))
	switch {
	case limit == unsaid:
		limit = 0
	case limit <= 0:
		luavm.Raise(L, "defer_exit: option \"timeout\" must be positive")
	}
	w := d.Deferred.Begin(d.Hook.Name, d.Hook.Path, text, limit)
	stop := context.AfterFunc(d.Life, w.End)
	L.Push(d.vm.Proc("done", func() {
		stop()
		w.End()
	}))
	return 1
}
