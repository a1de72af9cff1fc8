package agent

import "pi/session/message"

// Identity says which agent of a tree this is. The agent of the user's own session has none.
type Identity struct {
	Name   string // its definition's, or that which the hook gave it
	Depth  int    // 1 for one that the user's own agent uses
	Parent string // the name of the agent that uses it; "" for the user's own
}

// ChildStart tells the listeners of an agent that a hook of its session has one of its own begin to
// work.
type ChildStart struct {
	Name   string
	Depth  int
	Prompt string
}

// ChildEnd tells them what came of it.
type ChildEnd struct {
	Name       string
	StopReason string // completed, aborted, error, limit or timeout
	Usage      message.Usage
	Text       string // its last words
}

func (*ChildStart) Kind() Kind { return KindChildStart }
func (*ChildEnd) Kind() Kind   { return KindChildEnd }
