package api

import (
	"context"
	"slices"
	"sync"
	"time"

	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// signal tells that something is not wanted any more: ctx.signal of a handler that was stopped,
// by the user, by the end of the run or by its clock, or a pi.signal of the hook itself. The
// signal of a handler that has ended by itself never tells that.
type signal struct {
	job context.Context // of the handler; nil: own is set
	own *ownSignal
}

// ownSignal is one that the hook cancels, or a time, or another signal.
type ownSignal struct {
	cancelled chan struct{} // closed once it is cancelled

	mu       sync.Mutex // guards what follows
	why      string     // "": it is not cancelled
	watchers []*watcher // in the order in which they came; nil once it is cancelled
}

// A watcher is called once, when its signal is cancelled, and must not wait. What it returns is to
// be called behind that, where one may wait for the VM.
type watcher struct{ call func() []behind }

type behind func(life context.Context)

// isCancelled reports whether it was.
func (s *signal) isCancelled() bool {
	if s.own == nil {
		return luavm.Stopped(s.job)
	}
	select {
	case <-s.own.cancelled:
		return true
	default:
		return false
	}
}

// reason says why it was cancelled; nil: it was not.
func (s *signal) reason() *string {
	if !s.isCancelled() {
		return nil
	}
	if s.own != nil {
		return new(s.own.reason())
	}
	return new(luavm.StopReason(s.job))
}

func (s *ownSignal) reason() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.why
}

// end cancels it and calls its watchers. It returns what they leave to be called; first is false
// if it was cancelled before, which counts.
func (s *ownSignal) end(why string) (rest []behind, first bool) {
	s.mu.Lock()
	if s.why != "" {
		s.mu.Unlock()
		return nil, false
	}
	watchers := s.watchers
	s.why, s.watchers = why, nil
	close(s.cancelled)
	s.mu.Unlock()
	for _, w := range watchers {
		rest = append(rest, w.call()...)
	}
	return rest, true
}

// add puts a watcher at the end; it is false if the signal is cancelled already.
func (s *ownSignal) add(w *watcher) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.why != "" {
		return false
	}
	s.watchers = append(s.watchers, w)
	return true
}

func (s *ownSignal) remove(w *watcher) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watchers = slices.DeleteFunc(s.watchers, func(have *watcher) bool { return have == w })
}

// watch has call, which is that of a watcher, called when the signal is cancelled, or soon if it
// was; off takes that back. run is for what is left to be called then.
func (s *signal) watch(call func() []behind, run func(func() []behind)) (off func()) {
	if s.own != nil {
		w := &watcher{call}
		if s.own.add(w) {
			return func() { s.own.remove(w) }
		}
	}
	late := func() {
		if s.isCancelled() {
			run(call)
		}
	}
	if s.own != nil {
		late()
		return func() {}
	}
	stop := context.AfterFunc(s.job, late)
	return func() { stop() }
}

// within returns a context that ends with ctx, and also when s is cancelled. A job that ends by
// itself does not end the context. s may be nil.
func (s *signal) within(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	switch {
	case s == nil:
		return ctx, cancel
	case s.isCancelled():
		cancel()
		return ctx, cancel
	}
	off := s.watch(func() []behind { cancel(); return nil }, func(call func() []behind) { call() })
	return ctx, func() { off(); cancel() }
}

// signals makes the signal of each handler, and those of pi.signal.
type signals struct {
	*bridge

	// Of the last handler that asked; only while the VM is held.
	job   context.Context
	value *lua.LTable
}

// current is ctx.signal of the job that runs.
func (s *signals) current() *lua.LTable {
	if job := s.vm.Context(); s.job != job {
		s.job, s.value = job, s.vm.NewStub(&signal{job: job}, s.fill)
	}
	return s.value
}

// new is pi.signal{timeout?, any?} → signal: it is cancelled by its function cancel, after a
// time, or when one of the signals in any is.
func (s *signals) new(L *lua.LState) int {
	var ms *float64
	var list *lua.LTable
	luavm.Unpack(L, 1, "signal", luavm.Opt("timeout", &ms), luavm.Opt("any", &list))
	timeout := timeoutOption(L, "signal", ms)
	if timeout >= 0 {
		s.mustHaveLoaded(L, "signal{ timeout }")
	}
	own := &ownSignal{cancelled: make(chan struct{})}
	for _, other := range signalsOf(L, list) {
		s.follow(own, other)
	}
	if timeout >= 0 && !s.cancelAfter(own, timeout) {
		luavm.Raise(L, "signal: the hook is gone")
	}
	L.Push(s.vm.NewStub(&signal{own: own}, s.fill))
	return 1
}

