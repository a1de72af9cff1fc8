package luahooks

import (
	"context"
	"errors"

	"pi/agent"
	"pi/luahooks/event"
	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// What goes wrong in a hook: the person is shown it once per handler and message,
// /hooks counts it, and the other hooks are told each time.

// failure is what is shown once.
type failure struct {
	handler        *lua.LFunction // nil: it is known by the event
	event, message string
}

// maxFailures is how many different ones of a hook are told apart.
const maxFailures = 1000

// again counts a failure and returns how often it has come since the file was loaded.
func (in *instance) again(f failure) int {
	in.mu.Lock()
	defer in.mu.Unlock()
	if _, known := in.failures[f]; !known && len(in.failures) >= maxFailures {
		f = failure{}
	}
	in.failures[f]++
	return in.failures[f]
}

// failed reports what went wrong in a handler, and gives a hook whose VM did
// not stop a fresh one. handler may be nil.
func (c *Chain) failed(ctx context.Context, h *hook, in *instance, event string, handler *lua.LFunction, err error) {
	if interrupted(ctx, err) || c.closed.Load() {
		return // by the person, or by the end; that is no fault of the hook
	}
	n := in.again(failure{handler, event, err.Error()})
	h.fault(err, n)
	text := ""
	if n == 1 {
		c.log.write(h.Name, event+": "+fullText(err))
		text = "hook " + h.Name + ": " + event + ": " + err.Error()
	}
	c.tellFailed(ctx, failureOf(h, event, err, n), text)
	c.revive(ctx, h, in)
}

// fault notes what went wrong in a call of the hook whose caller is told, for the n-th
// time, and gives a hook whose VM did not stop a fresh one.
func (in *instance) fault(ctx context.Context, what string, err error, n int) {
	in.hook.fault(err, n)
	in.chain.log.write(in.hook.Name, what+": "+fullText(err))
	in.chain.revive(ctx, in.hook, in)
}

func failureOf(h *hook, event string, err error, n int) *agent.HookFailed {
	f := &agent.HookFailed{Hook: h.Name, Path: h.Path, Event: event, Message: err.Error(), Count: n}
	var e *luavm.Error
	if errors.As(err, &e) && e.Traceback != "-" {
		f.Traceback = e.Traceback
	}
	return f
}

// tellingErrorKey marks the context of a handler of hook_error, and of what it sets
// off.
type tellingErrorKey struct{}

// tellFailed shows text, if it is not empty, and tells the other hooks and front ends
// of f. What fails where hooks hear of failures is shown only: it would never end.
func (c *Chain) tellFailed(ctx context.Context, f *agent.HookFailed, text string) {
	ctx = context.WithoutCancel(ctx)
	if ctx.Value(tellingErrorKey{}) == nil {
		c.audience.tell(ctx, notice{level: agent.LevelError, text: text, failed: f})
	} else if text != "" {
		c.audience.notify(ctx, agent.LevelError, text)
	}
}

// otherThan lists the hooks that hear of a failure.
func (c *Chain) otherThan(f *agent.HookFailed) (hooks []*hook) {
	for _, h := range c.roster.list() {
		if h.Path != f.Path {
			hooks = append(hooks, h)
		}
	}
	return hooks
}

// tellError gives a failure to the other hooks.
func (c *Chain) tellError(ctx context.Context, spec *event.Spec, f *agent.HookFailed) {
	c.tell(context.WithValue(ctx, tellingErrorKey{}, true), spec, c.otherThan(f), f)
}
