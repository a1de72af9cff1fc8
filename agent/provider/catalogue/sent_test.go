package catalogue_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"pi/agent/llm"
	"pi/agent/provider/catalogue"
	"pi/session/message"
)

// recorder is a network that keeps the requests.
type recorder struct {
	body   map[string]json.RawMessage
	header http.Header
}

func (w *recorder) RoundTrip(r *http.Request) (*http.Response, error) {
	data, err := io.ReadAll(r.Body)
	w.body, w.header = map[string]json.RawMessage{}, r.Header
	return nil, errors.Join(err, json.Unmarshal(data, &w.body), errSent)
}

// said is what a request says of how the model shall think and be cached: all its fields but
// those that every request has, and its headers that no other request has.
func (w *recorder) said() string {
	var words []string
	for _, name := range slices.Sorted(maps.Keys(w.body)) {
		switch name {
		case "model", "messages", "input", "contents", "stream", "stream_options", "store", "system", "max_tokens", "max_completion_tokens", "max_output_tokens", "systemInstruction", "anthropic_version":
		case "tools":
			if strings.Contains(string(w.body[name]), `"eager_input_streaming":true`) {
				words = append(words, "eager")
			}
		default:
			words = append(words, name+"="+strings.ReplaceAll(string(w.body[name]), `"`, ""))
		}
	}
	if strings.Contains(string(w.body["messages"]), `"cache_control":{"type":"ephemeral","ttl":"1h"}`) {
		words = append(words, "cached for 1h")
	}
	for _, name := range []string{"Anthropic-Beta", "X-Session-Id", "Session-Id", "Session_id", "X-Client-Request-Id", "X-Affinity", "X-Session-Affinity"} {
		if value := w.header.Get(name); value != "" {
			words = append(words, strings.ToLower(name)+":"+value)
		}
	}
	return strings.Join(words, " ")
}

// listedOrLike is a model of the catalogue, or one of that id which nobody lists. What is no
// provider is a wire API: that of a server of one's own.
func listedOrLike(provider, id string) *llm.Model {
	for _, m := range catalogue.Models(provider) {
		if m.ID == id {
			return m
		}
	}
	m := &llm.Model{Provider: "own", ID: id, API: provider, BaseURL: "http://model.test/v1"}
	if p, known := catalogue.Find(provider); known {
		m.Provider, m.API, m.BaseURL = provider, p.API, p.BaseURL
	}
	own := catalogue.Models(provider)
	catalogue.Describe(m, own, func() []*llm.Model { return own })
	if m.BaseURL == "" {
		m.BaseURL = "https://aiplatform.googleapis.com/v1/projects/p/locations/global/publishers/anthropic/models"
	}
	return m
}

// asker asks models over the network of w.
type asker struct {
	w    *recorder
	apis map[string]llm.Provider
	said bool // a user said the level
}

func newAsker() *asker {
	w := &recorder{}
	return &asker{w: w, apis: clients(w)}
}

// ask sends a conversation, a greeting unless messages say something else.
func (a *asker) ask(t *testing.T, m *llm.Model, level string, messages ...*message.Message) {
	t.Helper()
	if messages == nil {
		messages = []*message.Message{{Role: message.RoleUser, Content: []message.Block{message.TextBlock("hello")}}}
	}
	r := &llm.Request{Model: m, Thinking: llm.Clamp(m, level), Off: a.said && llm.AsksOff(m, level), SessionID: "s1", APIKey: "key", Messages: messages,
		Tools: []llm.ToolSpec{{Name: "read", Parameters: json.RawMessage(`{"type":"object"}`)}}}
	for _, err := range a.apis[m.API].Stream(context.Background(), r) {
		if !errors.Is(err, errSent) {
			t.Fatalf("%s at %s: %v", m.Ref(), level, err)
		}
	}
}

func TestEachFamilyIsAskedAsItsMakerWantsIt(t *testing.T) {
	a := newAsker()
	for _, row := range asked {
		m := listedOrLike(row.provider, row.id)
		if row.long {
			m.Compat = map[string]any{"cache_retention": "long"}
		}
		for i, level := range []string{"off", "low", "high", "max"} {
			a.ask(t, m, level)
			want := strings.TrimSpace(row.want[i] + " " + row.always)
			if got := a.w.said(); got != want {
				t.Errorf("%s/%s at %s:\ngot  %s\nwant %s", row.provider, row.id, level, got, want)
			}
		}
	}
}

