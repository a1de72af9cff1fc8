package agent

import (
	"context"
	"errors"

	"pi/session"
)

// Completion is one model call outside of the conversation.
type Completion struct {
	Model     *Model // nil: the current one
	System    string
	Messages  []session.Item
	Tools     []ToolSpec
	APIKey    string // instead of the model's own
	MaxTokens int    // 0: the model's own limit
	Thinking  string // "": off
	By        string // who asks; noted in the usage entry
}

// Complete asks a model outside of the conversation and returns its answer. What
// it used is recorded in the session as a usage entry.
func (a *Agent) Complete(_ context.Context, _ Completion) (*session.Message, error) {
	return nil, errors.New("complete: not built")
}
