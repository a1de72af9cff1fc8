package rpc

import "sync"

// state is what the agent does, as a client asks for it. All methods may be called from any
// goroutine.
type state struct {
	mu          sync.Mutex // guards what follows
	streaming   bool
	summing     bool // the branch that a move in the tree leaves is summed up, unless the agent is idle
	pending     int  // texts of the client that wait
	compactions int
	compacted   int  // compactions that have begun, ever
	spoken      bool // the client has sent something
	chosen      bool // the client has chosen a model
}

// with calls f under the lock.
func (s *state) with(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

func (s *state) setStreaming(is bool) { s.with(func() { s.streaming = is }) }
func (s *state) setSumming(is bool)   { s.with(func() { s.summing = is }) }
func (s *state) setPending(n int)     { s.with(func() { s.pending = n }) }
func (s *state) noteSpoken()          { s.with(func() { s.spoken = true }) }
func (s *state) noteChosen()          { s.with(func() { s.chosen = true }) }

// addCompaction counts a compaction that begins or ends. Those that nobody asked for are told
// twice; the second time does not count.
func (s *state) addCompaction(again bool, by int) {
	if again {
		return
	}
	s.with(func() {
		s.compactions += by
		s.compacted += max(by, 0)
	})
}

func (s *state) isStreaming() (is bool)    { s.with(func() { is = s.streaming }); return is }
func (s *state) isCompacting() (is bool)   { s.with(func() { is = s.compactions > 0 }); return is }
func (s *state) isSumming() (is bool)      { s.with(func() { is = s.summing }); return is }
func (s *state) pendingCount() (n int)     { s.with(func() { n = s.pending }); return n }
func (s *state) compactionsSoFar() (n int) { s.with(func() { n = s.compacted }); return n }
func (s *state) hasSpoken() (is bool)      { s.with(func() { is = s.spoken }); return is }
func (s *state) isChosen() (is bool)       { s.with(func() { is = s.chosen }); return is }