// asked is what is sent for a model at the levels off, low, high and max, and with each of them.
var asked = []struct {
	provider, id string
	long         bool // the cache shall last
	want         [4]string
	always       string
}{
	{"anthropic", "claude-opus-5-5", false, [4]string{"output_config={effort:low}", "output_config={effort:low}", "output_config={effort:high}", "output_config={effort:max}"}, "thinking={type:adaptive,display:summarized,block_binding:{prefix_mismatch_behavior:drop_block}} eager anthropic-beta:thinking-binding-controls-2026-08-01"},
	{"anthropic", "claude-fable-5-1", false, [4]string{"output_config={effort:low}", "output_config={effort:low}", "output_config={effort:high}", "output_config={effort:max}"}, "thinking={type:adaptive,display:summarized,block_binding:{prefix_mismatch_behavior:drop_block}} eager anthropic-beta:thinking-binding-controls-2026-08-01"},
	{"anthropic", "claude-sonnet-5-5", false, [4]string{"thinking={type:between_tools} eager", "output_config={effort:low} thinking={type:adaptive,display:summarized,block_binding:{prefix_mismatch_behavior:drop_block}} eager anthropic-beta:thinking-binding-controls-2026-08-01", "output_config={effort:high} thinking={type:adaptive,display:summarized,block_binding:{prefix_mismatch_behavior:drop_block}} eager anthropic-beta:thinking-binding-controls-2026-08-01", "output_config={effort:max} thinking={type:adaptive,display:summarized,block_binding:{prefix_mismatch_behavior:drop_block}} eager anthropic-beta:thinking-binding-controls-2026-08-01"}, ""},
	{"anthropic", "claude-haiku-5-5", false, [4]string{"thinking={type:disabled} eager", "output_config={effort:low} thinking={type:adaptive,display:summarized,block_binding:{prefix_mismatch_behavior:drop_block}} eager anthropic-beta:thinking-binding-controls-2026-08-01", "output_config={effort:high} thinking={type:adaptive,display:summarized,block_binding:{prefix_mismatch_behavior:drop_block}} eager anthropic-beta:thinking-binding-controls-2026-08-01", "output_config={effort:max} thinking={type:adaptive,display:summarized,block_binding:{prefix_mismatch_behavior:drop_block}} eager anthropic-beta:thinking-binding-controls-2026-08-01"}, ""},
	{"anthropic", "claude-opus-5", false, [4]string{"thinking={type:disabled}", "output_config={effort:low} thinking={type:adaptive,display:summarized}", "output_config={effort:high} thinking={type:adaptive,display:summarized}", "output_config={effort:max} thinking={type:adaptive,display:summarized}"}, "eager"},
	{"anthropic", "claude-opus-4-6", false, [4]string{"thinking={type:disabled}", "output_config={effort:low} thinking={type:adaptive}", "output_config={effort:high} thinking={type:adaptive}", "output_config={effort:max} thinking={type:adaptive}"}, "eager"},
	{"anthropic", "claude-sonnet-4-5-20250929", false, [4]string{"eager", "thinking={type:enabled,budget_tokens:2048} eager anthropic-beta:interleaved-thinking-2025-05-14", "thinking={type:enabled,budget_tokens:16384} eager anthropic-beta:interleaved-thinking-2025-05-14", "thinking={type:enabled,budget_tokens:32768} eager anthropic-beta:interleaved-thinking-2025-05-14"}, ""},
	{"anthropic", "claude-opus-6", false, [4]string{"output_config={effort:low}", "output_config={effort:low}", "output_config={effort:high}", "output_config={effort:max}"}, "thinking={type:adaptive,display:summarized,block_binding:{prefix_mismatch_behavior:drop_block}} eager anthropic-beta:thinking-binding-controls-2026-08-01"},

	{"google-vertex-anthropic", "claude-opus-5-5", false, [4]string{"output_config={effort:low}", "output_config={effort:low}", "output_config={effort:high}", "output_config={effort:max}"}, "thinking={type:adaptive,display:summarized,block_binding:{prefix_mismatch_behavior:drop_block}} anthropic-beta:thinking-binding-controls-2026-08-01"},
	{"google-vertex-anthropic", "claude-opus-5-5", true, [4]string{"output_config={effort:low}", "output_config={effort:low}", "output_config={effort:high}", "output_config={effort:max}"}, "thinking={type:adaptive,display:summarized,block_binding:{prefix_mismatch_behavior:drop_block}} cached for 1h anthropic-beta:thinking-binding-controls-2026-08-01"},

	{"openai", "gpt-6-astra", false, [4]string{"include=[reasoning.encrypted_content] prompt_cache_key=s1 reasoning={effort:low,summary:auto}", "include=[reasoning.encrypted_content] prompt_cache_key=s1 reasoning={effort:low,summary:auto}", "include=[reasoning.encrypted_content] prompt_cache_key=s1 reasoning={effort:high,summary:auto}", "include=[reasoning.encrypted_content] prompt_cache_key=s1 reasoning={effort:max,summary:auto}"}, "session-id:s1 x-client-request-id:s1"},
	{"openai", "gpt-6-sol", false, [4]string{"include=[reasoning.encrypted_content] prompt_cache_key=s1 reasoning={effort:none}", "include=[reasoning.encrypted_content] prompt_cache_key=s1 reasoning={effort:low,summary:auto}", "include=[reasoning.encrypted_content] prompt_cache_key=s1 reasoning={effort:high,summary:auto}", "include=[reasoning.encrypted_content] prompt_cache_key=s1 reasoning={effort:max,summary:auto}"}, "session-id:s1 x-client-request-id:s1"},
	{"openai", "gpt-6.1-sol", false, [4]string{"include=[reasoning.encrypted_content] prompt_cache_key=s1 reasoning={effort:low,summary:auto}", "include=[reasoning.encrypted_content] prompt_cache_key=s1 reasoning={effort:low,summary:auto}", "include=[reasoning.encrypted_content] prompt_cache_key=s1 reasoning={effort:high,summary:auto}", "include=[reasoning.encrypted_content] prompt_cache_key=s1 reasoning={effort:max,summary:auto}"}, "session-id:s1 x-client-request-id:s1"},
	{"openai", "gpt-6.1-terra", false, [4]string{"include=[reasoning.encrypted_content] prompt_cache_key=s1 reasoning={effort:none}", "include=[reasoning.encrypted_content] prompt_cache_key=s1 reasoning={effort:low,summary:auto}", "include=[reasoning.encrypted_content] prompt_cache_key=s1 reasoning={effort:high,summary:auto}", "include=[reasoning.encrypted_content] prompt_cache_key=s1 reasoning={effort:max,summary:auto}"}, "session-id:s1 x-client-request-id:s1"},
	{"openai", "gpt-6.2-sol", false, [4]string{"include=[reasoning.encrypted_content] prompt_cache_key=s1 reasoning={effort:low,summary:auto}", "include=[reasoning.encrypted_content] prompt_cache_key=s1 reasoning={effort:low,summary:auto}", "include=[reasoning.encrypted_content] prompt_cache_key=s1 reasoning={effort:high,summary:auto}", "include=[reasoning.encrypted_content] prompt_cache_key=s1 reasoning={effort:max,summary:auto}"}, "session-id:s1 x-client-request-id:s1"},
	{"openai", "gpt-5.4", false, [4]string{"include=[reasoning.encrypted_content] prompt_cache_key=s1 reasoning={effort:none}", "include=[reasoning.encrypted_content] prompt_cache_key=s1 reasoning={effort:low,summary:auto}", "include=[reasoning.encrypted_content] prompt_cache_key=s1 reasoning={effort:high,summary:auto}", "include=[reasoning.encrypted_content] prompt_cache_key=s1 reasoning={effort:xhigh,summary:auto}"}, "session-id:s1 x-client-request-id:s1"},
	{"openai", "gpt-5.6-sol", true, [4]string{"include=[reasoning.encrypted_content] prompt_cache_key=s1 prompt_cache_options={ttl:30m} reasoning={effort:none}", "include=[reasoning.encrypted_content] prompt_cache_key=s1 prompt_cache_options={ttl:30m} reasoning={effort:low,summary:auto}", "include=[reasoning.encrypted_content] prompt_cache_key=s1 prompt_cache_options={ttl:30m} reasoning={effort:high,summary:auto}", "include=[reasoning.encrypted_content] prompt_cache_key=s1 prompt_cache_options={ttl:30m} reasoning={effort:max,summary:auto}"}, "session-id:s1 x-client-request-id:s1"},
	{"openai", "gpt-5.2", true, [4]string{"include=[reasoning.encrypted_content] prompt_cache_key=s1 prompt_cache_retention=24h reasoning={effort:none}", "include=[reasoning.encrypted_content] prompt_cache_key=s1 prompt_cache_retention=24h reasoning={effort:low,summary:auto}", "include=[reasoning.encrypted_content] prompt_cache_key=s1 prompt_cache_retention=24h reasoning={effort:high,summary:auto}", "include=[reasoning.encrypted_content] prompt_cache_key=s1 prompt_cache_retention=24h reasoning={effort:xhigh,summary:auto}"}, "session-id:s1 x-client-request-id:s1"},

	{"anthropic", "claude-sonnet-5-5", true, [4]string{"thinking={type:between_tools} eager cached for 1h", "output_config={effort:low} thinking={type:adaptive,display:summarized,block_binding:{prefix_mismatch_behavior:drop_block}} eager cached for 1h anthropic-beta:thinking-binding-controls-2026-08-01", "output_config={effort:high} thinking={type:adaptive,display:summarized,block_binding:{prefix_mismatch_behavior:drop_block}} eager cached for 1h anthropic-beta:thinking-binding-controls-2026-08-01", "output_config={effort:max} thinking={type:adaptive,display:summarized,block_binding:{prefix_mismatch_behavior:drop_block}} eager cached for 1h anthropic-beta:thinking-binding-controls-2026-08-01"}, ""},

	{"xai", "grok-4.3", false, [4]string{"include=[reasoning.encrypted_content] prompt_cache_key=s1 reasoning={effort:none}", "include=[reasoning.encrypted_content] prompt_cache_key=s1 reasoning={effort:low}", "include=[reasoning.encrypted_content] prompt_cache_key=s1 reasoning={effort:high}", "include=[reasoning.encrypted_content] prompt_cache_key=s1 reasoning={effort:high}"}, ""},
	{"xai", "grok-4.6", false, [4]string{"include=[reasoning.encrypted_content] prompt_cache_key=s1 reasoning={effort:low}", "include=[reasoning.encrypted_content] prompt_cache_key=s1 reasoning={effort:low}", "include=[reasoning.encrypted_content] prompt_cache_key=s1 reasoning={effort:high}", "include=[reasoning.encrypted_content] prompt_cache_key=s1 reasoning={effort:high}"}, ""},
	{"xai", "grok-4.7", false, [4]string{"include=[reasoning.encrypted_content] prompt_cache_key=s1 reasoning={effort:low}", "include=[reasoning.encrypted_content] prompt_cache_key=s1 reasoning={effort:low}", "include=[reasoning.encrypted_content] prompt_cache_key=s1 reasoning={effort:high}", "include=[reasoning.encrypted_content] prompt_cache_key=s1 reasoning={effort:xhigh}"}, ""},

	{"moonshot", "kimi-k3", false, [4]string{"reasoning_effort=low", "reasoning_effort=low", "reasoning_effort=high", "reasoning_effort=max"}, ""},
	{"moonshot", "kimi-k3.1-pro", false, [4]string{"reasoning_effort=low", "reasoning_effort=low", "reasoning_effort=high", "reasoning_effort=max"}, ""},
	{"moonshot", "kimi-k2.7-code", false, [4]string{"", "", "", ""}, "thinking={type:enabled}"},
	{"moonshot", "kimi-k2.6", false, [4]string{"thinking={type:disabled}", "thinking={type:enabled}", "thinking={type:enabled}", "thinking={type:enabled}"}, ""},

	{"kimi-coding", "k3", false, [4]string{"reasoning_effort=low", "reasoning_effort=low", "reasoning_effort=high", "reasoning_effort=max"}, ""},
	{"kimi-coding", "kimi-for-coding", false, [4]string{"reasoning_effort=low", "reasoning_effort=low", "reasoning_effort=high", "reasoning_effort=max"}, ""},
	{"kimi-coding", "kimi-for-coding-highspeed", false, [4]string{"", "", "", ""}, "thinking={type:enabled}"},

	{"zai", "glm-5.3", false, [4]string{"reasoning_effort=low", "reasoning_effort=low", "reasoning_effort=high", "reasoning_effort=max"}, "thinking={type:enabled,clear_thinking:false} tool_stream=true"},
	{"zai", "glm-5.2", false, [4]string{"thinking={type:disabled}", "reasoning_effort=high thinking={type:enabled,clear_thinking:false}", "reasoning_effort=high thinking={type:enabled,clear_thinking:false}", "reasoning_effort=max thinking={type:enabled,clear_thinking:false}"}, "tool_stream=true"},
	{"zai", "glm-4.7", false, [4]string{"thinking={type:disabled}", "thinking={type:enabled,clear_thinking:false}", "thinking={type:enabled,clear_thinking:false}", "thinking={type:enabled,clear_thinking:false}"}, "tool_stream=true"},

	{"openrouter", "anthropic/claude-opus-5.5", false, [4]string{"reasoning={effort:low}", "reasoning={effort:low}", "reasoning={effort:high}", "reasoning={effort:max}"}, "x-session-id:s1"},
	{"openrouter", "anthropic/claude-sonnet-4.6", false, [4]string{"reasoning={effort:none}", "reasoning={effort:low}", "reasoning={effort:high}", "reasoning={effort:max}"}, "x-session-id:s1"},
	{"openrouter", "openai/gpt-6-sol", false, [4]string{"reasoning={effort:none}", "reasoning={effort:low}", "reasoning={effort:high}", "reasoning={effort:max}"}, "x-session-id:s1"},
	{"openrouter", "openai/gpt-6.1-sol", false, [4]string{"reasoning={effort:low}", "reasoning={effort:low}", "reasoning={effort:high}", "reasoning={effort:max}"}, "x-session-id:s1"},
	{"openrouter", "moonshotai/kimi-k3", false, [4]string{"reasoning={effort:low}", "reasoning={effort:low}", "reasoning={effort:high}", "reasoning={effort:max}"}, "x-session-id:s1"},
	{"openrouter", "deepseek/deepseek-v4-pro", false, [4]string{"reasoning={effort:none}", "reasoning={effort:high}", "reasoning={effort:high}", "reasoning={effort:xhigh}"}, "x-session-id:s1"},
	{"openrouter", "minimax/minimax-m2.7", false, [4]string{"reasoning={effort:low}", "reasoning={effort:low}", "reasoning={effort:high}", "reasoning={effort:high}"}, "x-session-id:s1"},

	{"mistral", "mistral-large-4", false, [4]string{"prompt_cache_key=s1 reasoning_effort=low", "prompt_cache_key=s1 reasoning_effort=low", "prompt_cache_key=s1 reasoning_effort=high", "prompt_cache_key=s1 reasoning_effort=high"}, "x-affinity:s1"},
	{"mistral", "mistral-medium-2604", false, [4]string{"prompt_cache_key=s1 reasoning_effort=none", "prompt_cache_key=s1 reasoning_effort=high", "prompt_cache_key=s1 reasoning_effort=high", "prompt_cache_key=s1 reasoning_effort=high"}, "x-affinity:s1"},
	{"mistral", "codestral-latest", false, [4]string{"", "", "", ""}, "prompt_cache_key=s1 x-affinity:s1"},

	{"minimax", "MiniMax-M3.1-Flash", false, [4]string{"output_config={effort:low}", "output_config={effort:low}", "output_config={effort:high}", "output_config={effort:max}"}, "thinking={type:adaptive}"},
	{"minimax", "MiniMax-M2.7", false, [4]string{"", "thinking={type:enabled,budget_tokens:2048}", "thinking={type:enabled,budget_tokens:16384}", "thinking={type:enabled,budget_tokens:32768}"}, ""},

	{"google", "gemini-4-argon", false, [4]string{"generationConfig={maxOutputTokens:65536,thinkingConfig:{includeThoughts:true,thinkingLevel:LOW}}", "generationConfig={maxOutputTokens:65536,thinkingConfig:{includeThoughts:true,thinkingLevel:LOW}}", "generationConfig={maxOutputTokens:65536,thinkingConfig:{includeThoughts:true,thinkingLevel:HIGH}}", "generationConfig={maxOutputTokens:65536,thinkingConfig:{includeThoughts:true,thinkingLevel:HIGH}}"}, ""},
	{"google", "gemini-3.6-flash", false, [4]string{"generationConfig={maxOutputTokens:65536,thinkingConfig:{includeThoughts:true,thinkingLevel:MINIMAL}}", "generationConfig={maxOutputTokens:65536,thinkingConfig:{includeThoughts:true,thinkingLevel:LOW}}", "generationConfig={maxOutputTokens:65536,thinkingConfig:{includeThoughts:true,thinkingLevel:HIGH}}", "generationConfig={maxOutputTokens:65536,thinkingConfig:{includeThoughts:true,thinkingLevel:HIGH}}"}, ""},
	{"google", "gemini-5-flash", false, [4]string{"generationConfig={maxOutputTokens:65536,thinkingConfig:{includeThoughts:true,thinkingLevel:LOW}}", "generationConfig={maxOutputTokens:65536,thinkingConfig:{includeThoughts:true,thinkingLevel:LOW}}", "generationConfig={maxOutputTokens:65536,thinkingConfig:{includeThoughts:true,thinkingLevel:HIGH}}", "generationConfig={maxOutputTokens:65536,thinkingConfig:{includeThoughts:true,thinkingLevel:HIGH}}"}, ""},
	{"google", "gemini-2.5-flash", false, [4]string{"generationConfig={maxOutputTokens:65536,thinkingConfig:{includeThoughts:false,thinkingBudget:0}}", "generationConfig={maxOutputTokens:65536,thinkingConfig:{includeThoughts:true,thinkingBudget:2048}}", "generationConfig={maxOutputTokens:65536,thinkingConfig:{includeThoughts:true,thinkingBudget:16384}}", "generationConfig={maxOutputTokens:65536,thinkingConfig:{includeThoughts:true,thinkingBudget:16384}}"}, ""},

	{"deepseek", "deepseek-v4-pro", false, [4]string{"thinking={type:disabled}", "reasoning_effort=high thinking={type:enabled}", "reasoning_effort=high thinking={type:enabled}", "reasoning_effort=max thinking={type:enabled}"}, ""},
	{"deepseek", "deepseek-flash", false, [4]string{"thinking={type:disabled}", "reasoning_effort=low thinking={type:enabled}", "reasoning_effort=high thinking={type:enabled}", "reasoning_effort=max thinking={type:enabled}"}, ""},

	{"fireworks", "accounts/fireworks/models/glm-5p3", false, [4]string{"reasoning_effort=low", "reasoning_effort=low", "reasoning_effort=high", "reasoning_effort=max"}, "x-session-affinity:s1"},

	// Servers that are not the maker's own, but pass on what they get.
	{"opencode", "claude-opus-5-5", false, [4]string{"output_config={effort:low}", "output_config={effort:low}", "output_config={effort:high}", "output_config={effort:max}"}, "thinking={type:adaptive,display:summarized,block_binding:{prefix_mismatch_behavior:drop_block}} anthropic-beta:thinking-binding-controls-2026-08-01"},
	{"anthropic-messages", "claude-opus-5-5", false, [4]string{"output_config={effort:low}", "output_config={effort:low}", "output_config={effort:high}", "output_config={effort:max}"}, "thinking={type:adaptive,display:summarized,block_binding:{prefix_mismatch_behavior:drop_block}} anthropic-beta:thinking-binding-controls-2026-08-01"},
	{"openai-completions", "kimi-k3", false, [4]string{"reasoning_effort=low", "reasoning_effort=low", "reasoning_effort=high", "reasoning_effort=max"}, ""},
	{"openai-completions", "gpt-6-astra", false, [4]string{"reasoning_effort=low", "reasoning_effort=low", "reasoning_effort=high", "reasoning_effort=max"}, ""},

	// What no list has is asked as its family is.
	{"anthropic", "claude-sonnet-6", false, [4]string{"thinking={type:between_tools} eager", "output_config={effort:low} thinking={type:adaptive,display:summarized,block_binding:{prefix_mismatch_behavior:drop_block}} eager anthropic-beta:thinking-binding-controls-2026-08-01", "output_config={effort:high} thinking={type:adaptive,display:summarized,block_binding:{prefix_mismatch_behavior:drop_block}} eager anthropic-beta:thinking-binding-controls-2026-08-01", "output_config={effort:max} thinking={type:adaptive,display:summarized,block_binding:{prefix_mismatch_behavior:drop_block}} eager anthropic-beta:thinking-binding-controls-2026-08-01"}, ""},
	{"xai", "grok-5", false, [4]string{"include=[reasoning.encrypted_content] prompt_cache_key=s1 reasoning={effort:low}", "include=[reasoning.encrypted_content] prompt_cache_key=s1 reasoning={effort:low}", "include=[reasoning.encrypted_content] prompt_cache_key=s1 reasoning={effort:high}", "include=[reasoning.encrypted_content] prompt_cache_key=s1 reasoning={effort:xhigh}"}, ""},
	{"moonshot", "kimi-k4", false, [4]string{"reasoning_effort=low", "reasoning_effort=low", "reasoning_effort=high", "reasoning_effort=max"}, ""},
	{"kimi-coding", "k3.2-pro", false, [4]string{"reasoning_effort=low", "reasoning_effort=low", "reasoning_effort=high", "reasoning_effort=max"}, ""},
	{"zai", "glm-6", false, [4]string{"reasoning_effort=low", "reasoning_effort=low", "reasoning_effort=high", "reasoning_effort=max"}, "thinking={type:enabled,clear_thinking:false} tool_stream=true"},
	{"mistral", "mistral-large-5", false, [4]string{"prompt_cache_key=s1 reasoning_effort=low", "prompt_cache_key=s1 reasoning_effort=low", "prompt_cache_key=s1 reasoning_effort=high", "prompt_cache_key=s1 reasoning_effort=high"}, "x-affinity:s1"},
	{"minimax", "MiniMax-M3.2", false, [4]string{"output_config={effort:low}", "output_config={effort:low}", "output_config={effort:high}", "output_config={effort:max}"}, "thinking={type:adaptive}"},
	{"openrouter", "anthropic/claude-opus-6", false, [4]string{"reasoning={effort:low}", "reasoning={effort:low}", "reasoning={effort:high}", "reasoning={effort:max}"}, "x-session-id:s1"},
	{"openrouter", "z-ai/glm-6", false, [4]string{"reasoning={effort:low}", "reasoning={effort:low}", "reasoning={effort:high}", "reasoning={effort:max}"}, "x-session-id:s1"},
	{"openrouter", "x-ai/grok-5", false, [4]string{"reasoning={effort:low}", "reasoning={effort:low}", "reasoning={effort:high}", "reasoning={effort:xhigh}"}, "x-session-id:s1"},
	{"openrouter", "acme/some-thinking", false, [4]string{"reasoning={effort:low}", "reasoning={effort:low}", "reasoning={effort:high}", "reasoning={effort:xhigh}"}, "x-session-id:s1"},
}

