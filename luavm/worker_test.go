package luavm

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"
	"time"

	lua "github.com/yuin/gopher-lua"
)

// script is a worker's jobs, each Lua source in a VM, and how they ended.
type script struct {
	t       *testing.T
	workers *Workers
	hooks   []*hook
	outs    []error
}

func newScript(t *testing.T, n int) *script {
	s := &script{t: t, workers: new(Workers)}
	t.Cleanup(s.workers.Close)
	for range n {
		s.hooks = append(s.hooks, newHook(t, Options{Workers: s.workers}))
	}
	return s
}

// run runs sources[i] in VM i, one after the other in one worker.
func (s *script) run(ctx context.Context, sources ...string) {
	s.outs = nil
	i, settle := 0, func() {}
	s.workers.Run(ctx, func(err error) (vm *VM, job Job, more bool) {
		settle()
		if i > 0 {
			s.outs = append(s.outs, err)
		}
		if i == len(sources) {
			return nil, Job{}, false
		}
		i++
		proto, err := Compile("hook.lua", []byte(sources[i-1]))
		if err != nil {
			s.t.Error(err)
		}
		job, settle = s.hooks[i-1].running(proto)
		job.Timeout = 100 * time.Millisecond
		return s.hooks[i-1].VM, job, true
	})
}

func (s *script) mustEnd(kinds ...any) {
	s.t.Helper()
	if len(s.outs) != len(kinds) {
		s.t.Fatalf("%d jobs ended: %v", len(s.outs), s.outs)
	}
	for i, want := range kinds {
		var e *Error
		switch want := want.(type) {
		case nil:
			if s.outs[i] != nil {
				s.t.Errorf("job %d: %v", i, s.outs[i])
			}
		case Kind:
			if !errors.As(s.outs[i], &e) || e.Kind != want {
				s.t.Errorf("job %d: got %v, want %s", i, s.outs[i], want)
			}
		case error:
			if !errors.Is(s.outs[i], want) {
				s.t.Errorf("job %d: got %v, want %v", i, s.outs[i], want)
			}
		}
	}
}

const fine = `ran = true`

func (s *script) mustHaveRun(i int, want bool) {
	s.t.Helper()
	if got := s.hooks[i].State().G.Global.RawGetString("ran") == lua.LTrue; got != want {
		s.t.Errorf("job %d ran: %v", i, got)
	}
}

func TestAWorkerGoesOnAfterAJobThatDoesNotStop(t *testing.T) {
	s := newScript(t, 3)
	release := make(chan struct{})
	defer close(release)
	s.hooks[1].SetGlobal("deaf", s.hooks[1].GFunc("deaf", func(*lua.LState) int { <-release; return 0 }))
	s.run(context.Background(), fine, `deaf()`, fine)
	s.mustEnd(nil, ErrAbandoned, nil)
	s.mustHaveRun(2, true)
	if s.hooks[0].Dead() || !s.hooks[1].Dead() || s.hooks[2].Dead() {
		t.Error("the wrong VM died")
	}
	s.run(context.Background(), fine, fine, fine)
	s.mustEnd(nil, ErrDead, nil)
}

func TestAWorkerGoesOnAfterAJobThatIsLateInWait(t *testing.T) {
	s := newScript(t, 3)
	release, after := make(chan struct{}), make(chan struct{}, 1)
	s.hooks[1].SetGlobal("deaf", s.hooks[1].GFunc("deaf", func(L *lua.LState) int {
		_ = s.hooks[1].Wait(L, false, func(context.Context) error { <-release; return nil })
		after <- struct{}{}
		return 0
	}))
	s.run(context.Background(), fine, `pcall(deaf)`, fine)
	s.mustEnd(nil, Timeout, nil)
	s.mustHaveRun(2, true)
	s.run(context.Background(), fine, fine, fine)
	s.mustEnd(nil, nil, nil)
	close(release)
	s.hooks[1].ended.Wait()
	select {
	case <-after:
		t.Error("a job that was given up went on")
	default:
	}
	s.run(context.Background(), fine, fine, fine)
	s.mustEnd(nil, nil, nil)
}

