package luavm

import (
	"fmt"
	"runtime"
	"runtime/metrics"
	"sync/atomic"
	"time"
)

// tick is how often a running job's clock and the heap are looked at.
const tick = 10 * time.Millisecond

// watch is what the supervisor of a worker knows. While a job holds its VM the
// supervisor looks at it every tick; jobs that last microseconds share one look,
// or are over before the first. It sleeps while the job waits.
type watch struct {
	timer   *time.Timer
	heap    int64 // at the last look
	stretch int64 // number of the stretch in which job has its VM, for which late holds (see stopwatch)
	job     *job
	late    bool  // the heap had grown a little too much at the last look
	overdue *job  // its time was up at one look; at a second one it is stopped
	clocked int64 // when the clock of a job was looked at last, in nanoseconds

	slept bool     // there were no looks for a while, so heap is old
	grace patience // of the job that was stopped
}

// patience is the time that a job which was stopped has left to end. Only time in
// which it could run counts: a look counts a tick at most, however late it is on a
// busy machine, and a job that returns from Wait has all of it again. It may have
// waited for another job that did not stop, until that was given up.
type patience struct {
	job     *job
	stretch int64
	left    time.Duration
	seen    time.Time
}

// look is called at each look at a stopped job and returns how much time it has left to
// end. The first call for a job, or after it came back from Wait, begins with all of it.
func (p *patience) look(j *job, state int32) time.Duration {
	now, stretch := j.vm.now(), j.clock.stretch.Load()
	if p.job != j || state == stateHolding && p.stretch != stretch {
		*p = patience{j, stretch, grace, now}
		if j.reason().Kind == Memory {
			p.left = memoryGrace
		}
		return p.left
	}
	p.left -= min(now.Sub(p.seen), tick)
	p.seen = now
	return p.left
}

// supervise hands the first job to the worker's goroutine and returns when all jobs are
// done. Meanwhile it looks at the running job every tick, and whenever somebody wakes it,
// and stops it if it takes too long, uses too much memory, or the context of the run
// ends.
func (w *worker) supervise(first *job) {
	w.watch.heap, w.watch.slept = w.owner.heapNow(), false
	w.asleep.Store(false)
	w.watch.timer.Reset(tick)
	defer w.watch.timer.Stop()
	cancelled := w.ctx.Done()
	w.work <- first
	for {
		select {
		case <-w.ended:
			return
		case answer := <-w.questions:
			answer <- insideJob()
			continue
		case <-cancelled:
			cancelled = nil // the jobs that come later see it themselves
			if j := w.cur.Load(); j != nil {
				j.interrupted()
			}
		case <-w.woken:
		case <-w.watch.timer.C:
		}
		w.look()
	}
}

// look checks the clock and the memory of the job that is under way, gives it up if it
// was stopped long enough ago, and sets the timer for the next look, or none while no
// job runs.
func (w *worker) look() {
	j := w.cur.Load()
	if j == nil {
		w.sleep()
		return
	}
	state := j.state.Load()
	next := tick
	if state == stateHolding && j.cause.Load() == nil {
		w.watch.checkHeap(j)
		next = w.watch.checkClock(j)
	}
	switch {
	case state == stateEnded:
		w.sleep()
	case j.cause.Load() != nil:
		w.checkStopped(j)
	case state == stateHolding:
		w.watch.timer.Reset(next)
	default:
		w.sleep()
	}
}

// sleep stops the timer of the looks until a job gets its VM (see wakeIfAsleep). If one got it
// meanwhile, the looks go on at once.
func (w *worker) sleep() {
	w.watch.timer.Stop()
	w.watch.slept = true
	w.asleep.Store(true)
	if j := w.cur.Load(); j != nil && j.state.Load() == stateHolding {
		w.wakeIfAsleep()
	}
}

// wakeIfAsleep is called when a job gets its VM: it wakes the supervisor if that sleeps.
func (w *worker) wakeIfAsleep() {
	if w.asleep.Load() && w.asleep.Swap(false) {
		w.wake()
	}
}

// checkStopped is called at each look at a job that was stopped. When its time to end is over,
// it gives the job up and starts a goroutine that continues with the next one.
func (w *worker) checkStopped(j *job) {
	runtime.Gosched() // let the job run first, which may be waiting for a processor: this goroutine, woken by a timer, overtook it
	state := j.state.Load()
	left := w.watch.grace.look(j, state)
	if state == stateWaiting && j.vm.Dead() {
		left = 0 // it cannot get its VM back
	}
	if left > 0 {
		w.watch.timer.Reset(min(left, tick))
		return
	}
	if err := j.giveUp(state); err != nil {
		w.watch.grace = patience{}
		w.cur.Store(nil)
		go w.resume(err)
	}
	w.watch.timer.Reset(tick) // if it was not given up, it is ending or waits for the VM: look again
}

// forgiveLateness takes the time back in which a look was late, as on a busy machine or while the
// process was suspended: the job could run no more than its supervisor could, so a look
// counts a tick then.
func (w *watch) forgiveLateness(j *job, stretch int64) {
	now := j.vm.now().UnixNano()
	gap := time.Duration(now - max(w.clocked, j.clock.since.Load()))
	w.clocked = now
	if gap > 2*tick && j.clock.stretch.Load() == stretch {
		j.clock.add(tick - gap)
	}
}

