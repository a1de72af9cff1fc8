package openai

import (
	"encoding/json"
	"strings"

	"pi/agent/llm"
	"pi/agent/provider"
)

// request is the body of a call. Its fields are written in this order, so that
// equal requests are equal bytes; see write.go.
type request struct {
	Model               string         `json:"model"`
	Messages            []wireMessage  `json:"messages"`
	Tools               []tool         `json:"tools,omitempty"`
	ParallelToolCalls   *bool          `json:"parallel_tool_calls,omitempty"`
	Stream              bool           `json:"stream"`
	StreamOptions       *streamOptions `json:"stream_options,omitempty"`
	MaxTokens           int            `json:"max_tokens,omitempty"`
	MaxCompletionTokens int            `json:"max_completion_tokens,omitempty"`
	Store               *bool          `json:"store,omitempty"`
	PromptCacheKey      string         `json:"prompt_cache_key,omitempty"`
	ToolStream          bool           `json:"tool_stream,omitempty"`
	provider.LongCache
	thinking

	prompts int // how many of Messages the system prompt is
}

// thinking has the fields that ask for it, one for each way.
type thinking struct {
	ReasoningEffort string         `json:"reasoning_effort,omitempty"`
	Reasoning       *reasoning     `json:"reasoning,omitempty"`
	Thinking        *thinkingType  `json:"thinking,omitempty"`
	EnableThinking  *bool          `json:"enable_thinking,omitempty"`
	Template        *templateFlags `json:"chat_template_kwargs,omitempty"`
	Split           bool           `json:"reasoning_split,omitempty"`
}

type (
	streamOptions struct {
		IncludeUsage bool `json:"include_usage"`
	}
	reasoning struct {
		Effort  string `json:"effort,omitempty"`
		Enabled *bool  `json:"enabled,omitempty"`
	}
	thinkingType struct {
		Type  string `json:"type"`
		Clear *bool  `json:"clear_thinking,omitempty"`
	}
	templateFlags struct {
		EnableThinking bool   `json:"enable_thinking"`
		Effort         string `json:"reasoning_effort,omitempty"`
	}
	tool struct {
		Type     string   `json:"type"`
		Function function `json:"function"`
	}
	function struct {
		Name        string          `json:"name"`
		Description string          `json:"description,omitempty"`
		Parameters  json.RawMessage `json:"parameters"`
		Strict      *bool           `json:"strict,omitempty"`
	}
)

// encode makes the call of the chat completions API for a request, with what the model's
// compat settings say about its dialect.
func (a *api) encode(r *llm.Request) (*provider.Call, error) {
	c, err := a.switches.Of(r.Model, compatOf)
	if err != nil {
		return nil, err
	}
	body, err := a.drafts.Encode(r, func() *conversation { return newConversation(c, r.Model) }, func(written [][]byte, v *conversation) ([]byte, error) {
		return c.request(r, v).encode(written)
	})
	if err != nil {
		return nil, err
	}
	return c.Call(r, "/chat/completions", body, hint(r.Model))
}

// request builds the body of a call, in the dialect that the switches describe. Its
// messages are those of v.
func (c *compat) request(r *llm.Request, v *conversation) *request {
	system := v.system(r.System)
	q := &request{Model: r.Model.ID, Messages: append(system, v.end()...), prompts: len(system), Stream: true,
		PromptCacheKey: c.CacheKey(r), LongCache: c.Longer(), thinking: c.thinking(r)}
	if c.Tools {
		q.Tools = v.described.Tools(r.Tools, c.encodeTools)
	}
	if c.ParallelToolCalls && len(q.Tools) > 0 {
		q.ParallelToolCalls = new(true)
	}
	q.ToolStream = c.toolStream && len(q.Tools) > 0
	if c.streamOptions {
		q.StreamOptions = &streamOptions{IncludeUsage: true}
	}
	switch c.maxTokensField {
	case "max_tokens":
		q.MaxTokens = provider.AnswerLimit(r)
	case "max_completion_tokens":
		q.MaxCompletionTokens = provider.AnswerLimit(r)
	}
	if c.Store {
		q.Store = new(false)
	}
	return q
}

