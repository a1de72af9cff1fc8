package luahooks

import (
	"context"
	"time"

	"pi/agent"

	lua "github.com/yuin/gopher-lua"
)

// shutdownTime is what all handlers of session_shutdown get together.
const shutdownTime = 2 * time.Second

// tell gives a telling event to the hooks one after the other and waits as long
// as the event says; handlers that need longer finish behind the agent.
func (c *Chain) tell(ctx context.Context, spec *eventSpec, e agent.Event) {
	if spec.Wait == untilDone {
		c.walk(ctx, spec, c.list(), &telling{chain: c, ctx: ctx, spec: spec, event: e})
		return
	}
	wait, cancel := c.patience(ctx, spec)
	defer cancel()
	deadline, _ := wait.Deadline()
	var late []<-chan struct{}
	for _, h := range c.list() {
		if len(h.current().registered(spec.name)) == 0 {
			continue
		}
		run := func(t *turn) { c.tellHook(ctx, h, spec, e, deadline, t) }
		done := h.queue.add(c.behind, run)
		if !c.waitFor(wait, spec, done) {
			late = append(late, done)
		}
	}
	if spec.Wait == lastChance {
		for _, done := range late {
			waitDone(wait, done)
		}
	}
}

// waitFor waits for one hook. One that hangs at the end of a session does not
// keep the others from hearing of it.
func (c *Chain) waitFor(wait context.Context, spec *eventSpec, done <-chan struct{}) bool {
	if spec.Wait == lastChance {
		var cancel context.CancelFunc
		wait, cancel = context.WithTimeout(wait, c.opts.Grace)
		defer cancel()
	}
	return waitDone(wait, done)
}

func waitDone(ctx context.Context, done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
	}
	select {
	case <-done:
		return true
	case <-ctx.Done():
		return false
	}
}

// patience is how long the agent waits for the handlers of a telling event.
func (c *Chain) patience(ctx context.Context, spec *eventSpec) (context.Context, context.CancelFunc) {
	if spec.Wait == lastChance {
		return context.WithTimeout(ctx, shutdownTime)
	}
	return context.WithTimeout(ctx, c.opts.Grace)
}

// tellHook runs one hook's handlers of a telling event when its turn has come.
// Those that may finish behind the agent are not ended by the end of its run.
func (c *Chain) tellHook(ctx context.Context, h *hook, spec *eventSpec, e agent.Event, deadline time.Time, t *turn) {
	if spec.Wait != untilDone {
		var cancel context.CancelFunc
		ctx, cancel = c.behind.detach(ctx)
		defer cancel()
	}
	if spec.Wait == lastChance {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, deadline)
		defer cancel()
	}
	c.walk(ctx, spec, []*hook{h}, &telling{chain: c, ctx: ctx, spec: spec, event: e, turn: t})
}

// telling are the steps of a telling event that is waited for.
type telling struct {
	chain *Chain
	ctx   context.Context
	spec  *eventSpec
	event agent.Event

	turn *turn // in the hook's queue; nil while it is not this event's
}

// enter waits for the hook's turn. If others are before, the event goes into
// the hook's queue, and from there to the hook.
func (t *telling) enter(h *hook, _ *instance) (limit int) {
	if t.turn != nil { // it comes out of the queue
		return allHandlers
	}
	if t.turn = h.queue.begin(t.chain.behind); t.turn != nil {
		return allHandlers
	}
	run := func(own *turn) {
		t.chain.tellHook(t.ctx, h, t.spec, t.event, time.Time{}, own)
	}
	waitDone(t.ctx, h.queue.add(t.chain.behind, run))
	return 0
}

func (t *telling) job(in *instance, fn *lua.LFunction) func(*lua.LState) error {
	spec, event, turn := t.spec, t.event, t.turn
	return func(L *lua.LState) error {
		turn.end()
		in.call(L, fn, spec.table(in, L, event))
		return nil
	}
}

func (t *telling) after(*hook, int, error) bool { return false }

func (t *telling) answered() []string { return nil }

func (t *telling) leave(*hook) bool {
	if t.turn != nil {
		t.turn.end()
		t.turn = nil
	}
	return false
}
