package mcp

import (
	"context"
	"slices"
)

// Servers that an editor hands over have no word of how their tools are offered: they are tools like
// others while there are few of them. How many there are is known only once the servers have
// answered, so that is found out at the first prompt, and stays for the session: what the model is
// given stands at the beginning of each request.

// Begin begins to start the servers that wanted picks and of which nothing is known, and waits for
// none of them. What becomes of them is told as of any start.
func (s *Servers) Begin(wanted func(e *Entry) bool) {
	for _, one := range s.servers() {
		if !one.isOffered() || !wanted(one.as()) || one.definitions() != nil {
			continue
		}
		one.mu.Lock()
		if one.conn == nil && one.starting == nil {
			_ = one.begin() // the session has ended
		}
		one.mu.Unlock()
	}
}

// hasFailed reports whether the last start failed, which was told.
func (s *server) hasFailed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state == StateFailed || s.state == StateSignIn
}

// AwaitDirect starts the servers whose tools are or may be direct and of which nothing is known, and
// waits for them as [Servers.Await] does; for one whose start failed before, it does not. Then it
// is settled which of those are direct that are if there are few tools, unless ctx has ended.
// There was nothing to wait for or to settle if waited is false.
func (s *Servers) AwaitDirect(ctx context.Context) (silent []Silent, waited bool) {
	isWanted := func(one *server) bool {
		return one.as().mayBe(Direct) && !one.hasFailed()
	}
	for _, one := range s.servers() {
		waited = waited || one.isOffered() && (one.isOpen() || isWanted(one) && one.definitions() == nil)
	}
	if !waited {
		return nil, false
	}
	silent = s.await(ctx, isWanted)
	if ctx.Err() == nil {
		s.settle(s.servers()...)
	}
	return silent, true
}

// settle decides how those of some servers are offered of which that is open. One of which nothing
// is known is found by search, if it comes.
func (s *Servers) settle(of ...*server) {
	total := 0
	for _, one := range s.servers() {
		if one.entry.Exposure == DirectIfFew && one.isOffered() {
			if defs := one.definitions(); defs != nil {
				total += len(defs.Tools)
			}
		}
	}
	for _, one := range of {
		switch {
		case !one.isOpen():
		case total <= few && one.definitions() != nil:
			one.settle(Direct)
		default:
			one.settle(Search)
		}
	}
}

// settle makes an exposure that of a server.
func (s *server) settle(x Exposure) {
	as := *s.entry
	as.Exposure = x
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settled.Store(&as)
	s.direct = nil
	if s.defs != nil { // which others may be reading
		defs := *s.defs
		defs.Tools, defs.Resources, defs.Prompts = slices.Clone(defs.Tools), slices.Clone(defs.Resources), slices.Clone(defs.Prompts)
		s.adopt(&defs)
		s.defs = &defs
	}
}