func TestACancelledWorkerStopsItsJobAndStartsNoOther(t *testing.T) {
	s := newScript(t, 3)
	ctx, cancel := context.WithCancelCause(context.Background())
	why := errors.New("enough")
	s.hooks[1].SetGlobal("cancel", s.hooks[1].Func("cancel", func() { cancel(why) }))
	s.run(ctx, fine, `cancel() while true do end`, fine)
	s.mustEnd(nil, why, why)
	s.mustHaveRun(2, false)
	for i, h := range s.hooks {
		if h.Dead() {
			t.Errorf("VM %d is dead", i)
		}
	}
}

func TestAWorkerGoesOnWhenAJobsGoroutineEnds(t *testing.T) {
	s := newScript(t, 3)
	exit := func(*lua.LState) int { runtime.Goexit(); return 0 }
	s.hooks[1].SetGlobal("exit", s.hooks[1].GFunc("exit", exit))
	s.hooks[2].SetGlobal("exit", s.hooks[2].GFunc("exit", func(L *lua.LState) int {
		_ = s.hooks[2].Wait(L, false, func(context.Context) error { runtime.Goexit(); return nil })
		return 0
	}))
	s.run(context.Background(), fine, `pcall(exit)`, `exit()`)
	s.mustEnd(nil, Raised, Raised)
	s.run(context.Background(), fine, fine, fine)
	s.mustEnd(nil, nil, nil)
}

func TestASupervisorSleepsWhileAJobWaits(t *testing.T) {
	s := newScript(t, 1)
	h := s.hooks[0]
	h.SetGlobal("dialog", h.GFunc("dialog", func(L *lua.LState) int {
		_ = h.Wait(L, true, func(ctx context.Context) error {
			l := ctx.Value(jobKey{}).(*job).worker
			for !l.asleep.Load() {
				runtime.Gosched()
			}
			return nil
		})
		return 0
	}))
	s.run(context.Background(), `dialog() dialog() while true do end`)
	s.mustEnd(Timeout)
}

func TestJobsOfAWorkerNestThroughWait(t *testing.T) {
	s := newScript(t, 2)
	inner := &script{t: t, workers: s.workers, hooks: s.hooks}
	nest := func(wait bool) lua.LGFunction {
		return func(L *lua.LState) int {
			if !wait {
				inner.run(context.Background(), fine, fine)
				return 0
			}
			_ = s.hooks[0].Wait(L, false, func(ctx context.Context) error {
				inner.run(ctx, fine, fine)
				return nil
			})
			return 0
		}
	}
	s.hooks[0].SetGlobal("nest", s.hooks[0].GFunc("nest", nest(true)))
	s.hooks[0].SetGlobal("wrong", s.hooks[0].GFunc("wrong", nest(false)))
	s.run(context.Background(), `nest()`, fine)
	s.mustEnd(nil, nil)
	inner.mustEnd(nil, nil)
	s.run(context.Background(), `wrong()`, fine)
	s.mustEnd(nil, nil)
	inner.mustEnd(ErrNested, nil)
}

// BenchmarkWorker is an event for many hooks.
func BenchmarkWorker(b *testing.B) {
	workers := new(Workers)
	defer workers.Close()
	for _, n := range []int{1, 100} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var vms []*VM
			for range n {
				vms = append(vms, newHook(b, Options{Workers: workers}).VM)
			}
			job := Job{Timeout: time.Second, Run: func(*lua.LState) error { return nil }}
			b.ReportAllocs()
			for b.Loop() {
				i := 0
				workers.Run(context.Background(), func(err error) (*VM, Job, bool) {
					if err != nil || i == n {
						return nil, Job{}, false
					}
					i++
					return vms[i-1], job, true
				})
			}
		})
	}
}
