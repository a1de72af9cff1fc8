package provider

import (
	"net/http"
	"slices"
	"strings"

	"pi/agent/llm"
	"pi/session/message"
)

// refusesThoughts recognises an error about the thoughts of earlier answers: they are not
// those of this conversation, or not as they came. Without them the request can be made.
// The words are so much its own that the status, which gateways make up, does not matter.
func refusesThoughts(e *llm.ProviderError) bool {
	said := strings.ReplaceAll(strings.ToLower(e.Message), "`", "")
	return hasAny(said, []string{
		"invalid signature in thinking block", "invalid data in redacted_thinking block",
		"the block is bound to a different conversation",
		"thinking or redacted_thinking blocks in the latest assistant message cannot be modified",
	})
}

// refusesLevel recognises an error about how much the model is asked to think: not at all
// (off), or at a level for which the model takes no word. Without it the request can be made.
// Whether a model can be told not to think was not known, so any word about that counts.
func refusesLevel(e *llm.ProviderError, off bool) bool {
	said := strings.ToLower(e.Message)
	switch {
	case e.Status != http.StatusBadRequest && e.Status != http.StatusUnprocessableEntity || e.Unfit || e.Overflow:
		return false
	case strings.Contains(said, "does not support thinking"), strings.Contains(said, "think value") && strings.Contains(said, "not supported"):
		return true
	}
	return off && hasAny(said, []string{"thinking", "reasoning", "effort", "'none'", `"none"`})
}

// withoutRefused returns r without the thoughts that a server has refused, and without
// answers that were nothing else.
func withoutRefused(r *llm.Request) *llm.Request {
	if len(r.Refused) == 0 {
		return r
	}
	with := *r
	with.Messages = make([]*message.Message, 0, len(r.Messages))
	for _, m := range r.Messages {
		isRefused := func(b message.Block) bool { return b.Type == message.BlockThinking && r.Refused[llm.ThoughtOf(&b)] }
		if m.Role == message.RoleAssistant && SameModel(m, r.Model) && slices.ContainsFunc(m.Content, isRefused) {
			m = m.Clone()
			if m.Content = slices.DeleteFunc(m.Content, isRefused); len(m.Content) == 0 {
				continue
			}
		}
		with.Messages = append(with.Messages, m)
	}
	return &with
}
