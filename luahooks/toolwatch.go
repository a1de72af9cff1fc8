package luahooks

import (
	"context"
	"sync"

	"pi/agent"
)

// toolWatch is the listener that opens and closes the window of edits.
type toolWatch struct {
	edits  *edits
	open   func(ctx context.Context) // opens the window; it waits for a reload that is under way
	isIdle func() bool               // no prompt runs

	mu      sync.Mutex // guards running
	running int        // tools that run now
}

// Wants reports whether k begins or ends a step of the window.
func (*toolWatch) Wants(k agent.Kind) bool {
	switch k {
	case agent.KindToolExecutionStart, agent.KindToolExecutionEnd, agent.KindTurnEnd, agent.KindAgentSettled:
		return true
	}
	return false
}

// Handle never fails: a change that cannot be marked is told, and still waits for approval.
func (t *toolWatch) Handle(ctx context.Context, e agent.Event) error {
	switch e.(type) {
	case *agent.ToolExecutionStart:
		t.count(1)
		t.open(ctx)
	case *agent.ToolExecutionEnd:
		if t.count(-1) == 0 && t.isIdle() {
			t.edits.endRun(ctx)
		}
	case *agent.TurnEnd: // until the next tool, what is saved is the user's
		t.edits.close(ctx)
	case *agent.AgentSettled:
		t.edits.endRun(ctx)
	}
	return nil
}

// count adds n to the tools that run and returns how many there are.
func (t *toolWatch) count(n int) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.running += n
	return t.running
}
