package provider

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"pi/agent/llm"
	"pi/internal/sse"
	"pi/session/message"
)

func answered(status int, body string) *llm.ProviderError {
	f := &faults{model: &llm.Model{Provider: "p", ID: "m"}}
	return f.answer(status, nil, []byte(body))
}

func TestOverflowIsRecognisedInEveryWording(t *testing.T) {
	said := func(message string) string { return fmt.Sprintf(`{"error":{"message":%q}}`, message) }
	cases := []struct {
		server string
		status int // 0: in a stream
		body   string
	}{
		{"Anthropic", 400, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 213462 tokens > 200000 maximum"}}`},
		{"Anthropic, bytes", 413, `{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}`},
		{"OpenAI", 400, `{"error":{"message":"Your input exceeds the context window of this model.","type":"invalid_request_error","code":"context_length_exceeded"}}`},
		{"OpenAI, newer", 400, said("Your input exceeds the model's context window.")},
		{"OpenAI, this model", 400, said("Your input exceeds this model's context window.")},
		{"OpenAI, chat", 400, said("This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens. Please reduce the length of the messages.")},
		{"OpenAI, in a stream", 0, `{"type":"error","error":{"code":"context_length_exceeded","message":"x"}}`},
		{"Azure, with status 429", 429, `{"error":{"code":"context_length_exceeded","message":"This model's maximum context length is 128000 tokens."}}`},
		{"Gemini", 400, `{"error":{"code":400,"message":"The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).","status":"INVALID_ARGUMENT"}}`},
		{"Gemini, with status 429", 429, `{"error":{"code":429,"message":"The input token count exceeds the maximum number of tokens allowed (1048575).","status":"RESOURCE_EXHAUSTED"}}`},
		{"Bedrock", 400, `{"message":"Input is too long for requested model."}`},
		{"xAI", 400, `{"code":"invalid","error":"This model's maximum prompt length is 131072 but the request contains 537812 tokens."}`},
		{"Groq", 400, `{"error":{"message":"Please reduce the length of the messages or completion.","type":"invalid_request_error","code":"context_length_exceeded"}}`},
		{"OpenRouter", 400, `{"error":{"message":"This endpoint's maximum context length is 200000 tokens. However, you requested about 250000 tokens.","code":400}}`},
		{"OpenRouter, in a stream", 0, `{"error":{"code":400,"message":"Provider returned error","metadata":{"raw":"prompt is too long: 3 tokens > 2 maximum"}}}`},
		{"Vercel", 400, `{"error":{"code":"too_many_prompt_tokens","message":"x"}}`},
		{"Copilot", 400, said("prompt token count of 145000 exceeds the limit of 128000")},
		{"Mistral", 400, `{"object":"error","message":"Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length","code":"3051"}`},
		{"DeepSeek", 400, said("This model's maximum context length is 65536 tokens. However, you requested 70000 tokens (62000 in the messages, 8000 in the completion).")},
		{"Moonshot", 400, said("Your request exceeded model token limit: 262144 (requested: 300000)")},
		{"Z.ai", 400, `{"error":{"code":"1261","message":"Prompt exceeds max length"}}`},
		{"Zhipu", 400, `{"error":{"code":"1261","message":"Prompt 超长"}}`},
		{"Alibaba", 400, said("<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 129024]")},
		{"MiniMax", 400, said("invalid params, context window exceeds limit (2013)")},
		{"MiniMax, as status 200", 200, `{"base_resp":{"status_code":2013,"status_msg":"invalid params, context window exceeds limit"}}`},
		{"Fireworks", 400, said("The prompt is too long: 140000, model maximum context length: 131071")},
		{"Together", 422, said("Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8193. Given: 9000 `inputs` tokens and 512 `max_new_tokens`")},
		{"HuggingFace", 422, `{"error":"Input validation error: ` + "`inputs`" + ` must have less than 8192 tokens. Given: 9000"}`},
		{"Cohere", 400, `{"message":"too many tokens: total number of tokens in the prompt cannot exceed 4081"}`},
		{"Cerebras", 400, `{"message":"Please reduce the length of the messages or completion. Current length is 9026 while limit is 8192","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}`},
		{"Cerebras, without words", 413, ``},
		{"Ollama's cloud", 400, said("prompt too long; exceeded max context length by 4 tokens")},
		{"llama.cpp", 400, `{"error":{"code":400,"message":"request (144055 tokens) exceeds the available context size (131072 tokens), try increasing it","type":"exceed_context_size_error"}}`},
		{"LM Studio", 400, `{"error":"The number of tokens to keep from the initial prompt is greater than the context length"}`},
		{"LM Studio, in a stream", 0, `{"error":{"message":"Trying to keep the first 5100 tokens when context the overflows."}}`},
		{"LM Studio, newer", 400, `{"error":"Context size has been exceeded."}`},
		{"vLLM", 400, `{"object":"error","message":"This model's maximum context length is 4096 tokens. However, your request has 5000 input tokens.","type":"BadRequestError","code":400}`},
		{"SGLang", 400, said("The input (9000 tokens) is longer than the model's context length (8192 tokens).")},
		{"a gateway", 400, said("tokens in request more than max tokens allowed")},
		{"GitHub models", 413, `{"error":{"code":"tokens_limit_reached","message":"Request body too large for gpt-4o model. Max size: 8000 tokens."}}`},
		{"a gateway's code", 422, `{"error":{"code":"max_tokens_exceeded","message":"x"}}`},
	}
	for _, c := range cases {
		t.Run(c.server, func(t *testing.T) {
			if e := answered(c.status, c.body); !e.Overflow || e.Retryable || !strings.Contains(e.NextStep, "/compact") {
				t.Errorf("overflow %t, retryable %t, hint %q: %v", e.Overflow, e.Retryable, e.NextStep, e)
			}
		})
	}
}

func TestRateLimitsAreNotTakenForOverflow(t *testing.T) {
	cases := []struct {
		server string
		status int
		body   string
		retry  bool
	}{
		{"Anthropic", 429, `{"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed your organization's rate limit of 40,000 input tokens per minute. Please reduce the prompt length."}}`, true},
		{"OpenAI", 429, `{"error":{"message":"Rate limit reached for gpt-5 on tokens per min (TPM): Limit 30000, Used 28000, Requested 5000. Please try again in 6s.","type":"tokens","code":"rate_limit_exceeded"}}`, true},
		{"OpenAI, a large request", 429, `{"error":{"message":"Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 30601. The input or output tokens must be reduced in order to run successfully.","type":"tokens","code":"rate_limit_exceeded"}}`, false},
		{"OpenAI, quota", 429, `{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}}`, false},
		{"Groq, a large request", 413, `{"error":{"message":"Request too large for model x on tokens per minute (TPM): Limit 6000, Requested 7000, please reduce your message size and try again.","type":"tokens","code":"rate_limit_exceeded"}}`, false},
		{"Azure", 429, `{"error":{"code":"429","message":"Requests to the ChatCompletions_Create Operation have exceeded token rate limit of your current tier. Please retry after 26 seconds."}}`, true},
		{"Azure at its peak", 429, `{"error":{"message":"Your request exceeds the maximum usage size allowed during peak load. Please retry after 20 seconds."}}`, true},
		{"Gemini", 429, `{"error":{"code":429,"message":"You exceeded your current quota. Quota exceeded for metric: generate_content_free_tier_input_token_count, limit: 250000. Please retry in 34.07s.","status":"RESOURCE_EXHAUSTED"}}`, true},
		{"Bedrock", 429, `{"message":"Too many tokens, please wait before trying again."}`, true},
		{"a gateway", 429, `{"error":{"message":"This request exceeds the limit of 30000 tokens per minute"}}`, true},
		{"a gateway, as status 400", 400, `{"error":{"message":"Too many tokens per minute"}}`, false},
		{"a wrong key", 401, `{"error":{"message":"prompt is too long"}}`, false},
		{"an answer's limit", 400, `{"error":{"message":"max_tokens is too large: 100000. This model supports at most 16384 completion tokens."}}`, false},
		{"a long name", 400, `{"error":{"message":"Invalid 'tools[0].function.name': string too long. Expected a string with maximum length 64","code":"string_above_max_length"}}`, false},
		{"overloaded", 529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, true},
	}
	for _, c := range cases {
		t.Run(c.server, func(t *testing.T) {
			if e := answered(c.status, c.body); e.Overflow || e.Retryable != c.retry {
				t.Errorf("overflow %t, retryable %t: %v", e.Overflow, e.Retryable, e)
			}
		})
	}
}

func TestARefusalWithoutWordsIsOverflowWhereThePromptFillsTheWindow(t *testing.T) {
	for words, want := range map[int]bool{100: false, 1200: false, 1400: true, 2000: true} {
		r := &llm.Request{Model: &llm.Model{Provider: "p", ContextWindow: 8000}, Messages: []*message.Message{
			{Role: message.RoleUser, Content: []message.Block{message.TextBlock(strings.Repeat("a dozen words ", words))}},
		}}
		var e *llm.ProviderError
		if err := streamError(r, http.StatusBadRequest, "", replay{}); !errors.As(err, &e) || e.Overflow != want {
			t.Errorf("%d words: %+v", words, e)
		}
	}
}

// nginxTooLarge is what nginx answers to a body of more than client_max_body_size.
const nginxTooLarge = "<html>\r\n<head><title>413 Request Entity Too Large</title></head>\r\n<body>\r\n<center><h1>413 Request Entity Too Large</h1></center>\r\n<hr><center>nginx/1.22.1</center>\r\n</body>\r\n</html>\r\n"

func TestARequestOfTooManyBytesIsNoFullWindow(t *testing.T) {
	words := func(n int) message.Block { return message.TextBlock(strings.Repeat("a dozen words ", n)) }
	user := func(blocks ...message.Block) *message.Message {
		return &message.Message{Role: message.RoleUser, Content: blocks}
	}
	image := message.Block{Type: message.BlockImage, MimeType: "image/png", Data: strings.Repeat("A", 2_600_000)}
	result := &message.Message{Role: message.RoleToolResult, Content: []message.Block{image}}
	said := &message.Message{Role: message.RoleAssistant, Content: []message.Block{words(1)}}
	const undo, compact = ": leave out the image (/undo), or raise its limit", ": shorten the conversation (/compact), or raise its limit"
	cases := []struct {
		name     string
		body     string
		window   int // 0: not known
		messages []*message.Message
		hint     string // "": it is an overflow
	}{
		{"a page, the window is not known", nginxTooLarge, 0, []*message.Message{user(words(1), image)}, undo},
		{"a page, the window is full", nginxTooLarge, 1000, []*message.Message{user(words(2000))}, compact},
		{"an image among few words", `no`, 8000, []*message.Message{user(words(1), image)}, undo},
		{"an image from a tool", `no`, 8000, []*message.Message{user(words(1)), said, result}, undo},
		{"an image of an earlier prompt", `no`, 8000, []*message.Message{user(image), said, user(words(1))}, undo},
		{"few words", ``, 8000, []*message.Message{user(words(100))}, compact},
		{"many words", ``, 8000, []*message.Message{user(words(1200))}, ""},
		{"few words, and the server counts tokens", `{"error":{"code":"tokens_limit_reached","message":"Max size: 8000 tokens."}}`, 128_000, []*message.Message{user(words(100))}, ""},
		{"few words, the window is not known", ``, 0, []*message.Message{user(words(100))}, ""},
		{"an image, the window is not known", `http: request body too large`, 0, []*message.Message{user(words(4000), image)}, undo},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := &llm.Request{Model: &llm.Model{Provider: "p", ContextWindow: c.window}, Messages: c.messages}
			r.Body = func(context.Context, []byte) ([]byte, error) { return make([]byte, 2_604_000), nil }
			var e *llm.ProviderError
			if err := streamError(r, http.StatusRequestEntityTooLarge, c.body, replay{}); !errors.As(err, &e) || e.Retryable {
				t.Fatal(err)
			}
			if c.hint == "" && !e.Overflow || c.hint != "" && (e.Overflow || e.NextStep != "the server or a proxy takes no request of 2.6 MB"+c.hint) {
				t.Errorf("overflow %t, hint %q", e.Overflow, e.NextStep)
			}
		})
	}
}

