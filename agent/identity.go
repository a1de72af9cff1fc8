package agent

import (
	"context"

	"pi/session/message"
)

// Identity says which agent of a tree this is. The agent of the user's own session has none.
type Identity struct {
	Name   string // its definition's, or that which the hook gave it
	Depth  int    // 1 for one that the user's own agent uses
	Parent string // the name of the agent that uses it; "" for the user's own
}

// ChildOptions are what an agent needs that another one uses.
type ChildOptions struct {
	Identity
	// Parent is the agent that uses it. What the child uses is counted in the parent's session
	// too, and it may cost what that has left. What hooks add in it counts in the parent's
	// MaxContinuations, and nothing in it begins that count anew.
	Parent *Agent
	// Turn is called before each request to a model and waits until the child may make one. The
	// error is that of ctx. answered is called at the end of the request. nil: it always may.
	Turn func(ctx context.Context) (answered func(), err error)
}

// parent is the agent that uses this one; nil for the agent of the user's own session.
func (o *ChildOptions) parent() *Agent {
	if o == nil {
		return nil
	}
	return o.Parent
}

// ChildStart tells the listeners of an agent that a hook of its session has one of its own begin to
// work.
type ChildStart struct {
	Name   string
	Depth  int
	Prompt string
	Call   string // for front ends: the tool call that the child works for, and whose progress it tells; "": none
}

// ChildEnd tells them what came of it.
type ChildEnd struct {
	Name       string
	StopReason string // completed, aborted, error, limit or timeout
	Usage      message.Usage
	Text       string // its last words
	Error      string // for front ends: why it did not complete
	Call       string // likewise: see [ChildStart]
}

func (*ChildStart) Kind() Kind { return KindChildStart }
func (*ChildEnd) Kind() Kind   { return KindChildEnd }
