package api

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"pi/internal/child"
	"pi/luahooks/record"
	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// Owner is the hook that a VM runs for.
type Owner interface {
	// Current returns what the version of the hook that runs now has registered. A VM
	// that did not stop is replaced before.
	Current(ctx context.Context) *Registered
	// Ran counts a call that is no handler of an event: a command, a tool, a timer.
	Ran(ctx context.Context, what string, began time.Time, err error)
	// Failed reports an error of the hook, and replaces a VM that did not stop. An
	// interruption is none. handler may be nil.
	Failed(ctx context.Context, what string, handler *lua.LFunction, err error, to Audience)
	// IsCutOff reports whether a call with this context ended because the program does;
	// if so, the user is told.
	IsCutOff(ctx context.Context, what string) bool
}

// Audience is who is told of an error of a hook.
type Audience int

const (
	// NobodyElse is for a tool or a model, whose error goes to the agent that called it.
	NobodyElse Audience = iota
	// OtherHooks is for a command, whose error goes to the user who typed it; other
	// hooks are told of it as well.
	OtherHooks
	// Everybody is for what nobody called: the user and other hooks are told.
	Everybody
)

// jobs runs functions of a hook from outside of its VM.
type jobs struct {
	*Program
	vm *luavm.VM
}

// run runs f in one job of the VM and waits for it. Only the time in which Lua runs counts
// for the timeout.
func (j *jobs) run(ctx context.Context, name string, f func(L *lua.LState) error) error {
	return j.vm.Run(ctx, luavm.Job{Name: name, Timeout: j.Timeout, Clock: luavm.CountedLua, Run: f})
}

// callBack is run for a timer, a key or a signal, where nobody else reports an error: the
// owner is told of it, unless the VM was replaced before the job began or the program ends.
func (j *jobs) callBack(ctx context.Context, name string, f func(L *lua.LState) error) error {
	began := time.Now()
	err := j.run(ctx, name, f)
	j.reportCallback(ctx, name, began, err)
	return err
}

// reportCallback tells the owner how a callback ended that began at a time.
func (j *jobs) reportCallback(ctx context.Context, name string, began time.Time, err error) {
	if !IsReplaced(err) {
		j.Owner.Ran(ctx, name, began, err)
	}
	if err != nil && !j.Owner.IsCutOff(ctx, name) && !IsReplaced(err) {
		j.Owner.Failed(ctx, name, nil, err, Everybody)
	}
}

// nested calls fn, a callback of a function that waits, in a job inside of that one's, with
// what args returns, and returns Enough if fn returns true. The error is a *[luavm.Misuse],
// which the function raises: it is one of the hook.
func (j *jobs) nested(ctx context.Context, name string, fn *lua.LFunction, args func(L *lua.LState) []lua.LValue) (child.Answer, error) {
	answer := new(child.Answer) // a job that did not stop may still write it
	err := j.run(ctx, name, func(L *lua.LState) error {
		*answer = answerOf(callLua(L, fn, args(L)...))
		return nil
	})
	if err != nil {
		return child.Enough, luavm.Misusef("%s: %v", name, err)
	}
	return *answer, nil
}

