package luavm

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	lua "github.com/yuin/gopher-lua"
)

// Clock is which time counts against a job's Timeout.
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
	// Continues says that the job is part of something that began on this VM
	// before: it is run although the VM was closed since.
	Continues bool
	// Run is called with a Lua thread that belongs to the job. It calls Lua
	// with L.Call; errors pass through it and come out of VM.Run. What it
	// returns is returned as it is.
	Run func(L *lua.LState) error
}

const (
	maxDepth = 20                     // jobs inside jobs
	grace    = 250 * time.Millisecond // from cancellation to abandoning; see patience
	// memoryGrace is the same for jobs that use too much memory: the copy of a
	// gigabyte that is under way cannot be stopped, but ends by itself.
	memoryGrace = 2 * time.Second
)

// The states of a job. It ends in one of the last three: by itself, or because
// its supervisor gave it up, waiting or holding the VM. That change happens once:
// it decides whether the job may touch the VM again, and whether its goroutine or
// another one continues the jobs of the worker.
const (
	stateQueued int32 = iota // for the VM
	stateHolding
	stateWaiting
	stateEnded
	stateDetached
	stateAbandoned
)

type job struct {
	vm     *VM
	worker *worker
	spec   Job
	depth  int

	// The job's context, why it was stopped, and the context that it was run with.
	parent context.Context
	real   *jobContext // made when it is asked for; only the job itself
	cancel atomic.Pointer[context.CancelFunc]
	cause  atomic.Pointer[Error] // why it was stopped

	state    atomic.Int32
	detached chan struct{} // made by each Wait, closed if the job is given up in it
	result   error         // of spec.Run, at last of the job

	clock  stopwatch
	waited atomic.Int64 // nanoseconds of that in which the job did not hold its VM
	base   atomic.Int64 // the heap when the job got the VM last; 0: nobody has looked yet

	// Only the job itself: the API function that was called last and the one that
	// it waits in, and the bytes of strings since the heap was looked at.
	calling, waitsFor string
	built             int
}

type jobKey struct{}

// jobContext lets a nested Run find the job that it is nested in.
type jobContext struct {
	context.Context
	job *job
}

// Value returns the job for jobKey; other keys are those of the context around it.
func (c *jobContext) Value(key any) any {
	if key == (jobKey{}) {
		return c.job
	}
	return c.Context.Value(key)
}

// Run runs a job and returns when it has ended, or when it should have and could
// have run for 250 ms since.
// It returns nil, what Job.Run returned, ErrClosed, ErrDead, ErrNested, or an
// *Error. ErrClosed and ErrDead come only from jobs that did not begin, so that
// they can be run elsewhere without running anything twice.
func (vm *VM) Run(ctx context.Context, spec Job) (err error) {
	began := false
	vm.workers.Run(ctx, func(result error) (*VM, Job, bool) {
		if began {
			err = result
			return nil, Job{}, false
		}
		began = true
		return vm, spec, true
	})
	return err
}

// giveUp gives up a job that was stopped and did not end, if it is still in this state,
// and returns its error. A job that waits is detached: it never gets the VM back. One
// that holds its VM is abandoned, and the VM is dead. It returns nil, and has done
// nothing, if the job changed its state meanwhile or has not got the VM yet.
func (j *job) giveUp(state int32) error {
	reason := j.reason()
	switch {
	case state == stateWaiting && j.state.CompareAndSwap(stateWaiting, stateDetached):
		close(j.detached)
		j.vm.life.end()
		return reason
	case state == stateHolding && j.state.CompareAndSwap(stateHolding, stateAbandoned):
		j.vm.kill()
		return &Error{Kind: Abandoned, Message: reason.Message + "; it did not stop and was abandoned", cause: ErrAbandoned}
	}
	return nil
}

// main runs a job whose turn it is to its end, stores in result how that was (the reason if
// it was stopped, what spec.Run returned, or an *Error of what Lua raised), and releases the
// VM. It returns false if the job was given up meanwhile: then the VM and the worker
// belong to others and are not touched.
func (j *job) main() bool {
	returned := false
	defer func() {
		if returned || !j.state.CompareAndSwap(stateHolding, stateEnded) {
			return
		}
		j.finish() // runtime.Goexit was called
		go j.worker.resume(&Error{Kind: Raised, Message: "the goroutine of the job ended"})
	}()
	th := j.vm.threads.get()
	j.vm.begin(j, stateQueued, th)
	th.Push(j.vm.threads.lowestJob)
	err := th.PCall(0, 0, nil) // to jobFrame, which calls spec.Run
	switch {
	case j.interrupted():
		err = j.reason().at(err)
	case err != nil:
		raised := errorOf(err)
		describe(th, raised)
		err = raised
	default:
		err = j.result
	}
	returned = true
	if !j.state.CompareAndSwap(stateHolding, stateEnded) {
		return false
	}
	if err == nil {
		j.vm.threads.put(th)
	}
	j.finish()
	if errors.Is(err, ErrClosed) || errors.Is(err, ErrDead) {
		// It is the error of a job inside this one. This one did begin.
		err = &Error{Kind: Raised, Message: err.Error()}
	}
	j.result = err
	return true
}

