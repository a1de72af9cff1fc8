package luavm

import lua "github.com/yuin/gopher-lua"

// threads are the Lua threads of a VM: those that jobs and pcalls run on, and the
// coroutines that hooks make. All have the same context. Only the job that runs
// uses them.
type threads struct {
	main     *lua.LState // runs nothing itself
	lock     *lock       // the context
	panicked func(function string, value any, stack []byte)

	spare  []*lua.LState
	parked map[*lua.LState]bool // the coroutines that wait in Wait

	// The lowest frames, see protect.go.
	lowestJob, lowestPcall *lua.LFunction
}

func newThreads(main *lua.LState, lock *lock, panicked func(string, any, []byte)) *threads {
	t := &threads{main: main, lock: lock, panicked: panicked, parked: map[*lua.LState]bool{}}
	t.lowestJob, t.lowestPcall = main.NewFunction(t.jobFrame), main.NewFunction(t.pcallFrame)
	return t
}

// get returns a Lua thread on which nothing runs: a spare one or a new one.
func (t *threads) get() *lua.LState {
	if n := len(t.spare); n > 0 {
		th := t.spare[n-1]
		t.spare = t.spare[:n-1]
		return th
	}
	th, _ := t.main.NewThread()
	th.SetContext(t.lock)
	return th
}

const maxSpare = 8

// put clears a thread and keeps it for get, unless there are enough. Only threads whose
// call ended without an error may be put back.
func (t *threads) put(th *lua.LState) {
	if len(t.spare) < maxSpare {
		th.SetTop(0)
		th.Env, th.Parent = t.main.G.Global, nil
		t.spare = append(t.spare, th)
	}
}

// setParked marks, or unmarks, the coroutine L and those that resumed it as waiting in
// [VM.Wait]. Other jobs, which run meanwhile, cannot resume them.
func (t *threads) setParked(L *lua.LState, parked bool) {
	for ; L.Parent != nil; L = L.Parent {
		if parked {
			t.parked[L] = true
		} else {
			delete(t.parked, L)
		}
	}
}
