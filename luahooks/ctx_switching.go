package luahooks

import (
	"context"
	"errors"
	"fmt"
	"time"

	"pi/agent"
	"pi/agent/llm"
	"pi/luahooks/record"
	"pi/luavm"
	"pi/session"
	"pi/session/message"

	lua "github.com/yuin/gopher-lua"
)

// What only commands and shortcuts may do: in the middle of an event it would
// wait for itself, or take away the session that the event is about.

// commandKey is in the Go context of a command, and of everything below it.
type commandKey struct{}

// commandRun is one call of a command or shortcut.
type commandRun struct{ job context.Context }

// commandNow reports whether the job that runs is a command or shortcut itself
// and not, say, a handler of an event that a command brought about.
func (in *instance) commandNow() bool {
	job := in.vm.Context()
	run, _ := job.Value(commandKey{}).(*commandRun)
	return run != nil && run.job == job
}

// mustCommand returns the host, or raises outside of commands and shortcuts.
func (in *instance) mustCommand(L *lua.LState, function string) Host {
	host := in.mustHost(L, function)
	if !in.commandNow() {
		luavm.Raise(L, "%s: only in commands and shortcuts", function)
	}
	return host
}

// setModel is ctx.set_model(provider, id) or ctx.set_model(ref) → true, or nil
// and a message.
func (in *instance) setModel(L *lua.LState, provider string, id *string) error {
	host := in.mustCommand(L, "set_model")
	m, level, err := meant(host, provider, id)
	if err != nil {
		return err
	}
	if missing := host.Models().KeyMissing(m.Provider); missing != "" {
		return errors.New(missing)
	}
	return in.wait(L, "set_model", false, func(ctx context.Context) error { return host.Select(ctx, m, level, "set") })
}

// meant finds the model of an exact provider and id, or what a name alone means.
func meant(host Host, provider string, id *string) (m *llm.Model, level string, err error) {
	if id == nil {
		return match(host, provider)
	}
	m, err = find(host, provider, *id)
	return m, "", err
}

// setThinking is ctx.set_thinking_level(level) → true, or nil and a message.
func (in *instance) setThinking(L *lua.LState, level string) error {
	host := in.mustCommand(L, "set_thinking_level")
	return in.wait(L, "set_thinking_level", false, func(ctx context.Context) error { return host.SetThinking(ctx, level) })
}

// waitForIdle is ctx.wait_for_idle() → {cancelled}.
func (in *instance) waitForIdle(L *lua.LState) (*lua.LTable, error) {
	host := in.mustCommand(L, "wait_for_idle")
	return in.switched(L, host, in.wait(L, "wait_for_idle", false, host.WaitIdle))
}

// switchSession is ctx.switch_session(path) → {cancelled, session_id, …}.
func (in *instance) switchSession(L *lua.LState, path string) (*lua.LTable, error) {
	host := in.mustCommand(L, "switch_session")
	if path == "" {
		return nil, luavm.Misusef("the path is empty")
	}
	path = in.chain.absolute(path)
	return in.switched(L, host, in.wait(L, "switch_session", false, func(ctx context.Context) error {
		return host.SwitchSession(ctx, path)
	}))
}

// switched is what functions that replace the session return.
func (in *instance) switched(L *lua.LState, host Host, err error) (*lua.LTable, error) {
	cancelled := errors.Is(err, agent.ErrCancelled)
	switch {
	case errors.Is(err, agent.ErrNotIdle):
		return nil, fmt.Errorf("%w; wait_for_idle() first", err)
	case err != nil && !cancelled:
		return nil, err
	}
	t := luavm.NewRecord(L, 3)
	luavm.Set(t, "cancelled", lua.LBool(cancelled))
	luavm.Set(t, "session_id", lua.LString(host.Session().ID()))
	record.SetText(t, "session_file", host.Session().File())
	return t, nil
}

// newSession is ctx.new_session{parent_session?, setup?} → {cancelled, …}.
func (in *instance) newSession(L *lua.LState) int {
	host := in.mustCommand(L, "new_session")
	var o agent.NewSessionOptions
	var setup *lua.LFunction
	luavm.Unpack(L, 1, "new_session", luavm.Opt("parent_session", &o.Parent), luavm.Opt("setup", &setup))
	var wrong error // of the hook's own function
	err := in.wait(L, "new_session", false, func(ctx context.Context) error {
		if setup != nil {
			o.Setup = func(s *session.Session) error {
				wrong = in.setUp(ctx, s, setup)
				return wrong
			}
		}
		return host.NewSession(ctx, o)
	})
	if wrong != nil {
		luavm.Raise(L, "new_session: setup: %v", wrong)
	}
	t, err := in.switched(L, host, err)
	return pushResult(L, t, err)
}

