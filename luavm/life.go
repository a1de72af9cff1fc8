package luavm

import "sync"

// life counts the jobs that still need a VM. It is over when the VM was closed and
// its last job has ended, or when a job had to be abandoned.
type life struct {
	dead chan struct{} // closed when a job was abandoned
	free func()        // called when it is over, perhaps more than once

	// mu guards the fields below: whether a job may still begin and whether the
	// last one has ended are decided in one step.
	mu      sync.Mutex
	jobs    int               // begun and not ended
	waiting map[*job]struct{} // those of them that are in Wait
	closed  bool
	died    bool // dead is closed
}

func newLife(free func()) *life {
	return &life{dead: make(chan struct{}), free: free, waiting: map[*job]struct{}{}}
}

// begin counts a job that is about to run on the VM. The error is ErrDead, or ErrClosed
// if the VM was closed and the job does not continue something that began before.
func (l *life) begin(continues bool) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.died:
		return ErrDead
	case l.closed && !continues:
		return ErrClosed
	}
	l.jobs++
	return nil
}

// end counts a job as ended. If it was the last one of a closed VM, the VM is freed.
func (l *life) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.jobs--
	l.freeLocked()
}

// close refuses new jobs and frees the VM if none runs; otherwise the last one to end
// does.
func (l *life) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	l.freeLocked()
}

// freeLocked frees the VM if it is closed and no job needs it. mu is held.
func (l *life) freeLocked() {
	if l.closed && l.jobs == 0 && !l.died {
		l.free()
	}
}

// kill marks the VM dead and frees it at once. It returns the jobs that are in Wait, for
// the caller to stop: they cannot get the VM back. A second call returns nil.
func (l *life) kill() (waiting []*job) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.died {
		return nil
	}
	l.died = true
	close(l.dead)
	l.free()
	for j := range l.waiting {
		waiting = append(waiting, j)
	}
	return waiting
}

// setWaiting notes whether a job is in Wait.
func (l *life) setWaiting(j *job, waits bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if waits {
		l.waiting[j] = struct{}{}
	} else {
		delete(l.waiting, j)
	}
}