func TestOffIsSaidOfAModelThatNobodyKnowsIfAUserSaysIt(t *testing.T) {
	const responsesAlways = "prompt_cache_key=s1"
	a := newAsker()
	for _, row := range []struct {
		provider, id string
		compat       map[string]any
		off, unsaid  string // what is sent for off, said by a user or not
		word         bool
	}{
		{"openai-responses", "mystery", nil, responsesAlways + " reasoning={effort:none}", responsesAlways, true},
		{"openai-responses", "mystery", map[string]any{"reasoning_efforts": map[string]any{"off": "zero"}}, responsesAlways + " reasoning={effort:zero}", responsesAlways, true},
		{"openai-responses", "mystery", map[string]any{"reasoning_efforts": map[string]any{"off": ""}}, responsesAlways, responsesAlways, false},
		{"openai-responses", "gpt-4.1", nil, responsesAlways, responsesAlways, true}, // it is known not to think
		{"anthropic-messages", "mystery", nil, "thinking={type:disabled}", "", true},
		{"anthropic-messages", "claude-3-5-haiku", nil, "", "", true},
		{"openai-completions", "mystery", nil, "", "", false},
		{"openai-completions", "mystery", map[string]any{"reasoning_efforts": map[string]any{"off": "none"}}, "reasoning_effort=none", "", true},
		{"openai-completions", "mystery", map[string]any{"thinking_format": "template"}, "chat_template_kwargs={enable_thinking:false}", "", true},
		{"openai-completions", "mystery", map[string]any{"thinking_format": "thinking"}, "thinking={type:disabled}", "", true},
		{"openai-completions", "gpt-4o", nil, "", "", true},
		{"ollama", "qwen3:8b", nil, "reasoning_effort=none", "", true},
		{"openrouter", "acme/mystery", nil, "reasoning={effort:none} x-session-id:s1", "x-session-id:s1", true},
		{"google-generative-ai", "mystery", nil, "generationConfig={thinkingConfig:{includeThoughts:false,thinkingBudget:0}}", "", true},
		// what is known of a model is said as ever
		{"anthropic", "claude-opus-5-5", nil, "output_config={effort:low} thinking={type:adaptive,display:summarized,block_binding:{prefix_mismatch_behavior:drop_block}} eager anthropic-beta:thinking-binding-controls-2026-08-01", "", true},
		{"anthropic", "claude-sonnet-4-5-20250929", nil, "eager", "eager", true},
	} {
		m := listedOrLike(row.provider, row.id)
		m.Compat = row.compat
		for _, a.said = range []bool{true, false} {
			want := row.off
			if !a.said && m.MayThink {
				want = row.unsaid
			}
			if a.ask(t, m, "off"); a.w.said() != want {
				t.Errorf("%s/%s, said by a person %v:\ngot  %s\nwant %s", row.provider, row.id, a.said, a.w.said(), want)
			}
		}
		models := llm.NewModels(a.apis)
		models.Register(llm.ProviderSpec{Name: m.Provider})
		if note := models.NoOff(m); (note == "") != row.word || !row.word && !strings.Contains(note, m.Ref()) {
			t.Errorf("%s/%s: %q", row.provider, row.id, note)
		}
	}
}

