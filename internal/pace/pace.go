// Package pace slows down what comes faster than anybody can look at it: of values that
// each replace the one before, such as how far something has come, a [Pacer] hands on the
// first at once, and then the newest one from time to time.
//
// It knows nothing of the rest of the program.
package pace

import (
	"sync"
	"time"
)

// Pacer hands on values, at most one in a pause, one at a time and in their order. A value
// that a newer one follows within the pause is dropped. All methods may be called from any
// goroutine.
type Pacer[T any] struct {
	pause time.Duration
	emit  func(T)

	mu      sync.Mutex // guards what follows; not locked while emit runs
	newest  T
	waits   bool          // newest was not handed on
	running chan struct{} // closed when emit returns; nil: it does not run
	last    time.Time     // at which emit returned
	timer   *time.Timer   // that hands on newest
	stopped bool
}

// New returns a Pacer that hands values on to emit.
func New[T any](pause time.Duration, emit func(T)) *Pacer[T] {
	return &Pacer[T]{pause: pause, emit: emit}
}

// Put hands on a value, now or later. It waits for nothing but an emit of its own.
func (p *Pacer[T]) Put(value T) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopped {
		return
	}
	p.newest, p.waits = value, true
	if p.running == nil && p.timer == nil {
		p.next()
	}
}

// next hands on the newest value, or starts the timer for it; the caller has the lock, and
// neither goes on yet.
func (p *Pacer[T]) next() {
	if wait := p.pause - time.Since(p.last); !p.last.IsZero() && wait > 0 {
		p.timer = time.AfterFunc(wait, p.tick)
		return
	}
	p.hand()
}

// tick is called by the timer.
func (p *Pacer[T]) tick() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.timer = nil; p.waits && !p.stopped {
		p.hand()
	}
}

// hand hands on the newest value; the caller has the lock, which is released meanwhile.
func (p *Pacer[T]) hand() {
	value := p.newest
	running := make(chan struct{})
	p.waits, p.running = false, running
	p.mu.Unlock()
	defer func() { // also if emit crashes
		p.mu.Lock()
		close(running)
		p.running, p.last = nil, time.Now()
		if p.waits && !p.stopped {
			p.next()
		}
	}()
	p.emit(value)
}

// Stop hands on the value that waits, if there is one. When it returns nothing is handed on
// any more.
func (p *Pacer[T]) Stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stopped = true
	if p.timer != nil {
		p.timer.Stop()
		p.timer = nil
	}
	for p.running != nil {
		running := p.running
		p.mu.Unlock()
		<-running
		p.mu.Lock()
	}
	if p.waits {
		p.hand()
	}
}