// finish ends a job that holds its VM: its context is cancelled and the next job may
// run.
func (j *job) finish() {
	j.end()
	j.vm.release()
	j.vm.life.end()
}

// end marks the job as ended and cancels its context.
func (j *job) end() {
	j.state.Store(stateEnded)
	if cancel := j.cancel.Load(); cancel != nil {
		(*cancel)()
	}
}

// stop asks the job to end: its context is cancelled, the interpreter raises the reason
// at its next look, and the supervisor is woken, which gives the job up if it does not
// end. Only the first reason counts.
func (j *job) stop(reason *Error) {
	if !j.cause.CompareAndSwap(nil, reason) {
		return
	}
	if cancel := j.cancel.Load(); cancel != nil {
		(*cancel)()
	}
	j.worker.wake()
}

// interrupted reports whether the job was stopped, and stops it if its context has
// ended: that may be a moment before the supervisor does so.
func (j *job) interrupted() bool {
	if j.cause.Load() == nil && j.parent.Err() != nil {
		cause := context.Cause(j.parent)
		j.stop(&Error{Kind: Cancelled, Message: "interrupted: " + cause.Error(), cause: cause})
	}
	return j.cause.Load() != nil
}

// reason is why the job was stopped; never nil.
func (j *job) reason() *Error {
	if e := j.cause.Load(); e != nil {
		return e
	}
	return vmIsGone()
}

func vmIsGone() *Error {
	return &Error{Kind: Cancelled, Message: "cut off: another handler of this hook did not stop, and the hook was given up", cause: ErrCutOff}
}

// context returns the job's context, which ends when the job ends or is stopped. It is
// made at the first call: most jobs never need one.
func (j *job) context() context.Context {
	if j.real == nil {
		ctx, cancel := context.WithCancel(j.parent)
		j.real = &jobContext{ctx, j}
		j.cancel.Store(&cancel)
		if j.cause.Load() != nil {
			cancel()
		}
	}
	return j.real
}

// Stopped reports whether the job of ctx, which [VM.Context] or [VM.Wait] gave,
// was stopped: its context ended, or it used too much time or memory. It is
// false while the job runs and when it ended by itself.
func Stopped(ctx context.Context) bool {
	j, ok := ctx.Value(jobKey{}).(*job)
	if !ok {
		return ctx.Err() != nil
	}
	return j.cause.Load() != nil || j.state.Load() != stateEnded && j.parent.Err() != nil
}

// StopReason says in one word why the job of ctx, for which [Stopped] is true, was stopped:
// "timeout" by its clock, "memory", else "cancelled".
func StopReason(ctx context.Context) string {
	if j, ok := ctx.Value(jobKey{}).(*job); ok {
		if cause := j.cause.Load(); cause != nil && (cause.Kind == Timeout || cause.Kind == Memory) {
			return cause.Kind.String()
		}
	}
	return Cancelled.String()
}

// Outermost is the context of the job in whose waits, through any number of others, the job of ctx
// runs; ctx itself for one that runs inside of no other. It is called while that job runs.
func Outermost(ctx context.Context) context.Context {
	j, ok := ctx.Value(jobKey{}).(*job)
	if !ok || j.worker.outer == nil {
		return ctx
	}
	for j.worker.outer != nil {
		j = j.worker.outer
	}
	return j.real // made when it began to wait
}

// Apart is ctx with all that it says and its end, but no job that others would run inside of: for
// what goes on beside the job of ctx, or in other VMs.
func Apart(ctx context.Context) context.Context { return context.WithValue(ctx, jobKey{}, nil) }

// looksApart is how many steps Go code that runs for Lua may take before it looks
// whether its job was stopped.
const looksApart = 1 << 10

// halted returns why the running job was stopped, nil if it was not. Go code that may
// take long calls it now and then, because only Lua's own instructions are watched.
func halted(L *lua.LState) error {
	if L.G.CurrentThread != nil {
		L = L.G.CurrentThread
	}
	ctx := L.Context()
	if ctx == nil || ctx.Done() == nil {
		return nil
	}
	return ctx.Err()
}
