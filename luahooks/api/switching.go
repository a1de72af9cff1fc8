package api

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"pi/agent"
	"pi/luavm"
	"pi/session"
	"pi/session/message"

	lua "github.com/yuin/gopher-lua"
)

// Only commands and shortcuts may replace the session or move in it, and handlers of
// agent_settled, when the agent has nothing more to do: in the middle of any other event that
// would wait for itself, or replace the session that the event is about.

// switching are the functions of ctx that replace the session or its branch, and
// those that wait for a good time to do so.
type switching struct{ *bridge }

func (s *switching) part() part {
	return part{"wait_for_idle": s.waitForIdle, "switch_session": s.switchSession, "new_session": s.newSession, "reload": s.reloadHooks,
		"branch": s.branch, "navigate_tree": s.navigateTree}
}

// waitForIdle is ctx.wait_for_idle() → {cancelled}.
func (s *switching) waitForIdle(L *lua.LState) (*lua.LTable, error) {
	host := s.mustCommand(L, "wait_for_idle")
	return s.outcome(L, host, s.wait(L, "wait_for_idle", host.WaitIdle))
}

// settledKey is in the Go context of the handlers of agent_settled of a hook, and of everything
// below them.
type settledKey struct{}

// settledRun are the handlers of one agent_settled; job is the context of the job of the one
// that runs.
type settledRun struct{ job context.Context }

// WithSettledEvent returns the context in which handlers of agent_settled run.
func WithSettledEvent(ctx context.Context) context.Context {
	return context.WithValue(ctx, settledKey{}, &settledRun{})
}

// CallSettled is [Script.Call] for a handler of agent_settled, in a context of
// [WithSettledEvent].
func (s *Script) CallSettled(L *lua.LState, fn *lua.LFunction, event lua.LValue) {
	job := s.bridge.vm.Context()
	job.Value(settledKey{}).(*settledRun).job = job
	s.Call(L, fn, event)
}

// isSettledHandler reports whether the job that runs is a handler of agent_settled itself.
func (b *bridge) isSettledHandler() bool {
	job := b.vm.Context()
	run, _ := job.Value(settledKey{}).(*settledRun)
	return run != nil && run.job == job
}

// mustMove returns the host, or raises where the session must not be moved.
func (s *switching) mustMove(L *lua.LState, function string) Host {
	host := s.mustHost(L, function)
	if !s.isCommand() && !s.isSettledHandler() {
		luavm.Raise(L, "%s: only in commands and shortcuts, and in handlers of agent_settled", function)
	}
	return host
}

// waitMoved is wait for a move, which may ask a model for a summary: the time of that is not
// the handler's. The session of a child stays as it is, which looks as if a hook had cancelled.
func (s *switching) waitMoved(L *lua.LState, function string, f func(ctx context.Context) error) error {
	if s.InChild() {
		return agent.ErrCancelled
	}
	return s.waitFor(L, function, !s.isCommand(), f)
}

// replaced tells the user, unless they have asked for it with a command, that the hook has
// replaced the session, if it is another one than before.
func (s *switching) replaced(host Host, before *session.Session, by string) {
	if host.Session() != before {
		s.tell("has left the session for " + by)
	}
}

func (s *switching) tell(did string) {
	if !s.isCommand() {
		s.Notify(s.vm.Context(), agent.LevelInfo, "hook "+s.Hook.Name+" "+did)
	}
}

// switchSession is ctx.switch_session(path) → {cancelled, session_id, …}. It replaces the
// session by the one of that file.
func (s *switching) switchSession(L *lua.LState, path string) (*lua.LTable, error) {
	host := s.mustMove(L, "switch_session")
	if path == "" {
		return nil, luavm.Misusef("the path is empty")
	}
	path = s.absolute(path)
	before := host.Session()
	err := s.waitMoved(L, "switch_session", func(ctx context.Context) error {
		return host.SwitchSession(ctx, path)
	})
	s.replaced(host, before, "another one")
	return s.outcome(L, host, err)
}

