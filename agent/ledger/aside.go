package ledger

import (
	"sync"

	"pi/session/message"
)

// Aside counts what one run uses of models otherwise than for its answers. The zero value
// is ready; all methods may be called from any goroutine.
type Aside struct {
	mu  sync.Mutex     // guards sum
	sum *message.Usage // nil: no run is in progress, and nothing is counted
}

// Begin starts to count, for one run.
func (a *Aside) Begin() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.sum = &message.Usage{}
}

// Add adds used to the count, if a run is in progress.
func (a *Aside) Add(used *message.Usage) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.sum != nil {
		a.sum.Add(used)
	}
}

// End returns what was counted since Begin, nil if there was none, and counts no more.
func (a *Aside) End() *message.Usage {
	a.mu.Lock()
	defer a.mu.Unlock()
	sum := a.sum
	a.sum = nil
	return sum
}
