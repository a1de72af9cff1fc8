package luahooks

import (
	"context"
	"fmt"

	"pi/agent"
	"pi/luavm"
	"pi/session"

	lua "github.com/yuin/gopher-lua"
)

// modelInfo is ctx.model.
type modelInfo struct {
	Provider      string
	ID            string
	Name          string
	API           string
	ContextWindow int
	MaxTokens     int
	Reasoning     bool
	Input         []string
	Cost          *priceInfo
}

type priceInfo struct{ Input, Output, CacheRead, CacheWrite float64 }

// newContext makes ctx: functions in the table, and live values behind it, read
// when they are asked for.
func (in *instance) newContext(L *lua.LState) *lua.LTable {
	t := L.CreateTable(0, 6)
	t.RawSetString("save_entry", in.vm.GFunc("save_entry", in.saveEntry))
	t.RawSetString("rebuild_context", in.vm.GFunc("rebuild_context", in.rebuildContext))
	t.RawSetString("exec", in.vm.GFunc("exec", in.apiExec))
	t.RawSetString("ui", in.newUI(L))
	meta := L.CreateTable(0, 3)
	meta.RawSetString("__index", in.vm.GFunc("ctx", in.contextField))
	meta.RawSetString("__newindex", in.vm.GFunc("ctx", func(L *lua.LState) int {
		luavm.Raise(L, "ctx is read-only; keep your own values in a local or in pi.state")
		return 0
	}))
	meta.RawSetString("__metatable", lua.LFalse)
	t.Metatable = meta
	return t
}

// contextField reads a live member of ctx.
func (in *instance) contextField(L *lua.LState) int {
	host := in.chain.hostNow()
	if host == nil {
		luavm.Raise(L, "ctx: %v", errNoHost)
	}
	L.Push(in.contextValue(L, host, L.CheckString(2)))
	return 1
}

func (in *instance) contextValue(L *lua.LState, host Host, name string) lua.LValue {
	switch name {
	case "cwd":
		return lua.LString(in.chain.opts.Cwd)
	case "mode":
		return lua.LString(in.chain.opts.Mode)
	case "session_id":
		return lua.LString(host.Session().ID())
	case "session_file":
		if file := host.Session().File(); file != "" {
			return lua.LString(file)
		}
	case "has_ui":
		return lua.LBool(in.chain.hasUI())
	case "thinking_level":
		return lua.LString(host.Thinking())
	case "model":
		return in.modelValue(host.Model())
	case "entries":
		return in.entries(L, host.Session().Branch())
	case "messages":
		return in.currentMessages(L, host)
	}
	return lua.LNil
}

func (c *Chain) hasUI() bool {
	ui := c.uiNow()
	return ui != nil && ui.HasUI()
}

func (in *instance) modelValue(m *agent.Model) lua.LValue {
	if m == nil {
		return lua.LNil
	}
	info := modelInfo{Provider: m.Provider, ID: m.ID, Name: m.Name, API: m.API, ContextWindow: m.ContextWindow,
		MaxTokens: m.MaxTokens, Reasoning: m.Reasoning, Input: m.Input}
	if m.Cost != nil {
		info.Cost = &priceInfo{m.Cost.Input, m.Cost.Output, m.Cost.CacheRead, m.Cost.CacheWrite}
	}
	return in.vm.Value(info)
}

// jobMessages is ctx.messages of one handler.
type jobMessages struct {
	job  context.Context
	list *lua.LTable
}

// currentMessages is what the model would see now, made once per handler.
func (in *instance) currentMessages(L *lua.LState, host Host) lua.LValue {
	if job := in.vm.Context(); in.seen.job != job {
		in.seen = jobMessages{job, in.messages(L, host.Seen())}
	}
	return in.seen.list
}

// saveEntry is ctx.save_entry{type = …, …} → id.
func (in *instance) saveEntry(L *lua.LState) int {
	host := in.mustHost(L, "save_entry")
	t := L.CheckTable(1)
	luavm.Materialise(L, t)
	kind, _ := t.RawGetString("type").(lua.LString)
	switch {
	case kind == "":
		luavm.Raise(L, "save_entry: entry must have a type")
	case session.Reserved(string(kind)):
		luavm.Raise(L, "save_entry: entry type %q is reserved for the program; prefix yours with the name of your hook", string(kind))
	}
	own := L.CreateTable(0, 8)
	t.ForEach(func(k, v lua.LValue) {
		if k != lua.LString("parent_id") { // the session writes its own
			own.RawSet(k, v)
		}
	})
	raw, err := in.encode(own, "entry")
	if err != nil {
		luavm.Raise(L, "save_entry: %v", err)
	}
	entry, err := host.Session().Append(string(kind), raw)
	if err == nil && commandOf(in.vm.Context()) != "" {
		err = host.Session().Flush()
	}
	if entry == nil {
		return pushResult(L, nil, fmt.Errorf("save entry: %w", err))
	}
	if err != nil {
		in.chain.notify(in.vm.Context(), agent.LevelError, err.Error())
	}
	return pushResult(L, lua.LString(entry.ID), nil)
}

// rebuildContext is ctx.rebuild_context() → messages.
func (in *instance) rebuildContext(L *lua.LState) int {
	host := in.mustHost(L, "rebuild_context")
	if insideContext(in.vm.Context()) {
		luavm.Raise(L, "rebuild_context: not inside a context handler")
	}
	var items []session.Item
	_ = in.wait(L, "rebuild_context", false, func(ctx context.Context) error {
		items = host.Context(ctx)
		return nil
	})
	in.seen = jobMessages{in.vm.Context(), in.messages(L, items)}
	L.Push(in.seen.list)
	return 1
}

// A job's Go context says what it belongs to, so that functions which depend on
// it can tell, however deep below they are called.
type (
	contextEventKey struct{}
	commandKey      struct{}
)

func insideContext(ctx context.Context) bool { return ctx.Value(contextEventKey{}) != nil }

func commandOf(ctx context.Context) string {
	name, _ := ctx.Value(commandKey{}).(string)
	return name
}
