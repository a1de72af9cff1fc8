package rpc

import (
	"context"
	"slices"
	"sync"

	"pi/session"
)

// state is what the commands and the events know of each other, under one lock. All methods
// may be called from any goroutine.
type state struct {
	mu      sync.Mutex // guards what follows
	facts   facts
	inHand  int           // commands that were read and not answered
	none    chan struct{} // closed when inHand falls to 0; nil: nobody waits for that
	entries []*entry
	holder  *entry        // who has the agent, of the prompts; nil: nobody
	freed   chan struct{} // closed when the holder gives the agent back
}

// facts are what the client may ask for, or what commands go by.
type facts struct {
	streaming   bool
	summing     bool // the branch that a move in the tree leaves is summed up, unless the agent is idle
	pending     int  // texts of the client that wait
	compactions int
	compacted   int             // compactions that have begun, ever
	compacting  int             // commands to compact that have begun and are not done
	spoken      bool            // the client has sent something
	chosen      bool            // the client has chosen a model
	attempts    int             // of a call that fails, before they were turned off
	exclusive   <-chan struct{} // closed when the exclusive command that is worked on is done; nil: none is
}

// note changes the facts. No other change comes between.
func (s *state) note(change func(*facts)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.facts)
}

// now returns the facts.
func (s *state) now() facts {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.facts
}

// countInHand counts a command that is read (1) or answered (-1).
func (s *state) countInHand(by int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.inHand += by; s.inHand == 0 && s.none != nil {
		close(s.none)
		s.none = nil
	}
}

// allAnswered returns a channel that is closed when all commands are answered.
func (s *state) allAnswered() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.none != nil {
		return s.none
	}
	answered := make(chan struct{})
	if s.inHand == 0 {
		close(answered)
	} else {
		s.none = answered
	}
	return answered
}

// entry is a command that can be interrupted, from when it was read: a prompt, a compaction,
// or a command of the shell. A prompt has the agent from the beginning of its checks to the end
// of its run, as its holder.
type entry struct {
	isShell bool
	ctx     context.Context
	stop    context.CancelFunc
	free    chan struct{} // closed when nobody has to wait for it any more

	// Of a holder, under the lock of the state.
	about    *session.Session // that was the current one
	accepted bool             // its run works
	settled  bool             // its run has told that it is over
}

// open adds a command.
func (s *state) open(ctx context.Context, isShell bool) *entry {
	e := &entry{isShell: isShell, free: make(chan struct{})}
	e.ctx, e.stop = context.WithCancel(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.entries = append(s.entries, e)
	return e
}

// close removes a command that is done, or that an interrupt does not concern.
func (s *state) close(e *entry) {
	e.stop()
	s.release(e)
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(s.entries, e); i >= 0 {
		s.entries = slices.Delete(s.entries, i, i+1)
		close(e.free)
	}
}

// opened returns the commands of one kind that are there now.
func (s *state) opened(isShell bool) (all []*entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.entries {
		if e.isShell == isShell {
			all = append(all, e)
		}
	}
	return all
}

// interrupt stops commands, which it returns.
func interrupt(all []*entry) []*entry {
	for _, e := range all {
		e.stop()
	}
	return all
}

// waitFree waits until nobody has to wait for any of the commands, or until ctx is done.
func waitFree(ctx context.Context, all ...*entry) {
	for _, e := range all {
		waitClosed(ctx, e.free)
	}
}

// take has e hold the agent for a prompt in a session, and reports false if another prompt
// does. A run that has told its end is waited for, until e is interrupted: a client may send the
// next prompt as soon as it has read that. So is a prompt that was interrupted before its run: what
// is sent right behind an abort has nothing to do with it.
func (s *state) take(e *entry, about *session.Session) bool {
	for {
		s.mu.Lock()
		e.about, e.accepted, e.settled = about, false, false
		has := s.holder
		if has == nil {
			s.holder, s.freed = e, make(chan struct{})
		}
		ends, freed := has != nil && (has.settled || !has.accepted && has.ctx.Err() != nil), s.freed
		s.mu.Unlock()
		if !ends {
			return has == nil
		}
		if waitClosed(e.ctx, freed); e.ctx.Err() != nil {
			return false
		}
	}
}

// release gives the agent back, if e holds it.
func (s *state) release(e *entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.holder == e {
		s.holder, s.facts.streaming = nil, false
		close(s.freed)
	}
}

// waitReleased waits until the prompt that has the agent gives it back, if there is one and it is
// of this session (nil is any), or until ctx is done.
func (s *state) waitReleased(ctx context.Context, of *session.Session) {
	s.mu.Lock()
	waits, freed := s.holder != nil && (of == nil || s.holder.about == of), s.freed
	s.mu.Unlock()
	if waits {
		waitClosed(ctx, freed)
	}
}

// noteAccepted notes that a run works on the prompt that has the agent.
func (s *state) noteAccepted() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.facts.streaming = true
	if s.holder != nil {
		s.holder.accepted = true
	}
}

// noteSettled notes that the run tells its end.
func (s *state) noteSettled() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.facts.streaming = false
	if s.holder != nil {
		s.holder.settled = s.holder.accepted
	}
}
