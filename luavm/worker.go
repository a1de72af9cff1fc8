package luavm

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// Workers run jobs, of one VM or of many, one after the other: the jobs of one Run
// share one goroutine, a worker, because to hand each of them to another would cost
// more than the Lua of most. The caller of Run waits and supervises that
// goroutine. A job that has to be given up keeps its goroutine, and a fresh one
// runs the rest.
//
// The zero value works. A goroutine or two are kept until Close.
type Workers struct {
	mu     sync.Mutex
	idle   []*worker
	closed bool

	heap   atomic.Int64 // at the last look
	heapAt atomic.Int64
}

// Next chooses the next job of a worker; more is false when there is none. err is
// how the job before ended (nil the first time). It is called outside of the
// worker's jobs, never twice at a time, but not always on the same goroutine; the
// first time on that of Run.
type Next func(err error) (vm *VM, job Job, more bool)

const maxIdle = 2

// worker is a goroutine that runs jobs, and what its supervisor knows of it.
type worker struct {
	owner *Workers
	work  chan *job     // the first; closed when the worker is not needed any more
	ended chan struct{} // next had no more

	ctx   context.Context
	next  Next
	outer *job // the jobs run inside its Wait
	depth int

	cur       atomic.Pointer[job] // the job that is under way
	woken     chan struct{}       // cur wants to be looked at
	questions chan chan<- bool    // is the supervisor inside a job?
	asleep    atomic.Bool         // the supervisor does not look by itself, because cur does not run

	watch watch
}

// Run runs the jobs that next returns and returns when there are no more. The
// error of a job (see VM.Run) is handed to next and does not end the run. Run
// waits no longer for a job than VM.Run does.
func (ws *Workers) Run(ctx context.Context, next Next) {
	w := ws.take()
	w.ctx, w.next, w.depth = ctx, next, 1
	if w.outer, _ = ctx.Value(jobKey{}).(*job); w.outer != nil {
		w.depth = w.outer.depth + 1
	}
	if j := w.prepare(nil); j != nil { // on this goroutine, so that a VM that is open now is not freed before the job is done
		w.supervise(j)
	}
	ws.put(w)
}

// Close ends the goroutines that are idle. Jobs can still be run afterwards.
func (ws *Workers) Close() {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	ws.closed = true
	for _, w := range ws.idle {
		close(w.work)
	}
	ws.idle = nil
}

// take removes an idle worker and returns it, or makes a new one with its goroutine.
func (ws *Workers) take() *worker {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if n := len(ws.idle); n > 0 {
		w := ws.idle[n-1]
		ws.idle = ws.idle[:n-1]
		return w
	}
	w := &worker{
		owner: ws, work: make(chan *job, 1), ended: make(chan struct{}, 1),
		woken: make(chan struct{}, 1), questions: make(chan chan<- bool),
	}
	w.watch.timer = time.NewTimer(time.Hour)
	w.watch.timer.Stop()
	go w.serve()
	return w
}

// put clears a worker whose jobs are done and keeps it for take, or ends its goroutine if
// enough are idle. Kept goroutines save growing a new stack for every event.
func (ws *Workers) put(w *worker) {
	w.ctx, w.next, w.outer = nil, nil, nil
	w.cur.Store(nil)
	w.watch.job, w.watch.overdue, w.watch.grace = nil, nil, patience{}
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if ws.closed || len(ws.idle) >= maxIdle {
		close(w.work)
		return
	}
	ws.idle = append(ws.idle, w)
}

// serve is the goroutine of a worker: it waits for the first job of each Workers.Run and
// runs the jobs that follow. It ends when the worker is closed or a job was given up.
func (w *worker) serve() {
	for j := range w.work {
		if !w.drive(j) {
			return
		}
	}
}

// resume is serve for a goroutine that replaces one which was given up with its
// job. err is the error of that job.
func (w *worker) resume(err error) {
	if w.drive(w.prepare(err)) {
		w.serve()
	}
}

// drive runs j and all jobs that next gives after it, then tells the supervisor that
// they have ended. It returns false as soon as the job that it runs was given up:
// another goroutine continues with the next then (see resume).
func (w *worker) drive(j *job) bool {
	for ; j != nil; j = w.prepare(j.result) {
		w.cur.Store(j)
		if err := j.vm.lock.acquire(j); err != nil {
			j.vm.life.end()
			j.end()
			j.result = err
		} else if !j.main() {
			return false
		}
	}
	w.ended <- struct{}{}
	return true
}

// prepare asks next for jobs until one can begin and returns it, counted in its VM,
// which is not freed before the job ends; nil if there are no more. err is how the job
// before ended; a job that cannot begin hands its error to the next call in the same
// way.
func (w *worker) prepare(err error) *job {
	for {
		vm, spec, more := w.next(err)
		if !more {
			return nil
		}
		switch o := w.outer; {
		case o != nil && o.vm == vm && o.state.Load() == stateHolding && vm.lock.cur.Load() == o:
			err = ErrNested
		case w.depth > maxDepth:
			err = &Error{Kind: Raised, Message: "hooks call each other more than 20 deep"}
		default:
			if err = vm.life.begin(spec.Continues); err == nil {
				return &job{vm: vm, worker: w, spec: spec, depth: w.depth, parent: w.ctx}
			}
		}
	}
}

// wake asks the supervisor to look at the job that is under way.
func (w *worker) wake() {
	select {
	case w.woken <- struct{}{}:
	default: // it was woken already
	}
}

// isNested reports whether the caller of [Workers.Run] is itself inside a job, in a function
// that did not announce with [VM.Wait] that it waits. The goroutine of that caller
// supervises this worker and is the only one that knows, so it is asked.
func (w *worker) isNested() bool {
	answer := make(chan bool, 1)
	w.questions <- answer
	return <-answer
}
