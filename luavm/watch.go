package luavm

import (
	"fmt"
	"runtime/metrics"
	"sync"
	"sync/atomic"
	"time"
)

// tick is how often a running job's clock and the heap are looked at.
const tick = 10 * time.Millisecond

// watch stops a job that runs too long or makes the heap grow. One timer per
// VM serves all its jobs: it is armed by the first that takes the VM and arms
// itself again as long as it finds one that holds it. Jobs that last
// microseconds therefore share one wake-up, and an idle VM has none.
type watch struct {
	vm    *VM
	armed atomic.Bool

	mu      sync.Mutex
	timer   *time.Timer
	stopped bool
	heap    int64 // at the last look
	stretch int64 // which stretch of which job base belongs to
	job     *job
	base    int64
	late    bool // it was too much at the last look
}

// arm is called by the job that has just taken the VM.
func (w *watch) arm(j *job, now int64) {
	left := tick
	if j.limit > 0 {
		left = min(tick, j.limit-time.Duration(j.used.Load()))
	}
	if w.armed.CompareAndSwap(false, true) {
		w.start(max(left, 0), true)
	} else if left < tick {
		w.start(max(left, 0), false)
	}
}

func (w *watch) start(after time.Duration, wasIdle bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if wasIdle {
		w.heap = heapBytes()
	}
	switch {
	case w.stopped:
	case w.timer == nil:
		w.timer = time.AfterFunc(after, w.look)
	default:
		w.timer.Reset(after)
	}
}

func (w *watch) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopped = true
	if w.timer != nil {
		w.timer.Stop()
	}
}

func (w *watch) look() {
	w.mu.Lock()
	defer w.mu.Unlock()
	j := w.vm.cur.Load()
	if j == w.vm.idle {
		w.armed.Store(false)
		if j = w.vm.cur.Load(); j == w.vm.idle || !w.armed.CompareAndSwap(false, true) {
			return
		}
	}
	w.checkHeap(j)
	next := w.checkClock(j)
	if !w.stopped {
		w.timer.Reset(next)
	}
}

// checkClock returns when to look again.
func (w *watch) checkClock(j *job) time.Duration {
	if j.limit <= 0 {
		return tick
	}
	left := j.limit - time.Duration(j.used.Load()+w.vm.now().UnixNano()-j.since.Load())
	if left <= 0 && w.vm.cur.Load() == j {
		j.expire()
		return tick
	}
	return max(min(left, tick), 100*time.Microsecond)
}

func (w *watch) checkHeap(j *job) {
	limit := w.vm.opts.MemoryLimit
	if limit < 0 {
		return
	}
	heap := heapBytes()
	if stretch := j.holding.Load(); w.job != j || w.stretch != stretch {
		w.job, w.stretch, w.base, w.late = j, stretch, min(w.heap, heap), false
	}
	w.heap = heap
	// Garbage may double the heap before it is collected, so that a process
	// which is large already is given as much again; and a collection may be
	// late, so that a little too much must be seen twice.
	allowed := max(limit, w.base)
	if heap-w.base <= allowed {
		w.late = false
		return
	}
	if !w.late && heap-w.base <= allowed+allowed/4 {
		w.late = true
		return
	}
	j.stop(Memory, fmt.Sprintf("stopped: the memory of the whole process grew by %d MiB while this hook ran (limit %d MiB)",
		(heap-w.base)>>20, limit>>20))
}

// heapBytes is what the heap holds, garbage that is not yet collected included.
func heapBytes() int64 {
	sample := [1]metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample[:])
	return int64(sample[0].Value.Uint64())
}