func TestWhatAMinuteDoesNotTakeIsSaid(t *testing.T) {
	e := answered(http.StatusRequestEntityTooLarge, `{"error":{"message":"Request too large for model x on tokens per minute (TPM): Limit 6000, Requested 7000, please reduce your message size and try again.","code":"rate_limit_exceeded"}}`)
	if e.Overflow || e.Retryable || !strings.Contains(e.NextStep, "more than the account may send in a minute") {
		t.Errorf("overflow %t, retryable %t, hint %q", e.Overflow, e.Retryable, e.NextStep)
	}
}

// streamError asks a server that answers in one way, and returns how it ended.
func streamError(r *llm.Request, status int, body string, d Decoder) error {
	client := &http.Client{Transport: roundTrip(func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(strings.NewReader(body))}, nil
	})}
	encode := func(*llm.Request) (*Call, error) { return &Call{URL: "http://model.test"}, nil }
	for d, err := range New(client, encode, func(*llm.Request) Decoder { return d }).Stream(context.Background(), r) {
		if err != nil || d.Kind == llm.DeltaStop {
			return err
		}
	}
	return nil
}

// replay is a decoder that has one answer.
type replay []llm.Delta

func (d replay) Event(_ sse.Event, out []llm.Delta) ([]llm.Delta, bool, error) {
	return append(out, d...), true, nil
}
func (d replay) End(out []llm.Delta) ([]llm.Delta, error) { return out, ErrCut }

