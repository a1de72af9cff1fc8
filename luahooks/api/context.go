package api

import (
	"slices"

	"pi/agent/command"
	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// contexts makes ctx: functions in the table, and live values behind it, which are
// read when they are asked for. Every handler of a VM gets the same table; commands
// and shortcuts get one that adds their arguments.
type contexts struct {
	*bridge
	messages *messages
	signals  *signals

	// Only while the VM is held.
	table   *lua.LTable // what handlers get
	names   func() []string
	command *lua.LTable // the metatable of ctx in commands; nil before the first
}

// open makes table, the ctx that handlers get: the members that are listed, and those whose values
// are read when they are asked for. Unknown names raise with a suggestion, and so does writing.
func (c *contexts) open(list func() []part) {
	f := c.fields("ctx", list)
	listed := f.Names
	f.Names = func() []string { return append(ContextMembers(), listed()...) }
	f.Live, f.ReadOnly = c.field, ctxIsReadOnly
	c.table, c.names = c.vm.NewTable(f), f.Names
}

const ctxIsReadOnly = "ctx is read-only; keep your own values in a local or in pi.state"

// ofCommand returns a ctx for one call of a command: that of handlers, with args, split into
// words, and args_raw.
func (c *contexts) ofCommand(L *lua.LState, args string) *lua.LTable {
	t := luavm.NewRecord(L, 2)
	words := command.Words(args)
	list := L.CreateTable(len(words), 0)
	for _, w := range words {
		list.Append(lua.LString(w))
	}
	luavm.Set(t, "args", list)
	luavm.Set(t, "args_raw", lua.LString(args))
	if c.command == nil {
		c.command = c.vm.Strict(&luavm.Fields{Of: "ctx", Names: c.names, ReadOnly: ctxIsReadOnly, Live: func(L *lua.LState, name string) (lua.LValue, bool, error) {
			if v := luavm.Stored(c.table, name); v != lua.LNil {
				return v, true, nil
			}
			return c.field(L, name)
		}})
	}
	t.Metatable = c.command
	return t
}

// ContextMembers lists the members of ctx that are values, in the order of their
// documentation. They are read when they are asked for, so walking the table does not
// find them.
func ContextMembers() []string {
	return []string{"cwd", "session_file", "session_id", "has_ui", "mode", "model", "thinking_level", "work_mode", "entries", "messages", "signal", "agent"}
}

// field reads a member of ctx that is a value; ok is false for a name that is none. It fails
// for a member of the session while there is none.
func (c *contexts) field(L *lua.LState, name string) (lua.LValue, bool, error) {
	switch name { // what needs no session
	case "cwd":
		return lua.LString(c.Cwd), true, nil
	case "mode":
		return lua.LString(c.Mode), true, nil
	case "has_ui":
		ui := c.UI()
		return lua.LBool(ui != nil && ui.HasUI()), true, nil
	case "signal":
		return c.signals.current(), true, nil
	case "agent":
		return c.vm.Value(c.Hook.Agent), true, nil
	}
	if !slices.Contains(ContextMembers(), name) {
		return nil, false, nil
	}
	host := c.Host()
	if host == nil {
		return nil, false, errNoHost
	}
	switch name {
	case "session_id":
		return lua.LString(host.Session().ID()), true, nil
	case "session_file":
		return luavm.TextOrNil(host.Session().File()), true, nil
	case "thinking_level":
		return lua.LString(host.Thinking()), true, nil
	case "work_mode":
		return luavm.TextOrNil(host.Modes().Current()), true, nil
	case "model":
		return c.records.Model(host.Model()), true, nil
	case "entries":
		return c.records.CurrentBranch(L, host.Session().Branch()), true, nil
	default:
		return c.messages.current(L, host), true, nil
	}
}

// part are the functions that ask about the run. abort and shutdown do not wait for
// what they begin: that may be the end of the handler itself.
func (c *contexts) part() part {
	return part{
		"usage":                c.usage,
		"system_prompt":        func(L *lua.LState) string { return c.mustHost(L, "system_prompt").SystemPrompt() },
		"is_idle":              func(L *lua.LState) bool { return c.mustHost(L, "is_idle").IsIdle() },
		"has_pending_messages": func(L *lua.LState) bool { return c.mustHost(L, "has_pending_messages").Pending() > 0 },
		"abort":                func(L *lua.LState) { c.mustHost(L, "abort").Abort() },
		"shutdown":             func(L *lua.LState) { c.mustHost(L, "shutdown").Shutdown() },
	}
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

// usage is ctx.usage(): the size of the context, what the session cost so far, and the
// hook because of which the last request did not begin like the one before. nil is unknown.
func (c *contexts) usage(L *lua.LState) sessionUsage {
	u := c.mustHost(L, "usage").Totals()
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
