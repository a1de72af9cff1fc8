package api

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// promises are what a hook waits for and something else of it gives: an answer by its id, or a
// function that runs meanwhile.
type promises struct {
	*bridge
	open    atomic.Int64 // promises that are not settled
	running atomic.Int64 // functions of pi.async
}

// The most that a hook has of each.
const (
	mostOpen    = 10_000
	mostRunning = 100
)

// Why a promise has no value, besides what it was rejected with.
var (
	errTimeout   = errors.New("timeout")
	errCancelled = errors.New("cancelled")
	errReloaded  = errors.New("the hook was reloaded")
)

func (p *promises) part() part {
	return part{"promise": p.promise, "async": p.async, "any": p.any}
}

// promise is a value that comes later, or a message why it does not.
type promise struct {
	place   *place
	settled chan struct{}

	mu      sync.Mutex // guards what follows
	awaited bool       // somebody waits, or has waited
	waits   map[*waiting]bool

	// Set once, before settled is closed.
	value lua.LValue
	err   error

	of      *promises
	members [4]lua.LValue // as memberNames; made when Lua reads them first, nil before
}

// memberNames are the fields that a promise has in Lua.
var memberNames = [...]string{"resolve", "reject", "wait", "settled"}

// waiting is one wait for promises: over is closed when its time has passed. stop tells the clock
// that it is over; it is called by whoever ends the wait, before the one who waits goes on.
type waiting struct {
	over <-chan struct{}
	stop func()
	life <-chan struct{}
}

// place is that of a promise among those that are open.
type place struct {
	open *atomic.Int64
	once sync.Once
}

func (p *place) leave() { p.once.Do(func() { p.open.Add(-1) }) }

// newPromise makes a promise. It raises, in the name of function, where too many are open. One
// that nobody has any more counts until its memory is freed.
func (p *promises) newPromise(L *lua.LState, function string) *promise {
	if p.open.Add(1) > mostOpen {
		p.open.Add(-1)
		luavm.Raise(L, "%s: %d promises are open, the most that there may be; resolve or reject those that nobody waits for", function, mostOpen)
	}
	one := &promise{of: p, place: &place{open: &p.open}, settled: make(chan struct{})}
	runtime.AddCleanup(one, (*place).leave, one.place)
	return one
}

// settle gives it its value or, with err, says why there is none. Only the first time counts; it
// is false later.
func (p *promise) settle(value lua.LValue, err error) (first bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.isSettled() {
		return false
	}
	p.value, p.err = value, err
	for w := range p.waits {
		w.stop()
	}
	p.waits = nil
	close(p.settled)
	p.place.leave()
	return true
}

func (p *promise) isSettled() bool {
	select {
	case <-p.settled:
		return true
	default:
		return false
	}
}

// begin notes that somebody waits for it, unless it is settled; end takes that back.
func (p *promise) begin(w *waiting) (end func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.awaited = true
	if p.isSettled() {
		return func() {}
	}
	if p.waits == nil {
		p.waits = map[*waiting]bool{}
	}
	p.waits[w] = true
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.waits, w)
	}
}

func (p *promise) isAwaited() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.awaited
}

// await waits until it is settled. The error says that ctx, the time or the life ended before.
func (p *promise) await(ctx context.Context, w *waiting) (err error) {
	defer p.begin(w)()
	select {
	case <-p.settled:
	case <-ctx.Done():
		err = errCancelled
	case <-w.over:
		err = errTimeout
	case <-w.life:
		err = errReloaded
	}
	if p.isSettled() {
		return nil
	}
	return err
}

// promise is pi.promise() → promise.
func (p *promises) promise(L *lua.LState) int {
	L.Push(p.table(p.newPromise(L, "promise")))
	return 1
}

// table is a promise for Lua: {resolve, reject, wait, settled}.
func (p *promises) table(one *promise) *lua.LTable { return p.vm.NewStub(one, p.fill) }

// fill makes the table of a promise, when Lua does more with it than to read its fields.
func (p *promises) fill(L *lua.LState, ref any) *lua.LTable {
	one := ref.(*promise)
	t := luavm.NewRecord(L, len(memberNames))
	for _, name := range memberNames {
		fn, _ := one.Peek(name)
		luavm.Set(t, name, fn)
	}
	return p.vm.StrictTable("promise", t)
}

// Peek is a function of a promise: most of them are asked for two of their four. There may be
// thousands of promises, so the functions work on the stack.
func (p *promise) Peek(name string) (lua.LValue, bool) {
	i := slices.Index(memberNames[:], name)
	if i < 0 {
		return nil, false
	}
	if p.members[i] == nil {
		p.members[i] = p.of.vm.GFunc(name, [...]lua.LGFunction{p.resolve, p.reject, p.waitFor, p.tellSettled}[i])
	}
	return p.members[i], true
}

func (p *promise) resolve(L *lua.LState) int { return pushBool(L, p.settle(L.Get(1), nil)) }

func (p *promise) reject(L *lua.LState) int {
	return pushBool(L, p.settle(nil, errors.New(L.CheckString(1))))
}

