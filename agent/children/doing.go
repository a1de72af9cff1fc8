package children

import (
	"context"
	"slices"
	"strings"

	"pi/agent"
	"pi/internal/printable"
)

// doing is what the events of a child say of its work.
type doing struct {
	calls []running // tools that run, in the order in which they began
}

// running is a call of a tool that has not ended.
type running struct{ id, title string }

// longestTitle is how many characters of the title of a call are kept.
const longestTitle = 200

// Wants reports whether Handle uses events of this kind. A child listens to its own agent, as
// the last listener.
func (c *Child) Wants(k agent.Kind) bool {
	return k == agent.KindToolExecutionStart || k == agent.KindToolExecutionEnd
}

// Handle notes what the child is doing. It never fails.
func (c *Child) Handle(_ context.Context, e agent.Event) error {
	c.family.mu.Lock()
	defer c.family.mu.Unlock()
	switch e := e.(type) {
	case *agent.ToolExecutionStart:
		title := printable.FirstLine(strings.TrimSpace(printable.Line(e.Name)+" "+agent.CallTarget(e.Input)), longestTitle)
		c.doing.calls = append(c.doing.calls, running{e.ID, title})
	case *agent.ToolExecutionEnd:
		c.doing.calls = slices.DeleteFunc(c.doing.calls, func(r running) bool { return r.id == e.ID })
	}
	return nil
}

// nowDoing is [State.Doing]; the caller has the lock. Of several tools it is the newest one.
func (c *Child) nowDoing() string {
	switch waits, calls := len(c.waitsFor), len(c.doing.calls); {
	case c.place != nil || !c.hasSlot && waits == 0:
		return "waits for a slot"
	case waits > 0:
		return "waits for " + c.waitsFor[waits-1].identity.Name
	case calls > 0:
		return c.doing.calls[calls-1].title
	}
	return "thinking"
}
