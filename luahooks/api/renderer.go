package api

import (
	"context"
	"encoding/json"
	"strings"

	"pi/agent"
	"pi/luavm"
	"pi/session/message"

	lua "github.com/yuin/gopher-lua"
)

// Renderer draws the calls and results of one tool, or the messages of one type.
type Renderer struct {
	kind         string // see ToolRenderer and EntryRenderer
	call, result *lua.LFunction
	home         *renderers
}

// ToolRenderer is what the renderer of a tool is registered under, EntryRenderer the one of
// a custom type.
func ToolRenderer(name string) string  { return "tool " + name }
func EntryRenderer(kind string) string { return "entry " + kind }

// renderers are those that a hook registers.
type renderers struct {
	*bridge
	jobs   *jobs
	theme  *theme
	result func(L *lua.LState, tool string, r agent.Result) *lua.LTable // for Lua
	own    *List[Renderer]
}

func (r *renderers) part() part {
	return part{"register_message_renderer": r.ofMessages, "renderer": r.register}
}

// ofMessages is pi.register_message_renderer(custom_type, fn).
func (r *renderers) ofMessages(kind string, fn *lua.LFunction) error {
	if kind == "" {
		return luavm.Misusef("custom_type is empty")
	}
	r.own.put(Renderer{kind: EntryRenderer(kind), result: fn, home: r})
	return nil
}

// register is pi.renderer{tool = name, call?, result?} or pi.renderer{entry = type, result}.
func (r *renderers) register(L *lua.LState) int {
	n := Renderer{home: r}
	var tool, entry string
	luavm.Unpack(L, 1, "renderer", luavm.Opt("tool", &tool), luavm.Opt("entry", &entry), luavm.Opt("call", &n.call), luavm.Opt("result", &n.result))
	switch {
	case (tool == "") == (entry == ""):
		luavm.Raise(L, "renderer: one of \"tool\" and \"entry\" must say what is drawn")
	case entry != "" && n.call != nil:
		luavm.Raise(L, "renderer: an entry is no call of a tool; it has \"result\" only")
	case n.call == nil && n.result == nil:
		luavm.Raise(L, "renderer: option \"result\" is missing")
	}
	n.kind = ToolRenderer(tool)
	if entry != "" {
		n.kind = EntryRenderer(entry)
	}
	r.own.put(n)
	return 0
}

func (r Renderer) id() string { return r.kind }

// Name is the tool or the custom type that it draws.
func (r Renderer) Name() string {
	_, name, _ := strings.Cut(r.kind, " ")
	return name
}

// Message draws a message of a custom type. It is false, and somebody else has to draw, if
// the function of the hook returned nil or failed.
func (r Renderer) Message(ctx context.Context, m *message.Message, expanded bool, width int) ([]string, bool) {
	return r.draw(ctx, r.result, expanded, width, func(*lua.LState) lua.LValue { return r.home.records.Message(m) })
}

// Call is Message for a call of a tool.
func (r Renderer) Call(ctx context.Context, input json.RawMessage, expanded bool, width int) ([]string, bool) {
	return r.draw(ctx, r.call, expanded, width, func(*lua.LState) lua.LValue { return r.home.records.JSON(input) })
}

// Result is Message for the result of a tool.
func (r Renderer) Result(ctx context.Context, tool string, result agent.Result, expanded bool, width int) ([]string, bool) {
	return r.draw(ctx, r.result, expanded, width, func(L *lua.LState) lua.LValue { return r.home.result(L, tool, result) })
}

func (r Renderer) draw(ctx context.Context, fn *lua.LFunction, expanded bool, width int, what func(*lua.LState) lua.LValue) ([]string, bool) {
	if fn == nil {
		return nil, false
	}
	return r.home.jobs.render(ctx, "renderer of "+r.Name(), func(L *lua.LState) lua.LValue {
		return callLua(L, fn, what(L), drawing(L, expanded, width), r.home.theme.table)
	})
}

// drawing returns the options that a function of a hook that draws gets.
func drawing(L *lua.LState, expanded bool, width int) *lua.LTable {
	t := luavm.NewRecord(L, 2)
	luavm.Set(t, "expanded", lua.LBool(expanded))
	luavm.Set(t, "width", lua.LNumber(width))
	return t
}
