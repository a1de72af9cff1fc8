package luahooks

import (
	"context"
	"errors"
	"fmt"
	"math"

	"pi/agent"
	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// offer gives an asking event to the handlers of one hook, in the order in which
// they were registered, and reports whether the chain ends here.
func (c *Chain) offer(ctx context.Context, h *hook, spec *eventSpec, e agent.Event) (stop bool) {
	c.each(ctx, h, spec, allHandlers, func(in *instance, fn *lua.LFunction) (err error) {
		stop, err = in.ask(ctx, spec, e, fn)
		return err
	}, func(int, error) bool { return stop })
	return stop
}

const allHandlers = math.MaxInt

// each runs one after the other the handlers, at most limit, that a hook has for
// an event when it begins, until after, which is told the handler's number and how it ended,
// says stop. Errors are reported. Handlers that are taken back meanwhile are left
// out. A VM that is replaced at that moment is no reason to leave one out: it is
// run in the hook's new VM.
func (c *Chain) each(ctx context.Context, h *hook, spec *eventSpec, limit int, run func(*instance, *lua.LFunction) error, after func(n int, err error) (stop bool)) {
	in := h.current()
	handlers := in.registered(spec.name)
	for i := 0; i < min(len(handlers), limit); i++ {
		if handlers[i].gone.Load() {
			continue
		}
		err := run(in, handlers[i].fn)
		for try := 0; isReplaced(err) && try < maxReplaced; try++ {
			c.revive(ctx, h, in)
			in = h.current()
			if handlers = in.registered(spec.name); i >= len(handlers) {
				return // the new version has no such handler
			}
			err = run(in, handlers[i].fn)
		}
		if err != nil {
			c.failed(ctx, h, in, spec.name, err)
		}
		if after(i, err) {
			return
		}
	}
}

// maxReplaced is how often a handler is tried anew because its VM was replaced
// just then.
const maxReplaced = 3

// isReplaced reports whether a handler did not begin because its VM is no more.
func isReplaced(err error) bool {
	return err != nil && (errors.Is(err, luavm.ErrClosed) || errors.Is(err, luavm.ErrDead))
}

// verdict is what a handler's result comes to. It is written on the goroutine of
// the job and read only when the job ended in time.
type verdict struct {
	apply func()
	stop  bool
}

// ask runs one handler of an asking event and carries out its result. What comes
// late or with an error has no effect.
func (in *instance) ask(ctx context.Context, spec *eventSpec, e agent.Event, fn *lua.LFunction) (stop bool, err error) {
	v := new(verdict)
	err = in.run(ctx, spec, func(L *lua.LState) error {
		result := in.call(L, fn, spec.build(in, L, e))
		if result == lua.LNil {
			return nil
		}
		t, err := in.resultTable(L, spec, result)
		if err == nil {
			v.apply, v.stop, err = spec.merge(in, L, e, t)
		}
		return placeOf(fn, err)
	})
	if err != nil {
		return false, err
	}
	if v.apply != nil {
		v.apply()
	}
	return v.stop, nil
}

func (in *instance) run(ctx context.Context, spec *eventSpec, f func(*lua.LState) error) error {
	if spec.Kind == agent.KindContext {
		ctx = context.WithValue(ctx, contextEventKey{}, true)
	}
	return in.vm.Run(ctx, luavm.Job{Name: spec.name, Timeout: in.chain.opts.Timeout, Clock: spec.Clock, Run: f})
}

// call calls a handler with an event and ctx and returns its first result.
func (in *instance) call(L *lua.LState, fn *lua.LFunction, event lua.LValue) lua.LValue {
	result := callFunction(L, fn, event, in.ctx)
	in.seen = jobMessages{}
	return result
}

// callFunction calls fn and returns its first result.
func callFunction(L *lua.LState, fn *lua.LFunction, args ...lua.LValue) lua.LValue {
	L.Push(fn)
	for _, a := range args {
		L.Push(a)
	}
	L.Call(len(args), 1)
	result := L.Get(-1)
	L.Pop(1)
	return result
}

// placeOf adds to what is wrong with a function's result where the function
// stands.
func placeOf(fn *lua.LFunction, err error) error {
	if err == nil || fn.IsG {
		return err
	}
	return fmt.Errorf("%s:%d: %w", fn.Proto.SourceName, fn.Proto.LineDefined, err)
}

// resultTable checks the shape of what a handler returned.
func (in *instance) resultTable(L *lua.LState, spec *eventSpec, v lua.LValue) (*lua.LTable, error) {
	t, ok := v.(*lua.LTable)
	if !ok {
		return nil, fmt.Errorf("a handler of %s returns nil or a table, not a %s", spec.name, v.Type())
	}
	luavm.Materialise(L, t)
	for k, _ := t.Next(lua.LNil); k != lua.LNil; k, _ = t.Next(k) {
		if name, ok := k.(lua.LString); !ok || !spec.takes(string(name)) {
			return nil, spec.unknownKey(k.String())
		}
	}
	return t, nil
}

func (s *eventSpec) takes(key string) bool {
	for i := range s.Results {
		if s.Results[i].Name == key {
			return true
		}
	}
	return false
}

func (s *eventSpec) unknownKey(key string) error {
	var known []string
	for _, f := range s.Results {
		known = append(known, f.Name)
	}
	if near := luavm.Suggest(key, known); near != "" {
		return fmt.Errorf("unknown key %q in the result of %s, did you mean %q?", key, s.name, near)
	}
	return fmt.Errorf("unknown key %q in the result of %s", key, s.name)
}

// failed reports what went wrong in a handler, and gives a hook whose VM did
// not stop a fresh one.
func (c *Chain) failed(ctx context.Context, h *hook, in *instance, event string, err error) {
	if interrupted(ctx, err) || c.closed.Load() {
		return // by the person, or by the end; that is no fault of the hook
	}
	h.fault(err)
	c.log.write(h.Name, event+": "+fullText(err))
	c.notify(context.WithoutCancel(ctx), agent.LevelError, "hook "+h.Name+": "+event+": "+err.Error())
	c.revive(ctx, h, in)
}

func interrupted(ctx context.Context, err error) bool {
	var e *luavm.Error
	return errors.As(err, &e) && e.Kind == luavm.Cancelled && ctx.Err() != nil
}

func fullText(err error) string {
	var e *luavm.Error
	if errors.As(err, &e) && e.Traceback != "" && e.Traceback != "-" {
		return err.Error() + "\n" + e.Traceback
	}
	return err.Error()
}
