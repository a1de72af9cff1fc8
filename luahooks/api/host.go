package api

import (
	"context"
	"encoding/json"

	"pi/agent"
	"pi/agent/llm"
	"pi/session"
	"pi/session/message"
)

// Host is what hooks may ask of the program; *agent.Agent is one.
type Host interface {
	// What there is.
	Session() *session.Session
	Context(ctx context.Context) []session.Item // runs the context chain
	Seen() []session.Item
	Model() *llm.Model
	Models() *llm.Models
	Thinking() string
	Modes() *agent.Modes
	Tools() []agent.Tool // the active ones
	SystemPrompt() string
	Totals() agent.Totals
	IsIdle() bool
	Pending() int

	// What hooks do.
	Notify(ctx context.Context, level agent.Level, text string)
	HookFailed(ctx context.Context, f *agent.HookFailed, text string)
	Submit(ctx context.Context, p agent.Prompt) error
	SendCustom(ctx context.Context, p agent.Prompt, d agent.Delivery, trigger bool) error
	ResetBrake(o agent.Origin)
	SendUser(ctx context.Context, p agent.Prompt, d agent.Delivery) error
	EditContext(ctx context.Context, id string, r *session.Replacement) (string, error)
	SetSessionName(ctx context.Context, name string) error
	SetLabel(ctx context.Context, id, label string) error
	SetTools(tools []agent.Tool, by string)
	CallTool(ctx context.Context, name string, input json.RawMessage) agent.Result
	Complete(ctx context.Context, c agent.Completion) (*message.Message, error)
	RequestCompact(o agent.CompactOptions, done func(*agent.Compacted, error))
	Abort()
	Shutdown()

	// What only commands do; it waits for the end of a run.
	Select(ctx context.Context, model *llm.Model, level, source string) error
	Replace(was, now *llm.Model)
	SetThinking(ctx context.Context, level string) error
	WaitIdle(ctx context.Context) error
	NewSession(ctx context.Context, o agent.NewSessionOptions) error
	SwitchSession(ctx context.Context, path string) error
	Branch(ctx context.Context, id string) (agent.Recalled, error)
	Navigate(ctx context.Context, id string, o agent.NavigateOptions) (agent.Moved, error)
}
