package api

import (
	"context"
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
	command *lua.LTable // the metatable of ctx in commands; nil before the first
}

// open makes table, which has the functions of ctx, the ctx that handlers get: it adds the
// members whose values are read when they are asked for.
func (c *contexts) open(table *lua.LTable) {
	c.table = table
	c.table.Metatable = c.meta(c.field)
}

// meta returns a metatable for ctx: live is called for members that the table does not have,
// unknown names raise with a suggestion, and so does writing.
func (c *contexts) meta(live func(*lua.LState, string) (lua.LValue, bool, error)) *lua.LTable {
	members := append(ContextMembers(), luavm.Keys(c.table)...)
	meta := c.vm.Strict(&luavm.Fields{Of: "ctx", Names: func() []string { return members }, Live: live})
	luavm.Set(meta, "__newindex", c.vm.GFunc("ctx", func(L *lua.LState) int {
		luavm.Raise(L, "ctx is read-only; keep your own values in a local or in pi.state")
		return 0
	}))
	return meta
}

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
		c.command = c.meta(func(L *lua.LState, name string) (lua.LValue, bool, error) {
			if v := c.table.RawGetString(name); v != lua.LNil {
				return v, true, nil
			}
			return c.field(L, name)
		})
	}
	t.Metatable = c.command
	return t
}

// ContextMembers lists the members of ctx that are values, in the order of their
// documentation. They are read when they are asked for, so walking the table does not
// find them.
func ContextMembers() []string {
	return []string{"cwd", "session_file", "session_id", "has_ui", "mode", "model", "thinking_level", "work_mode", "entries", "messages", "signal"}
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

// signal is ctx.signal: it tells that the handler it was made in was stopped, by
// the user, by the end of the run or by its clock. Once a handler has ended by
// itself its signal never tells that.
type signal struct{ job context.Context }

// signals makes the signal of each handler.
type signals struct {
	*bridge

	// Of the last handler that asked; only while the VM is held.
	job   context.Context
	value *lua.LTable
}

// current is ctx.signal of the job that runs.
func (s *signals) current() *lua.LTable {
	if job := s.vm.Context(); s.job != job {
		s.job, s.value = job, s.vm.NewStub(&signal{job}, s.fill)
	}
	return s.value
}

// fill makes the table of a signal, when Lua uses it first: cancelled(), and on_cancel(fn),
// which has fn called if the handler is stopped and returns a function that undoes this.
func (s *signals) fill(L *lua.LState, ref any) *lua.LTable {
	job := ref.(*signal).job
	t := luavm.NewRecord(L, 2)
	s.add(t, part{
		"cancelled": func() bool { return luavm.Stopped(job) },
		"on_cancel": func(fn *lua.LFunction) *lua.LFunction {
			off := context.AfterFunc(job, func() {
				if !luavm.Stopped(job) {
					return
				}
				s.Spawn(func(ctx context.Context) {
					_ = s.jobs.callBack(asOfTool(ctx, job), "on_cancel", func(L *lua.LState) error {
						callLua(L, fn)
						return nil
					})
				})
			})
			return s.vm.Func("off", func() { off() })
		},
	})
	return s.vm.StrictTable("signal", t)
}

// signalOption reads an option that is a signal; nil if there is none.
func signalOption(L *lua.LState, function string, v lua.LValue) *signal {
	if v == nil || v == lua.LNil {
		return nil
	}
	if t, ok := v.(*lua.LTable); ok {
		if ref, ok := luavm.StubOrigin(t); ok {
			if s, ok := ref.(*signal); ok {
				return s
			}
		}
	}
	luavm.Raise(L, "%s: option \"signal\" must be a signal such as ctx.signal, not a %s", function, v.Type())
	return nil
}

// within returns a context that ends with ctx, and also when the job of s is stopped
// before its end, as by a timeout. A job that ends by itself does not end the context.
// s may be nil.
func (s *signal) within(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	switch {
	case s == nil:
		return ctx, cancel
	case luavm.Stopped(s.job):
		cancel()
	}
	off := context.AfterFunc(s.job, func() {
		if luavm.Stopped(s.job) {
			cancel()
		}
	})
	return ctx, func() { off(); cancel() }
}
