package luahooks

import (
	"context"
	"fmt"
	"strings"
	"time"

	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// renderTime is how long a hook may draw: somebody waits at the screen.
const renderTime = time.Second

// messageRenderer draws the custom messages of one type.
type messageRenderer struct {
	kind string
	fn   *lua.LFunction
}

// registerRenderer is pi.register_message_renderer(custom_type, fn).
func (in *instance) registerRenderer(kind string, fn *lua.LFunction) error {
	if kind == "" {
		return luavm.Misusef("custom_type is empty")
	}
	in.registered.Renderers.put(messageRenderer{kind, fn})
	return nil
}

func (r messageRenderer) id() string { return r.kind }

// drawing is opts of a renderer.
func drawing(L *lua.LState, expanded *bool, width int) *lua.LTable {
	t := luavm.NewRecord(L, 2)
	if expanded != nil {
		luavm.Set(t, "expanded", lua.LBool(*expanded))
	}
	luavm.Set(t, "width", lua.LNumber(width))
	return t
}

// render runs a function that draws, and reports what goes wrong.
func (in *instance) render(ctx context.Context, what string, draw func(L *lua.LState) lua.LValue) (lines []string, ok bool) {
	lines, err := in.drawn(ctx, what, draw)
	return lines, err == nil && lines != nil
}

// drawn is the same for one that wants to know of it.
func (in *instance) drawn(ctx context.Context, what string, draw func(L *lua.LState) lua.LValue) ([]string, error) {
	drawn := new([]string)
	err := in.vm.Run(ctx, luavm.Job{Name: what, Timeout: min(renderTime, in.chain.opts.Timeout), Run: func(L *lua.LState) error {
		got, err := linesOf(L, draw(L))
		*drawn = got
		return err
	}})
	if err == nil {
		return *drawn, nil
	}
	if !isReplaced(err) {
		in.chain.failed(ctx, in.hook, in, what, nil, err)
	}
	return nil, err
}

// linesOf reads what a renderer returned: a string, a list of lines, or nil for
// no opinion, which is nil here too.
func linesOf(L *lua.LState, v lua.LValue) ([]string, error) {
	switch v := v.(type) {
	case *lua.LNilType:
		return nil, nil
	case lua.LString:
		return strings.Split(strings.TrimSuffix(string(v), "\n"), "\n"), nil
	case *lua.LTable:
		list, ok := luavm.Strings(L, v)
		if !ok {
			return nil, fmt.Errorf("a renderer returns a string or a list of strings")
		}
		lines := []string{}
		for _, l := range list {
			lines = append(lines, strings.Split(l, "\n")...)
		}
		return lines, nil
	}
	return nil, fmt.Errorf("a renderer returns a string or a list of strings, not a %s", v.Type())
}