// inside calls fn in a job inside of the one that waits with ctx, and returns all its results.
func (j *jobs) inside(ctx context.Context, name string, fn *lua.LFunction) ([]lua.LValue, error) {
	results := new([]lua.LValue) // a job that did not stop may still write it
	err := j.run(ctx, name, func(L *lua.LState) error {
		before := L.GetTop()
		L.Push(fn)
		L.Call(0, lua.MultRet)
		for i := before + 1; i <= L.GetTop(); i++ {
			*results = append(*results, L.Get(i))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return *results, nil
}

// answerOf is what the result of a callback means: true ends the stream that it belongs to.
func answerOf(v lua.LValue) child.Answer {
	if v == lua.LTrue {
		return child.Enough
	}
	return child.Taken
}

// mustNested raises the error of a callback that ran inside of a function. Other errors are
// for the caller.
func mustNested(L *lua.LState, function string, err error) {
	if own, ok := errors.AsType[*luavm.Misuse](err); ok {
		luavm.Raise(L, "%s: %v", function, own)
	}
}

// renderTime is how long a hook may draw: somebody waits at the screen.
const renderTime = time.Second

// draw runs a function of the hook that draws and returns its lines; nil without an error:
// the function returned nil and leaves the drawing to the program. The owner is told of an
// error.
func (j *jobs) draw(ctx context.Context, what string, draw func(L *lua.LState) lua.LValue) ([]string, error) {
	lines, err := j.drawWithin(ctx, min(renderTime, j.Timeout), what, draw)
	if err != nil && !IsReplaced(err) {
		j.Owner.Failed(ctx, what, nil, err, Everybody)
	}
	return lines, err
}

// drawWithin is draw for another time, and nobody is told of an error.
func (j *jobs) drawWithin(ctx context.Context, limit time.Duration, what string, draw func(L *lua.LState) lua.LValue) ([]string, error) {
	drawn := new([]string)
	err := j.vm.Run(ctx, luavm.Job{Name: what, Timeout: limit, Run: func(L *lua.LState) (err error) {
		*drawn, err = linesOf(L, draw(L))
		return err
	}})
	if err != nil {
		return nil, err
	}
	return *drawn, nil
}

// render is draw without the error: ok is false if the function failed or returned nil, so
// that somebody else has to draw.
func (j *jobs) render(ctx context.Context, what string, draw func(L *lua.LState) lua.LValue) (lines []string, ok bool) {
	lines, err := j.draw(ctx, what, draw)
	return lines, err == nil && lines != nil
}

// linesOf reads what a renderer returned: a string, a list of lines, or nil for
// no opinion, which is nil here too.
func linesOf(L *lua.LState, v lua.LValue) ([]string, error) {
	switch v := v.(type) {
	case *lua.LNilType:
		return nil, nil
	case lua.LString:
		return strings.Split(strings.TrimSuffix(string(v), "\n"), "\n"), nil
	case *lua.LTable:
		list, ok := luavm.Strings(L, v)
		if !ok {
			return nil, fmt.Errorf("a renderer returns a string or a list of strings%s", noString(v))
		}
		lines := []string{}
		for _, l := range list {
			lines = append(lines, strings.Split(l, "\n")...)
		}
		return lines, nil
	}
	return nil, fmt.Errorf("a renderer returns a string or a list of strings, not a %s", v.Type())
}

// noString names what is no string in a list of lines.
func noString(list *lua.LTable) string {
	for i := 1; i <= list.Len(); i++ {
		if v := list.RawGetInt(i); v.Type() != lua.LTString {
			return fmt.Sprintf(", and element %d of the list is a %s", i, v.Type())
		}
	}
	return ", and the table is no list"
}

// callLua calls fn and returns its first result.
func callLua(L *lua.LState, fn *lua.LFunction, args ...lua.LValue) lua.LValue {
	L.Push(fn)
	for _, a := range args {
		L.Push(a)
	}
	L.Call(len(args), 1)
	first := L.Get(-1)
	L.Pop(1)
	return first
}

// maxRetries is how often something is tried anew because its VM was replaced
// just then.
const maxRetries = 20

// IsReplaced reports whether something did not begin because its VM is no more.
// What began and was cut off ends with another error: it is never run again.
func IsReplaced(err error) bool {
	return err != nil && (errors.Is(err, luavm.ErrClosed) || errors.Is(err, luavm.ErrDead))
}

// WithPlace adds to what is wrong with a function's result where in the function that is
// written, or else where the function begins.
func WithPlace(fn *lua.LFunction, err error) error {
	if err == nil {
		return nil
	}
	if fn = luavm.SourceOf(fn); fn.IsG {
		return err
	}
	field := ""
	var wrong *record.FieldError
	if errors.As(err, &wrong) {
		field = wrong.Field
	}
	return fmt.Errorf("%s:%d: %w", fn.Proto.SourceName, luavm.LineOfResult(fn.Proto, field), err)
}

// replaceable is what a hook registered and others still have when the hook is
// reloaded: a tool, a command, a model.
type replaceable[T any] interface {
	owner() Owner
	// successor returns what another version of the hook registered under the same name.
	successor(now *Registered) (T, bool)
}

// latest calls do with an item that a hook registered, such as a tool. If do could not begin
// because the VM of the item is gone, it is called again with what the running version of
// the hook has in its place, at most maxRetries times. latest returns the item used last.
func latest[T replaceable[T]](ctx context.Context, item T, do func(T) error) (T, error) {
	err := do(item)
	for tries := 0; IsReplaced(err) && tries < maxRetries; tries++ {
		next, ok := item.successor(item.owner().Current(ctx))
		if !ok {
			break
		}
		item = next
		err = do(item)
	}
	return item, err
}

// usualAtOnce is how many functions pi.all runs at a time, unless limit says otherwise.
const usualAtOnce = 4

// atOnce runs functions of a hook beside each other.
type atOnce struct{ *bridge }

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
		a.atWork(ctx, 1)
		if i == 0 { // whoever waits for them is not at work
			a.atWork(ctx, -1)
			defer a.atWork(context.WithoutCancel(ctx), 1)
		}
		wg.Go(func() {
			defer func() { <-places }()
			defer a.atWork(context.WithoutCancel(ctx), -1)
			if err := a.runOne(ctx, fn, &values[i]); err != nil {
				cancel(err)
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

// atWork is Program.AtWork.
func (b *bridge) atWork(ctx context.Context, parts int) {
	if b.AtWork != nil {
		b.AtWork(ctx, parts)
	}
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
