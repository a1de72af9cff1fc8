package api

import (
	"time"

	"pi/agent"
	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// drawing returns the options that a function of a hook that draws gets.
func drawing(L *lua.LState, expanded bool, width int) *lua.LTable {
	t := luavm.NewRecord(L, 5)
	luavm.Set(t, "expanded", lua.LBool(expanded))
	luavm.Set(t, "width", lua.LNumber(width))
	return t
}

// drawingOfCall is drawing for a call of a tool, with the arguments as Lua has them: {partial?,
// call, redraw} as well. partial is true while the call runs.
func (b *bridge) drawingOfCall(L *lua.LState, c agent.DrawnCall, args lua.LValue, expanded bool, width int) *lua.LTable {
	t := drawing(L, expanded, width)
	if c.Running {
		luavm.Set(t, "partial", lua.LTrue)
	}
	luavm.Set(t, "call", b.drawnCall(L, c, args))
	b.add(t, part{"redraw": proc{c.Redraw}})
	return t
}

// drawnCall is opts.call: {id, name, args, state, started, duration_ms, is_error}. It is one
// table for all drawings of a call by this version of the hook, so that what the hook keeps in
// state is there the next time; the rest of it is brought up to date.
func (b *bridge) drawnCall(L *lua.LState, c agent.DrawnCall, args lua.LValue) *lua.LTable {
	kept, ok := c.Kept.Load(b.vm)
	t, _ := kept.(*lua.LTable)
	if !ok {
		t = luavm.NewRecord(L, 7)
		luavm.Set(t, "state", L.NewTable())
		c.Kept.Store(b.vm, t)
	}
	luavm.Set(t, "id", lua.LString(c.ID))
	luavm.Set(t, "name", lua.LString(c.Name))
	luavm.Set(t, "args", args)
	luavm.Set(t, "started", lua.LNumber(c.Started.UnixMilli()))
	luavm.Set(t, "duration_ms", lua.LNumber(c.Took/time.Millisecond))
	luavm.Set(t, "is_error", lua.LBool(c.Failed))
	return t
}
