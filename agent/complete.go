package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"pi/agent/llm"
	"pi/session"
	"pi/session/message"
)

// Completion is one model call outside of the conversation.
type Completion struct {
	Model     *llm.Model // nil: the current one
	System    string
	Messages  []session.Item
	Tools     []llm.ToolSpec // the model may call them; nobody runs them
	APIKey    string         // instead of the model's own
	MaxTokens int            // 0: the model's own limit
	Thinking  string         // "": off
	By        string         // who asks; noted in the usage entry
}

// Complete asks a model outside of the conversation and returns its answer. What
// it used is recorded in the session as a usage entry of the kind "hook", also of
// an answer that failed on the way. A call that failed for a passing reason is made
// again, as in a conversation.
//
// The provider events come, for the request goes over the same wire, except for
// what listeners to these events ask themselves. Message and context events do
// not. The error is ErrAborted once ctx has ended, a *[llm.ProviderError], a
// *[LimitError], or says that there is nothing to ask.
func (a *Agent) Complete(ctx context.Context, c Completion) (*message.Message, error) {
	model := c.Model
	if model == nil {
		model = a.Model()
	}
	messages := a.Session().ForModel(c.Messages)
	if len(messages) == 0 {
		return nil, errors.New("complete: no messages")
	}
	r := &llm.Request{Model: model, System: c.System, Messages: messages, Tools: c.Tools, APIKey: c.APIKey,
		Thinking: cmp.Or(c.Thinking, "off"), MaxTokens: cmp.Or(c.MaxTokens, model.MaxTokens)}
	if !llm.ValidThinking(r.Thinking) {
		return nil, fmt.Errorf("complete: unknown thinking level %q", r.Thinking)
	}
	var answer llm.Assembly
	err := a.askAside(ctx, r, &answer)
	m := a.assembled(model, &answer)
	noted := a.recordUsage(session.UsageEntry{Kind: "hook", Provider: model.Provider, Model: model.ID, Usage: m.Usage, Note: c.By})
	if noted != nil {
		a.Notify(context.WithoutCancel(ctx), LevelWarning, noted.Error())
	}
	switch {
	case ctx.Err() != nil:
		return nil, ErrAborted
	case err != nil:
		return nil, err
	}
	if m.StopReason = answer.Stop().Reason; m.StopReason == llm.StopPause {
		m.StopReason = message.StopEnd
	}
	return m, nil
}
