package luahooks

import "sync"

// maxTold is how many telling events may wait for one hook.
const maxTold = 1000

// tellQueue starts the telling events of one hook in their order. The next one
// starts when the one before has got the VM or has ended, so that it runs while
// that one waits, but never before it.
type tellQueue struct {
	mu       sync.Mutex
	jobs     []told
	starting bool // a job was started and has not got the VM yet
	dropped  int
}

// told is one event for one hook. run calls started when its turn is over.
type told struct {
	run  func(started func())
	done chan struct{}
}

// add queues a job and returns what is closed when it has run. When too many
// wait, the oldest is dropped.
func (q *tellQueue) add(b *background, run func(started func())) <-chan struct{} {
	q.mu.Lock()
	defer q.mu.Unlock()
	j := told{run, make(chan struct{})}
	if len(q.jobs) >= maxTold {
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

// next starts the oldest job. q.mu is held.
func (q *tellQueue) next(b *background) {
	q.starting = len(q.jobs) > 0
	if !q.starting {
		return
	}
	j := q.jobs[0]
	q.jobs = q.jobs[1:]
	began := b.run(func() {
		handOver := sync.OnceFunc(func() { q.more(b) })
		j.run(handOver)
		handOver()
		close(j.done)
	})
	if !began { // the chain is closed
		close(j.done)
		q.next(b)
	}
}

// here runs a job on the caller's goroutine, if it is its turn.
func (q *tellQueue) here(b *background, run func(started func())) bool {
	q.mu.Lock()
	if q.starting {
		q.mu.Unlock()
		return false
	}
	q.starting = true
	q.mu.Unlock()
	handOver := sync.OnceFunc(func() { q.more(b) })
	run(handOver)
	handOver()
	return true
}

func (q *tellQueue) more(b *background) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.next(b)
}

// lost is how many events were dropped.
func (q *tellQueue) lost() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.dropped
}