func TestALevelThatAModelLacksIsTheOneThatItsMakerMeans(t *testing.T) {
	a := newAsker()
	for _, row := range []struct{ provider, id, minimal, medium, xhigh string }{
		{"moonshot", "kimi-k3", "low", "high", "high"},
		{"moonshot", "kimi-k3.1-pro", "low", "high", "high"},
		{"kimi-coding", "k3", "low", "high", "high"},
		{"openrouter", "moonshotai/kimi-k3", "low", "high", "high"},
		{"zai", "glm-5.3", "low", "high", "high"},
		{"deepseek", "deepseek-flash", "low", "high", "high"},
		{"deepseek", "deepseek-v4-pro", "high", "high", "high"},
		{"xai", "grok-4.7", "low", "medium", "xhigh"},
		{"mistral", "mistral-large-4", "low", "medium", "high"},
		{"anthropic", "claude-opus-5-5", "low", "medium", "xhigh"},
		{"openai", "gpt-6.1-sol", "low", "medium", "xhigh"},
		{"minimax", "MiniMax-M3.1-Flash", "low", "medium", "xhigh"},
	} {
		m := listedOrLike(row.provider, row.id)
		for level, want := range map[string]string{"minimal": row.minimal, "medium": row.medium, "xhigh": row.xhigh} {
			a.ask(t, m, level)
			if said := a.w.said() + " "; !strings.Contains(said, "effort="+want+" ") && !strings.Contains(said, "effort:"+want+"}") && !strings.Contains(said, "effort:"+want+",") {
				t.Errorf("%s/%s at %s: %s, want %s", row.provider, row.id, level, said, want)
			}
		}
	}
}

