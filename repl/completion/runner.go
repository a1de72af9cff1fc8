package completion

import (
	"context"
	"sync"
	"time"
)

// Runner asks a [Completer] in the background, so that nobody who types waits for a hook or
// a disk. Only the newest question counts. Its methods may be called by any goroutine, but
// not by the function that it delivers to.
type Runner struct {
	completer *Completer
	deliver   func(Result)

	wg     sync.WaitGroup
	mu     sync.Mutex
	number int // of the newest question
	cancel context.CancelFunc
	closed bool
}

// NewRunner returns a runner. It calls deliver, in a goroutine of its own, with a result
// that was not ready when it was asked for, unless something else was asked meanwhile.
func NewRunner(c *Completer, deliver func(Result)) *Runner {
	return &Runner{completer: c, deliver: deliver, cancel: func() {}}
}

// Ask asks for what the word before the cursor can become. If that is known within the
// patience it is returned, and ready is true; else it is delivered later.
func (r *Runner) Ask(text string, cursor int, patience time.Duration) (result Result, ready bool) {
	ctx, number, ok := r.begin()
	if !ok {
		return Result{}, true
	}
	done := make(chan Result, 1)
	taken := make(chan bool, 1)
	r.wg.Go(func() {
		done <- r.completer.Complete(ctx, text, cursor)
		if early := <-taken; early {
			return
		}
		r.mu.Lock()
		newest := number == r.number && !r.closed
		r.mu.Unlock()
		if newest { // nothing else was asked meanwhile
			r.deliver(<-done)
		}
	})
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case result = <-done:
		taken <- true
		return result, true
	case <-timer.C:
		taken <- false
		return Result{}, false
	}
}

// begin cancels the question before and numbers a new one. It reports false after Close.
func (r *Runner) begin() (ctx context.Context, number int, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cancel()
	if r.closed {
		return nil, 0, false
	}
	ctx, r.cancel = context.WithCancel(context.Background())
	r.number++
	return ctx, r.number, true
}

// Forget has the newest question not answered any more: the person went on.
func (r *Runner) Forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cancel()
	r.number++
}

// Close ends all questions and waits for that.
func (r *Runner) Close() {
	r.mu.Lock()
	r.closed = true
	r.cancel()
	r.mu.Unlock()
	r.wg.Wait()
}
