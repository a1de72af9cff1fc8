package luahooks

import (
	"pi/luahooks/event"
	"pi/luavm"

	"context"
	"encoding/json"
	"slices"

	lua "github.com/yuin/gopher-lua"
)

// Events of hooks for each other.

// emit passes an event of a hook to all others that listen.
func (c *Chain) emit(ctx context.Context, from *hook, name string, data json.RawMessage) {
	others := slices.DeleteFunc(c.roster.listening(name), func(h *hook) bool { return h == from })
	if len(others) == 0 {
		return
	}
	c.walk(ctx, &event.Spec{Name: name, Rule: "told in chain order; waited for"}, others, steps{
		tell: func(in *instance, fn *lua.LFunction) func(*lua.LState) error {
			return func(L *lua.LState) error {
				t := luavm.NewRecord(L, 2)
				luavm.Set(t, "type", lua.LString(name))
				luavm.Set(t, "data", in.records.JSON(data))
				t.Metatable = in.emitted()
				in.call(L, fn, t)
				return nil
			}
		},
	})
}
