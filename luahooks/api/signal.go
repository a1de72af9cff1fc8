package api

import (
	"context"

	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// signal is ctx.signal: it tells that the handler it was made in was stopped, by
// the person, by the end of the run or by its clock. Once a handler has ended by
// itself its signal never tells that.
type signal struct{ job context.Context }

// signals makes the signal of each handler.
type signals struct {
	*bridge
	jobs *jobs

	// Of the last handler that asked; only while the VM is held.
	job   context.Context
	value *lua.LTable
}

// current is ctx.signal of the job that runs.
func (s *signals) current() *lua.LTable {
	if job := s.vm.Context(); s.job != job {
		s.job, s.value = job, s.vm.NewStub(&signal{job}, s.fill)
	}
	return s.value
}

// fill makes the table of a signal, when Lua uses it first: cancelled(), and on_cancel(fn),
// which has fn called if the handler is stopped and returns a function that undoes this.
func (s *signals) fill(L *lua.LState, ref any) *lua.LTable {
	job := ref.(*signal).job
	t := luavm.NewRecord(L, 2)
	s.add(t, part{
		"cancelled": func() bool { return luavm.Stopped(job) },
		"on_cancel": func(fn *lua.LFunction) *lua.LFunction {
			off := context.AfterFunc(job, func() {
				if !luavm.Stopped(job) {
					return
				}
				s.jobs.spawn(func(ctx context.Context) {
					_ = s.jobs.callBack(asOfTool(ctx, job), "on_cancel", func(L *lua.LState) error {
						callLua(L, fn)
						return nil
					})
				})
			})
			return s.vm.Func("off", func() { off() })
		},
	})
	return s.vm.StrictTable("signal", t)
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

// within returns a context that ends with ctx, and also when the job of s is stopped
// before its end, as by a timeout. A job that ends by itself does not end the context.
// s may be nil.
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
