package api

import (
	"context"
	"encoding/json"
	"time"

	"pi/agent"
	"pi/session/message"
)

// Agents are the agents that hooks of a session can use, each a run of its own in this process:
// see `pi.agent`.
type Agents interface {
	// Start begins a child, or puts it into the queue. The error says why it cannot be, for
	// the author of the hook. It ends with ctx, which is that of the call or of the VM, and
	// otherwise by itself. What ctx says of the call that asks ([agent.CallID], [agent.InTool],
	// [IsOfTool]) is true of Start, and not of what the child does.
	Start(ctx context.Context, r AgentRequest) (Child, error)
}

// AgentRequest is what a hook asks an agent for.
type AgentRequest struct {
	Hook HookInfo // that asks
	// Origin is what the prompt counts as. A message for [Child.Steer] has its own in the context.
	Origin agent.Origin

	Prompt       string
	Agent        string // the name of its definition; "" for none
	Name         string // "": that of the definition, else "agent"
	SystemPrompt string // "": that of the definition, else the program's
	Model        string // as --model has it; "": that of the definition, else the parent's
	Thinking     string // likewise
	Tools        []string
	HasTools     bool   // Tools counts, be it empty
	Cwd          string // absolute; "": the parent's
	Schema       json.RawMessage
	FromParent   bool          // context = "parent"
	Keep         bool          // session = "keep"
	MaxTurns     int           // 0: no limit of its own
	MaxCost      float64       // likewise
	Timeout      time.Duration // likewise

	// OnEvent is told of the events of the child, in order; the child waits until it returns.
	// nil: nobody is. It may be called from any goroutine.
	OnEvent func(ctx context.Context, e agent.Event)
}

// Child is an agent that works for a hook. All methods may be called from any goroutine.
type Child interface {
	// Name is unique among the children of the tree that work.
	Name() string
	// Ended is closed once it has ended.
	Ended() <-chan struct{}
	// Wait returns what came of it once it has ended, or the error of ctx. Meanwhile what belongs
	// to ctx waits and does nothing else: who works on until the end looks at Ended.
	Wait(ctx context.Context) (AgentResult, error)
	// Steer gives it a message before its next request; the error says that it has ended.
	Steer(ctx context.Context, text string) error
	// Abort ends it, and does not wait.
	Abort()
}

// AgentResult is what came of a child.
type AgentResult struct {
	Text        string            // its last words
	Value       json.RawMessage   // the answer of the schema that was asked for; nil: there is none
	Messages    []message.Message // of its session, in their order
	Usage       message.Usage     // of it and its own children
	StopReason  string            // completed, aborted, error, limit or timeout
	Error       string            // why, where it did not complete
	SessionFile string            // "": it was not kept
}
