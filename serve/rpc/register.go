package rpc

import (
	"context"
	"sync"
)

// register has the commands that can be interrupted. The zero value is ready; all methods
// may be called from any goroutine.
type register struct {
	mu  sync.Mutex
	all map[*entry]struct{}
}

// entry is a command that can be interrupted, from when it was read.
type entry struct {
	ctx  context.Context
	stop context.CancelFunc
	free chan struct{} // closed when nobody has to wait for it any more
	once sync.Once
}

// open adds a command.
func (g *register) open(ctx context.Context) *entry {
	e := &entry{free: make(chan struct{})}
	e.ctx, e.stop = context.WithCancel(ctx)
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.all == nil {
		g.all = map[*entry]struct{}{}
	}
	g.all[e] = struct{}{}
	return e
}

// close removes a command that is done, or that an interrupt does not concern.
func (g *register) close(e *entry) {
	g.mu.Lock()
	delete(g.all, e)
	g.mu.Unlock()
	e.stop()
	e.once.Do(func() { close(e.free) })
}

// interrupt stops all commands that are there now and returns them.
func (g *register) interrupt() []*entry {
	all := g.list()
	for _, e := range all {
		e.stop()
	}
	return all
}

// list returns the commands that are there now.
func (g *register) list() []*entry {
	g.mu.Lock()
	defer g.mu.Unlock()
	var all []*entry
	for e := range g.all {
		all = append(all, e)
	}
	return all
}

// waitFree waits until nobody has to wait for any of the commands, or until ctx is done.
func waitFree(ctx context.Context, all []*entry) {
	for _, e := range all {
		select {
		case <-e.free:
		case <-ctx.Done():
			return
		}
	}
}

// inHand counts commands that were read and not answered. The zero value is ready.
type inHand struct {
	mu    sync.Mutex
	count int
	none  chan struct{} // closed when count falls to 0; nil: nobody waits
}

func (h *inHand) add() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.count++
}

func (h *inHand) done() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.count--; h.count == 0 && h.none != nil {
		close(h.none)
		h.none = nil
	}
}

// empty returns a channel that is closed when all commands are answered.
func (h *inHand) empty() <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.count == 0 {
		closed := make(chan struct{})
		close(closed)
		return closed
	}
	if h.none == nil {
		h.none = make(chan struct{})
	}
	return h.none
}
