package luavm

import (
	"context"
	"sync/atomic"
	"time"

	lua "github.com/yuin/gopher-lua"
)

// Clock says which time counts against a job's Timeout.
type Clock uint8

const (
	// WholeJob counts from the first entry into the VM to the end of the
	// job, without dialogs and without waiting for the VM.
	WholeJob Clock = iota
	// CountedLua counts only while the job holds the VM.
	CountedLua
)

// Job is one entry into a VM.
type Job struct {
	Name    string        // for messages
	Timeout time.Duration // 0 is no limit
	Clock   Clock
	Loading bool // see Options.StrictGlobals
	// Run is called with a Lua thread that belongs to the job. It calls Lua
	// with L.Call; errors pass through it and come out of VM.Run. What it
	// returns is returned as it is.
	Run func(L *lua.LState) error
}

const (
	maxDepth = 20                     // jobs inside jobs
	grace    = 250 * time.Millisecond // from cancellation to abandoning
	// memoryGrace is the same for jobs that use too much memory: the copy of a
	// gigabyte that is under way cannot be stopped, but ends by itself.
	memoryGrace = 2 * time.Second
)

// The states of a job. Only stateWaiting can become stateDetached, and whoever
// makes that change decides whether the job may touch the VM again.
const (
	stateHolding int32 = iota
	stateWaiting
	stateDetached
)

type job struct {
	vm      *VM
	name    string
	run     func(*lua.LState) error
	loading bool
	depth   int

	ctx    jobContext
	real   context.Context // what waiting Go code gets: &ctx
	done   <-chan struct{}
	cancel context.CancelFunc
	cause  atomic.Pointer[Error]

	state    atomic.Int32
	detached chan struct{} // made by each Wait, closed if the job is given up in it
	finished chan error
	result   error // of run

	clock   Clock
	limit   time.Duration
	used    atomic.Int64 // nanoseconds, without the stretch that is running
	since   atomic.Int64 // when that stretch began
	holding atomic.Int64 // number of the stretch, for the memory watch
}

type jobKey struct{}

// jobContext lets a nested Run find the job that it is nested in.
type jobContext struct {
	context.Context
	job *job
}

func (c *jobContext) Value(key any) any {
	if key == (jobKey{}) {
		return c.job
	}
	return c.Context.Value(key)
}

// Run runs a job and returns when it has ended, or 250 ms after it should have.
// It returns nil, what Job.Run returned, ErrClosed, ErrDead, ErrNested, or an
// *Error.
func (vm *VM) Run(ctx context.Context, spec Job) error {
	j, err := vm.newJob(ctx, spec)
	if err != nil {
		return err
	}
	defer j.cancel()
	if err := vm.retain(); err != nil {
		return err
	}
	if err := vm.acquire(j); err != nil {
		vm.release()
		return err
	}
	vm.start(j)
	return j.await()
}

func (vm *VM) newJob(ctx context.Context, spec Job) (*job, error) {
	depth := 1
	if outer, _ := ctx.Value(jobKey{}).(*job); outer != nil {
		depth = outer.depth + 1
		if outer.vm == vm && outer.state.Load() == stateHolding && vm.cur.Load() == outer {
			return nil, ErrNested
		}
	}
	if depth > maxDepth {
		return nil, &Error{Kind: Raised, Message: "hooks call each other more than 20 deep"}
	}
	j := &job{
		vm: vm, name: spec.Name, run: spec.Run, loading: spec.Loading, depth: depth,
		clock: spec.Clock, limit: spec.Timeout,
		finished: make(chan error, 1),
	}
	inner, cancel := context.WithCancel(ctx)
	j.ctx = jobContext{inner, j}
	j.real, j.cancel, j.done = &j.ctx, cancel, inner.Done()
	return j, nil
}

