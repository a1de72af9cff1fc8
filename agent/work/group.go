package work

import (
	"cmp"
	"context"
	"errors"
	"sync"
)

// ErrClosed is returned by a group that was closed.
var ErrClosed = errors.New("nothing begins any more")

// Group is any number of things that go on at the same time. The zero value is empty. All
// methods may be called from any goroutine.
type Group struct {
	mu      sync.Mutex // guards what follows
	members map[*member]bool
	closed  bool
}

type member struct {
	cancel context.CancelFunc
	ended  chan struct{}
}

// Begin adds something that goes on until end is called. Its context is cancelled by Abort.
// The error is ErrClosed.
func (g *Group) Begin(ctx context.Context) (_ context.Context, end func(), err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return nil, nil, ErrClosed
	}
	ctx, cancel := context.WithCancel(ctx)
	m := &member{cancel, make(chan struct{})}
	if g.members == nil {
		g.members = map[*member]bool{}
	}
	g.members[m] = true
	return ctx, func() { g.end(m) }, nil
}

func (g *Group) end(m *member) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.members, m)
	m.cancel()
	close(m.ended)
}

// Abort interrupts all that goes on, and does not wait.
func (g *Group) Abort() {
	for _, m := range g.list() {
		m.cancel()
	}
}

func (g *Group) list() (all []*member) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for m := range g.members {
		all = append(all, m)
	}
	return all
}

// Stop interrupts all that goes on and waits for it. The error is ctx's, if that ends
// before.
func (g *Group) Stop(ctx context.Context) (err error) {
	all := g.list()
	for _, m := range all {
		m.cancel()
	}
	for _, m := range all {
		select {
		case <-m.ended:
		case <-ctx.Done():
			err = cmp.Or(err, ctx.Err())
		}
	}
	return err
}

// Close is Stop for good: nothing begins any more.
func (g *Group) Close(ctx context.Context) error {
	g.mu.Lock()
	g.closed = true
	g.mu.Unlock()
	return g.Stop(ctx)
}
