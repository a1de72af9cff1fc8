package luavm

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// Lanes run jobs, of one VM or of many, one after the other: the jobs of a
// lane share one goroutine, because to hand each of them to another would cost
// more than the Lua of most. The caller of Run waits and supervises that
// goroutine. A job that has to be given up keeps its goroutine, and a fresh one
// runs the rest.
//
// The zero value works. A goroutine or two are kept until Close.
type Lanes struct {
	mu      sync.Mutex
	resting []*lane
	closed  bool

	heap   atomic.Int64 // at the last look
	heapAt atomic.Int64
}

// Next chooses the next job of a lane; more is false when there is none. err is
// how the job before ended (nil the first time). It is called outside of the
// lane's jobs, never twice at a time, but not always on the same goroutine; the
// first time on that of Run.
type Next func(err error) (vm *VM, job Job, more bool)

const maxResting = 2

// lane is a goroutine that runs jobs, and what its supervisor knows of it.
type lane struct {
	owner *Lanes
	work  chan *job     // the first; closed when the lane is not needed any more
	ended chan struct{} // next had no more

	ctx   context.Context
	next  Next
	outer *job // the jobs run inside its Wait
	depth int

	cur       atomic.Pointer[job] // the job that is under way
	alarm     chan struct{}       // cur wants to be looked at
	questions chan chan<- bool    // is the supervisor inside a job?
	dozing    atomic.Bool         // the supervisor does not look by itself, because cur does not run

	watch watch
}

// Run runs the jobs that next returns and returns when there are no more. The
// error of a job (see VM.Run) is handed to next and does not end the lane. Run
// waits no longer for a job than VM.Run does.
func (ls *Lanes) Run(ctx context.Context, next Next) {
	l := ls.take()
	l.ctx, l.next, l.depth = ctx, next, 1
	if l.outer, _ = ctx.Value(jobKey{}).(*job); l.outer != nil {
		l.depth = l.outer.depth + 1
	}
	if j := l.prepare(nil); j != nil { // on this goroutine, so that a VM that is open now is not freed before the job is done
		l.supervise(j)
	}
	ls.put(l)
}

// Close ends the goroutines that rest. Lanes still run afterwards.
func (ls *Lanes) Close() {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	ls.closed = true
	for _, l := range ls.resting {
		close(l.work)
	}
	ls.resting = nil
}

// take removes a resting lane and returns it, or makes a new one with its goroutine.
func (ls *Lanes) take() *lane {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	if n := len(ls.resting); n > 0 {
		l := ls.resting[n-1]
		ls.resting = ls.resting[:n-1]
		return l
	}
	l := &lane{
		owner: ls, work: make(chan *job, 1), ended: make(chan struct{}, 1),
		alarm: make(chan struct{}, 1), questions: make(chan chan<- bool),
	}
	l.watch.timer = time.NewTimer(time.Hour)
	l.watch.timer.Stop()
	go l.serve()
	return l
}

// put clears a lane whose jobs are done and keeps it for take, or ends its goroutine if
// enough lanes rest. Kept goroutines save growing a new stack for every event.
func (ls *Lanes) put(l *lane) {
	l.ctx, l.next, l.outer = nil, nil, nil
	l.cur.Store(nil)
	l.watch.job, l.watch.overdue, l.watch.doomed = nil, nil, patience{}
	ls.mu.Lock()
	defer ls.mu.Unlock()
	if ls.closed || len(ls.resting) >= maxResting {
		close(l.work)
		return
	}
	ls.resting = append(ls.resting, l)
}

// serve is the goroutine of a lane: it waits for the first job of each Lanes.Run and
// runs the jobs that follow. It ends when the lane is closed or a job was given up.
func (l *lane) serve() {
	for j := range l.work {
		if !l.drive(j) {
			return
		}
	}
}

// resume is serve for a goroutine that replaces one which was given up with its
// job. err is the error of that job.
func (l *lane) resume(err error) {
	if l.drive(l.prepare(err)) {
		l.serve()
	}
}

// drive runs j and all jobs that next gives after it, then tells the supervisor that
// they have ended. It returns false as soon as the job that it runs was given up:
// another goroutine continues the lane then (see resume).
func (l *lane) drive(j *job) bool {
	for ; j != nil; j = l.prepare(j.result) {
		l.cur.Store(j)
		if err := j.vm.turn.acquire(j); err != nil {
			j.vm.life.end()
			j.end()
			j.result = err
		} else if !j.main() {
			return false
		}
	}
	l.ended <- struct{}{}
	return true
}

// prepare asks next for jobs until one can begin and returns it, counted in its VM,
// which is not freed before the job ends; nil if there are no more. err is how the job
// before ended; a job that cannot begin hands its error to the next call in the same
// way.
func (l *lane) prepare(err error) *job {
	for {
		vm, spec, more := l.next(err)
		if !more {
			return nil
		}
		switch o := l.outer; {
		case o != nil && o.vm == vm && o.state.Load() == stateHolding && vm.turn.cur.Load() == o:
			err = ErrNested
		case l.depth > maxDepth:
			err = &Error{Kind: Raised, Message: "hooks call each other more than 20 deep"}
		default:
			if err = vm.life.begin(spec.Continues); err == nil {
				return &job{vm: vm, lane: l, spec: spec, depth: l.depth, parent: l.ctx}
			}
		}
	}
}

// ring asks the supervisor to look at the job that is under way.
func (l *lane) ring() {
	select {
	case l.alarm <- struct{}{}:
	default: // it was rung already
	}
}

// isNested reports whether the caller of [Lanes.Run] is itself inside a job, in a function
// that did not announce with [VM.Wait] that it waits. The goroutine of that caller
// supervises this lane and is the only one that knows, so it is asked.
func (l *lane) isNested() bool {
	answer := make(chan bool, 1)
	l.questions <- answer
	return <-answer
}
