// Package openai speaks OpenAI's wire APIs. Chat Completions ("openai-completions")
// is also what most other services and all local servers speak, each a little
// differently.
//
// What differs is a switch. Its default depends on the provider's name and
// address; Model.Compat overrides it:
//
//	max_tokens_field         "max_tokens", "max_completion_tokens", or "none": how the answer is limited
//	developer_role           the system prompt of a reasoning model goes as role developer
//	stream_options           ask for usage in the stream
//	store                    send "store": false
//	prompt_cache_key         send the session id as a key for the prompt cache
//	cache_control            mark system prompt and newest user blocks for caching (Claude behind OpenRouter)
//	string_content           user messages of text only go as a string, not as a list
//	null_content             an assistant message with calls and no text has content null, else ""
//	tools                    false: never send tools
//	strict                   send "strict": false with each tool
//	parallel_tool_calls      send "parallel_tool_calls": true
//	tool_call_ids            "short" (at most 40 characters) or "nine" (exactly 9 letters and digits)
//	tool_result_name         tool messages carry the tool's name
//	assistant_after_tools    a user message may not follow a tool message directly
//	send_reasoning           thinking goes back to the model that thought it
//	require_reasoning        a turn with calls has reasoning_content even if there was no thinking
//	thinking_format          how thinking is asked for:
//	                         "effort" (reasoning_effort), "openrouter" (reasoning.effort), "type" (thinking.type),
//	                         "zai" (thinking.type and clear_thinking), "qwen" (enable_thinking),
//	                         "template" (chat_template_kwargs.enable_thinking), "none"
//	reasoning_efforts        table of thinking level → word of the server; "" sends nothing
//	extra_body               table of further fields of the request
//
// Thinking comes under several names. The name stands in the signature of the
// thinking block, so that the thought goes back as it came, to the same model
// only: "reasoning_content", "reasoning", "reasoning_text", "content" (typed parts
// of the content), or, where a server sends opaque details, the JSON list of
// them. Another model gets the thought as text.
package openai

import (
	"context"
	"iter"
	"net/http"

	"pi/agent"
	"pi/agent/provider"
)

// New returns the client of Chat Completions. It may be shared; nil is a client
// of its own, see [provider.NewClient].
func New(client *http.Client) agent.Provider {
	if client == nil {
		client = provider.NewClient()
	}
	return &chat{client}
}

type chat struct{ client *http.Client }

func (c *chat) Stream(ctx context.Context, r *agent.Request) iter.Seq2[agent.Delta, error] {
	return func(yield func(agent.Delta, error) bool) {
		provider.Stream(ctx, c.client, r, encode, &decoder{price: r.Model.Cost})(yield)
	}
}

// CheckCompat reports the first key of a compat table that is not a switch of
// this API, or whose value has the wrong type.
func CheckCompat(values map[string]any) error { return new(compat).switches().Check(values) }