func (p *promise) waitFor(L *lua.LState) int { return p.of.wait(L, p) }

func (p *promise) tellSettled(L *lua.LState) int { return pushBool(L, p.isSettled()) }

func pushBool(L *lua.LState, yes bool) int {
	L.Push(lua.LBool(yes))
	return 1
}

// wait is p.wait{timeout?, signal?}: the value; or nil and what it was rejected with, "timeout",
// "cancelled", or that the hook was reloaded.
func (p *promises) wait(L *lua.LState, one *promise) int {
	p.mustHaveLoaded(L, "wait")
	var ms *float64
	var signal lua.LValue
	luavm.Unpack(L, 1, "wait", luavm.Opt("timeout", &ms), luavm.Opt("signal", &signal))
	timeout, until := timeoutOption(L, "wait", ms), signalOption(L, "wait", signal)
	if !one.isSettled() {
		err := p.bridge.wait(L, "wait", func(ctx context.Context) error { return p.awaitWithin(ctx, one, timeout, until) })
		if err != nil {
			return pushResult(L, nil, err)
		}
	}
	return pushResult(L, one.value, one.err)
}

// awaitWithin waits for a promise, at most for timeout if that is not negative, and until a signal
// is cancelled, which may be nil.
func (p *promises) awaitWithin(ctx context.Context, one *promise, timeout time.Duration, until *signal) error {
	w := &waiting{life: p.Life.Done()}
	w.over, w.stop = p.Clock.Wait(timeout)
	defer w.stop()
	if until != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(ctx)
		defer cancel()
		end := func() []behind { w.stop(); cancel(); return nil }
		defer until.watch(end, func(call func() []behind) { call() })()
	}
	return one.await(ctx, w)
}

// async is pi.async(fn) → promise: fn runs in a job of its own, and the promise gets the first
// value that it returns; nil and a message, or an error, reject it. An error is told as any of the
// hook, unless somebody waits for the promise.
func (p *promises) async(L *lua.LState) int {
	p.mustHaveLoaded(L, "async")
	fn := L.CheckFunction(1)
	if p.running.Load() >= mostRunning {
		luavm.Raise(L, "async: %d functions run already, the most that there may be; wait for one of them first", mostRunning)
	}
	one := p.newPromise(L, "async")
	mark, end := asFollowing(p.vm.Context(), false), p.Clock.Begin()
	p.running.Add(1)
	ok := p.Spawn(func(life context.Context) {
		defer end()
		p.runAsync(mark(life), fn, one)
	})
	if !ok {
		end()
		p.running.Add(-1)
		one.settle(nil, errReloaded)
	}
	L.Push(p.table(one))
	return 1
}

// runAsync runs a function of pi.async, and settles its promise.
func (p *promises) runAsync(ctx context.Context, fn *lua.LFunction, one *promise) {
	began := time.Now()
	value, message, err := p.runOne(ctx, "async", fn)
	p.running.Add(-1) // before whoever waits goes on: then another one may run
	told := err
	switch {
	case ctx.Err() != nil && err != nil:
		message = errReloaded
	case err != nil:
		message = asRaised(err)
	}
	if one.settle(value, message); one.isAwaited() {
		told = nil
	}
	p.jobs.reportCallback(ctx, "async", began, told)
}

