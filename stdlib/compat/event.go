package compat

import (
	"slices"

	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// event is host.event(ours, name, adds, fill): the event of another program that ours stands
// for. It has the type name, all fields of ours, and those named in adds, which fill(event,
// ours) sets in it; fill is nil where there are none. Nothing is filled before Lua reads a field that is no plain value.
func (h *tools) event(ours *lua.LTable, name string, adds []string, fill lua.LValue) *lua.LTable {
	set, _ := fill.(*lua.LFunction)
	return h.vm.NewStub(&shownEvent{h, ours, name, adds, set}, func(L *lua.LState, ref any) *lua.LTable {
		return ref.(*shownEvent).table(L)
	})
}

// shownEvent is such an event before it is filled.
type shownEvent struct {
	tools *tools
	ours  *lua.LTable
	name  string
	adds  []string
	fill  *lua.LFunction // nil: adds is empty
}

// Peek makes a shownEvent a [luavm.Peeker]: fields that ours can answer for need no table.
func (e *shownEvent) Peek(field string) (lua.LValue, bool) {
	if field == "type" {
		return lua.LString(e.name), true
	}
	if slices.Contains(e.adds, field) {
		return nil, false
	}
	ref, _ := luavm.StubRef(e.ours)
	if p, ok := ref.(luavm.Peeker); ok {
		return p.Peek(field)
	}
	return nil, false
}

// table fills the table of the event. The VM is held.
func (e *shownEvent) table(L *lua.LState) *lua.LTable {
	luavm.Materialise(L, e.ours)
	t := luavm.NewRecord(L, e.ours.Len()+len(e.adds)+4)
	e.ours.ForEach(t.RawSet)
	luavm.Set(t, "type", lua.LString(e.name))
	if e.fill != nil {
		L.Push(e.fill)
		L.Push(t)
		L.Push(e.ours)
		L.Call(2, 0)
	}
	t.Metatable = e.meta()
	return t
}

// meta is the metatable of the events of this name, which raises for a field that they do
// not have.
func (e *shownEvent) meta() *lua.LTable {
	h := e.tools
	if h.strict[e.name] == nil {
		names := append(slices.Clone(luavm.StrictNames(e.ours)), e.adds...)
		h.strict[e.name] = h.vm.Strict(&luavm.Fields{Of: "the event " + e.name, Names: func() []string { return names }})
	}
	return h.strict[e.name]
}
