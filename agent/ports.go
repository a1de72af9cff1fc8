package agent

import (
	"context"
	"encoding/json"

	"pi/agent/llm"
	"pi/session/message"
)

// Tool is something a model can do. Its description is immutable. Run gets
// arguments that passed the schema; an error is told to the model as it reads.
// Run honours ctx and may be called concurrently.
type Tool interface {
	Spec() llm.ToolSpec
	Run(ctx context.Context, input json.RawMessage, update Update) (Result, error)
}

// Preparer is a Tool that changes its arguments before they are checked. Prepare gets
// them as the model sent them and returns those that are checked against the
// schema, shown to the gate and run. An error is told to the model as it reads.
type Preparer interface {
	Prepare(ctx context.Context, input json.RawMessage) (json.RawMessage, error)
}

// Update reports progress of a running tool. It never blocks and may be nil.
type Update func(Result)

// Result is what a tool run gives back. It is what the model sees, and Details
// are for people and hooks.
type Result struct {
	Content   []message.Block
	Details   json.RawMessage
	IsError   bool
	Usage     *message.Usage
	Terminate bool // end the run if all calls of the batch say so
}

// TextResult is a Result of one text block.
func TextResult(s string) Result { return Result{Content: []message.Block{message.TextBlock(s)}} }

// Listener is told of everything the agent does; it is the only way out of the loop.
//
// Wants is asked before an event is built, so an event nobody wants costs
// nothing. Handle is called on the agent's goroutine (tool_execution_update
// comes from the tool's) and may change the result fields of the event. Its
// error is reported to the other listeners, except for events that are gates
// (tool_call, user_bash): there it blocks.
type Listener interface {
	Wants(Kind) bool
	Handle(ctx context.Context, e Event) error
}

// Level grades a notice.
type Level string

const (
	LevelInfo    Level = "info"
	LevelWarning Level = "warning"
	LevelError   Level = "error"
)
