package replay

import (
	"sync"

	"pi/agent"
)

// mostLate is how often a hook is stopped for its time at events of a kind before it is asked
// about them no more: otherwise a replay with an endless loop in it takes hours.
const mostLate = 3

// patience counts how often a hook was stopped for its time, over all sessions that are played.
type patience struct {
	mu   sync.Mutex // guards late
	late map[agent.Kind]int
}

// add notes that the hook was stopped for its time at an event.
func (p *patience) add(k agent.Kind) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.late == nil {
		p.late = map[agent.Kind]int{}
	}
	p.late[k]++
}

// isOver reports whether the hook is asked about events of a kind no more.
func (p *patience) isOver(k agent.Kind) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.late[k] >= mostLate
}
