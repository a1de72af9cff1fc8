package luavm

import lua "github.com/yuin/gopher-lua"

// maxCoroutines bounds how deep coroutines resume each other; each level costs
// Go stack.
const maxCoroutines = 100

// openCoroutines replaces functions of the coroutine library, so that every coroutine
// has the VM's context: one made in one job can continue in another, and both can be
// stopped. Resuming or yielding where that would corrupt a stack raises or returns false
// and a message.
func (t *threads) openCoroutines(g *lua.LTable) {
	lib := g.RawGetString("coroutine").(*lua.LTable)
	create := lib.RawGetString("create").(*lua.LFunction).GFunction
	wrap := lib.RawGetString("wrap").(*lua.LFunction).GFunction
	resume := lib.RawGetString("resume").(*lua.LFunction).GFunction
	yield := lib.RawGetString("yield").(*lua.LFunction).GFunction
	setAll(t.main, lib, map[string]lua.LGFunction{
		"create": func(L *lua.LState) int {
			n := withoutContext(L, create)
			L.Get(-1).(*lua.LState).SetContext(t.lock)
			return n
		},
		"wrap": func(L *lua.LState) int {
			n := withoutContext(L, wrap)
			t.wrapped(L.Get(-1).(*lua.LFunction))
			return n
		},
		"resume": func(L *lua.LState) int {
			th := L.CheckThread(1)
			if msg := t.cannotResume(L, th); msg != "" {
				L.Push(lua.LFalse)
				L.Push(lua.LString(msg))
				return 2
			}
			running := L.G.CurrentThread
			n := resume(L)
			L.G.CurrentThread = running
			return n
		},
		"yield": func(L *lua.LState) int {
			checkYield(L)
			return yield(L)
		},
		"running": func(L *lua.LState) int {
			if th := coroutineOf(L); th != nil {
				L.Push(th)
			} else {
				L.Push(lua.LNil)
			}
			return 1
		},
		"status": status,
	})
}

// withoutContext calls make, which makes a coroutine, with L's context taken off:
// gopher-lua would derive a context for each coroutine.
func withoutContext(L *lua.LState, make lua.LGFunction) int {
	ctx := L.RemoveContext()
	defer L.SetContext(ctx)
	return make(L)
}

// wrapped changes the function that coroutine.wrap made in the ways in which
// openCoroutines changes coroutines and their resumption.
func (t *threads) wrapped(fn *lua.LFunction) {
	th := fn.Upvalues[0].Value().(*lua.LState)
	th.SetContext(t.lock)
	next := fn.GFunction
	fn.GFunction = func(L *lua.LState) int {
		if msg := t.cannotResume(L, th); msg != "" {
			L.RaiseError("%s", msg)
		}
		running, holder := L.G.CurrentThread, t.lock.cur.Load()
		failed := true
		defer func() {
			if failed && t.lock.cur.Load() == holder && !t.lock.isDead() { // else the job was given up in a Wait
				th.Dead, th.Parent = true, nil
				L.G.CurrentThread = running
			}
		}()
		n := next(L)
		failed = false
		L.G.CurrentThread = running
		return n
	}
}

// cannotResume returns the message why L may not resume the coroutine th, or "" if it
// may.
func (t *threads) cannotResume(L, th *lua.LState) string {
	if th.Dead {
		return "cannot resume dead coroutine"
	}
	if t.parked[th] {
		return "cannot resume a coroutine that waits in another job"
	}
	for outer := L; outer != nil; outer = outer.Parent {
		if outer == th {
			return "cannot resume non-suspended coroutine"
		}
	}
	if chainLength(L) >= maxCoroutines {
		return "too many nested coroutines"
	}
	return ""
}

// checkYield raises if a yield would leave a Go function half done: inside a pcall, a
// comparator of table.sort or a callback of gsub.
func checkYield(L *lua.LState) {
	if L.Parent == nil {
		L.RaiseError("attempt to yield from outside a coroutine")
	}
	for level := 1; level < maxLevels; level++ {
		dbg, ok := L.GetStack(level)
		if !ok {
			return
		}
		_, _ = L.GetInfo("S", dbg, nil)
		if dbg.Source == "" {
			L.RaiseError("attempt to yield across pcall or another function of the program")
		}
	}
}

// coroutineOf returns the coroutine in which L runs, nil if it is the job's own thread.
func coroutineOf(L *lua.LState) *lua.LState {
	for t := L; t.Parent != nil; t = t.Parent {
		if t == L.G.CurrentThread {
			return t
		}
	}
	return nil
}

// status implements coroutine.status.
func status(L *lua.LState) int {
	th := L.CheckThread(1)
	s := "suspended"
	switch {
	case th.Dead:
		s = "dead"
	case th == coroutineOf(L):
		s = "running"
	case th.Parent != nil:
		s = "normal"
	}
	L.Push(lua.LString(s))
	return 1
}
