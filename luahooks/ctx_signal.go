package luahooks

import (
	"context"

	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// signal is ctx.signal: it tells that the handler it was made in was stopped, by
// the person, by the end of the run or by its clock. Once a handler has ended by
// itself its signal never tells that.
type signal struct{ job context.Context }

// jobSignal is the signal of one handler.
type jobSignal struct {
	job   context.Context
	value *lua.LTable
}

// signalValue is ctx.signal of the job that runs.
func (in *instance) signalValue(L *lua.LState) lua.LValue {
	if job := in.vm.Context(); in.sign.job != job {
		in.sign = jobSignal{job, in.vm.NewStub(&signal{job}, in.fillSignal)}
	}
	return in.sign.value
}

func (in *instance) fillSignal(L *lua.LState, ref any) *lua.LTable {
	s := ref.(*signal)
	t := luavm.NewRecord(L, 2)
	luavm.Set(t, "cancelled", in.vm.Func("cancelled", func() bool { return luavm.Stopped(s.job) }))
	luavm.Set(t, "on_cancel", in.vm.Func("on_cancel", func(fn *lua.LFunction) *lua.LFunction {
		off := context.AfterFunc(s.job, func() { in.cancelled(s, fn) })
		return in.vm.Func("off", func() { off() })
	}))
	return in.vm.StrictTable("signal", t)
}

// cancelled runs what waits for the end of a handler, in a job of its own.
func (in *instance) cancelled(s *signal, fn *lua.LFunction) {
	if !luavm.Stopped(s.job) {
		return
	}
	in.spawn(func(ctx context.Context) {
		_ = in.callBack(ctx, "on_cancel", func(L *lua.LState) error {
			callFunction(L, fn)
			return nil
		})
	})
}

// signalOption reads an option that is a signal; nil if there is none.
func signalOption(L *lua.LState, function string, v lua.LValue) *signal {
	if v == nil || v == lua.LNil {
		return nil
	}
	if t, ok := v.(*lua.LTable); ok {
		if ref, ok := luavm.StubOrigin(t); ok {
			if s, ok := ref.(*signal); ok {
				return s
			}
		}
	}
	luavm.Raise(L, "%s: option \"signal\" must be a signal such as ctx.signal, not a %s", function, v.Type())
	return nil
}

// within gives a context that ends with ctx, and when the handler of s is
// stopped. s may be nil.
func (s *signal) within(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	switch {
	case s == nil:
		return ctx, cancel
	case luavm.Stopped(s.job):
		cancel()
	}
	off := context.AfterFunc(s.job, func() {
		if luavm.Stopped(s.job) {
			cancel()
		}
	})
	return ctx, func() { off(); cancel() }
}
