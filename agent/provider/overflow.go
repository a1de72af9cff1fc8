package provider

import (
	"net/http"
	"strings"

	"pi/agent/llm"
	"pi/session/message"
)

// overflowWords are the ways in which servers say that a prompt does not fit,
// in lower case.
func overflowWords() []string {
	return []string{
		"context_length_exceeded", "context length exceeded", "exceed_context_size_error", "too_many_prompt_tokens",
		"model_context_window_exceeded", "max_tokens_exceeded", "context_window_exceeded", "contextwindowexceeded",
		"prompt is too long", "prompt too long", "prompt exceeds max length", "exceeded max prompt length", "input is too long",
		"maximum context length", "max context length", "maximum prompt length", "maximum allowed input length",
		"exceeds the maximum number of tokens", "more than max tokens allowed", "input token count",
		"exceeds the context window", "exceeds the model's context", "exceeds this model's context", "context window exceeds",
		"context window limit", "exceed context limit", "exceeds the available context size", "context size has been exceeded",
		"greater than the context length", "longer than the model's context length", "exceeds the limit of context",
		"when context the overflows", "larger than the maximum context size", "exceeded model token limit",
		"prompt token count of", "total number of tokens in the prompt", "range of input length should be",
		"reduce the length of the messages", "reduce the length of the prompt",
		"inputs` tokens + `max_new_tokens` must be", "`inputs` must have less than",
	}
}

// rateWords tell a limit on what may be sent in some time from one on the size of
// a prompt.
func rateWords() []string {
	return []string{
		"per minute", "per min", "per-minute", "per day", "per hour", "per second", "(tpm)", "(rpm)", "(tpd)", "(rpd)", " tpm", " rpm",
		"rate limit", "rate_limit", "ratelimit", "rate-limit", "throttl", "quota", "please wait", "retry after", "try again in", "overloaded",
	}
}

// isOverflow recognises an error that a shorter conversation would cure. Rate
// limits speak of tokens and lengths too, so they are told apart first, except in
// an answer that can be nothing but a refusal of this very request.
func isOverflow(e *llm.ProviderError) bool {
	text := strings.ToLower(e.Type + "\n" + e.Code + "\n" + e.Message)
	// Servers use these words for other limits too.
	vague := []string{"too many tokens", "token limit exceeded", "token limit exceed", "tokens_limit_reached", "too many input tokens", "超长"}
	switch e.Status {
	case http.StatusUnauthorized, http.StatusPaymentRequired, http.StatusForbidden, http.StatusNotFound:
		return false
	case http.StatusBadRequest, http.StatusUnprocessableEntity:
		return hasAny(text, overflowWords()) || hasAny(text, vague) && !hasAny(text, rateWords())
	case http.StatusRequestEntityTooLarge:
		return (hasAny(text, overflowWords()) || hasAny(text, vague)) && !hasAny(text, rateWords())
	}
	return (e.Type == "request_too_large" || hasAny(text, overflowWords())) && !hasAny(text, rateWords())
}

// hasAny reports whether a text contains one of the words.
func hasAny(text string, words []string) bool {
	for _, w := range words {
		if strings.Contains(text, w) {
			return true
		}
	}
	return false
}

// isOverflowUnsaid recognises an error that has no word of the context window and is about
// it all the same: a 400 without any words where the prompt is about as large as the window,
// and a 413, unless a page came with it, the prompt is far smaller than the window, or images
// are the most of it. Then the request has too many bytes for the server or for what stands
// before it, which a shorter conversation does not cure.
func (f *faults) isOverflowUnsaid(e *llm.ProviderError, html bool) bool {
	prompt, window := 0, 0
	if f.request != nil {
		prompt, _ = promptTokens(f.request)
		window = f.request.Model.ContextWindow
	}
	switch e.Status {
	case http.StatusBadRequest:
		return e.Message == "" && window > 0 && prompt > window/4*3
	case http.StatusRequestEntityTooLarge:
		if html || isTooLargeForRate(e) || f.imagesWeigh() {
			return false
		}
		return window == 0 || prompt > window/2
	}
	return false
}

// imagesWeigh reports whether images are the most of what was sent.
func (f *faults) imagesWeigh() bool {
	if f.request == nil || !f.request.Model.TakesImages() {
		return false
	}
	bytes := 0
	for _, m := range f.request.Messages {
		for i := range m.Content {
			if b := &m.Content[i]; b.Type == message.BlockImage {
				bytes += len(b.Data)
			}
		}
	}
	return bytes > f.sent/2
}

// silent watches an answer for the overflow that a server does not call an
// error: it ends without having said anything, because the prompt left no room.
type silent struct {
	window int // tokens; 0: unknown
	fault  func(body []byte) error
	yield  func(llm.Delta, error) bool

	spoke  bool
	prompt int
}

// pass yields a delta. In place of a stop without any text or call before it, because
// the window is full, it yields the error that the server did not report. It returns
// false to end the stream.
func (s *silent) pass(d llm.Delta, err error) bool {
	switch d.Kind {
	case llm.DeltaText, llm.DeltaToolCall:
		s.spoke = true
	case llm.DeltaUsage:
		s.prompt = d.Usage.Input + d.Usage.CacheRead + d.Usage.CacheWrite
	case llm.DeltaStop:
		full := d.Stop.Raw == "model_context_window_exceeded" ||
			s.window > 0 && s.prompt > s.window && (d.Stop.Reason == message.StopEnd || d.Stop.Reason == message.StopLength)
		if err == nil && !s.spoke && full {
			s.yield(llm.Delta{}, s.fault([]byte(`{"code":"model_context_window_exceeded","message":"the prompt left no room in the context window for an answer"}`)))
			return false
		}
	}
	return s.yield(d, err)
}
