package luavm

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"time"

	lua "github.com/yuin/gopher-lua"
)

// lock decides which job runs on a VM: one at a time, in the order in which they
// asked for it. It is also the one context of all Lua threads of the VM, namely
// that of the job whose turn it is. Nothing may be derived from it, because it
// changes with the job.
type lock struct {
	token chan struct{}       // holds one element while no job runs; receivers queue in order
	cur   atomic.Pointer[job] // the job that runs, or idle
	idle  *job                // is in cur while no job runs, and is never stopped
	dead  <-chan struct{}     // closed when nothing will run any more
	halt  chan struct{}       // a closed channel
}

// newLock returns the lock of a VM on which no job runs. idle stands for "no job"; dead
// is closed when the VM dies.
func newLock(idle *job, dead <-chan struct{}) *lock {
	l := &lock{token: make(chan struct{}, 1), idle: idle, dead: dead, halt: make(chan struct{})}
	close(l.halt)
	l.cur.Store(idle)
	l.token <- struct{}{}
	return l
}

// Done is closed when the job that runs was stopped, and nil before: the
// interpreter does not wait for it, it only looks.
func (l *lock) Done() <-chan struct{} {
	if l.cur.Load().cause.Load() == nil {
		return nil
	}
	return l.halt
}

func (l *lock) Deadline() (time.Time, bool) { return time.Time{}, false }
func (l *lock) Value(any) any               { return nil }

// Err is the text that Lua raises when Done is closed. It is never nil: the
// runtime would panic on a context that is done without an error.
func (l *lock) Err() error { return errors.New(l.cur.Load().reason().Message) }

// acquire waits until it is the turn of a job that wants to begin. The error is
// why it does not begin: its own reason to stop, ErrNested or ErrDead.
func (l *lock) acquire(j *job) error {
	if j.interrupted() {
		return j.reason()
	}
	select {
	case <-l.token:
		return nil
	default:
	}
	if j.worker.isNested() {
		return ErrNested
	}
	ctx := j.context()
	select {
	case <-l.token:
		return nil
	case <-ctx.Done():
		j.interrupted()
		return j.reason()
	case <-l.dead:
		return ErrDead
	}
}

// reacquire waits until a job whose Wait is over may run again. It returns false if that
// will never be: the job was given up, or the VM is dead.
func (l *lock) reacquire(j *job) bool {
	select {
	case <-l.token:
		return true
	case <-j.detached:
		return false
	case <-l.dead:
		return false
	}
}

// release ends the turn of the job that runs.
func (l *lock) release() {
	l.cur.Store(l.idle)
	l.token <- struct{}{}
}

// isDead reports whether a job had to be abandoned in its turn, which never ends.
func (l *lock) isDead() bool {
	select {
	case <-l.dead:
		return true
	default:
		return false
	}
}

// Context is the context of the job that runs; it ends with the job. It
// belongs to that job.
func (vm *VM) Context() context.Context { return vm.lock.cur.Load().context() }

// Wait frees the VM for other jobs, runs f with the job's context, and waits for
// the job's next turn. It must be called on the goroutine of the job, from a Go
// function that Lua called with L. With dialog the job's clock stops meanwhile.
//
// If the job was stopped meanwhile, Wait returns the reason, which the caller
// raises; otherwise it returns what f returned.
func (vm *VM) Wait(L *lua.LState, dialog bool, f func(ctx context.Context) error) error {
	j := vm.lock.cur.Load()
	if j == vm.lock.idle {
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

// wait releases the VM, calls f, and returns when it is the job's turn again. If the job
// was given up meanwhile, its goroutine ends here (Goexit) without touching the VM.
// insideJob looks for this function on the stack by its name.
func (vm *VM) wait(j *job, L *lua.LState, dialog bool, f func(context.Context) error) error {
	thread, ctx := L.G.CurrentThread, j.context()
	j.waitsFor = j.calling
	j.detached = make(chan struct{})
	vm.life.setWaiting(j, true)
	if !j.state.CompareAndSwap(stateHolding, stateWaiting) {
		runtime.Goexit()
	}
	j.clock.stop(vm.now())
	vm.threads.setParked(L, true)
	vm.release()
	resume := j.pauseClock(dialog)
	defer func() {
		resume()
		defer vm.life.setWaiting(j, false)
		if !vm.lock.reacquire(j) {
			runtime.Goexit()
		}
		if !vm.begin(j, stateWaiting, thread) {
			vm.lock.token <- struct{}{}
			runtime.Goexit()
		}
		vm.threads.setParked(L, false)
	}()
	return f(ctx)
}

// begin makes j, whose turn it is, the running job and starts its clock. It returns
// false, and the job must not touch the VM, if j is not in state from any more: it was
// given up.
func (vm *VM) begin(j *job, from int32, thread *lua.LState) bool {
	j.clock.start(vm.now()) // before the state changes: from then on the supervisor reads it
	j.base.Store(0)
	if !j.state.CompareAndSwap(from, stateHolding) {
		return false
	}
	vm.main.G.CurrentThread = thread
	vm.lock.cur.Store(j)
	j.worker.wakeIfAsleep()
	return true
}

// release ends the turn of the running job, so that the next one can run on the VM.
func (vm *VM) release() {
	vm.main.G.CurrentThread = nil
	vm.lock.release()
}