// outcome returns what functions that replace the session give to Lua: the session that is
// there now, and whether err says that somebody cancelled. Any other error is returned.
func (s *switching) outcome(L *lua.LState, host Host, err error) (*lua.LTable, error) {
	cancelled := errors.Is(err, agent.ErrCancelled)
	switch {
	case errors.Is(err, agent.ErrNotIdle) && !s.isCommand():
		return nil, fmt.Errorf("%w: a run has begun meanwhile", err)
	case errors.Is(err, agent.ErrNotIdle):
		return nil, fmt.Errorf("%w; wait_for_idle() first", err)
	case err != nil && !cancelled:
		return nil, err
	}
	t := luavm.NewRecord(L, 3)
	luavm.Set(t, "cancelled", lua.LBool(cancelled))
	luavm.Set(t, "session_id", lua.LString(host.Session().ID()))
	luavm.SetText(t, "session_file", host.Session().File())
	return t, nil
}

// newSession is ctx.new_session{parent_session?, setup?} → {cancelled, …}. It replaces the
// session by a new one, into which the function setup may write first; an error of that
// function raises.
func (s *switching) newSession(L *lua.LState) int {
	host := s.mustMove(L, "new_session")
	var o agent.NewSessionOptions
	var setup *lua.LFunction
	luavm.Unpack(L, 1, "new_session", luavm.Opt("parent_session", &o.Parent), luavm.Opt("setup", &setup))
	before := host.Session()
	var wrong error // of the hook's own function
	err := s.waitMoved(L, "new_session", func(ctx context.Context) error {
		if setup != nil {
			o.Setup = func(now *session.Session) error {
				wrong = s.setUp(ctx, now, setup)
				return wrong
			}
		}
		return host.NewSession(ctx, o)
	})
	must(L, "new_session: setup", wrong)
	s.replaced(host, before, "a new one")
	t, err := s.outcome(L, host, err)
	return pushResult(L, t, err)
}

// setUp runs the hook's function that writes into a new session, in a job of its own. What
// the function gets raises once it has ended.
func (s *switching) setUp(ctx context.Context, now *session.Session, fn *lua.LFunction) error {
	return s.jobs.run(ctx, "setup", func(L *lua.LState) error {
		open := true
		defer func() { open = false }()
		sm := luavm.NewRecord(L, 1)
		s.add(sm, part{"append_message": func(L *lua.LState) int {
			if !open {
				luavm.Raise(L, "append_message: only while setup runs")
			}
			return s.appendMessage(L, now)
		}})
		callLua(L, fn, sm)
		return nil
	})
}

// appendMessage is sm.append_message{role, content, timestamp?} → id. An answer is one
// of the session's model, and cost nothing.
func (s *switching) appendMessage(L *lua.LState, now *session.Session) int {
	var role string
	var content lua.LValue
	at := time.Now().UnixMilli()
	luavm.Unpack(L, 1, "append_message", luavm.Opt("role", &role).Required(), luavm.Opt("content", &content).Required(),
		luavm.Opt("timestamp", &at))
	blocks, plain := s.content(L, "append_message", content)
	m := &message.Message{Role: message.Role(role), Content: blocks, Timestamp: at}
	switch m.Role {
	case message.RoleUser:
		m.Plain = plain
	case message.RoleAssistant:
		m.StopReason, m.Usage = message.StopEnd, &message.Usage{}
		if model := s.Host().Model(); model != nil {
			m.API, m.Provider, m.Model = model.API, model.Provider, model.ID
		}
	default:
		luavm.Raise(L, "append_message: role must be \"user\" or \"assistant\", not %q", role)
	}
	e, err := now.AppendMessage(m)
	if e == nil {
		return pushResult(L, nil, err)
	}
	return pushResult(L, lua.LString(e.ID), err)
}

// reloadHooks is ctx.reload() → {cancelled}. What follows in the handler still
// runs in the old version of its hook.
func (s *switching) reloadHooks(L *lua.LState) (*lua.LTable, error) {
	host := s.mustCommand(L, "reload")
	return s.outcome(L, host, s.wait(L, "reload", func(ctx context.Context) error {
		s.Reload(ctx)
		return ctx.Err()
	}))
}

