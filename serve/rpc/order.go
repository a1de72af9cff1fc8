package rpc

import (
	"context"
	"sync"
)

// way says how a command is ordered among the others.
type way int

const (
	// read: it only reads. Reads are answered in their order and wait for nothing else.
	read way = iota
	// concurrent: it waits for nothing, and nothing waits for it.
	concurrent
	// ordered: it begins when the changes before it have begun.
	ordered
	// exclusive: it begins likewise, and the changes behind it begin when it is done.
	exclusive
)

// work does what a command asks for, and returns the data of its answer, if any, or why it was
// not done. It calls begun when what comes behind it may begin, unless it returns soon anyway;
// further calls do nothing.
type work func(ctx context.Context, begun func()) (data any, err error)

// itself is the data of a command that has answered itself.
type itself struct{}

const (
	mostReads   = 1000   // that wait to be answered, before no more is read
	mostChanges = 10_000 // that wait to begin, before more are refused
)

// change is a command that waits for its turn.
type change struct {
	way way
	do  func(begun func())
}

// begin has a command worked on as its way says.
func (s *Server) begin(w way, r *request, asked work) {
	do := func(begun func()) {
		data, err := asked(s.work, begun)
		switch _, isAnswered := data.(itself); {
		case isAnswered:
		case err != nil:
			s.refuse(r, errorText(err))
		default:
			s.succeed(r, data)
		}
	}
	switch w {
	case read:
		s.addRead(func() { do(func() {}) })
	case concurrent:
		s.afterStart(func() { do(func() {}) })
	default:
		select {
		case s.changes <- change{w, do}:
		default:
			s.addRead(func() { s.refuse(r, "too many commands wait") })
		}
	}
}

// addRead has something answered behind the reads before it. It waits if too many wait, so
// that a client which reads nothing is not read from for ever.
func (s *Server) addRead(do func()) {
	select {
	case s.reads <- do:
	case <-s.ending:
	}
}

// runReads answers the reads, one after the other.
func (s *Server) runReads() {
	for {
		select {
		case do := <-s.reads:
			do()
		case <-s.ending:
			return
		}
	}
}

// runChanges begins the changes, one after the other.
func (s *Server) runChanges() {
	for {
		select {
		case c := <-s.changes:
			s.start(c)
		case <-s.ending:
			return
		}
	}
}

// start begins a change and waits until what comes behind it may begin: for an exclusive one until
// it is done; else until it says so, or asks the user something.
func (s *Server) start(c change) {
	done, begun := make(chan struct{}), make(chan struct{})
	asked, free := s.user.dialogs.nextOpen(), sync.OnceFunc(func() { close(begun) })
	if c.way == exclusive {
		asked, free = nil, func() {}
		s.note(func(f *facts) { f.exclusive = done })
		defer s.note(func(f *facts) { f.exclusive = nil })
	}
	s.tasks.Go(func() {
		defer close(done)
		c.do(free)
	})
	select {
	case <-done:
	case <-begun:
	case <-asked:
	case <-s.ending:
	}
}

// waitBegun waits until all changes that wait have begun, and an exclusive one is done, or until ctx
// is done.
func (s *Server) waitBegun(ctx context.Context) {
	all := make(chan struct{})
	select {
	case s.changes <- change{exclusive, func(func()) { close(all) }}:
		waitClosed(ctx, all)
	default:
	}
}

// waitClosed waits until c is closed, or until ctx is done.
func waitClosed(ctx context.Context, c <-chan struct{}) {
	select {
	case <-c:
	case <-ctx.Done():
	}
}
