package luahooks

import (
	"context"
	"fmt"
	"sync"
	"time"

	"pi/agent"
	"pi/luahooks/event"

	lua "github.com/yuin/gopher-lua"
)

// shutdownTime is what all handlers of session_shutdown get together.
const shutdownTime = 2 * time.Second

// tell gives a telling event to the hooks one after the other and waits as long
// as the event says; handlers that need longer finish behind the agent.
func (c *Chain) tell(ctx context.Context, spec *event.Spec, hooks []*hook, e agent.Event) {
	if spec.IsWaitedFor(ctx) {
		c.tellNow(ctx, spec, hooks, e, nil)
		return
	}
	wait, cancel := c.patience(ctx, spec)
	defer cancel()
	deadline, _ := wait.Deadline()
	var late []*toldLate
	for _, h := range hooks {
		if len(h.current().handlers(spec.Name)) == 0 {
			continue
		}
		l := &toldLate{hook: h}
		run := func(t *turn) { c.tellHook(ctx, l, spec, e, deadline, t) }
		l.done = h.queue.add(c.behind, run)
		if !c.waitFor(wait, spec, l.done) {
			late = append(late, l)
		}
	}
	if spec.Wait == event.LastChance {
		for _, l := range late {
			if !waitDone(wait, l.done) {
				c.cutOff(l, spec)
			}
		}
	}
}

// toldLate is a hook that may not come to the end of what it does about an event.
type toldLate struct {
	hook *hook
	done <-chan struct{}
	said sync.Once
}

// cutOff says that a hook was not left the time that it wanted.
func (c *Chain) cutOff(l *toldLate, spec *event.Spec) {
	why := "the program has ended"
	if spec.Wait == event.LastChance {
		why = fmt.Sprintf("all hooks together have %v for it", shutdownTime)
	}
	l.said.Do(func() { c.tellCutOff(l.hook, spec.Name, why) })
}

func (c *Chain) tellCutOff(h *hook, what, why string) {
	text := what + " was cut off: " + why
	c.log.write(h.Name, text)
	c.audience.notify(context.Background(), agent.LevelWarning, "hook "+h.Name+": "+text)
}

// waitFor waits for one hook. One that hangs at the end of a session does not
// keep the others from hearing of it.
func (c *Chain) waitFor(wait context.Context, spec *event.Spec, done <-chan struct{}) bool {
	if spec.Wait == event.LastChance {
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
func (c *Chain) patience(ctx context.Context, spec *event.Spec) (context.Context, context.CancelFunc) {
	if spec.Wait == event.LastChance {
		return context.WithTimeout(ctx, shutdownTime)
	}
	return context.WithTimeout(ctx, c.opts.Grace)
}

// tellHook runs one hook's handlers of a telling event when its turn has come.
// Those that may finish behind the agent are not ended by the end of its run.
func (c *Chain) tellHook(ctx context.Context, l *toldLate, spec *event.Spec, e agent.Event, deadline time.Time, t *turn) {
	mayBeLate := !spec.IsWaitedFor(ctx)
	if mayBeLate {
		var cancel context.CancelFunc
		ctx, cancel = c.behind.detach(ctx)
		defer cancel()
	}
	if spec.Wait == event.LastChance {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, deadline)
		defer cancel()
	}
	c.tellNow(ctx, spec, []*hook{l.hook}, e, t)
	if mayBeLate && ctx.Err() != nil {
		c.cutOff(l, spec)
	}
}

// tellNow runs the handlers of hooks and waits for them. A hook whose turn has not
// come gets the event out of its queue. own is the turn of an event that came out
// of there, else nil.
func (c *Chain) tellNow(ctx context.Context, spec *event.Spec, hooks []*hook, e agent.Event, own *turn) {
	c.walk(ctx, spec, hooks, steps{
		begin: func(h *hook, _ *instance) (limit int) {
			if own == nil {
				own = h.queue.begin(c.behind)
			}
			if own != nil {
				return allHandlers
			}
			run := func(t *turn) { c.tellHook(ctx, &toldLate{hook: h}, spec, e, time.Time{}, t) }
			waitDone(ctx, h.queue.add(c.behind, run))
			return 0
		},
		tell: func(in *instance, fn *lua.LFunction) func(*lua.LState) error {
			turn := own
			return func(L *lua.LState) error {
				turn.end()
				in.call(L, fn, spec.Table(in.events, L, e))
				return nil
			}
		},
		done: func(*hook) bool {
			if own != nil {
				own.end()
				own = nil
			}
			return false
		},
	})
}
