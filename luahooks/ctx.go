package luahooks

import (
	"context"
	"slices"

	"pi/luahooks/record"
	"pi/luavm"
	"pi/session"

	lua "github.com/yuin/gopher-lua"
)

// newContext makes ctx: functions in the table, and live values behind it, read
// when they are asked for. Every handler of a VM gets the same table; commands
// and shortcuts get one that adds their arguments.
func (in *instance) newContext(L *lua.LState) *lua.LTable {
	t := luavm.NewRecord(L, 24)
	luavm.Set(t, "ui", in.newUI(L))
	luavm.Set(t, "session", in.newSessionView(L))
	in.addRaw(t, map[string]lua.LGFunction{
		"save_entry": in.saveEntry, "edit_context": in.editContext, "rebuild_context": in.rebuildContext,
		"exec": in.apiExec, "compact": in.compact, "new_session": in.newSession, "resolve_api_key": in.resolveKey,
		"navigate_tree": in.navigateTree,
	})
	in.addFuncs(t, map[string]any{
		"usage": in.usage, "system_prompt": in.systemPrompt, "find_model": in.findModel, "available_models": in.availableModels,
		"is_idle": in.isIdle, "abort": in.abort, "has_pending_messages": in.hasPending, "shutdown": in.shutdown,
		"set_model": in.setModel, "set_thinking_level": in.setThinking, "wait_for_idle": in.waitForIdle,
		"switch_session": in.switchSession, "branch": in.branchOff, "reload": in.reloadHooks,
	})
	t.Metatable = in.contextMeta(append(liveMembers(), luavm.Keys(t)...), in.contextField)
	return t
}

// contextMeta is a metatable of ctx with these members, some of them live.
func (in *instance) contextMeta(members []string, live func(*lua.LState, string) (lua.LValue, bool, error)) *lua.LTable {
	meta := in.vm.Strict(&luavm.Fields{Of: "ctx", Names: func() []string { return members }, Live: live})
	luavm.Set(meta, "__newindex", in.vm.GFunc("ctx", func(L *lua.LState) int {
		luavm.Raise(L, "ctx is read-only; keep your own values in a local or in pi.state")
		return 0
	}))
	return meta
}

// addRaw puts functions that work on the Lua stack into a table of the API.
func (in *instance) addRaw(t *lua.LTable, functions map[string]lua.LGFunction) {
	for name, fn := range functions {
		luavm.Set(t, name, in.vm.GFunc(name, fn))
	}
}

// addFuncs puts Go functions into a table of the API; see [luavm.VM.Func].
func (in *instance) addFuncs(t *lua.LTable, functions map[string]any) {
	for name, fn := range functions {
		luavm.Set(t, name, in.vm.Func(name, fn))
	}
}

// contextField reads a live member of ctx.
func (in *instance) contextField(L *lua.LState, name string) (lua.LValue, bool, error) {
	if v, always := in.standingValue(name); always {
		return v, true, nil
	}
	if !slices.Contains(liveMembers(), name) {
		return nil, false, nil
	}
	host := in.chain.hostNow()
	if host == nil {
		return nil, false, errNoHost
	}
	return in.liveValue(L, host, name), true, nil
}

// standingValue is a member of ctx that needs no session.
func (in *instance) standingValue(name string) (lua.LValue, bool) {
	switch name {
	case "cwd":
		return lua.LString(in.chain.opts.Cwd), true
	case "mode":
		return lua.LString(in.chain.opts.Mode), true
	case "has_ui":
		return lua.LBool(in.chain.hasUI()), true
	case "signal":
		return in.signalValue(in.vm.State()), true
	}
	return lua.LNil, false
}

func (in *instance) liveValue(L *lua.LState, host Host, name string) lua.LValue {
	switch name {
	case "session_id":
		return lua.LString(host.Session().ID())
	case "session_file":
		return record.TextOrNil(host.Session().File())
	case "thinking_level":
		return lua.LString(host.Thinking())
	case "model":
		return in.records.Model(host.Model())
	case "entries":
		return in.records.CurrentBranch(L, host.Session().Branch())
	case "messages":
		return in.currentMessages(L, host)
	}
	return lua.LNil
}

// liveMembers are the members of ctx that are values, in the order of their
// documentation.
func liveMembers() []string {
	return []string{"cwd", "session_file", "session_id", "has_ui", "mode", "model", "thinking_level", "entries", "messages", "signal"}
}

// jobMessages is ctx.messages of one handler.
type jobMessages struct {
	job   context.Context
	items []session.Item
	made  []*lua.LTable // of each item, the last
}

// currentMessages is what the model would see now, made once per handler.
func (in *instance) currentMessages(L *lua.LState, host Host) lua.LValue {
	if job := in.vm.Context(); in.seen.job != job {
		in.seen = jobMessages{job: job, items: host.Seen()}
	}
	return in.seen.list(L, in)
}

// list makes ctx.messages: what the handler wrote into an earlier list is not in it.
func (m *jobMessages) list(L *lua.LState, in *instance) *lua.LTable {
	if m.made == nil {
		m.made = make([]*lua.LTable, len(m.items))
	}
	return luavm.NewList(L, len(m.items), func(i int) lua.LValue {
		if t := m.made[i]; t != nil {
			if _, untouched := luavm.StubRef(t); untouched {
				return t
			}
		}
		m.made[i] = in.records.Item(&m.items[i])
		return m.made[i]
	})
}

// sessionUsage is what ctx.usage() gives, in the order in which it is saved as JSON; nil
// is what nobody knows.
type sessionUsage struct {
	Tokens        *int
	Percent       *float64
	ContextWindow *int
	PrefixBreak   *prefixBreak
	Cost          sessionCost
}

type sessionCost struct {
	Input, Output, CacheRead, CacheWrite float64
	Total                                *float64
}

type prefixBreak struct {
	Hook, Part string
	Message    *int
}

// usage is ctx.usage().
func (in *instance) usage(L *lua.LState) sessionUsage {
	u := in.mustHost(L, "usage").Totals()
	v := sessionUsage{Cost: sessionCost{Input: u.Cost.Input, Output: u.Cost.Output, CacheRead: u.Cost.CacheRead, CacheWrite: u.Cost.CacheWrite}}
	if u.Tokens >= 0 {
		v.Tokens = &u.Tokens
	}
	if u.Window > 0 {
		v.ContextWindow = &u.Window
	}
	if u.Tokens >= 0 && u.Window > 0 {
		v.Percent = &u.Percent
	}
	if u.Priced {
		v.Cost.Total = &u.Cost.Total
	}
	if b := u.Break; b != nil {
		v.PrefixBreak = &prefixBreak{Hook: b.Hook, Part: b.Part}
		if b.Message > 0 {
			v.PrefixBreak.Message = &b.Message
		}
	}
	return v
}

func (in *instance) systemPrompt(L *lua.LState) string {
	return in.mustHost(L, "system_prompt").SystemPrompt()
}

func (in *instance) isIdle(L *lua.LState) bool { return in.mustHost(L, "is_idle").IsIdle() }

func (in *instance) hasPending(L *lua.LState) bool {
	return in.mustHost(L, "has_pending_messages").Pending() > 0
}

// abort and shutdown do not wait for what they begin: that may be the end of the
// handler itself.
func (in *instance) abort(L *lua.LState) { in.mustHost(L, "abort").Abort() }

func (in *instance) shutdown(L *lua.LState) { in.mustHost(L, "shutdown").Shutdown() }
