package luahooks

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"pi/agent"
	"pi/luahooks/event"
	"pi/luahooks/exitwait"
	"pi/luavm"
)

// dispatcher is the [agent.Listener] that passes events along the handlers of hooks. It
// may be used from any goroutine.
type dispatcher struct {
	*roster
	*audience
	behind  *background   // handlers that finish behind the agent
	workers luavm.Workers // what handlers run on
	timeout time.Duration // of a handler
	grace   time.Duration // that the agent waits for an event's handlers
	keeper  *loader       // is told how handlers end

	asked    atomic.Pointer[askedEvent] // the newest event for whose answer the agent waits
	deferred exitwait.List              // what hooks have to finish when the program ends
}

// Wants reports whether a hook listens to k, the mode that is on has a gate there, or may have
// had one because no hook has it now, or a hook has something to finish then.
func (d *dispatcher) Wants(k agent.Kind) bool {
	switch {
	case d.roster.wants(k):
		return true
	case d.keeper.isBehind(): // what it wants is known in Handle
		return d.roster.events[k] != nil
	case k == agent.KindToolCall:
		name, _, mode := d.modeOn()
		return len(mode.Gate()) > 0 || name != "" && mode == nil
	case k == agent.KindSessionShutdown:
		return d.deferred.IsAny()
	}
	return false
}

// Handle passes e along the chain. The error is only ever that of a chain whose
// context ended at a gate. After Close gates block, and nothing else happens.
func (d *dispatcher) Handle(ctx context.Context, e agent.Event) error {
	spec := d.roster.events[e.Kind()]
	if spec == nil {
		return nil
	}
	if d.behind.isEnding() {
		blockAtEnd(e)
		return nil
	}
	d.keeper.follow(ctx)
	switch e := e.(type) {
	case *agent.ToolCall:
		return d.gate(agent.AtGate(ctx), spec, e)
	case *agent.UserBash:
		return d.bash(agent.AtGate(ctx), spec, e)
	case *agent.ShellCommand:
		return d.shell(agent.AtGate(ctx), spec, e)
	case *agent.MessageUpdate:
		d.passDelta(ctx, spec, e)
		return nil
	case *agent.HookFailed:
		others := slices.DeleteFunc(slices.Clone(d.roster.list()), func(h *hook) bool { return h.Path == e.Path })
		d.emit(context.WithValue(ctx, tellingErrorKey{}, true), spec, others, e)
		return nil
	}
	hooks := d.roster.list()
	if spec.OwnOnly {
		hooks = slices.DeleteFunc(slices.Clone(hooks), func(h *hook) bool { return !h.isOwn() })
	}
	if spec.Asking {
		d.ask(ctx, spec, hooks, e)
	} else {
		d.emit(ctx, spec, hooks, e)
	}
	return nil
}

// blockAtEnd blocks a tool call or a command of a shell, because the chain has ended and no
// handler can be asked. Other events stay as they are.
func blockAtEnd(e agent.Event) {
	const reason = "the hooks have ended, so nobody can be asked"
	switch e := e.(type) {
	case *agent.ToolCall:
		e.Block, e.Reason = true, reason
	case *agent.UserBash:
		e.Blocked = reason
	case *agent.ShellCommand:
		e.Blocked = reason
	}
}

// ask gives an asking event to the handlers of hooks, in the order in which they
// were registered.
func (d *dispatcher) ask(ctx context.Context, spec *event.Spec, hooks []*hook, e agent.Event) {
	ds := &dispatch{dispatcher: d, ctx: ctx, spec: spec, event: e, hooks: hooks, answered: (*dispatch).apply}
	ds.run()
}

// askedEvent is an event on its way for whose answer the agent waits.
type askedEvent struct {
	began time.Time
	at    atomic.Pointer[hook] // the hook that is asked
}

// askedLong is how long an event is on its way before the hook that is asked is named to
// the user.
const askedLong = time.Second

// Asked is the name of the hook whose answer the agent has been waiting for, a second and
// longer; "" if there is none.
func (d *dispatcher) Asked() string {
	j := d.asked.Load()
	if j == nil || time.Since(j.began) < askedLong {
		return ""
	}
	if h := j.at.Load(); h != nil {
		return h.Name
	}
	return ""
}

// WaitAtEnd lets the end of the session wait, until ctx ends, for what hooks have deferred it
// for (pi.defer_exit). Without it what is not done then is cut off. The cause of ctx says why
// not longer.
func (d *dispatcher) WaitAtEnd(ctx context.Context) { d.deferred.Allow(ctx) }

// AwaitHandlers waits until the handlers that finish behind the agent have ended, and reports
// whether they have before ctx ended.
func (d *dispatcher) AwaitHandlers(ctx context.Context) bool { return d.behind.wait(ctx) }
