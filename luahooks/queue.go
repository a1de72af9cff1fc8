package luahooks

import "sync"

// maxTold is how many telling events may wait for one hook.
const maxTold = 1000

// tellQueue runs the telling events of one hook one after the other. Its
// goroutine lives as long as there is something to run.
type tellQueue struct {
	mu      sync.Mutex
	jobs    []told
	running bool
	dropped int
}

type told struct {
	run  func()
	done chan struct{}
}

// add queues a job and returns what is closed when it has run. When too many
// wait, the oldest is dropped.
func (q *tellQueue) add(c *Chain, run func()) <-chan struct{} {
	q.mu.Lock()
	defer q.mu.Unlock()
	j := told{run, make(chan struct{})}
	if len(q.jobs) >= maxTold {
		close(q.jobs[0].done)
		q.jobs = q.jobs[1:]
		q.dropped++
	}
	q.jobs = append(q.jobs, j)
	if !q.running {
		q.running = true
		c.running.Go(q.work)
	}
	return j.done
}

func (q *tellQueue) work() {
	for {
		q.mu.Lock()
		if len(q.jobs) == 0 {
			q.running = false
			q.mu.Unlock()
			return
		}
		j := q.jobs[0]
		q.jobs = q.jobs[1:]
		q.mu.Unlock()
		j.run()
		close(j.done)
	}
}
