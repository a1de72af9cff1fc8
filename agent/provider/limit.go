package provider

import (
	"pi/agent/llm"
	"pi/session/message"
)

const (
	smallestAnswer = 4096 // what is asked for even if the window seems to be full
	smallestMargin = 4096 // see margin
	imageTokens    = 1200
	bytesPerToken  = 3 // on the safe side: text and code lie between 3 and 4
)

// AnswerLimit is the number of tokens to ask for: the request's, else the
// model's own limit, and not more than the window has room for, because many
// servers refuse a request whose prompt and limit together exceed it. 0: unknown.
func AnswerLimit(r *llm.Request) int { return LimitWithThoughts(r, 0) }

// LimitWithThoughts is [AnswerLimit] where thoughts count as part of the answer:
// they come on top of what the request asks for, as far as model and window go.
func LimitWithThoughts(r *llm.Request, thoughts int) int {
	limit := r.MaxTokens
	if limit > 0 {
		limit += max(thoughts, 0)
	}
	if own := r.Model.MaxTokens; limit <= 0 || own > 0 && own < limit {
		limit = own
	}
	if limit <= 0 {
		return 0
	}
	if window := r.Model.ContextWindow; window > 0 {
		prompt, estimated := promptTokens(r)
		limit = min(limit, max(window-prompt-margin(estimated), smallestAnswer))
	}
	return limit
}

// margin is how much of the window stays free behind a prompt and its answer, if so many of the
// prompt's tokens are estimated: some gateways count an eighth more than the model's maker does.
func margin(estimated int) int { return max(smallestMargin, estimated*15/100) }

// promptTokens returns the size of the prompt, and how much of that is only estimated. The last
// answer of the model has an exact count, to which the estimate of later messages is added; but
// it may be from before a compaction, and then the estimate of all text is smaller and counts.
// Another model counts otherwise, by up to a third.
func promptTokens(r *llm.Request) (tokens, estimated int) {
	tail, behind, counted := 0, 0, 0
	for i := len(r.Messages) - 1; i >= 0; i-- {
		m := r.Messages[i]
		if u := m.Usage; counted == 0 && m.Role == message.RoleAssistant && SameModel(m, r.Model) && u != nil && u.TotalTokens > 0 {
			counted, behind = u.TotalTokens+tail, tail
		}
		tail += messageTokens(m)
	}
	estimate := tail + len(r.System)/bytesPerToken
	for i := range r.Tools {
		estimate += (len(r.Tools[i].Description) + len(r.Tools[i].Parameters)) / bytesPerToken
	}
	if counted > 0 && counted < estimate {
		return counted, behind
	}
	return estimate, estimate
}

// messageTokens estimates the size of a message by its bytes, and each image as one
// size.
func messageTokens(m *message.Message) int {
	bytes, images := 0, 0
	for i := range m.Content {
		b := &m.Content[i]
		if b.Type == message.BlockImage {
			images++
			continue
		}
		bytes += len(b.Text) + len(b.Arguments) + len(b.Name)
	}
	return bytes/bytesPerToken + images*imageTokens + 4
}
