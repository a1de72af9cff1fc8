package api

import (
	"context"
	"errors"
	"sync"

	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// usualAtOnce is how many functions pi.all runs at a time, unless limit says otherwise.
const usualAtOnce = 4

// atOnce runs functions of a hook beside each other.
type atOnce struct {
	*bridge
	jobs *jobs
}

// all is pi.all({fn, …}, {limit?}) → the first value of each, in their order: it calls the
// functions, so many at a time, and waits for them. While one waits the others run. The first
// that raises ends the others, and what it raised is raised.
func (a *atOnce) all(L *lua.LState) int {
	a.mustHaveLoaded(L, "all")
	functions := functionsOf(L, L.CheckTable(1))
	limit := usualAtOnce
	luavm.Unpack(L, 2, "all", luavm.Opt("limit", &limit))
	if limit < 1 {
		luavm.Raise(L, "all: option \"limit\" must be at least 1")
	}
	values := make([]lua.LValue, len(functions))
	err := a.wait(L, "all", func(ctx context.Context) error { return a.runAll(ctx, functions, limit, values) })
	if raised, ok := errors.AsType[*luavm.Error](err); ok && raised.Value != nil {
		L.Error(raised.Value, 0) // as it was raised, with its place
	}
	must(L, "all", err)
	for _, v := range values {
		L.Push(v)
	}
	return len(values)
}

// mostAtOnce is how many functions pi.all takes: each value is one on the stack of the caller.
const mostAtOnce = 100

// functionsOf reads the list of pi.all.
func functionsOf(L *lua.LState, list *lua.LTable) []*lua.LFunction {
	n, err := luavm.ListLen(L, list)
	if err != nil {
		luavm.RaiseArg(L, 1, "all", "%v", err)
	}
	if n > mostAtOnce {
		luavm.RaiseArg(L, 1, "all", "at most %d functions, these are %d", mostAtOnce, n)
	}
	var functions []*lua.LFunction
	for i := 1; i <= n; i++ {
		fn, ok := list.RawGetInt(i).(*lua.LFunction)
		if !ok {
			luavm.RaiseArg(L, 1, "all", "list of functions expected, [%d] is a %s", i, list.RawGetInt(i).Type())
		}
		functions = append(functions, fn)
	}
	return functions
}

// runAll runs each function in a job of its own and puts its first result into values. The
// error is that of the first that failed; the others have ended then.
func (a *atOnce) runAll(ctx context.Context, functions []*lua.LFunction, limit int, values []lua.LValue) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	places := make(chan struct{}, limit)
	for i, fn := range functions {
		select {
		case places <- struct{}{}:
		case <-ctx.Done():
		}
		if ctx.Err() != nil {
			break
		}
		wg.Go(func() {
			defer func() { <-places }()
			if err := a.runOne(ctx, fn, &values[i]); err != nil {
				cancel(err)
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

// runOne runs one function. A job that is given up may still write its result, but not to the
// caller's.
func (a *atOnce) runOne(ctx context.Context, fn *lua.LFunction, value *lua.LValue) error {
	result := new(lua.LValue)
	err := a.jobs.run(ctx, "all", func(L *lua.LState) error {
		*result = callLua(L, fn)
		return nil
	})
	if err == nil {
		*value = *result
	}
	return err
}
