package children

import (
	"context"
	"slices"
	"strings"

	"pi/agent"
	"pi/internal/printable"
	"pi/session/message"
)

// doing is what the events of a child say of its work.
type doing struct {
	calls []running // tools that run, in the order in which they began
}

// running is a call of a tool that has not ended.
type running struct{ id, title string }

// longestTitle is how many characters of the title of a call are kept.
const longestTitle = 200

// Wants reports whether Handle uses events of this kind. A child hears of its own agent
// behind the hooks of that.
func (c *Child) Wants(k agent.Kind) bool {
	return k == agent.KindToolExecutionStart || k == agent.KindToolExecutionEnd || k == agent.KindMessageEnd
}

// Handle notes what the child is doing, and tells of it. It never fails.
func (c *Child) Handle(_ context.Context, e agent.Event) error {
	name := c.identity.Name
	switch e := e.(type) {
	case *agent.ToolExecutionStart:
		title := printable.FirstLine(printable.Line(e.Name)+" "+agent.CallTarget(e.Input), longestTitle)
		c.change(func() { c.doing.calls = append(c.doing.calls, running{e.ID, title}) })
		c.progress.Tell(name, title)
	case *agent.ToolExecutionEnd:
		c.change(func() {
			c.doing.calls = slices.DeleteFunc(c.doing.calls, func(r running) bool { return r.id == e.ID })
		})
		if e.Result.IsError {
			c.progress.Tell(name, printable.Line(e.Name)+" failed: "+firstText(e.Result))
		}
	case *agent.MessageEnd:
		if e.Message.Role == message.RoleAssistant {
			c.progress.Tell(name, e.Message.Text())
		}
	}
	return nil
}

// tell hands what the child has told to the listeners of the agent that uses it.
func (c *Child) tell(r agent.Result) {
	c.controls.Tell(context.Background(), &agent.ChildUpdate{Name: c.identity.Name, Text: firstText(r)})
}

// firstText is the first text of a result; "" for none.
func firstText(r agent.Result) string {
	for _, b := range r.Content {
		if text := strings.TrimSpace(b.Text); text != "" {
			return text
		}
	}
	return ""
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