// runOne calls fn in a job of its own, and returns its first value; message is what it returned
// behind nil, and err how it failed.
func (p *promises) runOne(ctx context.Context, name string, fn *lua.LFunction) (value lua.LValue, message, err error) {
	type returned struct {
		value   lua.LValue
		message error
	}
	result := new(returned) // a job that is given up may still write it
	err = p.jobs.run(ctx, name, func(L *lua.LState) error {
		L.Push(fn)
		L.Call(0, 2)
		if text, ok := L.Get(-1).(lua.LString); ok && L.Get(-2) == lua.LNil {
			result.message = errors.New(string(text))
		}
		result.value = L.Get(-2)
		L.Pop(2)
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	return result.value, result.message, nil
}

// any is pi.any{…} → value, index; nil and a message when all failed. It waits for the first of
// functions, promises and other things with a function wait that has a value. The functions that
// still run then are ended.
func (p *promises) any(L *lua.LState) int {
	p.mustHaveLoaded(L, "any")
	racers := p.racersOf(L, L.CheckTable(1))
	for i, r := range racers {
		if one := r.promise; one != nil && one.isSettled() && one.err == nil {
			return pushWinner(L, one.value, i)
		}
	}
	won := winner{at: -1}
	err := p.bridge.wait(L, "any", func(ctx context.Context) (err error) {
		won, err = p.race(ctx, racers)
		return err
	})
	if err != nil {
		return pushResult(L, nil, err)
	}
	return pushWinner(L, won.value, won.at)
}

func pushWinner(L *lua.LState, value lua.LValue, at int) int {
	L.Push(value)
	L.Push(lua.LNumber(at + 1))
	return 2
}

// racer is an element of the list of pi.any: a promise, or what is to be called.
type racer struct {
	promise *promise
	call    *lua.LFunction
}

// racersOf reads the list of pi.any.
func (p *promises) racersOf(L *lua.LState, list *lua.LTable) (racers []racer) {
	n, err := luavm.ListLen(L, list)
	if err != nil {
		luavm.RaiseArg(L, 1, "any", "%v", err)
	}
	if n == 0 || n > mostAtOnce {
		luavm.RaiseArg(L, 1, "any", "list of 1 to %d functions, promises and handles with wait expected, this has %d", mostAtOnce, n)
	}
	for i := 1; i <= n; i++ {
		r := racerOf(L, list.RawGetInt(i))
		if r == (racer{}) {
			luavm.RaiseArg(L, 1, "any", "[%d] is a %s, and no function, promise or handle with wait", i, list.RawGetInt(i).Type())
		}
		racers = append(racers, r)
	}
	return racers
}

// racerOf is zero for a value that nobody can wait for.
func racerOf(L *lua.LState, v lua.LValue) racer {
	switch v := v.(type) {
	case *lua.LFunction:
		return racer{call: v}
	case *lua.LTable:
		if ref, ok := luavm.StubOrigin(v); ok {
			if one, ok := ref.(*promise); ok {
				return racer{promise: one}
			}
		}
		luavm.Materialise(L, v)
		fn, _ := v.RawGetString("wait").(*lua.LFunction)
		return racer{call: fn}
	}
	return racer{}
}

// winner is the first value, and whose it is.
type winner struct {
	value lua.LValue
	at    int
	err   error // that one failed
}

// race waits for the first value, and ends the others. The error says how all failed.
func (p *promises) race(ctx context.Context, racers []racer) (won winner, err error) {
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	w := &waiting{life: p.Life.Done()}
	ended := make([]func(), len(racers))
	for i, r := range racers {
		if ended[i] = func() {}; r.promise == nil {
			ended[i] = p.Clock.Begin()
		}
		defer ended[i]()
	}
	w.over, w.stop = p.Clock.Wait(-1)
	defer w.stop() // before a function is told to have ended: what waits for the race goes on first
	ends := make(chan winner, len(racers))
	for i, r := range racers {
		wg.Go(func() {
			value, err := p.valueOf(ctx, r, w)
			ends <- winner{value, i, err}
		})
	}
	failed := make([]error, len(racers))
	for left := len(racers); left > 0; left-- {
		end := <-ends
		if end.err == nil {
			return end, nil
		}
		if failed[end.at] = end.err; left > 1 {
			ended[end.at]()
		}
	}
	return won, errors.New(joined(failed))
}

// joined is what failed, in its order, each text once.
func joined(failed []error) string {
	var texts []string
	for _, err := range failed {
		if !slices.Contains(texts, err.Error()) {
			texts = append(texts, err.Error())
		}
	}
	return strings.Join(texts, "; ")
}

// valueOf waits for what a racer comes to.
func (p *promises) valueOf(ctx context.Context, r racer, w *waiting) (lua.LValue, error) {
	if r.promise != nil {
		if err := r.promise.await(ctx, w); err != nil {
			return nil, err
		}
		return r.promise.value, r.promise.err
	}
	value, message, err := p.runOne(ctx, "any", r.call)
	if err != nil {
		return nil, asRaised(err)
	}
	return value, message
}

// asRaised is an error of Lua with the text that pcall would give.
func asRaised(err error) error {
	if raised, ok := errors.AsType[*luavm.Error](err); ok && raised.Kind == luavm.Raised {
		if text, ok := raised.Value.(lua.LString); ok {
			return errors.New(string(text))
		}
	}
	return err
}

// longest is the longest time that a timeout may be.
const longest = 365 * 24 * time.Hour

// timeoutOption reads an option that is a timeout in milliseconds; negative if there is none.
func timeoutOption(L *lua.LState, function string, ms *float64) time.Duration {
	if ms == nil {
		return -1
	}
	if !(*ms >= 0 && *ms <= float64(longest/time.Millisecond)) {
		luavm.Raise(L, "%s: option \"timeout\" must be a number of milliseconds from 0 to %d, not %v", function, longest/time.Millisecond, *ms)
	}
	return time.Duration(*ms * float64(time.Millisecond))
}

// within returns a context that ends with ctx, and when timeout has passed by the clock of the
// hook; a negative one is none. isLate reports whether it has. cancel has to be called.
func (b *bridge) within(ctx context.Context, timeout time.Duration) (_ context.Context, isLate func() bool, cancel func()) {
	ctx, end := context.WithCancelCause(ctx)
	over, stop := b.Clock.Wait(timeout)
	var wg sync.WaitGroup
	wg.Go(func() {
		select {
		case <-over:
			end(errTimeout)
		case <-ctx.Done():
		}
	})
	isLate = func() bool {
		select {
		case <-over:
			return true
		default:
			return false
		}
	}
	return ctx, isLate, func() { stop(); end(nil); wg.Wait() }
}
