package luavm

import (
	"fmt"
	"runtime/debug"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// Protected calls.
//
// gopher-lua's own pcall has three faults that hooks would meet. A caught
// error closes the upvalues of all functions further up, so that their
// closures and locals drift apart; with an error handler it closes none, so
// that closures made inside see garbage; and it builds a trace with one line
// per tail call. So every protected call runs on a Lua thread of its own,
// above a Go frame that sees errors before the stack is unwound: closing the
// upvalues of that thread is then exactly right, and an error that already has
// a trace gets no other.

// maxProtected bounds how deep pcall, xpcall and coroutines nest together.
const maxProtected = 180

// jobFrame is the Go function at the bottom of a job's Lua stack. It calls Job.Run and
// stores its error; an error that Lua raises leaves it as a panic, with a traceback.
func (t *threads) jobFrame(L *lua.LState) int {
	L.Panic = func(L *lua.LState) { panic(raised(L, trace(L))) }
	defer func() {
		if r := recover(); r != nil {
			panic(t.caught(L, r, trace))
		}
	}()
	j := t.lock.cur.Load()
	j.result = j.spec.Run(L)
	return 0
}

// pcallFrame is the Go function at the bottom of the thread of a pcall. It calls the
// function below the arguments on the stack and returns its results; an error leaves it
// as a panic, without a traceback, which nobody would read.
func (t *threads) pcallFrame(L *lua.LState) int {
	L.Panic = raiseQuietly
	defer func() {
		if r := recover(); r != nil {
			panic(t.caught(L, r, noTrace))
		}
	}()
	L.Call(L.GetTop()-1, lua.MultRet)
	return L.GetTop()
}

// noTrace is the traceback of errors that need none. It is not empty, because
// gopher-lua's PCall replaces an empty one by its own.
func noTrace(*lua.LState) string { return "-" }

func raiseQuietly(L *lua.LState) { panic(raised(L, noTrace(L))) }

// raised makes an ApiError of the value on top of the stack, which was raised. To the
// text of some errors it adds the place or a hint (see [explained]).
func raised(L *lua.LState, trace string) *lua.ApiError {
	obj := L.Get(-1)
	if s, ok := obj.(lua.LString); ok && strings.HasPrefix(string(s), " ") {
		// By a Go function with no Lua below it on this thread.
		obj = lua.LString(placed(where(L, 0), strings.TrimPrefix(string(s), " ")))
	} else if ok {
		obj = lua.LString(explained(L, replaced(L, string(s)), hintsOf(L)))
	}
	return &lua.ApiError{Type: lua.ApiErrorRun, Object: obj, StackTrace: trace}
}

// caught makes an error of a recovered value, with a traceback if it has none, and
// closes the upvalues of the thread. It is called in the deferred function, while the
// frames of the error are still on the stack.
func (t *threads) caught(L *lua.LState, r any, trace func(*lua.LState) string) *lua.ApiError {
	e, ok := r.(*lua.ApiError)
	if !ok {
		e = t.ofPanic(L, "", r)
	}
	if e.StackTrace == "" {
		e.StackTrace = trace(L)
	}
	closeUpvalues(L)
	return e
}

// ofPanic makes a Lua error of a Go panic in function, with the hook's line, and reports
// the panic with its Go stack. A stack overflow is the script's doing and not reported:
// there the interpreter itself panics.
func (t *threads) ofPanic(L *lua.LState, function string, r any) *lua.ApiError {
	text := fmt.Sprint(r)
	if text == "lua callstack overflow" {
		return &lua.ApiError{Type: lua.ApiErrorRun, Object: lua.LString(placed(where(L, 0), "stack overflow"))}
	}
	if t.panicked != nil {
		t.panicked(function, r, debug.Stack())
	}
	if function != "" {
		text = function + ": " + text
	}
	return &lua.ApiError{Type: lua.ApiErrorPanic, Object: lua.LString(placed(where(L, 0), "internal error: "+text))}
}

// closeUpvalues closes the upvalues of all frames of the thread, so that closures made
// there keep their values. gopher-lua does so only while it raises an error: L.Error is
// called for that, with a Panic function that makes it return.
func closeUpvalues(L *lua.LState) {
	old := L.Panic
	defer func() {
		_ = recover() // L.Error panics on a full stack, after it has closed the upvalues
		L.Panic = old
	}()
	L.Panic = func(*lua.LState) {}
	L.Error(lua.LNil, 0)
	L.Pop(1)
}

// openPcall puts pcall(f, ...) and xpcall(f, handler) among the globals.
func (t *threads) openPcall(g *lua.LTable) {
	setAll(t.main, g, map[string]lua.LGFunction{
		"pcall": func(L *lua.LState) int {
			if L.GetTop() == 0 {
				L.ArgError(1, "value expected")
			}
			return t.call(L, t.lowestPcall)
		},
		"xpcall": func(L *lua.LState) int {
			fn, handler := L.Get(1), L.CheckFunction(2)
			L.SetTop(0)
			L.Push(fn)
			return t.call(L, t.main.NewFunction(func(L *lua.LState) int { return t.xpcallFrame(L, handler) }))
		},
	})
}

// call runs the function and the arguments on L's stack on a thread of their own, whose
// bottom is frame (see pcallFrame), and leaves on L what pcall returns: true and the
// results, or false and the error.
func (t *threads) call(L *lua.LState, frame *lua.LFunction) int {
	if chainLength(L) >= maxProtected {
		L.RaiseError("too many nested pcalls")
	}
	th := t.get()
	th.Parent = L
	th.Env = L.Env
	th.Push(frame)
	n := L.GetTop()
	for i := 1; i <= n; i++ {
		th.Push(L.Get(i))
	}
	running := L.G.CurrentThread
	err := th.PCall(n, lua.MultRet, nil)
	L.SetTop(0)
	if err != nil {
		L.G.CurrentThread = running
		th.Parent = nil
		L.Push(lua.LFalse)
		L.Push(err.(*lua.ApiError).Object)
		return 2
	}
	L.Push(lua.LTrue)
	for i := 1; i <= th.GetTop(); i++ {
		L.Push(th.Get(i))
	}
	t.put(th)
	return L.GetTop()
}

// xpcallFrame is pcallFrame with a handler, which runs where the error happened
// and replaces its value.
func (t *threads) xpcallFrame(L *lua.LState, handler *lua.LFunction) int {
	defer func() {
		if r := recover(); r != nil {
			e := t.caught(L, r, noTrace)
			e.Object = handled(L, handler, e.Object)
			panic(e)
		}
	}()
	L.Panic = raiseQuietly
	L.Call(L.GetTop()-1, lua.MultRet)
	return L.GetTop()
}

// handled calls the handler of an xpcall with the value of an error and returns its
// result, or obj if the handler itself fails.
func handled(L *lua.LState, handler *lua.LFunction, obj lua.LValue) (result lua.LValue) {
	defer func() {
		if r := recover(); r != nil {
			result = obj
		}
	}()
	L.Push(handler)
	L.Push(obj)
	L.Call(1, 1)
	return L.Get(-1)
}

// chainLength returns how many pcalls and coroutines L is nested in.
func chainLength(L *lua.LState) int {
	n := 0
	for t := L.Parent; t != nil; t = t.Parent {
		n++
	}
	return n
}