// encodeTools describes the tools. With the switch strict, each says whether its schema
// is strict: one that has no strict form is not.
func (c *compat) encodeTools(specs []llm.ToolSpec) []tool {
	var tools []tool
	for i := range specs {
		f := function{Name: specs[i].Name, Description: provider.CleanText(specs[i].Description)}
		if c.Strict {
			var strict bool
			f.Parameters, strict = provider.StrictSchema(specs[i].Parameters)
			f.Strict = &strict
		} else {
			f.Parameters = provider.Schema(specs[i].Parameters)
		}
		tools = append(tools, tool{Type: "function", Function: f})
	}
	return tools
}

// thinking returns the fields that ask a reasoning model for the level of the request,
// in the server's way, or one that may be such a model not to think. Others get
// reasoning_split alone, if the switch says so.
func (c *compat) thinking(r *llm.Request) (t thinking) {
	t.Split = c.reasoningSplit
	if r.Thinking == "" || !r.Model.Reasoning && !r.Off {
		return t
	}
	on := r.Thinking != "off"
	word := c.effort(r.Model, r.Thinking)
	switch c.thinkingFormat {
	case "reasoning_effort":
		t.ReasoningEffort = word
	case "reasoning":
		if word != "" {
			t.Reasoning = &reasoning{Effort: word}
		}
	case "reasoning_enabled":
		t.Reasoning = &reasoning{Enabled: &on}
	case "thinking":
		t.Thinking = &thinkingType{Type: "disabled"}
		if on || c.alwaysThinks {
			t.Thinking.Type = "enabled"
			t.ReasoningEffort = c.Efforts[r.Thinking]
			if c.keepThinking {
				t.Thinking.Clear = new(false)
			}
		}
	case "enable_thinking":
		t.EnableThinking = &on
	case "template":
		t.Template = &templateFlags{EnableThinking: on}
		if on {
			t.Template.Effort = word
		}
	}
	return t
}

// hint returns the advice for a refusal: the switch that turns off the refused field.
func hint(m *llm.Model) func(int, string) string {
	advice := refusals.Hint(m)
	return func(status int, said string) string {
		if !refused(said) {
			return ""
		}
		return advice(status, said)
	}
}

// refused reports whether a message is about a field as such, not about its value.
func refused(said string) bool {
	said = strings.ToLower(said)
	for _, word := range []string{"not support", "unsupported", "unknown", "unrecognized", "unexpected", "not permitted", "not allowed", "extra", "requires", "missing"} {
		if strings.Contains(said, word) {
			return true
		}
	}
	return false
}

// refusals are never written to.
var refusals = provider.Refusals{
	{"'max_tokens' is not supported", `max_tokens_field = "max_completion_tokens"`},
	{"max_completion_tokens", `max_tokens_field = "max_tokens"`},
	{"'developer'", "developer_role = false"},
	{"stream_options", "stream_options = false"},
	{"prompt_cache_key", "prompt_cache_key = false"},
	{"reasoning_effort", `thinking_format = "none", or reasoning_efforts,`},
	{"parallel_tool_calls", "parallel_tool_calls = false"},
	{"reasoning_content", "send_reasoning or require_reasoning"},
	{"does not support tools", provider.NoTools},
	{"does not support thinking", provider.NotThinking},
	{"think value", provider.NoLevels},
	{"chat_template_kwargs", `thinking_format = "none"`},
	{"enable_thinking", `thinking_format = "none"`},
	{"cache_control", "cache_control = false"},
	{"tool_stream", "tool_stream = false"},
	{"prompt_cache_retention", "cache_retention = \"short\""},
	{"prompt_cache_options", "cache_retention = \"short\""},
	{"reasoning_split", "reasoning_split = false"},
	{"'store'", "store = false"},
	{": store", "store = false"},
	{"'strict'", "strict = false"},
	{"enable-auto-tool-choice", "tools = false (or start the server with --enable-auto-tool-choice)"},
}
