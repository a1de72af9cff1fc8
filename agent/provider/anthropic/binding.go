package anthropic

import (
	"math"
	"slices"

	"pi/agent/llm"
	"pi/session/message"
)

// Claude binds the signature of a thought to everything that stands before it: system
// prompt, tools and messages. A thought before which anything has changed, by a
// compaction, another mode or a hook, is refused with the whole request, unless the
// request says that it shall be left out.

const (
	dropBlock   = "drop_block"
	bindingBeta = "thinking-binding-controls-2026-08-01"
)

// blockBinding says what becomes of a thought that does not fit what stands before it.
type blockBinding struct {
	Mismatch string `json:"prefix_mismatch_behavior"`
}

// bind has the server leave out the thoughts that do not fit any more, where it knows of
// that: with adaptive thinking and with a budget. Other ways to ask for thinking, or for
// none, have no such field. A model that is not said to think does so all the same, unless
// it is told not to, and what it is asked for then is what it does anyway.
func (c *compat) bind(q *request) {
	if c.binding == "" {
		return
	}
	if q.Thinking == nil {
		q.Thinking = &thinking{Type: "adaptive", Display: c.display}
	}
	if kind := q.Thinking.Type; kind == "adaptive" || kind == "enabled" {
		q.Thinking.Binding = &blockBinding{c.binding}
	}
}

// noThoughts is a place behind all messages, see thoughtsFrom.
const noThoughts = math.MaxInt

// thoughtsFrom is the first message of a conversation whose thoughts go along with a request.
// Where it cannot say what becomes of thoughts that do not fit, none does; but where thoughts
// are what the model says between its calls, those of the turn in progress do.
func (c *compat) thoughtsFrom(r *llm.Request) int {
	if c.binding == "" || !r.Model.Reasoning || !c.adaptive || wantsThinking(r) {
		return 0
	}
	switch c.thinkingOff {
	case "disabled":
		return noThoughts
	case betweenTools:
		return lastPrompt(r.Messages)
	}
	return 0
}

// lastPrompt is where the turn in progress begins.
func lastPrompt(messages []*message.Message) int {
	for i, m := range slices.Backward(messages) {
		if m.Role == message.RoleUser {
			return i
		}
	}
	return 0
}
