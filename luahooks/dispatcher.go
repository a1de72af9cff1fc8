package luahooks

import (
	"context"
	"slices"
	"time"

	"pi/agent"
	"pi/luahooks/event"
	"pi/luahooks/exitwait"
	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// dispatcher is the [agent.Listener] that passes events along the handlers of hooks. It
// may be used from any goroutine.
type dispatcher struct {
	roster  *roster
	modes   modes
	gates   gatekeeper
	reports *reporter
	behind  *background // handlers that finish behind the agent
	lanes   *luavm.Lanes
	timeout time.Duration // of a handler
	grace   time.Duration // that the agent waits for an event's handlers
	keeper  instanceKeeper
	deltas  *streamer
	asked   *asked

	deferred *exitwait.List // what hooks have to finish when the program ends
}

// instanceKeeper is told how handlers end.
type instanceKeeper interface {
	// failed is told of a handler that failed.
	failed(ctx context.Context, h *hook, in *instance, event string, handler *lua.LFunction, err error)
	// revive puts a fresh copy of a hook in the place of one whose VM had to be given up.
	revive(ctx context.Context, h *hook, dead *instance)
}

// newDispatcher adds to d what passes the deltas of answers.
func newDispatcher(d dispatcher) *dispatcher {
	d.asked, d.deferred = &asked{}, &exitwait.List{}
	d.deltas = &streamer{roster: d.roster, behind: d.behind, timeout: d.timeout, grace: d.grace, ask: d.ask}
	return &d
}

// Wants reports whether a hook listens to k, the mode that is on has a gate there, or a hook
// has something to finish then.
func (d *dispatcher) Wants(k agent.Kind) bool {
	return d.roster.wants(k) || k == agent.KindToolCall && d.modes.hasGate() || k == agent.KindSessionShutdown && d.deferred.IsAny()
}

// Handle passes e along the chain, as [Chain.Handle] promises.
func (d *dispatcher) Handle(ctx context.Context, e agent.Event) error {
	spec := d.roster.events[e.Kind()]
	if spec == nil {
		return nil
	}
	if d.behind.isEnding() {
		blockAtEnd(e)
		return nil
	}
	switch e := e.(type) {
	case *agent.ToolCall:
		return d.gate(agent.AtGate(ctx), spec, e)
	case *agent.UserBash:
		return d.bash(agent.AtGate(ctx), spec, e)
	case *agent.ShellCommand:
		return d.shell(agent.AtGate(ctx), spec, e)
	case *agent.MessageUpdate:
		d.deltas.pass(ctx, spec, e)
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
	w := &walk{dispatcher: d, ctx: ctx, spec: spec, event: e, hooks: hooks, steps: steps{ended: (*walk).apply}}
	w.run()
}
