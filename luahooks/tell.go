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
	wait, cancel := c.patience(ctx, spec)
	defer cancel()
	deadline, _ := wait.Deadline()
	var late []<-chan struct{}
	for _, h := range c.list() {
		if len(h.current().registered(spec.name)) == 0 {
			continue
		}
		run := func(started func()) { c.tellHook(ctx, h, spec, e, deadline, started) }
		if spec.Wait == untilDone && h.queue.here(c.behind, run) {
			continue
		}
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
	switch spec.Wait {
	case graceful:
		return context.WithTimeout(ctx, c.opts.Grace)
	case lastChance:
		return context.WithTimeout(ctx, shutdownTime)
	}
	return ctx, func() {}
}

// tellHook runs one hook's handlers of a telling event. Those that may finish
// behind the agent are not ended by the end of its run.
func (c *Chain) tellHook(ctx context.Context, h *hook, spec *eventSpec, e agent.Event, deadline time.Time, started func()) {
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
	c.each(ctx, h, spec, allHandlers, func(in *instance, fn *lua.LFunction) error {
		return in.run(ctx, spec, func(L *lua.LState) error {
			started()
			in.call(L, fn, spec.build(in, L, e))
			return nil
		})
	}, func(int, error) bool { return false })
}
