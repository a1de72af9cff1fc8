package rpc

import (
	"context"
	"sync"
)

// way says how a command is ordered among the others.
type way int

const (
	// atOnce: it only reads. Reads are answered in their order and wait for nothing else.
	atOnce way = iota
	// aside: it waits for nothing, and nothing waits for it.
	aside
	// inOrder: it begins when the changes before it have begun.
	inOrder
	// barrier: it begins likewise, and the changes behind it begin when it is done.
	barrier
)

// work does what a command asks for and answers it. It calls begun when what comes behind it
// may begin, unless it returns soon anyway; further calls do nothing.
type work func(ctx context.Context, begun func())

const (
	mostReads   = 1000   // that wait to be answered, before no more is read
	mostChanges = 10_000 // that wait to begin, before more are refused
)

// order is what waits to be worked on. All methods may be called from any goroutine.
type order struct {
	dialogs *dialogs
	reads   chan func()
	more    chan struct{} // signalled when a change was added
	ending  chan struct{} // closed when nothing more is begun

	mu       sync.Mutex // guards what follows
	waiting  []change
	changing chan struct{} // closed when the barrier that is worked on is done; nil: none is
}

// change is a command that waits for its turn.
type change struct {
	way way
	do  work
}

func newOrder(d *dialogs, ending chan struct{}) *order {
	return &order{dialogs: d, reads: make(chan func(), mostReads), more: make(chan struct{}, 1), ending: ending}
}

// addRead has something answered behind the reads before it. It waits if too many wait, so
// that a client which reads nothing is not read from for ever.
func (o *order) addRead(do func()) {
	select {
	case o.reads <- do:
	case <-o.ending:
	}
}

// addChange has something begun behind the changes before it. It reports false, and changes
// nothing, if too many wait.
func (o *order) addChange(c change) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.waiting) >= mostChanges {
		return false
	}
	o.waiting = append(o.waiting, c)
	select {
	case o.more <- struct{}{}:
	default:
	}
	return true
}

// runReads answers the reads, one after the other.
func (o *order) runReads() {
	for {
		select {
		case do := <-o.reads:
			do()
		case <-o.ending:
			return
		}
	}
}

// runChanges begins the changes, one after the other, and waits for them in the end.
func (o *order) runChanges(ctx context.Context) {
	var begun sync.WaitGroup
	defer begun.Wait()
	for {
		for c, ok := o.take(); ok; c, ok = o.take() {
			o.start(ctx, c, &begun)
		}
		select {
		case <-o.more:
		case <-o.ending:
			return
		}
	}
}

// waitBegun waits until all changes that wait have begun, and a barrier is done, or until ctx
// is done.
func (o *order) waitBegun(ctx context.Context) {
	all := make(chan struct{})
	if !o.addChange(change{barrier, func(context.Context, func()) { close(all) }}) {
		return
	}
	select {
	case <-all:
	case <-ctx.Done():
	}
}

// take removes the first change that waits.
func (o *order) take() (c change, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.waiting) == 0 {
		return c, false
	}
	c = o.waiting[0]
	o.waiting[0] = change{}
	o.waiting = o.waiting[1:]
	return c, true
}

// start begins a change and waits until what comes behind it may begin: for a barrier until
// it is done; else until it says so, or asks the person something.
func (o *order) start(ctx context.Context, c change, all *sync.WaitGroup) {
	done, begun := make(chan struct{}), make(chan struct{})
	var asked <-chan struct{}
	if c.way != barrier {
		asked = o.dialogs.nextOpen()
	}
	free := sync.OnceFunc(func() { close(begun) })
	if c.way == barrier {
		free = func() {}
		o.noteBarrier(done)
		defer o.noteBarrier(nil)
	}
	all.Go(func() {
		defer close(done)
		c.do(ctx, free)
	})
	select {
	case <-done:
	case <-begun:
	case <-asked:
	case <-o.ending:
	}
}

// noteBarrier notes which barrier is worked on: its end, or nil.
func (o *order) noteBarrier(done chan struct{}) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.changing = done
}

// barrier returns what is closed when the barrier that is worked on is done; nil if none is.
func (o *order) barrier() <-chan struct{} {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.changing
}

// begin has a command worked on as its way says.
func (s *parts) begin(w way, r *request, do work) {
	switch w {
	case atOnce:
		s.order.addRead(func() { do(s.work, func() {}) })
	case aside:
		s.tasks.Go(func() {
			if s.isStarted() {
				do(s.work, func() {})
			}
		})
	default:
		if !s.order.addChange(change{w, do}) {
			s.order.addRead(func() { s.out.refuse(r, "too many commands wait") })
		}
	}
}
