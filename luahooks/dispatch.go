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

// shutdownTime is what all handlers of session_shutdown get together.
const shutdownTime = 2 * time.Second

// offer gives an asking event to the handlers of one hook, in the order in which
// they were registered, and reports whether the chain ends here.
func (c *Chain) offer(ctx context.Context, h *hook, spec *eventSpec, e agent.Event) (stop bool) {
	c.each(ctx, h, spec, func(in *instance, fn *lua.LFunction) (err error) {
		stop, err = in.ask(ctx, spec, e, fn)
		return err
	}, func(error) bool { return stop })
	return stop
}

// each runs one after the other the handlers that a hook has for an event, until
// after, which is told how each ended, says stop. Errors are reported. A VM that
// is replaced at that moment is no reason to leave a handler out: it is run in
// the hook's new VM.
func (c *Chain) each(ctx context.Context, h *hook, spec *eventSpec, run func(*instance, *lua.LFunction) error, after func(error) (stop bool)) {
	for i := 0; ; i++ {
		in, err := c.once(h, spec, i, run)
		if in == nil {
			return
		}
		if err != nil {
			c.failed(ctx, h, in, spec.Kind.String(), err)
		}
		if after(err) {
			return
		}
	}
}

// once runs the i-th handler; the instance is nil if there is none.
func (c *Chain) once(h *hook, spec *eventSpec, i int, run func(*instance, *lua.LFunction) error) (in *instance, err error) {
	for range 3 {
		if in = h.current(); in == nil {
			return nil, nil
		}
		fn := in.handler(spec.Kind.String(), i)
		if fn == nil {
			return nil, nil
		}
		err = run(in, fn)
		if !errors.Is(err, luavm.ErrClosed) && !errors.Is(err, luavm.ErrDead) {
			return in, err
		}
	}
	return in, err
}

// ask runs one handler of an asking event and carries out its result. What comes
// late or with an error has no effect.
func (in *instance) ask(ctx context.Context, spec *eventSpec, e agent.Event, fn *lua.LFunction) (stop bool, err error) {
	var apply func()
	err = in.run(ctx, spec, func(L *lua.LState) error {
		result, err := in.call(L, fn, spec.build(in, L, e))
		if err != nil || result == lua.LNil {
			return err
		}
		t, err := in.resultTable(L, spec, result)
		if err != nil {
			return err
		}
		apply, stop, err = spec.merge(in, L, e, t)
		return err
	})
	if err != nil {
		return false, err
	}
	if apply != nil {
		apply()
	}
	return stop, nil
}

func (in *instance) run(ctx context.Context, spec *eventSpec, f func(*lua.LState) error) error {
	if spec.Kind == agent.KindContext {
		ctx = context.WithValue(ctx, contextEventKey{}, true)
	}
	return in.vm.Run(ctx, luavm.Job{Name: spec.Kind.String(), Timeout: in.chain.opts.Timeout, Clock: spec.Clock, Run: f})
}

// call calls a handler with an event and ctx and returns its first result.
func (in *instance) call(L *lua.LState, fn *lua.LFunction, event lua.LValue) (lua.LValue, error) {
	in.fresh()
	L.Push(fn)
	L.Push(event)
	L.Push(in.ctx)
	L.Call(2, 1)
	result := L.Get(-1)
	L.Pop(1)
	return result, nil
}

// resultTable checks the shape of what a handler returned.
func (in *instance) resultTable(L *lua.LState, spec *eventSpec, v lua.LValue) (*lua.LTable, error) {
	t, ok := v.(*lua.LTable)
	if !ok {
		return nil, fmt.Errorf("a handler of %s returns nil or a table, not a %s", spec.Kind, v.Type())
	}
	luavm.Materialise(L, t)
	var known []string
	for _, f := range spec.Results {
		known = append(known, f.Name)
	}
	for k, _ := t.Next(lua.LNil); k != lua.LNil; k, _ = t.Next(k) {
		if name := lua.LVAsString(k); !contains(known, name) {
			return nil, unknownKey(spec.Kind.String(), k.String(), known)
		}
	}
	return t, nil
}

func contains(list []string, s string) bool {
	for _, l := range list {
		if l == s {
			return true
		}
	}
	return false
}

