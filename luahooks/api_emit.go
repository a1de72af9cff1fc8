package luahooks

import (
	"context"
	"encoding/json"
	"strings"

	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// Hooks talk to each other with events of their own, whose names have a colon.

// maxEmits is how deep handlers of such events may emit further ones.
const maxEmits = 8

type emitDepthKey struct{}

// isCustom reports whether a name is one that hooks emit.
func isCustom(event string) bool { return strings.Contains(event, ":") }

// apiEmit is pi.emit(name, data): the other hooks' handlers of name get
// {type = name, data = data}, in chain order. It returns when they have ended;
// the VM is free meanwhile, so that they may emit back.
func (in *instance) apiEmit(L *lua.LState) int {
	name := L.CheckString(1)
	switch {
	case !isCustom(name):
		luavm.Raise(L, "emit: %q is no name for an event of a hook; put a colon in it, such as %s:%s", name, in.hook.Name, name)
	case in.vm.Loading():
		luavm.Raise(L, "emit: %v", errLoading)
	}
	var data json.RawMessage
	if v := L.Get(2); v != lua.LNil {
		raw, err := in.records.Encode(v, "data")
		if err != nil {
			luavm.Raise(L, "emit: %v", err)
		}
		data = raw
	}
	depth, _ := in.vm.Context().Value(emitDepthKey{}).(int)
	if depth >= maxEmits {
		luavm.Raise(L, "emit: %s is the %dth event in a row that hooks answer with an event; they would never end", name, maxEmits+1)
	}
	_ = in.wait(L, "emit", false, func(ctx context.Context) error {
		in.chain.events.emitCustom(context.WithValue(ctx, emitDepthKey{}, depth+1), in.hook, name, data)
		return nil
	})
	L.Push(lua.LTrue)
	return 1
}

// emitted is the metatable of such events.
func (in *instance) emitted() *lua.LTable {
	if in.ofEmit == nil {
		in.ofEmit = in.vm.Strict(&luavm.Fields{Of: "the event", Names: func() []string { return []string{"type", "data"} }})
	}
	return in.ofEmit
}
