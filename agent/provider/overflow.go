package provider

import (
	"net/http"
	"strings"

	"pi/agent"
)

// overflowWords are the ways in which servers say that a prompt does not fit,
// in lower case.
var overflowWords = []string{
	"context_length_exceeded", "exceed_context_size_error", "too_many_prompt_tokens", "model_context_window_exceeded",
	"prompt is too long", "prompt too long", "input is too long",
	"maximum context length", "max context length", "maximum prompt length", "context length exceeded",
	"exceeds the maximum number of tokens", "input token count",
	"exceeds the context window", "exceed context limit", "exceeds the available context size",
	"greater than the context length", "exceeds the model's context", "context window exceeds", "exceeds the limit of context",
	"reduce the length of the messages",
}

// isOverflow recognises an error that a shorter conversation would cure. Rate
// limits speak of tokens too, but not in these words.
func isOverflow(e *agent.ProviderError) bool {
	switch e.Status {
	case http.StatusUnauthorized, http.StatusPaymentRequired, http.StatusForbidden, http.StatusNotFound:
		return false
	}
	if e.Type == "request_too_large" {
		return true
	}
	text := strings.ToLower(e.Type + "\n" + e.Code + "\n" + e.Message)
	for _, words := range overflowWords {
		if strings.Contains(text, words) {
			return true
		}
	}
	return false
}