func unknownKey(event, key string, known []string) error {
	if near := luavm.Suggest(key, known); near != "" {
		return fmt.Errorf("unknown key %q in the result of %s, did you mean %q?", key, event, near)
	}
	return fmt.Errorf("unknown key %q in the result of %s", key, event)
}

// gate passes a tool call along the chain. What runs is what every handler last
// saw: after a rewrite the handlers before it are asked again with the final
// arguments, and of those answers only a block counts. A handler that fails or
// does not answer in time blocks.
func (c *Chain) gate(ctx context.Context, spec *eventSpec, e *agent.ToolCall) error {
	lastRewrite := -1
	c.gateRound(ctx, spec, e, func(n int, before agent.ToolCall) bool {
		if string(before.Input) != string(e.Input) {
			lastRewrite = n
		}
		return e.Block
	})
	if e.Block || lastRewrite < 0 {
		return ctx.Err()
	}
	again := *e
	c.gateRound(ctx, spec, &again, func(n int, before agent.ToolCall) bool {
		again.Input, again.RewrittenBy = e.Input, e.RewrittenBy
		return again.Block || n+1 >= lastRewrite
	})
	if again.Block {
		e.Block, e.Reason, e.BlockedBy, e.Terminate = true, again.Reason, again.BlockedBy, again.Terminate
	}
	return ctx.Err()
}

// gateRound asks every handler of the chain; after tells the number of the
// handler that has answered and what it was asked, and ends the round with true.
func (c *Chain) gateRound(ctx context.Context, spec *eventSpec, e *agent.ToolCall, after func(n int, before agent.ToolCall) bool) {
	n, over := 0, false
	for _, h := range c.list() {
		var before agent.ToolCall
		c.each(ctx, h, spec, func(in *instance, fn *lua.LFunction) error {
			before = *e
			_, err := in.ask(ctx, spec, e, fn)
			return err
		}, func(err error) bool {
			if err != nil {
				e.Block, e.BlockedBy = true, h.Name
				e.Reason = fmt.Sprintf("hook %s failed: %v", h.File(), err)
			}
			over = after(n, before)
			n++
			return over
		})
		if over {
			return
		}
	}
}

// tell gives a telling event to all hooks and waits as long as the event says.
func (c *Chain) tell(ctx context.Context, spec *eventSpec, e agent.Event) {
	wait, cancel := c.patience(ctx, spec)
	defer cancel()
	for _, h := range c.list() {
		in := h.current()
		if in == nil || in.handler(spec.Kind.String(), 0) == nil {
			continue
		}
		done := h.queue.add(c, func() { c.tellHook(ctx, h, spec, e) })
		select {
		case <-done:
		case <-wait.Done():
		}
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
	return context.WithCancel(ctx)
}

// tellHook runs one hook's handlers of a telling event. Handlers that finish
// behind the agent are not ended by the end of its run.
func (c *Chain) tellHook(ctx context.Context, h *hook, spec *eventSpec, e agent.Event) {
	switch spec.Wait {
	case graceful:
		ctx = context.WithoutCancel(ctx)
	case lastChance:
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), shutdownTime)
		defer cancel()
	}
	c.each(ctx, h, spec, func(in *instance, fn *lua.LFunction) error {
		return in.run(ctx, spec, func(L *lua.LState) error {
			_, err := in.call(L, fn, spec.build(in, L, e))
			return err
		})
	}, func(error) bool { return false })
}

// failed reports what went wrong in a handler, and gives a hook whose VM did
// not stop a fresh one.
func (c *Chain) failed(ctx context.Context, h *hook, in *instance, event string, err error) {
	var e *luavm.Error
	if errors.As(err, &e) && e.Kind == luavm.Cancelled && ctx.Err() != nil {
		return // the person interrupted; that is no fault of the hook
	}
	h.fault(err)
	c.log.write(h.Name, event+": "+fullText(err))
	c.notify(context.WithoutCancel(ctx), agent.LevelError, fmt.Sprintf("hook %s: %s: %v", h.Name, event, err))
	if in.vm.Dead() {
		c.revive(ctx, h, in)
	}
}

func fullText(err error) string {
	var e *luavm.Error
	if errors.As(err, &e) && e.Traceback != "" && e.Traceback != "-" {
		return err.Error() + "\n" + e.Traceback
	}
	return err.Error()
}