// checkClock stops a job that has run longer than its Timeout, or its Lua longer than MaxLua, at the second look that
// finds it so. It returns the time until the next look.
func (w *watch) checkClock(j *job) time.Duration {
	stretch := j.clock.stretch.Load()
	w.forgiveLateness(j, stretch)
	left, limit := j.timeLeft()
	if limit == 0 {
		return tick
	}
	if left <= 0 && j.state.Load() == stateHolding && j.clock.stretch.Load() == stretch { // the job did not stop its clock while that was read
		if w.overdue != j {
			w.overdue = j
			runtime.Gosched() // on a busy machine its time may have gone by before it ran at all
			return tick
		}
		j.expire(limit)
		return tick
	}
	return max(min(left, tick), 100*time.Microsecond)
}

// checkHeap stops the job if, since it got its VM, the heap of the process grew by more
// than the limit, or by more than it was if that is more.
func (w *watch) checkHeap(j *job) {
	limit := j.vm.opts.MemoryLimit
	if limit < 0 {
		return
	}
	heap := heapBytes()
	if w.slept {
		w.heap, w.slept = heap, false
	}
	if stretch := j.clock.stretch.Load(); w.job != j || w.stretch != stretch {
		w.job, w.stretch, w.late = j, stretch, false
	}
	base := j.baseOf(min(w.heap, heap))
	w.heap = heap
	// Garbage may double the heap before it is collected, so that a process
	// which is large already is given as much again; and a collection may be
	// late, so that a little too much must be seen twice.
	allowed := max(limit, base)
	if heap-base > allowed {
		allowed = max(allowed, j.vm.sharedLimit())
	}
	if heap-base <= allowed {
		w.late = false
		return
	}
	if !w.late && heap-base <= allowed+allowed/4 {
		w.late = true
		return
	}
	j.stop(j.vm.memoryError(heap - base))
}

// heapNow returns the size of the heap, measured at most a tick ago.
func (ws *Workers) heapNow() int64 {
	now := time.Now().UnixNano()
	if now-ws.heapAt.Load() > int64(tick) {
		ws.heap.Store(heapBytes())
		ws.heapAt.Store(now)
	}
	return ws.heap.Load()
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

// The names of the frames that insideJob looks for.
const (
	waitName = "pi/luavm.(*VM).wait"
	mainName = "pi/luavm.(*job).main"
)

// stopwatch adds up the time of a job that counts against its Timeout. The job
// starts and stops it whenever it gets and releases its VM; its supervisor reads
// it meanwhile.
type stopwatch struct {
	counted atomic.Int64 // nanoseconds, without the stretch that runs
	since   atomic.Int64 // when that stretch began
	stretch atomic.Int64 // its number; it changes after since
}

func (w *stopwatch) start(now time.Time) {
	w.since.Store(now.UnixNano())
	w.stretch.Add(1)
}

func (w *stopwatch) stop(now time.Time) { w.add(time.Duration(now.UnixNano() - w.since.Load())) }

// add adds time during which the watch did not run, such as that of a Wait that counts, or
// takes some back.
func (w *stopwatch) add(d time.Duration) { w.counted.Add(int64(d)) }

// elapsed returns the counted time of a watch that runs now. The supervisor, which reads
// it while the job may stop it, must check afterwards that stretch did not change.
func (w *stopwatch) elapsed(now time.Time) time.Duration {
	return time.Duration(w.counted.Load() + now.UnixNano() - w.since.Load())
}

// pauseClock is called when a job has released its VM and begins to wait, and the
// function that it returns when that is over. The time counts under WholeJob, which may
// stop the job; under CountedLua only a long wait is reported to Options.Waits. With
// dialog it does neither.
func (j *job) pauseClock(dialog bool) (resume func()) {
	if dialog {
		return func() {}
	}
	spec, began, stop := &j.spec, j.vm.now(), func() bool { return true }
	switch waits := j.vm.opts.Waits; {
	case spec.Timeout <= 0:
	case spec.Clock == WholeJob:
		stop = time.AfterFunc(spec.Timeout-time.Duration(j.clock.counted.Load()), func() { j.expire(spec.Timeout) }).Stop
	case waits != nil:
		name, function := spec.Name, j.waitsFor
		stop = time.AfterFunc(spec.Timeout, func() { waits(name, function) }).Stop
	}
	return func() {
		stop()
		if spec.Clock == WholeJob {
			d := j.vm.now().Sub(began)
			j.clock.add(d)
			j.waited.Add(int64(d))
		}
	}
}

// timeLeft returns how long a job that holds its VM may go on, and the limit that this comes
// from; 0: none.
func (j *job) timeLeft() (left, limit time.Duration) {
	elapsed := j.clock.elapsed(j.vm.now())
	if limit = j.spec.Timeout; limit > 0 {
		left = limit - elapsed
	}
	if most := j.vm.opts.MaxLua; most > 0 {
		if held := elapsed - time.Duration(j.waited.Load()); limit <= 0 || most-held < left {
			left, limit = most-held, most
		}
	}
	return left, max(limit, 0)
}

// RanLonger begins the message of a job that was stopped because of its time; the time follows.
const RanLonger = "stopped: ran longer than "

// expire stops the job because a limit of its time is over.
func (j *job) expire(limit time.Duration) {
	j.stop(&Error{Kind: Timeout, Message: RanLonger + limit.String()})
}

// heapBytes is what the heap holds, garbage that is not yet collected included.
func heapBytes() int64 {
	sample := [1]metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample[:])
	return int64(sample[0].Value.Uint64())
}

// memoryError is why a job is stopped while which the heap grew by so many bytes.
func (vm *VM) memoryError(grown int64) *Error {
	text := fmt.Sprintf("stopped: the memory of the whole process grew by %d MiB while this hook ran (limit %d MiB)", grown>>20, vm.opts.MemoryLimit>>20)
	if n := vm.sharers(); n > 1 {
		text += fmt.Sprintf("; %d agents worked at the time, each of which may take as much", n)
	}
	return &Error{Kind: Memory, Message: text}
}
