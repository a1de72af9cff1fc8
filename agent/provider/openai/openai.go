// Package openai speaks OpenAI's Chat Completions API ("openai-completions"). It is
// also what most other services and all local servers speak, each a little
// differently.
//
// What differs is a switch. Its value depends on the server and the model, as
// one table in package provider has it; Model.Compat overrides that:
//
//	auth                     how the key is sent: "bearer", "api-key", "both", "none", or "x-api-key" and the like
//	max_tokens_field         "max_tokens", "max_completion_tokens", or "none": how the answer is limited
//	developer_role           the system prompt goes as role developer
//	stream_options           ask for usage in the stream
//	store                    send "store": false
//	prompt_cache_key         send the session id as a key for the prompt cache
//	cache_retention          "long": as long as the server can, see long_cache; that is the key cache of a provider
//	long_cache               the longest that the server can: "24h", "30m" (newer models), or "" if it is not known
//	session_header           names of headers for the session id, set apart by blanks
//	usage_cost               the usage says in dollars what a request cost, which counts in place of the estimate
//	cache_control            mark system prompt and newest user blocks for caching (Claude behind a gateway)
//	string_content           user messages of text only go as a string, not as a list; so to servers that nobody knows
//	null_content             an assistant message with calls and no text has content null, else ""
//	tools                    false: never send tools
//	strict                   send strict schemas, "strict": false with tools that have none
//	parallel_tool_calls      send "parallel_tool_calls": true
//	tool_stream              send "tool_stream": true with tools: arguments come as they are written
//	tool_call_ids            "short" (at most 40 characters) or "nine" (exactly 9 letters and digits)
//	tool_result_name         tool messages carry the tool's name
//	tool_result_images       images of a tool result stay in the tool message, else a user message follows
//	assistant_after_tools    a user message may not follow a tool message directly
//	send_reasoning           thinking goes back to the model that thought it, else it is left out
//	require_reasoning        a turn with calls has a thought even if there was none
//	reasoning_field          the name under which thoughts go back; "" for the one they came with
//	reasoning_split          send "reasoning_split": true: thoughts do not come inside the text
//	thinking_format          how thinking is asked for:
//	                         "reasoning_effort", "reasoning" (its effort), "reasoning_enabled" (reasoning.enabled),
//	                         "thinking" (its type, and reasoning_effort where there are words for it), "enable_thinking",
//	                         "template" (chat_template_kwargs with enable_thinking and reasoning_effort), "none"
//	keep_thinking            send thinking.clear_thinking false: earlier thoughts count
//	always_thinks            the model cannot be kept from thinking, and is not told to be
//	reasoning_efforts        table of thinking level → word of the server; "" sends nothing
//	extra_body               table of further fields of the request
//
// Thinking comes under several names. The name is the signature of the thinking
// block, so that the thought goes back as it came, to the same model
// only: "reasoning_content", "reasoning", "reasoning_text", "content" (typed parts
// of the content), or, where a server sends opaque details, the JSON list of
// them. Another model gets the thought as text.
package openai

import (
	"net/http"

	"pi/agent/llm"
	"pi/agent/provider"
)

// New returns the client of Chat Completions. It may be shared; nil is a client
// of its own, see [provider.NewClient].
func New(client *http.Client) llm.Provider {
	a := new(api)
	return provider.New(client, a.encode, a.newDecoder)
}

// Listing is how servers of this API are asked for their models. Ollama had a list of its own
// before it had the usual one.
func Listing() provider.Listing { return provider.Listing{Older: "/api/tags"} }

// api has what the requests of a client have in common.
type api struct {
	switches provider.ByModel[*compat]
	drafts   provider.Drafts[*conversation, wireMessage]
}

// CheckCompat reports the first key of a compat table that is not a switch of
// this API, or whose value has the wrong type.
func CheckCompat(values map[string]any) error { return new(compat).switches().Check(values) }
