package luahooks

import (
	"context"
	"sync"
	"sync/atomic"
)

// background has the goroutines of a chain or an instance, such as handlers that finish
// while the agent continues. After it was closed none begins.
type background struct {
	life   context.Context // ends with the chain
	end    context.CancelFunc
	ending chan struct{} // closed when the chain begins to end
	ended  atomic.Bool   // it was closed

	mu     sync.Mutex // guards what follows, and that none is added to wg afterwards
	closed bool
	busy   int             // goroutines
	quiet  []chan struct{} // closed when there are none
	wg     sync.WaitGroup
}

func newBackground() *background {
	b := &background{ending: make(chan struct{})}
	b.life, b.end = context.WithCancel(context.Background())
	return b
}

// announceEnd lets everybody know that the chain ends. It reports whether nobody did
// before.
func (b *background) announceEnd() bool {
	first := !b.ended.Swap(true)
	if first {
		close(b.ending)
	}
	return first
}

// isEnding reports whether the chain has ended or is about to.
func (b *background) isEnding() bool { return b.ended.Load() }

// run starts f on a goroutine of its own; it is false after close.
func (b *background) run(f func()) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.closed {
		b.busy++
	}
	return b.start(func() {
		defer b.noteEnd()
		f()
	})
}

// observe is run for what only looks, however long; wait does not wait for it.
func (b *background) observe(f func()) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.start(f)
}

// start starts a goroutine, unless b is closed. mu is held.
func (b *background) start(f func()) bool {
	if !b.closed {
		b.wg.Go(f)
	}
	return !b.closed
}

// noteEnd counts a goroutine that ends.
func (b *background) noteEnd() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.busy--; b.busy == 0 {
		for _, quiet := range b.quiet {
			close(quiet)
		}
		b.quiet = nil
	}
}

// wait waits until no goroutine runs that does more than look. It is false if ctx ended first.
func (b *background) wait(ctx context.Context) bool {
	b.mu.Lock()
	quiet := make(chan struct{})
	if b.busy == 0 {
		close(quiet)
	} else {
		b.quiet = append(b.quiet, quiet)
	}
	b.mu.Unlock()
	return waitDone(ctx, quiet)
}

// detach returns a context with the values of ctx that does not end with ctx, but with the
// chain.
func (b *background) detach(ctx context.Context) (context.Context, context.CancelFunc) {
	return b.within(context.WithoutCancel(ctx))
}

// within returns a context that ends with ctx or with the chain, whichever is first.
func (b *background) within(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(b.life, cancel)
	return ctx, func() { stop(); cancel() }
}

// stop cancels what runs and does not wait for it; nothing begins any more.
func (b *background) stop() {
	b.mu.Lock()
	b.closed = true
	b.mu.Unlock()
	b.end()
}

// close lets what runs finish until ctx ends, then cancels it and waits.
func (b *background) close(ctx context.Context) {
	b.mu.Lock()
	b.closed = true
	b.mu.Unlock()
	done := make(chan struct{})
	go func() {
		b.wg.Wait()
		close(done)
	}()
	waitDone(ctx, done)
	b.end()
	<-done
}

// waitDone reports whether done is closed before ctx ends.
func waitDone(ctx context.Context, done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
	}
	select {
	case <-done:
		return true
	case <-ctx.Done():
		return false
	}
}
