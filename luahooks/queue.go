package luahooks

import (
	"context"
	"sync"
	"sync/atomic"
)

// maxQueued is how many telling events may wait for one hook.
const maxQueued = 1000

// eventQueue starts the telling events of one hook in their order. The next one
// starts when the one before has got the VM or has ended, so that it runs while
// that one waits, but never before it.
type eventQueue struct {
	mu       sync.Mutex // guards what follows
	jobs     []queued
	starting bool // a job was started and has not got the VM yet
	dropped  int
}

// queued is one event for one hook. run ends its turn as soon as it has the VM.
type queued struct {
	run  func(*turn)
	done chan struct{}
}

// add queues a job, and starts it if no other is starting. The channel is closed when it has
// run; also when it never will, because too many wait and it is the oldest.
func (q *eventQueue) add(b *background, run func(*turn)) <-chan struct{} {
	q.mu.Lock()
	defer q.mu.Unlock()
	j := queued{run, make(chan struct{})}
	if len(q.jobs) >= maxQueued {
		close(q.jobs[0].done)
		q.jobs = q.jobs[1:]
		q.dropped++
	}
	q.jobs = append(q.jobs, j)
	if !q.starting {
		q.next(b)
	}
	return j.done
}

// next starts the oldest job on a goroutine, if there is one. Jobs of a chain that is closed
// are dropped. q.mu is held.
func (q *eventQueue) next(b *background) {
	q.starting = len(q.jobs) > 0
	if !q.starting {
		return
	}
	j := q.jobs[0]
	q.jobs = q.jobs[1:]
	began := b.run(func() {
		t := &turn{queue: q, behind: b}
		j.run(t)
		t.end()
		close(j.done)
	})
	if !began { // the chain is closed
		close(j.done)
		q.next(b)
	}
}

// begin returns the turn for a job that the caller runs, or nil if other jobs are
// before it. The caller ends the turn as soon as the job has the VM.
func (q *eventQueue) begin(b *background) *turn {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.starting {
		return nil
	}
	q.starting = true
	return &turn{queue: q, behind: b}
}

// turn belongs to the job that is starting. Its end lets the next one start.
type turn struct {
	queue  *eventQueue
	behind *background
	over   atomic.Bool
}

// end lets the next job of the queue start; only the first call has an effect.
func (t *turn) end() {
	if t.over.Swap(true) {
		return
	}
	t.queue.mu.Lock()
	defer t.queue.mu.Unlock()
	t.queue.next(t.behind)
}

// catchUp waits until the jobs that are in the queue now have started.
func (q *eventQueue) catchUp(ctx context.Context, b *background) {
	q.mu.Lock()
	behind := q.starting
	q.mu.Unlock()
	if behind {
		waitDone(ctx, q.add(b, (*turn).end))
	}
}

// lost is how many events were dropped.
func (q *eventQueue) lost() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.dropped
}