// run calls a watcher of a signal that is cancelled, and then, on a goroutine of the hook, what
// that leaves.
func (s *signals) run(call func() []behind) { s.finish(call()) }

func (s *signals) finish(rest []behind) {
	if len(rest) == 0 {
		return
	}
	end := s.Clock.Begin()
	ok := s.Spawn(func(life context.Context) {
		defer end()
		for _, call := range rest {
			call(life)
		}
	})
	if !ok {
		end()
	}
}

// follow has a signal cancelled when another one is; at once if that was.
func (s *signals) follow(own *ownSignal, other *signal) {
	end := func() []behind {
		rest, _ := own.end(textOf(other.reason()))
		return rest
	}
	if other.isCancelled() {
		s.run(end)
		return
	}
	off := other.watch(end, s.run)
	own.add(&watcher{func() []behind { off(); return nil }})
}

// signalsOf reads the option any of pi.signal.
func signalsOf(L *lua.LState, list *lua.LTable) (all []*signal) {
	if list == nil {
		return nil
	}
	n, err := luavm.ListLen(L, list)
	must(L, "signal: any", err)
	for i := 1; i <= n; i++ {
		one := signalOf(list.RawGetInt(i))
		if one == nil {
			luavm.Raise(L, "signal: any[%d] must be a signal such as ctx.signal, not a %s", i, list.RawGetInt(i).Type())
		}
		all = append(all, one)
	}
	return all
}

// cancelAfter cancels a signal when a time has passed, unless somebody does before. It is false
// if the hook has ended.
func (s *signals) cancelAfter(own *ownSignal, timeout time.Duration) bool {
	stop, cancel := context.WithCancel(context.Background())
	if !own.add(&watcher{func() []behind { cancel(); return nil }}) {
		cancel()
		return true
	}
	run := s.Clock.Timer(timeout, false)
	ok := s.Spawn(func(life context.Context) {
		ctx, end := context.WithCancel(life)
		defer end()
		defer context.AfterFunc(stop, end)()
		run(ctx, func() {
			rest, _ := own.end(errTimeout.Error())
			for _, call := range rest {
				call(life)
			}
		})
	})
	if !ok {
		cancel()
		run(stop, nil)
	}
	return ok
}

// fill makes the table of a signal, when Lua uses it first: cancelled(), reason(), and
// on_cancel(fn), which has fn called if it is cancelled and returns a function that undoes this;
// for one of the hook cancel(reason?), too.
func (s *signals) fill(L *lua.LState, ref any) *lua.LTable {
	one := ref.(*signal)
	t := luavm.NewRecord(L, 4)
	s.add(t, part{
		"cancelled": one.isCancelled,
		"reason":    one.reason,
		"on_cancel": func(fn *lua.LFunction) *lua.LFunction { return s.onCancel(one, fn) },
	})
	if one.own != nil {
		s.add(t, part{"cancel": func(why *string) (bool, error) { return s.cancel(one.own, why) }})
	}
	return s.vm.StrictTable("signal", t)
}

// onCancel has fn called in a job of its own once a signal is cancelled, and returns the function
// that takes that back.
func (s *signals) onCancel(one *signal, fn *lua.LFunction) *lua.LFunction {
	cause := s.vm.Context()
	callback := func(life context.Context) {
		_ = s.jobs.callBack(asOfTool(life, cause), "on_cancel", func(L *lua.LState) error {
			callLua(L, fn)
			return nil
		})
	}
	off := one.watch(func() []behind { return []behind{callback} }, s.run)
	return s.vm.Func("off", func() { off() })
}

// cancel is signal.cancel(reason?) → whether it was not cancelled before.
func (s *signals) cancel(own *ownSignal, why *string) (bool, error) {
	if why == nil {
		text := errCancelled.Error()
		why = &text
	}
	if *why == "" {
		return false, luavm.Misusef("the reason is empty")
	}
	rest, first := own.end(*why)
	s.finish(rest)
	return first, nil
}

// signalOption reads an option that is a signal; nil if there is none.
func signalOption(L *lua.LState, function string, v lua.LValue) *signal {
	if v == nil || v == lua.LNil {
		return nil
	}
	s := signalOf(v)
	if s == nil {
		luavm.Raise(L, "%s: option \"signal\" must be a signal such as ctx.signal, not a %s", function, v.Type())
	}
	return s
}

// signalOf returns the signal that a value is; nil if it is none.
func signalOf(v lua.LValue) *signal {
	t, ok := v.(*lua.LTable)
	if !ok {
		return nil
	}
	ref, _ := luavm.StubOrigin(t)
	s, _ := ref.(*signal)
	return s
}