// setUp runs the function that writes into a new session.
func (in *instance) setUp(ctx context.Context, s *session.Session, fn *lua.LFunction) error {
	return in.vm.Run(ctx, luavm.Job{Name: "setup", Timeout: in.chain.opts.Timeout, Clock: luavm.CountedLua, Run: func(L *lua.LState) error {
		open := true
		defer func() { open = false }()
		sm := luavm.NewRecord(L, 1)
		luavm.Set(sm, "append_message", in.vm.GFunc("append_message", func(L *lua.LState) int {
			if !open {
				luavm.Raise(L, "append_message: only while setup runs")
			}
			return in.appendMessage(L, s)
		}))
		callFunction(L, fn, sm)
		return nil
	}})
}

// appendMessage is sm.append_message{role, content, timestamp?} → id.
func (in *instance) appendMessage(L *lua.LState, s *session.Session) int {
	var role string
	var content lua.LValue
	at := time.Now().UnixMilli()
	luavm.Unpack(L, 1, "append_message", luavm.Opt("role", &role).Required(), luavm.Opt("content", &content).Required(),
		luavm.Opt("timestamp", &at))
	blocks, err := in.records.Content(L, content, "content")
	if err != nil {
		luavm.Raise(L, "append_message: %v", err)
	}
	_, plain := content.(lua.LString)
	m := &message.Message{Role: message.Role(role), Content: blocks, Timestamp: at}
	switch m.Role {
	case message.RoleUser:
		m.Plain = plain
	case message.RoleAssistant:
		in.answered(m)
	default:
		luavm.Raise(L, "append_message: role must be \"user\" or \"assistant\", not %q", role)
	}
	e, err := s.AppendMessage(m)
	if e == nil {
		return pushResult(L, nil, err)
	}
	return pushResult(L, lua.LString(e.ID), err)
}

// answered makes m an answer of the model at hand that cost nothing.
func (in *instance) answered(m *message.Message) {
	m.StopReason, m.Usage = message.StopEnd, &message.Usage{}
	if host := in.chain.hostNow(); host != nil {
		if model := host.Model(); model != nil {
			m.API, m.Provider, m.Model = model.API, model.Provider, model.ID
		}
	}
}

// reloadHooks is ctx.reload() → {cancelled}. What follows in the handler still
// runs in the old version of its hook.
func (in *instance) reloadHooks(L *lua.LState) (*lua.LTable, error) {
	host := in.mustCommand(L, "reload")
	return in.switched(L, host, in.wait(L, "reload", false, func(ctx context.Context) error {
		in.chain.Reload(ctx, true)
		return ctx.Err()
	}))
}

// branchOff is ctx.branch(entry_id) → {cancelled, session_id, …, text?}.
func (in *instance) branchOff(L *lua.LState, id string) (*lua.LTable, error) {
	host := in.mustCommand(L, "branch")
	var recalled agent.Recalled
	err := in.wait(L, "branch", false, func(ctx context.Context) (err error) {
		recalled, err = host.Branch(ctx, id)
		return err
	})
	t, err := in.switched(L, host, err)
	in.giveBack(t, recalled)
	return t, err
}

// giveBack puts what was sent once into the prompt line, and into the result.
func (in *instance) giveBack(t *lua.LTable, r agent.Recalled) {
	if t == nil || r.Text == "" {
		return
	}
	luavm.Set(t, "text", lua.LString(r.Text))
	if ui := in.chain.uiNow(); ui != nil {
		ui.SetEditorText(r.Text)
	}
}

// navigateTree is ctx.navigate_tree(id, {summarize?, …}) → {cancelled, …}.
func (in *instance) navigateTree(L *lua.LState) int {
	host := in.mustCommand(L, "navigate_tree")
	id := L.CheckString(1)
	var o agent.NavigateOptions
	luavm.Unpack(L, 2, "navigate_tree", luavm.Opt("summarize", &o.Summarize), luavm.Opt("custom_instructions", &o.Instructions),
		luavm.Opt("replace_instructions", &o.Replace), luavm.Opt("label", &o.Label))
	var moved agent.Moved
	err := in.wait(L, "navigate_tree", false, func(ctx context.Context) (err error) {
		moved, err = host.Navigate(ctx, id, o)
		return err
	})
	t, err := in.switched(L, host, in.tellUnsaved(err))
	in.giveBack(t, moved.Recalled)
	if t != nil {
		record.SetText(t, "leaf_id", moved.Leaf)
		if moved.Summary != nil {
			luavm.Set(t, "summary_entry", in.records.Entry(moved.Summary))
		}
	}
	return pushResult(L, t, err)
}

// tellUnsaved tells of what happened and could not be saved, which is no failure
// for a hook.
func (in *instance) tellUnsaved(err error) error {
	var unsaved *session.SaveError
	if !errors.As(err, &unsaved) {
		return err
	}
	in.chain.notify(in.vm.Context(), agent.LevelError, err.Error())
	return nil
}
