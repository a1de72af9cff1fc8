package luahooks

import (
	"context"
	"errors"
	"fmt"
	"time"

	"pi/agent"
	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// What handlers and other functions of hooks did. A failure is shown to the person once per
// line of a file and message, at most [shownPerPlace] of a line in a session, counted for
// /hooks, told to the other hooks each time, and logged once. Each run is counted, and shown
// if its hook is traced.

// tellFailure reports what went wrong in a handler, which may be nil.
func (a *audience) tellFailure(ctx context.Context, h *hook, in *instance, event string, handler *lua.LFunction, err error) {
	n := in.again(failure{handler, event, err.Error()})
	if n == 1 {
		a.log.write(h.Name, event+": "+fullText(err))
	}
	place := event // unless the line is known where it was raised
	if e, ok := errors.AsType[*luavm.Error](err); ok && e.Where != "" {
		place = e.Where
	}
	times, row := in.failedAt(place, a.sessionID(), "hook "+h.Name+": "+event+": "+err.Error())
	h.fault(err, times)
	a.tellFailed(ctx, failureOf(h, event, err, n), row)
}

// failureOf is the event of a failure that came for the n-th time.
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
// of f. A failure in a handler of hook_error is only shown: telling it would never end.
func (a *audience) tellFailed(ctx context.Context, f *agent.HookFailed, text string) {
	ctx = context.WithoutCancel(ctx)
	if ctx.Value(tellingErrorKey{}) == nil {
		a.tell(ctx, notice{level: agent.LevelError, text: text, failed: f})
	} else if text != "" {
		a.notify(ctx, agent.LevelError, text)
	}
}

// ran counts a run of a handler, a command, a tool or a timer that ended with result or
// err. It is told too if its hook is traced.
func (a *audience) ran(ctx context.Context, h *hook, what, result string, took time.Duration, err error) {
	h.stats.add(what, took, err != nil && !interrupted(ctx, err))
	if !h.traced.Load() {
		return
	}
	if err != nil {
		result = "error: " + err.Error()
	}
	line := fmt.Sprintf("%s: %s in %s", what, result, took.Round(time.Microsecond))
	a.log.write(h.Name, "trace: "+line)
	a.notify(context.WithoutCancel(ctx), agent.LevelInfo, "hook "+h.Name+": "+line)
}

// tellCutOff tells that a hook did not get the time that it wanted for something.
func (a *audience) tellCutOff(h *hook, what, why string) {
	text := what + " was cut off: " + why
	a.log.write(h.Name, text)
	a.notify(context.Background(), agent.LevelWarning, "hook "+h.Name+": "+text)
}

// interrupted reports whether a job with this context ended because somebody cancelled
// it. A job that was cut off with its VM was not interrupted, though the end of the VM
// may end its context as well.
func interrupted(ctx context.Context, err error) bool {
	var e *luavm.Error
	return errors.As(err, &e) && e.Kind == luavm.Cancelled && ctx.Err() != nil && !errors.Is(err, luavm.ErrCutOff)
}

// fullText is an error with its traceback, if it has one.
func fullText(err error) string {
	var e *luavm.Error
	if errors.As(err, &e) && e.Traceback != "" && e.Traceback != "-" {
		return err.Error() + "\n" + e.Traceback
	}
	return err.Error()
}
