package luavm

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	lua "github.com/yuin/gopher-lua"
)

// waiter is a Lua function that waits until it gets a token or is cancelled.
func (h *hook) waiter(name string, dialog bool) (entered, tokens chan struct{}) {
	entered, tokens = make(chan struct{}, 1000), make(chan struct{}, 1000)
	h.SetGlobal(name, h.GFunc(name, func(L *lua.LState) int {
		err := h.Wait(L, dialog, func(ctx context.Context) error {
			entered <- struct{}{}
			select {
			case <-tokens:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
		if err != nil {
			Raise(L, "%s: %v", name, err)
		}
		L.Push(lua.LTrue)
		return 1
	}))
	return entered, tokens
}

func background(f func() error) <-chan error {
	done := make(chan error, 1)
	go func() { done <- f() }()
	return done
}

func TestManyJobsMixWithWaits(t *testing.T) {
	h := newHook(t, Options{})
	entered, tokens := h.waiter("wait", false)
	go func() {
		for range 100 {
			<-entered
			tokens <- struct{}{}
		}
	}()
	h.must(t, `count = 0`)
	var wg sync.WaitGroup
	for i := range 200 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			src := `local before = count; for i = 1, 100 do end; count = before + 1`
			if i%2 == 0 {
				src = `local x, co = 1, coroutine.wrap(function(a) local b = pcall(wait) coroutine.yield(a) end)
assert(co(7) == 7 and x == 1) count = count + 1`
			}
			if i%4 == 0 {
				src = `local mine = {} wait() mine.x = 1 count = count + 1`
			}
			if err := h.do(src, within(20*time.Second)); err != nil {
				t.Error(err)
			}
		}()
	}
	wg.Wait()
	// pcall(wait) inside a coroutine waits as well: 100 of 200 jobs wait once.
	h.must(t, `assert(count == 200, count)`)
}

func TestALoopIsKilledWhileAnotherJobWaits(t *testing.T) {
	h := newHook(t, Options{})
	entered, tokens := h.waiter("confirm", true)
	waiting := background(func() error {
		return h.do(`local co = coroutine.wrap(function() local x = 41 confirm() return x + 1 end) assert(co() == 42)`, within(30*time.Millisecond))
	})
	<-entered
	if e := h.failure(t, `while true do end`, within(60*time.Millisecond)); e.Kind != Timeout || e.Where != "hook.lua:1" {
		t.Errorf("got %s %+v", e.Kind, e)
	}
	tokens <- struct{}{}
	if err := <-waiting; err != nil {
		t.Errorf("the job that waited: %v (a dialog stops the clock)", err)
	}
}

func TestAThousandJobsRunDuringOneWait(t *testing.T) {
	h := newHook(t, Options{})
	entered, tokens := h.waiter("wait", false)
	h.must(t, `n = 0`)
	waiting := background(func() error { return h.do(`local before = n wait() assert(before == 0 and n == 1000)`) })
	<-entered
	for range 1000 {
		h.must(t, `n = n + 1`)
	}
	tokens <- struct{}{}
	if err := <-waiting; err != nil {
		t.Error(err)
	}
}

func TestClocks(t *testing.T) {
	wait := `wait()`
	for _, c := range []struct {
		name   string
		clock  Clock
		dialog bool
		source string
		kind   Kind
		ends   bool // by its clock
	}{
		{"the whole job counts waiting", WholeJob, false, wait, Timeout, true},
		{"the whole job does not count dialogs", WholeJob, true, wait, 0, false},
		{"counted Lua does not count waiting", CountedLua, false, wait, 0, false},
		{"counted Lua still stops a loop", CountedLua, false, `while true do end`, Timeout, true},
		{"counted Lua adds up across waits", CountedLua, false, `while true do wait() for i = 1, 1e4 do end end`, Timeout, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newHook(t, Options{})
			entered, tokens := h.waiter("wait", c.dialog)
			if strings.Contains(c.source, "while true do wait") {
				close(tokens)
				go func() {
					for range entered {
					}
				}()
				defer close(entered)
			}
			done := background(func() error {
				return h.do(c.source, within(40*time.Millisecond), func(j *Job) { j.Clock = c.clock })
			})
			if !c.ends {
				<-entered
				time.AfterFunc(80*time.Millisecond, func() { close(tokens) })
			}
			err := <-done
			var e *Error
			if c.ends != errors.As(err, &e) || c.ends && e.Kind != c.kind {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestAWaitThatIgnoresItsContextIsCutOff(t *testing.T) {
	h := newHook(t, Options{})
	release, entered := make(chan struct{}), make(chan struct{})
	after := make(chan struct{}, 1)
	h.SetGlobal("deaf", h.GFunc("deaf", func(L *lua.LState) int {
		_ = h.Wait(L, false, func(context.Context) error { close(entered); <-release; return nil })
		after <- struct{}{}
		return 0
	}))
	ctx, cancel := context.WithCancel(context.Background())
	go func() { <-entered; cancel() }()
	proto, _ := Compile("x.lua", []byte(`pcall(deaf) coroutine.wrap(function() pcall(deaf) end)()`))
	h.ended.Add(1)
	err := h.Run(ctx, Job{Run: func(L *lua.LState) error {
		defer h.ended.Done()
		L.Push(L.NewFunctionFromProto(proto))
		L.Call(0, 0)
		return nil
	}})
	if e := (*Error)(nil); !errors.As(err, &e) || e.Kind != Cancelled || h.Dead() {
		t.Fatalf("got %v, dead %v", err, h.Dead())
	}
	h.must(t, `assert(1 == 1)`)
	close(release)
	h.ended.Wait()
	select {
	case <-after:
		t.Error("a job that was given up went on")
	default:
	}
	h.must(t, `assert(1 == 1)`)
}

// nesting installs nest(source), which runs source as a job inside Wait.
func (h *hook) nesting(inWait bool) {
	h.SetGlobal("nest", h.GFunc("nest", func(L *lua.LState) int {
		src := L.CheckString(1)
		run := func(ctx context.Context) error {
			fn := func(L *lua.LState) error {
				proto, err := Compile("inner.lua", []byte(src))
				if err != nil {
					return err
				}
				L.Push(L.NewFunctionFromProto(proto))
				L.Call(0, 0)
				return nil
			}
			return h.Run(ctx, Job{Name: "inner", Run: fn})
		}
		err := error(nil)
		if inWait {
			err = h.Wait(L, false, run)
		} else {
			err = run(h.Context())
			if outside := run(context.Background()); !errors.Is(outside, ErrNested) {
				err = fmt.Errorf("without the job's context: %v", outside)
			}
		}
		if err != nil {
			Raise(L, "%v", err)
		}
		return 0
	}))
}

func TestJobsNestThroughWait(t *testing.T) {
	h := newHook(t, Options{})
	h.nesting(true)
	h.must(t, `depth = 0
function again() depth = depth + 1 local mine = depth if depth < 15 then nest("again()") end assert(depth == 15 and mine <= 15) end
coroutine.wrap(again)()
assert(depth == 15)`)
	if e := h.failure(t, `function forever() nest("forever()") end forever()`); !strings.Contains(e.Message, "more than 20 deep") {
		t.Errorf("got %v", e)
	}
}

func TestANestedJobOutsideWaitIsAnErrorNotADeadlock(t *testing.T) {
	h := newHook(t, Options{})
	h.nesting(false)
	if e := h.failure(t, `nest("return 1")`); !strings.Contains(e.Message, ErrNested.Error()) {
		t.Errorf("got %v", e)
	}
}

func TestANestedJobMayComeFromAnotherGoroutine(t *testing.T) {
	h := newHook(t, Options{})
	h.SetGlobal("elsewhere", h.GFunc("elsewhere", func(L *lua.LState) int {
		err := h.Wait(L, false, func(ctx context.Context) error {
			return <-background(func() error { return h.do(`seen = true`) })
		})
		if err != nil {
			Raise(L, "%v", err)
		}
		return 0
	}))
	h.must(t, `elsewhere() assert(seen)`)
}

func TestACoroutineThatWaitsCannotBeResumedByOthers(t *testing.T) {
	h := newHook(t, Options{})
	entered, tokens := h.waiter("wait", false)
	waiting := background(func() error {
		return h.do(`co = coroutine.create(function() wait() return "mine" end) assert(select(2, coroutine.resume(co)) == "mine")`)
	})
	<-entered
	h.must(t, `local ok, e = coroutine.resume(co) assert(not ok and e:find("waits in another job"), e)`)
	tokens <- struct{}{}
	if err := <-waiting; err != nil {
		t.Error(err)
	}
}

func TestCloseLetsJobsEndAndTakesNoMore(t *testing.T) {
	h := newHook(t, Options{})
	entered, tokens := h.waiter("wait", false)
	waiting := background(func() error { return h.do(`wait() x = 1`) })
	<-entered
	h.Close()
	if err := h.do(`x = 2`); !errors.Is(err, ErrClosed) {
		t.Errorf("got %v", err)
	}
	tokens <- struct{}{}
	if err := <-waiting; err != nil {
		t.Error(err)
	}
}

func TestPanicsBecomeErrorsWithTheHooksLine(t *testing.T) {
	var told atomic.Value
	h := newHook(t, Options{Panicked: func(f string, v any, stack []byte) { told.Store(fmt.Sprint(f, " ", v, len(stack) > 100)) }})
	h.SetGlobal("boom", h.GFunc("boom", func(*lua.LState) int { panic("oops") }))
	h.SetGlobal("boom2", h.Func("boom2", func(n int) string { return []string{}[n] }))
	e := h.failure(t, "\n\nboom()")
	if e.Kind != Panic || e.Where != "hook.lua:3" || e.Message != "internal error: boom: oops" {
		t.Errorf("got %s %+v", e.Kind, e)
	}
	if got := told.Load(); got != "boom oopstrue" {
		t.Errorf("told %q", got)
	}
	h.must(t, `local ok, e = pcall(boom2, 3) assert(not ok and e:find("out of range"), e)
local f = coroutine.wrap(function() boom() end) local ok, e = pcall(f) assert(not ok and e:find("oops"), e)`)
}

func TestWhatRunReturnsComesBack(t *testing.T) {
	h := newHook(t, Options{})
	mine := errors.New("mine")
	if err := h.Run(context.Background(), Job{Run: func(*lua.LState) error { return mine }}); err != mine {
		t.Errorf("got %v", err)
	}
}