// branch is ctx.branch(entry_id) → {cancelled, session_id, …, text?}.
func (s *switching) branch(L *lua.LState, id string) (*lua.LTable, error) {
	host := s.mustMove(L, "branch")
	before := host.Session()
	var recalled agent.Recalled
	err := s.waitMoved(L, "branch", func(ctx context.Context) (err error) {
		recalled, err = host.Branch(ctx, id)
		return err
	})
	s.replaced(host, before, "a copy of it")
	t, err := s.outcome(L, host, err)
	s.giveBack(t, recalled)
	return t, err
}

// giveBack puts the prompt at which the session was taken back, if there is one, into the
// result t, which may be nil, and for a command into the prompt line, too: else somebody may be
// typing there.
func (s *switching) giveBack(t *lua.LTable, r agent.Recalled) {
	if t == nil || r.Text == "" {
		return
	}
	luavm.Set(t, "text", lua.LString(r.Text))
	if ui := s.UI(); ui != nil && s.isCommand() {
		ui.SetEditorText(r.Text)
	}
}

// navigateTree is ctx.navigate_tree(id, {summarize?, …}) → {cancelled, …}.
func (s *switching) navigateTree(L *lua.LState) int {
	host := s.mustMove(L, "navigate_tree")
	id := L.CheckString(1)
	var o agent.NavigateOptions
	luavm.Unpack(L, 2, "navigate_tree", luavm.Opt("summarize", &o.Summarize), luavm.Opt("custom_instructions", &o.Instructions),
		luavm.Opt("replace_instructions", &o.Replace), luavm.Opt("label", &o.Label))
	var moved agent.Moved
	err := s.waitMoved(L, "navigate_tree", func(ctx context.Context) (err error) {
		moved, err = host.Navigate(ctx, id, o)
		return err
	})
	var unsaved *session.SaveError
	if errors.As(err, &unsaved) { // it happened, which is no failure for a hook
		s.Notify(s.vm.Context(), agent.LevelError, err.Error())
		err = nil
	}
	isCancelled := errors.Is(err, agent.ErrCancelled)
	t, err := s.outcome(L, host, err)
	s.giveBack(t, moved.Recalled)
	if err == nil && !isCancelled && !moved.Stayed {
		s.tell("has moved the session to another place of its tree")
	}
	if t != nil {
		luavm.SetText(t, "leaf_id", moved.Leaf)
		if moved.Summary != nil {
			luavm.Set(t, "summary_entry", s.records.Entry(moved.Summary))
		}
	}
	return pushResult(L, t, err)
}

// compactions are what a hook asks for with ctx.compact.
type compactions struct{ *bridge }

// compact is ctx.compact{instructions?, on_complete?, on_error?} → true. It asks for a
// compaction and does not wait for it; one of the functions is called when it is over. The end
// of the compaction waits for that up to hook_grace, so that the hook can tell of it before a
// program without a user ends; not before ctx.compact has returned, which has the VM until
// then.
func (c *compactions) compact(L *lua.LState) int {
	host := c.mustHost(L, "compact")
	var o agent.CompactOptions
	var onComplete, onError *lua.LFunction
	luavm.Unpack(L, 1, "compact", luavm.Opt("instructions", &o.Instructions), luavm.Opt("on_complete", &onComplete), luavm.Opt("on_error", &onError))
	var returned atomic.Bool
	host.RequestCompact(o, func(done *agent.Compacted, err error) {
		fn := onComplete
		if done == nil {
			fn = onError
		}
		finished := make(chan struct{})
		began := c.Spawn(func(ctx context.Context) {
			defer close(finished)
			c.callBack(ctx, fn, done, err)
		})
		if began && returned.Load() {
			select {
			case <-finished:
			case <-time.After(c.Grace):
			}
		}
	})
	returned.Store(true)
	L.Push(lua.LTrue)
	return 1
}

// callBack runs the function for success or failure. The user is told of a failure
// that the hook has no function for.
func (c *compactions) callBack(ctx context.Context, fn *lua.LFunction, done *agent.Compacted, err error) {
	if fn == nil {
		if done == nil {
			c.Notify(ctx, agent.LevelWarning, "hook "+c.Hook.Name+": compact: "+err.Error())
		}
		return
	}
	_ = c.jobs.callBack(ctx, "compact", func(L *lua.LState) error {
		if done != nil {
			callLua(L, fn, c.records.Entry(done.Entry))
		} else {
			callLua(L, fn, lua.LString(err.Error()))
		}
		return nil
	})
}
