package api

import (
	"context"

	"pi/luavm"
	"pi/session/message"

	lua "github.com/yuin/gopher-lua"
)

// Renderer draws the custom messages of one type.
type Renderer struct {
	Kind string
	fn   *lua.LFunction
	home *renderers
}

// renderers are those that a hook registers.
type renderers struct {
	*bridge
	jobs  *jobs
	theme *theme
	own   *List[Renderer]
}

func (r *renderers) part() part { return part{"register_message_renderer": r.register} }

// register is pi.register_message_renderer(custom_type, fn).
func (r *renderers) register(kind string, fn *lua.LFunction) error {
	if kind == "" {
		return luavm.Misusef("custom_type is empty")
	}
	r.own.put(Renderer{kind, fn, r})
	return nil
}

func (r Renderer) id() string { return r.Kind }

// Render draws a message with the function of the hook. It is false, and somebody else has
// to draw, if the function returned nil or failed.
func (r Renderer) Render(ctx context.Context, m *message.Message, expanded bool, width int) ([]string, bool) {
	return r.home.jobs.render(ctx, "renderer of "+r.Kind, func(L *lua.LState) lua.LValue {
		return callLua(L, r.fn, r.home.records.Message(m), drawing(L, &expanded, width), r.home.theme.table)
	})
}

// drawing returns the options that a function of a hook that draws gets: the width, and
// expanded unless it is nil.
func drawing(L *lua.LState, expanded *bool, width int) *lua.LTable {
	t := luavm.NewRecord(L, 2)
	if expanded != nil {
		luavm.Set(t, "expanded", lua.LBool(*expanded))
	}
	luavm.Set(t, "width", lua.LNumber(width))
	return t
}
