package luahooks

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"pi/internal/suggest"
	"pi/luahooks/record"
	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// open prepares the VM for the hook's file: the global pi, require, and ctx.
func (in *instance) open(L *lua.LState, state json.RawMessage) *lua.LTable {
	pi := in.api(L)
	kept, ok := in.records.JSON(state).(*lua.LTable)
	if !ok {
		kept = luavm.NewRecord(L, 0)
	}
	luavm.Set(pi, "state", kept)
	in.vm.StrictTable("pi", pi)
	in.vm.SetGlobal("pi", pi)
	in.vm.SetRequire(in.require)
	in.ctx = in.newContext(L)
	return pi
}

// hookInfo is pi.hook.
type hookInfo struct{ Name, Path, Scope string }

// api makes the table pi.
func (in *instance) api(L *lua.LState) *lua.LTable {
	h := in.hook
	t := luavm.NewRecord(L, 28)
	luavm.Set(t, "version", lua.LString(in.chain.opts.Version))
	luavm.Set(t, "api", lua.LNumber(API))
	luavm.Set(t, "hook", in.vm.Value(hookInfo{h.Name, h.Path, string(h.Scope)}))
	in.addFuncs(t, map[string]any{
		"on": in.apiOn, "log": in.apiLog, "remove_provider": in.removeProvider,
		"tools": in.apiTools, "active_tools": in.apiActiveTools, "set_active_tools": in.apiSetActiveTools,
		"set_session_name": in.setSessionName, "session_name": in.sessionName, "set_label": in.setLabel,
		"commands": in.apiCommands, "get_flag": in.getFlag, "register_message_renderer": in.registerRenderer,
	})
	in.addRaw(t, map[string]lua.LGFunction{
		"command": in.apiCommand, "shortcut": in.apiShortcut, "flag": in.apiFlag, "tool": in.apiTool, "call_tool": in.apiCallTool,
		"provider": in.apiProvider, "exec": in.apiExec, "append_entry": in.appendEntry,
		"send": in.apiSend, "send_message": in.apiSendMessage, "send_user_message": in.apiSendUserMessage,
		"emit": in.apiEmit,
	})
	return t
}

// apiOn is pi.on(event, fn) → off.
func (in *instance) apiOn(event string, fn *lua.LFunction) (*lua.LFunction, error) {
	if !in.chain.knows(event) {
		names := in.chain.eventNames()
		if hint := suggest.Hint(event, names); hint != "" {
			return nil, luavm.Misusef("unknown event %q%s", event, hint)
		}
		return nil, luavm.Misusef("unknown event %q; one that hooks emit has a colon in its name; others are %s", event, strings.Join(names, ", "))
	}
	off := in.registered.Handlers.on(event, fn)
	return in.vm.Func("off", func() { off() }), nil
}

// apiLog is pi.log(…): a line in the hook log.
func (in *instance) apiLog(L *lua.LState, values ...lua.LValue) {
	var parts []string
	for _, v := range values {
		parts = append(parts, in.printable(L, v))
	}
	in.chain.reports.log.write(in.hook.Name, strings.Join(parts, " "))
}

// printable is a value for a person: tables and values as JSON where they are data.
func (in *instance) printable(L *lua.LState, v lua.LValue) string {
	if v.Type() == lua.LTTable || v.Type() == lua.LTUserData {
		if raw, err := luavm.EncodeJSON(in.vm.State(), v, luavm.JSON{}); err == nil {
			return string(raw)
		}
	}
	return L.ToStringMeta(v).String()
}

// mustHost returns the host, or raises while there is none.
func (in *instance) mustHost(L *lua.LState, function string) Host {
	host := in.chain.hostNow()
	if in.vm.Loading() {
		luavm.Raise(L, "%s: %v", function, errLoading)
	}
	if host == nil {
		luavm.Raise(L, "%s: %v", function, errNoHost)
	}
	return host
}

// setSessionName is pi.set_session_name(s); "" takes the name away.
func (in *instance) setSessionName(L *lua.LState, name string) error {
	host := in.mustHost(L, "set_session_name")
	return in.wait(L, "set_session_name", false, func(ctx context.Context) error {
		return host.SetSessionName(ctx, strings.Join(strings.Fields(name), " "))
	})
}

func (in *instance) sessionName(L *lua.LState) lua.LValue {
	return record.TextOrNil(in.sessionOf(L, "session_name").Name())
}

// setLabel is pi.set_label(entry_id, label?); nil takes the label away.
func (in *instance) setLabel(L *lua.LState, id string, label *string) error {
	host, text := in.mustHost(L, "set_label"), ""
	if label != nil {
		text = *label
	}
	return in.wait(L, "set_label", false, func(ctx context.Context) error { return host.SetLabel(ctx, id, text) })
}

// pushResult pushes v, or nil and the error's text.
func pushResult(L *lua.LState, v lua.LValue, err error) int {
	if err != nil {
		L.Push(lua.LNil)
		L.Push(lua.LString(err.Error()))
		return 2
	}
	L.Push(v)
	return 1
}

// wait runs f while the VM is free; if the job was stopped meanwhile it raises.
// dialog stops the hook's clock.
func (in *instance) wait(L *lua.LState, function string, dialog bool, f func(ctx context.Context) error) error {
	var inner error
	if err := in.vm.Wait(L, dialog, func(ctx context.Context) error {
		inner = f(ctx)
		return nil
	}); err != nil {
		luavm.Raise(L, "%s: %v", function, err)
	}
	return inner
}

// encodeState is pi.state as JSON, for the next version of the hook. What cannot
// be JSON is left out; lost says what.
func (in *instance) encodeState(ctx context.Context) (state json.RawMessage, lost error, err error) {
	kept := new(keptState)
	err = in.vm.Run(ctx, luavm.Job{Name: "state", Timeout: in.chain.opts.Timeout, Run: func(L *lua.LState) error {
		pi, _ := L.GetGlobal("pi").(*lua.LTable)
		if pi == nil {
			return nil
		}
		if table, ok := pi.RawGetString("state").(*lua.LTable); ok {
			table, kept.lost = in.keepable(L, table)
			kept.json, kept.err = in.records.Encode(table, "pi.state")
		}
		return kept.err
	}})
	if err != nil {
		return nil, nil, err
	}
	return kept.json, kept.lost, nil
}

// keptState is what a job found that may still run when nobody waits for it.
type keptState struct {
	json      json.RawMessage
	lost, err error
}

// keepable returns the fields of a state that can be JSON, and what is wrong with
// the others.
func (in *instance) keepable(L *lua.LState, state *lua.LTable) (*lua.LTable, error) {
	luavm.Materialise(L, state)
	if _, err := in.records.Encode(state, "pi.state"); err == nil {
		return state, nil
	}
	var errs []error
	kept := luavm.NewRecord(L, 0) // the version that runs goes on with its own if the next one does not load
	state.ForEach(func(k, v lua.LValue) {
		one := luavm.NewRecord(L, 1)
		one.RawSet(k, v)
		if _, err := in.records.Encode(one, "pi.state"); err != nil {
			errs = append(errs, err)
			return
		}
		kept.RawSet(k, v)
	})
	return kept, errors.Join(errs...)
}