// TestResultsWithImages asks about a result that is an error, and one that is none, each with
// an image.
func TestResultsWithImages(t *testing.T) {
	a := newAsker()
	image := message.Block{Type: message.BlockImage, MimeType: "image/png", Data: "QUJD"}
	call := func(id string) message.Block {
		return message.Block{Type: message.BlockToolCall, ID: id, Name: "read", Arguments: json.RawMessage("{}")}
	}
	result := func(id string, failed bool) *message.Message {
		return &message.Message{Role: message.RoleToolResult, ToolCallID: id, ToolName: "read", IsError: failed, Content: []message.Block{message.TextBlock("t"), image}}
	}
	messages := []*message.Message{{Role: message.RoleUser, Content: []message.Block{message.TextBlock("hello")}},
		{Role: message.RoleAssistant, Content: []message.Block{call("abcdefgh1"), call("abcdefgh2")}}, result("abcdefgh1", true), result("abcdefgh2", false)}
	for _, row := range []struct{ provider, id, field, want string }{
		{"anthropic", "claude-opus-5-5", "messages", `{type:tool_result,tool_use_id:abcdefgh1,content:[{type:text,text:t}],is_error:true},` +
			`{type:tool_result,tool_use_id:abcdefgh2,content:[{type:text,text:t},IMAGE]},IMAGE`},
		{"mistral", "mistral-large-4", "messages", `{role:tool,content:[{type:text,text:t},IMAGE],name:read,tool_call_id:abcdefgh1},` +
			`{role:tool,content:[{type:text,text:t},IMAGE],name:read,tool_call_id:abcdefgh2}]`},
		{"openai", "gpt-6.1-sol", "input", `output:[{type:input_text,text:t},IMAGE]},{type:function_call_output,call_id:abcdefgh2,output:[{type:input_text,text:t},IMAGE]}]`},
		{"xai", "grok-4.7", "input", `output:[{type:input_text,text:t},IMAGE]},{type:function_call_output,call_id:abcdefgh2,output:[{type:input_text,text:t},IMAGE]}]`},
		{"google", "gemini-4-argon", "contents", `response:{error:t},parts:[IMAGE]}},{functionResponse:{name:read,response:{output:t},parts:[IMAGE]}}`},
		{"moonshot", "kimi-k3", "messages", `{role:tool,content:t,tool_call_id:abcdefgh1},{role:tool,content:t,tool_call_id:abcdefgh2},` +
			`{role:user,content:[{type:text,text:Images from the tool results:},IMAGE,IMAGE]}`},
	} {
		a.ask(t, listedOrLike(row.provider, row.id), "high", messages...)
		got := strings.ReplaceAll(string(a.w.body[row.field]), `"`, "")
		for _, form := range []string{"{type:image,source:{type:base64,media_type:image/png,data:QUJD}}", "{type:image,source:{type:base64,media_type:image/png,data:QUJD},cache_control:{type:ephemeral}}",
			"{type:image_url,image_url:{url:data:image/png;base64,QUJD}}", "{type:input_image,image_url:data:image/png;base64,QUJD,detail:auto}", "{inlineData:{mimeType:image/png,data:QUJD}}"} {
			got = strings.ReplaceAll(got, form, "IMAGE")
		}
		if !strings.Contains(got, row.want) {
			t.Errorf("%s/%s:\ngot  %s\nwant %s", row.provider, row.id, got, row.want)
		}
	}
}