func TestAnAnswerThatHadNoRoomIsAnOverflow(t *testing.T) {
	counted := func(u message.Usage) llm.Delta { return llm.Delta{Kind: llm.DeltaUsage, Usage: &u} }
	usage := func(prompt int) llm.Delta { return counted(message.Usage{Input: prompt - 10, CacheRead: 10}) }
	stop := func(reason message.StopReason, raw string) llm.Delta {
		return llm.Delta{Kind: llm.DeltaStop, Stop: llm.Stop{Reason: reason, Raw: raw}}
	}
	spoken := llm.Delta{Kind: llm.DeltaText, Text: "hi"}
	cases := []struct {
		name     string
		answer   replay
		overflow bool
	}{
		{"the word for it", replay{stop(message.StopLength, "model_context_window_exceeded")}, true},
		{"the word for it, after an answer", replay{spoken, stop(message.StopLength, "model_context_window_exceeded")}, false},
		{"more tokens than fit", replay{usage(2000), stop(message.StopEnd, "stop")}, true},
		{"more tokens than fit, almost all from the cache", replay{counted(message.Usage{Input: 10, CacheRead: 1990}), stop(message.StopEnd, "stop")}, true},
		{"more tokens than fit, almost all new in the cache", replay{counted(message.Usage{Input: 10, CacheWrite: 1990}), stop(message.StopEnd, "stop")}, true},
		{"more tokens than fit, and no room", replay{usage(2000), stop(message.StopLength, "length")}, true},
		{"more tokens than fit, answered", replay{spoken, usage(2000), stop(message.StopEnd, "stop")}, false},
		{"an empty answer", replay{usage(500), stop(message.StopEnd, "stop")}, false},
		{"a refusal", replay{usage(2000), stop(llm.StopRefusal, "refusal")}, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := &llm.Request{Model: &llm.Model{Provider: "p", ContextWindow: 1000}}
			err := streamError(r, http.StatusOK, "data: x\n\n", c.answer)
			var e *llm.ProviderError
			if got := errors.As(err, &e) && e.Overflow && !e.Retryable; got != c.overflow || err != nil && !got {
				t.Errorf("%v", err)
			}
		})
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
