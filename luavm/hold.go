package luavm

import (
	"context"
	"errors"
	"runtime"
	"time"

	lua "github.com/yuin/gopher-lua"
)

// Who holds the lock decides which context Lua sees. take sets it, leave puts
// the idle job in its place, whose context never ends; nobody saves or
// restores another job's.

// jobSwitch is the one context of all Lua threads of a VM: that of the job
// that holds it. Nothing may be derived from it, because it changes.
type jobSwitch VM

// Done is closed, or nil: nobody waits for it, it is only looked at.
func (s *jobSwitch) Done() <-chan struct{} {
	if s.cur.Load().cause.Load() == nil {
		return nil
	}
	return s.halt
}

func (s *jobSwitch) Deadline() (time.Time, bool) { return time.Time{}, false }
func (s *jobSwitch) Value(any) any               { return nil }

// Err is the text that Lua raises when Done is closed. It is never nil: the
// runtime would panic on a context that is done without an error.
func (s *jobSwitch) Err() error { return errors.New(s.cur.Load().reason().Message) }

// acquire gets the lock for a job that wants to begin.
func (vm *VM) acquire(j *job) error {
	if j.interrupted() {
		return j.reason()
	}
	select {
	case <-vm.lock:
		return nil
	default:
	}
	if j.lane.isNested() {
		return ErrNested
	}
	ctx := j.context()
	select {
	case <-vm.lock:
		return nil
	case <-ctx.Done():
		j.interrupted()
		return j.reason()
	case <-vm.dead:
		return ErrDead
	}
}

func (vm *VM) take(j *job, thread *lua.LState) {
	j.since.Store(vm.now().UnixNano())
	j.base.Store(0)
	j.state.Store(stateHolding)
	vm.main.G.CurrentThread = thread
	vm.cur.Store(j)
	j.lane.rouse()
}

func (vm *VM) leave() {
	vm.main.G.CurrentThread = nil
	vm.cur.Store(vm.idle)
	vm.lock <- struct{}{}
}

// Context is the context of the job that runs; it ends with the job. It
// belongs to that job.
func (vm *VM) Context() context.Context { return vm.cur.Load().context() }

// Wait lets go of the VM, runs f with the job's context, and takes the VM
// again. It must be called on the goroutine of the job, from a Go function
// that Lua called with L. With dialog the job's clock stands still.
//
// If the job was stopped meanwhile, Wait returns the reason, which the caller
// raises; otherwise it returns what f returned.
func (vm *VM) Wait(L *lua.LState, dialog bool, f func(ctx context.Context) error) error {
	j := vm.cur.Load()
	if j == vm.idle {
		return errors.New("wait: no job runs")
	}
	if j.interrupted() {
		return j.reason()
	}
	err := vm.wait(j, L, dialog, f)
	if j.interrupted() {
		return j.reason()
	}
	return err
}

func (vm *VM) wait(j *job, L *lua.LState, dialog bool, f func(context.Context) error) error {
	thread, ctx := L.G.CurrentThread, j.context()
	j.waitsFor = j.calling
	j.detached = make(chan struct{})
	vm.holdOn(j)
	for t := L; t.Parent != nil; t = t.Parent {
		vm.parked[t] = struct{}{}
	}
	vm.leave()
	pause := j.pauseClock(dialog)
	defer func() {
		pause()
		vm.retake(j, thread)
		for t := L; t.Parent != nil; t = t.Parent {
			delete(vm.parked, t)
		}
	}()
	return f(ctx)
}

// holdOn makes a job one that waits. One that was given up just now ends here.
func (vm *VM) holdOn(j *job) {
	vm.life.Lock()
	vm.waiting[j] = struct{}{}
	vm.life.Unlock()
	if !j.state.CompareAndSwap(stateHolding, stateWaiting) {
		runtime.Goexit()
	}
	j.used.Add(vm.now().UnixNano() - j.since.Load())
}

// pauseClock keeps the clock of a job that does not hold the VM; the function
// it returns ends that.
func (j *job) pauseClock(dialog bool) func() {
	switch {
	case dialog:
		return func() {}
	case j.clock == CountedLua:
		return j.tellOfWait()
	}
	began := j.vm.now()
	stop := func() bool { return true }
	if j.limit > 0 {
		t := time.AfterFunc(j.limit-time.Duration(j.used.Load()), j.expire)
		stop = t.Stop
	}
	return func() {
		stop()
		j.used.Add(int64(j.vm.now().Sub(began)))
	}
}

// tellOfWait tells of a long wait; the function that it returns ends that.
func (j *job) tellOfWait() func() {
	if j.limit <= 0 || j.vm.opts.Waits == nil {
		return func() {}
	}
	name, function := j.name, j.waitsFor
	t := time.AfterFunc(j.limit, func() { j.vm.opts.Waits(name, function) })
	return func() { t.Stop() }
}

func (j *job) expire() {
	j.stop(&Error{Kind: Timeout, Message: "stopped: ran longer than " + j.limit.String()})
}

// retake gets the lock back for a job that waited. A job that was given up
// meanwhile ends here, quietly, without touching the VM.
func (vm *VM) retake(j *job, thread *lua.LState) {
	defer func() {
		vm.life.Lock()
		delete(vm.waiting, j)
		vm.life.Unlock()
	}()
	select {
	case <-vm.lock:
	case <-j.detached:
		runtime.Goexit()
	case <-vm.dead:
		runtime.Goexit()
	}
	j.since.Store(vm.now().UnixNano()) // before the clock is looked at again
	j.holding.Add(1)
	if !j.state.CompareAndSwap(stateWaiting, stateHolding) {
		vm.lock <- struct{}{}
		runtime.Goexit()
	}
	vm.take(j, thread)
}

// insideJob reports whether the calling goroutine is inside a job of any VM
// and not inside a Wait of that job. Blocking there would hold one VM while
// waiting for another.
func insideJob() bool {
	var pcs [64]uintptr
	for skip := 2; ; skip += len(pcs) {
		n := runtime.Callers(skip, pcs[:])
		frames := runtime.CallersFrames(pcs[:n])
		for n > 0 {
			f, more := frames.Next()
			switch f.Function {
			case waitName:
				return false
			case mainName:
				return true
			}
			if !more {
				break
			}
		}
		if n < len(pcs) {
			return false
		}
	}
}

const (
	waitName = "pi/luavm.(*VM).wait"
	mainName = "pi/luavm.(*job).main"
)
