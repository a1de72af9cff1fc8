package luavm

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	lua "github.com/yuin/gopher-lua"
)

// supervised is a job as its supervisor sees it, and a clock that only the test
// moves.
type supervised struct {
	*job
	worker *worker
	at     time.Time
}

func supervise(t *testing.T, state int32) *supervised {
	h := newHook(t, Options{})
	d := &supervised{worker: h.workers.take(), at: time.Unix(1e9, 0)}
	t.Cleanup(func() { close(d.worker.work) })
	h.now = func() time.Time { return d.at }
	d.worker.ctx, d.worker.next = context.Background(), func(error) (*VM, Job, bool) { return nil, Job{}, false }
	d.job = &job{vm: h.VM, worker: d.worker, parent: context.Background(), detached: make(chan struct{})}
	_ = h.life.begin(false)
	d.clock.stretch.Store(1)
	d.state.Store(state)
	d.worker.cur.Store(d.job)
	return d
}

// stopped is one that its supervisor has seen to be stopped.
func stopped(t *testing.T, state int32) *supervised {
	d := supervise(t, state)
	d.stop(&Error{Kind: Cancelled, Message: "stopped"})
	d.worker.look()
	return d
}

// look moves the clock and has the supervisor look.
func (d *supervised) look(times int, step time.Duration) int32 {
	for range times {
		d.at = d.at.Add(step)
		d.worker.look()
	}
	return d.state.Load()
}

const allLooks = int(grace / tick)

func TestAStoppedJobIsGivenUpAfterItsGrace(t *testing.T) {
	for held, given := range map[int32]int32{stateHolding: stateAbandoned, stateWaiting: stateDetached} {
		d := stopped(t, held)
		if got := d.look(allLooks-1, tick); got != held {
			t.Errorf("before its grace is over: state %d", got)
		}
		if got := d.look(1, tick); got != given {
			t.Errorf("after its grace: state %d, want %d", got, given)
		}
	}
}

// On a busy machine the supervisor looks late, and the job could not run meanwhile
// any more than the supervisor could.
func TestTimeInWhichAJobCouldNotRunIsNoGrace(t *testing.T) {
	d := stopped(t, stateHolding)
	if got := d.look(allLooks-1, time.Minute); got != stateHolding {
		t.Errorf("given up after %d looks: state %d", allLooks-1, got)
	}
	if got := d.look(1, time.Minute); got != stateAbandoned {
		t.Errorf("it is never given up: state %d", got)
	}
}

// The grace of a job ends together with that of the job inside it which does not
// stop. The outer one only waited.
func TestAJobThatComesBackFromWaitingHasItsWholeGrace(t *testing.T) {
	d := stopped(t, stateWaiting)
	d.look(allLooks-1, tick)
	d.clock.stretch.Add(1)
	d.state.Store(stateHolding)
	if got := d.look(allLooks-1, tick); got != stateHolding {
		t.Errorf("an innocent VM was given up: state %d", got)
	}
	if d.look(2, tick); !d.vm.Dead() {
		t.Error("it is never given up")
	}
}

func TestAJobWhoseTimeIsUpHasAnotherLook(t *testing.T) {
	d := supervise(t, stateHolding)
	d.spec.Timeout = 10 * tick
	d.clock.since.Store(d.at.UnixNano())
	if d.look(10, tick); d.cause.Load() != nil {
		t.Errorf("stopped at once: %v", d.reason())
	}
	if d.look(1, tick); d.cause.Load() == nil || d.reason().Kind != Timeout {
		t.Error("its time is never up")
	}
}

// On a busy machine, or after a suspension of the process, time has gone by in which no job ran.
func TestTimeInWhichAJobCouldNotRunDoesNotCount(t *testing.T) {
	d := supervise(t, stateHolding)
	d.spec.Timeout = 10 * tick
	d.clock.since.Store(d.at.UnixNano())
	if d.look(10, time.Minute); d.cause.Load() != nil {
		t.Errorf("stopped after as many looks as it has ticks: %v", d.reason())
	}
	if d.look(1, time.Minute); d.cause.Load() == nil || d.reason().Kind != Timeout {
		t.Error("its time is never up")
	}
}

func TestWhoWasJudgedWhileItWaitedIsNotGivenUpWhileItHolds(t *testing.T) {
	d := stopped(t, stateHolding)
	if err := d.giveUp(stateWaiting); err != nil || d.state.Load() != stateHolding || d.vm.Dead() {
		t.Errorf("given up: %v", err)
	}
}

func TestAVMOutsideOfOneThatDoesNotStopLives(t *testing.T) {
	s := newScript(t, 2)
	outer, inner := s.hooks[0], s.hooks[1]
	ctx, cancel := context.WithCancel(context.Background())
	release := make(chan struct{})
	defer close(release)
	inner.SetGlobal("deaf", inner.GFunc("deaf", func(*lua.LState) int {
		cancel()
		<-release
		return 0
	}))
	ended := make(chan error, 1) // the outer job may be over before
	outer.SetGlobal("nest", outer.GFunc("nest", func(L *lua.LState) int {
		_ = outer.Wait(L, false, func(ctx context.Context) error {
			proto, _ := Compile("inner.lua", []byte(`deaf()`))
			job, _ := inner.running(proto)
			ended <- inner.Run(ctx, job)
			return nil
		})
		return 0
	}))
	s.run(ctx, `nest()`)
	got := <-ended
	if !errors.Is(got, ErrAbandoned) || !inner.Dead() || outer.Dead() {
		t.Errorf("the inner job: %v; dead: inner %v, outer %v", got, inner.Dead(), outer.Dead())
	}
}

func TestALoopStopsOnOneProcessorThatOthersKeepBusy(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var over atomic.Bool
	defer over.Store(true)
	for range 30 {
		go func() {
			for !over.Load() {
			}
		}()
	}
	h := newHook(t, Options{})
	if e := h.failure(t, `while true do end`, within(20*time.Millisecond)); e.Kind != Timeout || h.Dead() {
		t.Errorf("got %s: %v", e.Kind, e)
	}
}