func TestSettingsOverrideWhatAFamilyIsAskedWith(t *testing.T) {
	a := newAsker()
	for _, row := range []struct {
		provider, id, level string
		compat              map[string]any
		want                string
	}{
		{"anthropic-messages", "claude-opus-5-5", "high", map[string]any{"block_binding": "", "eager_input_streaming": true, "session_header": "x-who"}, "output_config={effort:high} thinking={type:adaptive,display:summarized} eager"},
		{"anthropic", "claude-sonnet-5-5", "off", map[string]any{"thinking_off": "disabled", "eager_input_streaming": false}, "thinking={type:disabled}"},
		{"openai", "gpt-6.1-sol", "off", map[string]any{"reasoning_efforts": map[string]any{"low": "none"}, "session_header": "", "prompt_cache_key": false}, "include=[reasoning.encrypted_content] reasoning={effort:none,summary:auto}"},
		{"zai", "glm-5.3", "max", map[string]any{"tool_stream": false, "keep_thinking": false}, "reasoning_effort=max thinking={type:enabled}"},
		{"openrouter", "anthropic/claude-opus-5.5", "off", map[string]any{"session_header": "x-affinity"}, "reasoning={effort:low} x-affinity:s1"},
	} {
		m := listedOrLike(row.provider, row.id)
		m.Compat = row.compat
		if a.ask(t, m, row.level); a.w.said() != row.want {
			t.Errorf("%s/%s:\ngot  %s\nwant %s", row.provider, row.id, a.w.said(), row.want)
		}
	}
}
