package luavm

import (
	"sync/atomic"
	"time"
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
