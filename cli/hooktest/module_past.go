package hooktest

import (
	"strings"

	"pi/luahooks/record"
	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// ofPast are the functions that tell what happened.
func (f *file) ofPast() functions {
	return functions{
		"requests": func(L *lua.LState) lua.LValue {
			seen := f.current(L, "requests").stage.script.seen()
			return luavm.NewList(L, len(seen), func(i int) lua.LValue { return f.requestTable(L, seen[i]) })
		},
		"entries": func(L *lua.LState) lua.LValue {
			return f.records.Entries(L, f.open(L, "entries").stage.run.Session().Branch())
		},
		"messages": func(L *lua.LState) lua.LValue {
			return f.records.Messages(L, f.open(L, "messages").stage.run.Agent().Seen())
		},
		"notices": func(L *lua.LState) lua.LValue {
			told := f.current(L, "notices").stage.witness.told()
			return luavm.NewList(L, len(told), func(i int) lua.LValue {
				t := luavm.NewRecord(L, 2)
				luavm.Set(t, "level", lua.LString(told[i].Level))
				luavm.Set(t, "text", lua.LString(told[i].Text))
				return t
			})
		},
		"status": func(L *lua.LState) lua.LValue {
			t := luavm.NewRecord(L, 4)
			for key, text := range f.current(L, "status").stage.witness.statuses() {
				luavm.Set(t, key, lua.LString(text))
			}
			return t
		},
		"calls": f.calls,
	}
}

// calls is t.calls(name?) → the calls of tools so far: {name, input, ran, is_error, text}.
func (f *file) calls(L *lua.LState, name *string) lua.LValue {
	of := ""
	if name != nil {
		of = *name
	}
	calls := f.current(L, "calls").stage.witness.called(of)
	return luavm.NewList(L, len(calls), func(i int) lua.LValue {
		c := calls[i]
		t := luavm.NewRecord(L, 5)
		luavm.Set(t, "name", lua.LString(c.name))
		luavm.Set(t, "input", f.records.Input(c.name, c.input))
		luavm.Set(t, "ran", lua.LBool(c.ran))
		luavm.Set(t, "is_error", lua.LBool(c.isError))
		luavm.Set(t, "text", lua.LString(c.text))
		return t
	})
}

// requestTable is a request as the model saw it: {model, system, messages, tools, thinking,
// payload, headers}.
func (f *file) requestTable(L *lua.LState, r *sentRequest) lua.LValue {
	t, headers := luavm.NewRecord(L, 7), luavm.NewRecord(L, len(r.header))
	for name, values := range r.header {
		luavm.Set(headers, name, lua.LString(strings.Join(values, ", ")))
	}
	luavm.Set(t, "payload", f.records.JSON(r.payload))
	luavm.Set(t, "headers", headers)
	luavm.Set(t, "model", lua.LString(r.Model.Ref()))
	luavm.Set(t, "system", lua.LString(r.System))
	luavm.Set(t, "messages", f.records.Messages(L, record.ItemsOf(r.Messages)))
	luavm.Set(t, "thinking", lua.LString(r.Thinking))
	luavm.Set(t, "tools", luavm.NewList(L, len(r.Tools), func(i int) lua.LValue { return lua.LString(r.Tools[i].Name) }))
	return t
}