// await returns the job's result, or gives it up when it does not stop.
func (j *job) await() error {
	select {
	case err := <-j.finished:
		return err
	case <-j.done:
	case <-j.vm.dead:
	}
	patience := grace
	if j.reason().Kind == Memory {
		patience = memoryGrace
	}
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case err := <-j.finished:
		return err
	case <-late.C:
		return j.abandon()
	case <-j.vm.deadUnless(j):
		return j.abandon()
	}
}

// deadUnless is the VM's death as seen by a job that did not cause it: while
// j holds the VM it is given its own grace.
func (vm *VM) deadUnless(j *job) <-chan struct{} {
	if j.state.Load() == stateHolding {
		return nil
	}
	return vm.dead
}

func (j *job) abandon() error {
	reason := j.reason()
	if j.state.CompareAndSwap(stateWaiting, stateDetached) {
		close(j.detached)
		j.vm.release()
		return reason
	}
	select {
	case err := <-j.finished:
		return err
	default:
	}
	j.vm.kill()
	return &Error{Kind: Abandoned, Message: reason.Message + "; it did not stop and was abandoned", cause: ErrAbandoned}
}

// start hands j to a goroutine. One that has nothing to do is kept, because a
// fresh one would grow its stack anew for every event.
func (vm *VM) start(j *job) {
	select {
	case vm.work <- j:
	default:
		go vm.worker(j)
	}
}

func (vm *VM) worker(j *job) {
	for {
		j.main()
		if !vm.resting.CompareAndSwap(false, true) {
			return
		}
		select {
		case j = <-vm.work:
			vm.resting.Store(false)
		case <-vm.quit:
			return
		}
	}
}

// main is the bottom of a job's goroutine; VM.Run has taken the lock for it.
func (j *job) main() {
	vm := j.vm
	err := error(&Error{Kind: Raised, Message: "the goroutine of the job ended"})
	defer func() {
		if j.state.Load() != stateHolding || vm.Dead() {
			return // nobody listens, and the VM belongs to others
		}
		vm.leave(j)
		vm.release()
		j.finished <- err
	}()
	th := vm.thread()
	vm.take(j, th)
	if err = vm.runProtected(th, j); err == nil {
		vm.recycle(th)
	}
}

// runProtected calls j.run on a thread and explains what went wrong.
func (vm *VM) runProtected(th *lua.LState, j *job) error {
	th.Push(vm.enter)
	err := th.PCall(0, 0, nil)
	if j.stopped() {
		return j.reason().at(err)
	}
	if err != nil {
		e := explain(err)
		vm.describe(th, e)
		return e
	}
	return j.result
}

// thread gives a Lua thread with the swappable context; see recycle.
func (vm *VM) thread() *lua.LState {
	if n := len(vm.threads); n > 0 {
		th := vm.threads[n-1]
		vm.threads = vm.threads[:n-1]
		return th
	}
	th, _ := vm.main.NewThread()
	th.SetContext((*jobSwitch)(vm))
	return th
}

const maxPooled = 8

// recycle takes back a thread that ended well. Threads of jobs that failed are
// thrown away.
func (vm *VM) recycle(th *lua.LState) {
	if len(vm.threads) < maxPooled {
		th.SetTop(0)
		th.Env, th.Parent = vm.main.G.Global, nil
		vm.threads = append(vm.threads, th)
	}
}

// stop ends the job for a reason of ours; the first reason counts.
func (j *job) stop(kind Kind, message string) {
	if j.cause.CompareAndSwap(nil, &Error{Kind: kind, Message: message}) {
		j.cancel()
	}
}

// stopped reports whether the job should have ended by now.
func (j *job) stopped() bool {
	select {
	case <-j.done:
		return true
	default:
		return false
	}
}

// reason says why the job was stopped; never nil.
func (j *job) reason() *Error {
	if e := j.cause.Load(); e != nil {
		return e
	}
	if err := context.Cause(j.real); err != nil {
		return &Error{Kind: Cancelled, Message: "interrupted: " + err.Error(), cause: err}
	}
	return &Error{Kind: Cancelled, Message: "interrupted: the hook's VM is gone", cause: ErrDead}
}
