package luavm

import (
	"context"
	"testing"

	lua "github.com/yuin/gopher-lua"
)

// newIdleThreads are threads whose turn nobody has, with the libraries that they
// open.
func newIdleThreads(t *testing.T) *threads {
	main := lua.NewState()
	t.Cleanup(main.Close)
	idle := &job{real: &jobContext{Context: context.Background()}}
	th := newThreads(main, newLock(idle, make(chan struct{})), nil)
	th.openPcall(main.G.Global)
	th.openCoroutines(main.G.Global)
	return th
}

// do runs source on a thread.
func (t *threads) do(source string) error {
	th := t.get()
	fn, err := th.LoadString(source)
	if err != nil {
		return err
	}
	th.Push(fn)
	return th.PCall(0, 0, nil)
}

func TestThreadsThatEndedWellAreUsedAgain(t *testing.T) {
	all := newIdleThreads(t)
	th := all.get()
	th.Push(lua.LTrue)
	all.put(th)
	if again := all.get(); again != th || again.GetTop() != 0 {
		t.Errorf("the same thread: %v, with %d values", again == th, again.GetTop())
	}
	var many []*lua.LState
	for range maxSpare + 1 {
		many = append(many, all.get())
	}
	for _, th := range many {
		all.put(th)
	}
	if len(all.spare) != maxSpare {
		t.Errorf("%d threads are kept", len(all.spare))
	}
}

func TestProtectedCallsAndCoroutinesStopWithTheJobWhoseTurnItIs(t *testing.T) {
	all := newIdleThreads(t)
	if err := all.do(`co = coroutine.create(function() while true do coroutine.yield() end end) assert(coroutine.resume(co))`); err != nil {
		t.Fatal(err)
	}
	stopped := &job{worker: &worker{woken: make(chan struct{}, 1)}}
	stopped.stop(&Error{Message: "enough"})
	<-all.lock.token
	all.lock.cur.Store(stopped)
	for _, source := range []string{`coroutine.resume(co)`, `while true do pcall(function() end) end`} {
		if err := all.do(source); err == nil {
			t.Errorf("%s is not stopped", source)
		}
	}
	all.lock.release()
	if err := all.do(`assert(coroutine.resume(co))`); err != nil {
		t.Errorf("in the next turn: %v", err)
	}
}

func TestWhatWaitsIsNotResumed(t *testing.T) {
	all := newIdleThreads(t)
	if err := all.do(`co = coroutine.create(function() end)`); err != nil {
		t.Fatal(err)
	}
	co := all.main.GetGlobal("co").(*lua.LState)
	co.Parent = all.main // as if it ran
	all.setParked(co, true)
	if why := all.cannotResume(all.main, co); why != "cannot resume a coroutine that waits in another job" {
		t.Error(why)
	}
	all.setParked(co, false)
	if why := all.cannotResume(all.main, co); why != "" {
		t.Error(why)
	}
}
