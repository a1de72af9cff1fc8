package replay

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// A replay changes nothing and starts nothing, so most functions of a hook that reach out of
// its VM are replaced. What is not listed here as harmless is replaced too: a function that is
// new does nothing in a replay until somebody has looked at it.

// harmless lists the functions that work as always: they compute, look at the session or at
// files, register something for the VM of the replay, or show something to nobody. "*" is all
// of a table.
func harmless() map[string][]string {
	return map[string][]string{
		"pi": {"on", "command", "tool", "mode", "register_message_renderer", "renderer", "completion", "resources", "shortcut", "flag", "get_flag", "declare_settings",
			"tools", "active_tools", "session_name", "commands", "emit", "log", "all", "remove_tool", "promise", "async", "any", "signal", "skills"},
		"ctx":       {"usage", "system_prompt", "find_model", "available_models", "models", "scoped_models", "prompt_parts", "is_idle", "has_pending_messages"},
		"ctx.ui":    {"select", "confirm", "input", "editor", "notify", "set_status", "set_widget", "set_header", "set_footer", "set_plan", "set_title", "set_working_message", "set_working_indicator", "set_editor_text", "get_editor_text", "custom", "field", "list", "keys", "can"},
		"pi.http":   {"encode", "resolve"},
		"pi.fs":     {"read", "exists", "stat", "list", "glob", "real"},
		"pi.base64": {"*"}, "pi.diff": {"*"}, "pi.hash": {"*"}, "pi.html": {"*"}, "pi.json": {"*"}, "pi.path": {"*"}, "pi.re": {"*"}, "pi.schema": {"*"},
		"pi.sh": {"*"}, "pi.text": {"*"}, "pi.time": {"*"}, "pi.toml": {"*"},
		// They call functions of pi and ctx, which are confined themselves.
		"pi.compat.pi_v2": {"*"}, "pi.compat.omp": {"*"}, "pi.compat.marvin": {"*"},
	}
}

// answers are what replaced functions return if it is not nil and a message: hooks that do not
// look whether sending or storing worked go on as if it had.
func answers() map[string]func(vm *luavm.VM, L *lua.LState) lua.LValue {
	id := func(*luavm.VM, *lua.LState) lua.LValue { return lua.LString("replayed") }
	yes := func(*luavm.VM, *lua.LState) lua.LValue { return lua.LTrue }
	nothing := func(*luavm.VM, *lua.LState) lua.LValue { return nil }
	none := func(_ *luavm.VM, L *lua.LState) lua.LValue {
		list := luavm.NewList(L, 0, nil)
		luavm.MarkList(list)
		return list
	}
	end := func(vm *luavm.VM, _ *lua.LState) lua.LValue { return vm.Func("cancel", func() bool { return true }) }
	return map[string]func(*luavm.VM, *lua.LState) lua.LValue{
		"pi.append_entry": id, "ctx.save_entry": id, "ctx.edit_context": id,
		"pi.send_message": yes, "pi.send_user_message": yes, "pi.send": yes, "pi.set_active_tools": yes, "pi.provider": yes, "pi.remove_provider": yes,
		"pi.set_session_name": yes, "pi.set_label": yes, "pi.defer_exit": end,
		"ctx.set_mode": yes, "ctx.set_model": yes, "ctx.set_thinking_level": yes, "ctx.abort": nothing, "ctx.shutdown": nothing, "ctx.compact": nothing,
		"pi.mcp.servers": none, "pi.timer.sleep": yes, "pi.timer.after": end, "pi.timer.every": end,
	}
}

// refused is what other functions say.
const refused = "a replay runs, sends and writes nothing"

// undone replaces functions, and counts how often they are called once the hook has loaded.
type undone struct {
	mu     sync.Mutex // guards called
	called map[string]int
}

func (u *undone) counts() map[string]int {
	u.mu.Lock()
	defer u.mu.Unlock()
	return maps.Clone(u.called)
}

// Confine replaces the functions of a table that would have an effect, for a chain whose hooks
// are only loaded to be replayed. It is that of [pi/luahooks.Options].
func Confine(vm *luavm.VM, L *lua.LState, name string, t *lua.LTable) {
	new(undone).confine(vm, L, name, t)
}

// confine replaces the functions of a table that would have an effect. It is that of
// [pi/luahooks.Options].
func (u *undone) confine(vm *luavm.VM, _ *lua.LState, name string, t *lua.LTable) {
	fine := harmless()[name]
	if slices.Contains(fine, "*") {
		return
	}
	for _, key := range luavm.Keys(t) {
		fn, isFunction := t.RawGetString(key).(*lua.LFunction)
		if isFunction && fn != nil && !slices.Contains(fine, key) {
			luavm.Set(t, key, u.inPlaceOf(vm, name+"."+key))
		}
	}
}

// inPlaceOf returns the function that a hook gets instead of one with an effect.
func (u *undone) inPlaceOf(vm *luavm.VM, name string) *lua.LFunction {
	answer := answers()[name]
	short := name[strings.LastIndexByte(name, '.')+1:]
	return vm.GFunc(short, func(L *lua.LState) int {
		if !vm.Loading() {
			u.add(name)
		}
		if answer == nil {
			L.Push(lua.LNil)
			L.Push(lua.LString(refused))
			return 2
		}
		v := answer(vm, L)
		if v == nil {
			return 0
		}
		L.Push(v)
		return 1
	})
}

func (u *undone) add(name string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.called == nil {
		u.called = map[string]int{}
	}
	u.called[name]++
}
