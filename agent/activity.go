package agent

import (
	"context"
	"sync"
)

// activity is what occupies the agent: one run at a time, or something that must
// not happen during one. All methods may be called from any goroutine.
type activity struct {
	mu     sync.Mutex         // guards all that follows; cancel and idle are set and cleared together
	cancel context.CancelFunc // of the run in progress, nil when idle
	idle   chan struct{}      // closed when the run in progress ends
	late   []func()           // what the run in progress does when it ends
	short  chan struct{}      // closed when what is done between two runs is done; nil: nothing is
}

// begin claims the agent for one run and returns the context of that run, which abort
// cancels. The error is ErrBusy if the agent is claimed already. Who got no error calls
// end when the run is over.
func (a *activity) begin(ctx context.Context) (context.Context, error) {
	a.lock()
	defer a.mu.Unlock()
	if a.cancel != nil {
		return nil, ErrBusy
	}
	ctx, a.cancel = context.WithCancel(ctx)
	a.idle = make(chan struct{})
	return ctx, nil
}

// lock waits until nothing is done between two runs, and locks.
func (a *activity) lock() {
	a.mu.Lock()
	for a.short != nil {
		short := a.short
		a.mu.Unlock()
		<-short
		a.mu.Lock()
	}
}

// afterRun calls f when no run is in progress: at once, with no run beginning meanwhile, or
// when the run in progress ends. f is short and claims nothing. All such functions are called
// one at a time, those that waited in their order.
func (a *activity) afterRun(f func()) {
	a.lock()
	if a.cancel != nil {
		a.late = append(a.late, f)
		a.mu.Unlock()
		return
	}
	a.short = make(chan struct{})
	a.mu.Unlock()
	f()
	a.mu.Lock()
	defer a.mu.Unlock()
	close(a.short)
	a.short = nil
}

// doLate calls what afterRun has kept for the end of the run, which is about to come. Whoever
// has claimed the agent may call it.
func (a *activity) doLate() {
	a.mu.Lock()
	late := a.late
	a.late = nil
	a.mu.Unlock()
	for _, f := range late {
		f()
	}
}

// interrupt claims the agent as begin does. What has claimed it is cancelled and waited
// for; the error is ctx's if that ends before.
func (a *activity) interrupt(ctx context.Context) (context.Context, error) {
	for {
		claimed, err := a.begin(ctx)
		if err == nil {
			return claimed, nil
		}
		a.abort()
		if err := a.waitIdle(ctx); err != nil {
			return nil, err
		}
	}
}

// end frees the agent: it cancels the context that begin returned and wakes everybody in
// waitIdle. It is called once for each begin that succeeded.
func (a *activity) end() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for len(a.late) > 0 {
		a.mu.Unlock()
		a.doLate()
		a.mu.Lock()
	}
	a.cancel()
	close(a.idle)
	a.cancel, a.idle = nil, nil
}

// isIdle reports whether no prompt is running.
func (a *activity) isIdle() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.cancel == nil
}

// waitIdle returns when no prompt is running, or with ctx's error.
func (a *activity) waitIdle(ctx context.Context) error {
	a.mu.Lock()
	idle := a.idle
	a.mu.Unlock()
	if idle == nil {
		return nil
	}
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// abort interrupts the run in progress, if there is one, and does not wait.
func (a *activity) abort() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.cancel != nil {
		a.cancel()
	}
}

// shutdown is the wish that the program ends.
type shutdown struct {
	once      sync.Once
	requested chan struct{} // closed by Shutdown
}

// Shutdown asks the front end to end the program as soon as the prompt that runs is done.
// To end that too, the caller calls [Agent.Abort] as well. Further calls do nothing.
func (s *shutdown) Shutdown() { s.once.Do(func() { close(s.requested) }) }

// ShutdownRequested is closed when somebody asked for the end of the program.
func (s *shutdown) ShutdownRequested() <-chan struct{} { return s.requested }
