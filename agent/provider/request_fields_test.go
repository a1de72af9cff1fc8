package provider_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"pi/agent/llm"
	"pi/session/message"
)

// fields are those of a request, by their names or the path of them, as JSON; "" is none.
type fields map[string]string

// check compares the fields with those of a body.
func (f fields) check(t *testing.T, body []byte) {
	t.Helper()
	for path, want := range f {
		value := json.RawMessage(body)
		for name := range strings.SplitSeq(path, ".") {
			var inner map[string]json.RawMessage
			if err := json.Unmarshal(value, &inner); err != nil && len(value) > 0 {
				t.Fatalf("%v: %s", err, body)
			}
			value = inner[name]
		}
		if string(value) != want {
			t.Errorf("%s is %s; want %s", path, value, want)
		}
	}
}

// switches is a table compat.
type switches = map[string]any

func TestRequestFieldsFollowModelAndServer(t *testing.T) {
	const openai, other, local = "https://api.openai.com/v1", "https://llm.example/v1", "http://127.0.0.1:1234/v1"
	const thinking = "generationConfig.thinkingConfig"
	budget := func(n string) string { return `{"includeThoughts":true,"thinkingBudget":` + n + `}` }
	level := func(w string) string { return `{"includeThoughts":true,"thinkingLevel":"` + w + `"}` }
	thinker := func(levels ...string) *llm.Model {
		return &llm.Model{BaseURL: other, Reasoning: true, Levels: levels}
	}
	for api, cases := range map[string][]struct {
		name     string
		model    *llm.Model
		thinking string
		want     fields
	}{
		"openai-completions": {
			{"openai limits completion tokens", &llm.Model{BaseURL: openai, MaxTokens: 100}, "", fields{"max_completion_tokens": "100"}},
			{"openai gets no max_tokens", &llm.Model{BaseURL: openai, MaxTokens: 100}, "", fields{"max_tokens": ""}},
			{"others limit tokens", &llm.Model{BaseURL: other, MaxTokens: 100}, "", fields{"max_tokens": "100"}},
			{"an unknown limit is not sent", &llm.Model{BaseURL: other}, "", fields{"max_tokens": ""}},
			{"the field can be chosen", &llm.Model{BaseURL: other, MaxTokens: 9, Compat: switches{"max_tokens_field": "max_completion_tokens"}}, "", fields{"max_completion_tokens": "9"}},
			{"or none", &llm.Model{BaseURL: openai, MaxTokens: 9, Compat: switches{"max_tokens_field": "none"}}, "", fields{"max_completion_tokens": ""}},
			{"openai stores nothing", &llm.Model{BaseURL: openai}, "", fields{"store": "false"}},
			{"others are not asked", &llm.Model{BaseURL: other}, "", fields{"store": ""}},
			{"openai caches by session", &llm.Model{BaseURL: openai}, "", fields{"prompt_cache_key": `"s1"`}},
			{"others do not know the key", &llm.Model{BaseURL: other}, "", fields{"prompt_cache_key": ""}},
			{"usage is asked for", &llm.Model{BaseURL: other}, "", fields{"stream_options": `{"include_usage":true}`}},
			{"unless the server refuses", &llm.Model{BaseURL: other, Compat: switches{"stream_options": false}}, "", fields{"stream_options": ""}},
			{"perplexity refuses", &llm.Model{BaseURL: "https://api.perplexity.ai"}, "", fields{"stream_options": ""}},
			{"effort", &llm.Model{BaseURL: openai, Reasoning: true}, "high", fields{"reasoning_effort": `"high"`}},
			{"no effort without reasoning", &llm.Model{BaseURL: openai}, "high", fields{"reasoning_effort": ""}},
			{"no effort when off", &llm.Model{BaseURL: openai, Reasoning: true}, "off", fields{"reasoning_effort": ""}},
			{"others know three efforts", &llm.Model{BaseURL: other, Reasoning: true}, "max", fields{"reasoning_effort": `"high"`}},
			{"more where the model offers them", &llm.Model{BaseURL: other, Reasoning: true, Levels: []string{"off", "low", "max"}}, "max", fields{"reasoning_effort": `"max"`}},
			{"off where the model offers it", &llm.Model{BaseURL: other, Reasoning: true, Levels: []string{"off", "low", "max"}}, "off", fields{"reasoning_effort": `"none"`}},
			{"words can be given", &llm.Model{BaseURL: other, Reasoning: true, Compat: switches{"reasoning_efforts": map[string]any{"off": "none"}}}, "off", fields{"reasoning_effort": `"none"`}},
			{"ollama thinks without a word", &llm.Model{Provider: "ollama", BaseURL: other, Reasoning: true}, "high", fields{"reasoning_effort": ""}},
			{"ollama off", &llm.Model{Provider: "ollama", BaseURL: other, Reasoning: true}, "off", fields{"reasoning_effort": `"none"`}},
			{"ollama has words for one family", &llm.Model{Provider: "ollama", ID: "gpt-oss:20b", BaseURL: other, Reasoning: true, Levels: []string{"low", "medium", "high"}}, "medium", fields{"reasoning_effort": `"medium"`}},
			{"which always thinks", &llm.Model{Provider: "ollama", ID: "gpt-oss:20b", BaseURL: other, Reasoning: true, Levels: []string{"low", "medium", "high"}}, "off", fields{"reasoning_effort": `"low"`}},
			{"nothing said of how much", &llm.Model{Provider: "vllm", BaseURL: other, Reasoning: true}, "", fields{"chat_template_kwargs": ""}},
			{"nor of whether", &llm.Model{BaseURL: "https://api.deepseek.com", Reasoning: true}, "", fields{"thinking": ""}},
			{"openrouter", &llm.Model{BaseURL: "https://openrouter.ai/api/v1", Reasoning: true}, "low", fields{"reasoning": `{"effort":"low"}`}},
			{"openrouter off", &llm.Model{BaseURL: "https://openrouter.ai/api/v1", Reasoning: true}, "off", fields{"reasoning": `{"effort":"none"}`}},
			{"zai", &llm.Model{BaseURL: "https://api.z.ai/api/paas/v4", Reasoning: true}, "low", fields{"thinking": `{"type":"enabled","clear_thinking":false}`}},
			{"deepseek off", &llm.Model{BaseURL: "https://api.deepseek.com", Reasoning: true}, "off", fields{"thinking": `{"type":"disabled"}`}},
			{"qwen", &llm.Model{BaseURL: "https://dashscope-intl.aliyuncs.com/compatible-mode/v1", Reasoning: true}, "low", fields{"enable_thinking": "true"}},
			{"template", &llm.Model{BaseURL: other, Reasoning: true, Compat: switches{"thinking_format": "template"}}, "low", fields{"chat_template_kwargs": `{"enable_thinking":true,"reasoning_effort":"low"}`}},
			{"template off", &llm.Model{Provider: "vllm", BaseURL: other, Reasoning: true}, "off", fields{"chat_template_kwargs": `{"enable_thinking":false}`}},
			{"together", &llm.Model{BaseURL: "https://api.together.xyz/v1", Reasoning: true}, "off", fields{"reasoning": `{"enabled":false}`}},
			{"deepseek says how much", &llm.Model{BaseURL: "https://api.deepseek.com", Reasoning: true}, "max", fields{"reasoning_effort": `"max"`}},
			{"deepseek off says nothing of it", &llm.Model{BaseURL: "https://api.deepseek.com", Reasoning: true}, "off", fields{"reasoning_effort": ""}},
			{"thoughts apart from the text", &llm.Model{BaseURL: "https://api.minimax.io/v1"}, "", fields{"reasoning_split": "true"}},
			{"extra field", &llm.Model{BaseURL: other, Compat: switches{"extra_body": map[string]any{"top_k": 5}}}, "", fields{"top_k": "5"}},
			{"extra field in place of another", &llm.Model{BaseURL: other, Compat: switches{"extra_body": map[string]any{"stream_options": nil}}}, "", fields{"stream_options": "null"}},
			{"a gateway is what its name says", &llm.Model{Provider: "openai", BaseURL: "https://gateway.example/v1"}, "", fields{"store": "false"}},
			{"the address says more than the name", &llm.Model{Provider: "openai", BaseURL: "https://api.groq.com/openai/v1"}, "", fields{"store": ""}},
			{"parallel calls can be named", &llm.Model{BaseURL: other, Compat: switches{"parallel_tool_calls": true}}, "", fields{"parallel_tool_calls": "true"}},
			{"tools can be left out", &llm.Model{BaseURL: other, Compat: switches{"tools": false}}, "", fields{"tools": ""}},
			{"tools", &llm.Model{BaseURL: other}, "", fields{"tools": `[{"type":"function","function":{"name":"ls","description":"lists","parameters":{"type":"object","properties":{"all":{"type":"boolean"}}}}}]`}},
			{"strict tools", &llm.Model{BaseURL: openai}, "", fields{"tools": `[{"type":"function","function":{"name":"ls","description":"lists","parameters":{"type":"object","properties":{"all":{"type":["boolean","null"]}},"required":["all"],"additionalProperties":false},"strict":true}}]`}},
		},
		"openai-responses": {
			{"the answer is streamed", &llm.Model{BaseURL: openai}, "", fields{"stream": "true"}},
			{"nothing is stored", &llm.Model{BaseURL: openai}, "", fields{"store": "false"}},
			{"unless the server does not know the field", &llm.Model{BaseURL: local}, "", fields{"store": ""}},
			{"thoughts are asked for in a form that can go back", &llm.Model{BaseURL: openai, Reasoning: true}, "high", fields{"include": `["reasoning.encrypted_content"]`}},
			{"even when thinking is off, for it may not be", &llm.Model{BaseURL: openai, Reasoning: true}, "off", fields{"include": `["reasoning.encrypted_content"]`}},
			{"not of models that have none", &llm.Model{BaseURL: openai}, "high", fields{"include": ""}},
			{"nor of servers that have none", &llm.Model{BaseURL: local, Reasoning: true}, "high", fields{"include": ""}},
			{"effort and summary", &llm.Model{BaseURL: openai, Reasoning: true}, "high", fields{"reasoning": `{"effort":"high","summary":"auto"}`}},
			{"models that do not reason are not asked to", &llm.Model{BaseURL: openai}, "high", fields{"reasoning": ""}},
			{"the summary can be left out", &llm.Model{BaseURL: openai, Reasoning: true, Compat: switches{"reasoning_summary": ""}}, "low", fields{"reasoning": `{"effort":"low"}`}},
			{"or be longer", &llm.Model{BaseURL: openai, Reasoning: true, Compat: switches{"reasoning_summary": "detailed"}}, "low", fields{"reasoning": `{"effort":"low","summary":"detailed"}`}},
			{"off where that is offered", thinker("off", "low", "high"), "off", fields{"reasoning": `{"effort":"none"}`}},
			{"else the lowest", thinker("minimal", "low", "high"), "off", fields{"reasoning": `{"effort":"minimal","summary":"auto"}`}},
			{"and nothing where nobody knows", thinker(), "off", fields{"reasoning": ""}},
			{"a level that is not offered is clamped", thinker("low", "medium"), "max", fields{"reasoning": `{"effort":"medium","summary":"auto"}`}},
			{"the highest level where it is offered", thinker("low", "max"), "max", fields{"reasoning": `{"effort":"max","summary":"auto"}`}},
			{"three words where nobody knows", thinker(), "xhigh", fields{"reasoning": `{"effort":"high","summary":"auto"}`}},
			{"the smallest of them", thinker(), "minimal", fields{"reasoning": `{"effort":"low","summary":"auto"}`}},
			{"nobody said how much", thinker("low"), "", fields{"reasoning": ""}},
			{"ollama thinks without a word", &llm.Model{Provider: "ollama", BaseURL: other, Reasoning: true}, "medium", fields{"reasoning": ""}},
			{"ollama off", &llm.Model{Provider: "ollama", BaseURL: other, Reasoning: true}, "off", fields{"reasoning": `{"effort":"none"}`}},
			{"ollama has words for one family", &llm.Model{Provider: "ollama", ID: "gpt-oss", BaseURL: other, Reasoning: true}, "medium", fields{"reasoning": `{"effort":"medium"}`}},
			{"words can be given", &llm.Model{BaseURL: openai, Reasoning: true, Compat: switches{"reasoning_efforts": map[string]any{"high": "huge"}}}, "high", fields{"reasoning": `{"effort":"huge","summary":"auto"}`}},
			{"a server that thinks as it likes", &llm.Model{ID: "grok-4.20-reasoning", BaseURL: "https://api.x.ai/v1", Reasoning: true}, "high", fields{"reasoning": ""}},
			{"the answer is limited", &llm.Model{BaseURL: openai, MaxTokens: 100}, "", fields{"max_output_tokens": "100"}},
			{"not below what the API takes", &llm.Model{BaseURL: openai, MaxTokens: 3}, "", fields{"max_output_tokens": "16"}},
			{"an unknown limit is not sent", &llm.Model{BaseURL: openai}, "", fields{"max_output_tokens": ""}},
			{"nor one that is not wanted", &llm.Model{BaseURL: openai, MaxTokens: 100, Compat: switches{"max_output_tokens": false}}, "", fields{"max_output_tokens": ""}},
			{"the cache goes by session", &llm.Model{BaseURL: openai}, "", fields{"prompt_cache_key": `"s1"`}},
			{"unless the server does not know the field", &llm.Model{BaseURL: local}, "", fields{"prompt_cache_key": ""}},
			{"instructions are an item", &llm.Model{BaseURL: openai}, "", fields{"instructions": ""}},
			{"or a field", &llm.Model{BaseURL: openai, Compat: switches{"instructions": true}}, "", fields{"instructions": `"be nice"`}},
			{"parallel calls are not named", &llm.Model{BaseURL: openai}, "", fields{"parallel_tool_calls": ""}},
			{"but can be", &llm.Model{BaseURL: openai, Compat: switches{"parallel_tool_calls": true}}, "", fields{"parallel_tool_calls": "true"}},
			{"tools", &llm.Model{BaseURL: other}, "", fields{"tools": `[{"type":"function","name":"ls","description":"lists","parameters":{"type":"object","properties":{"all":{"type":"boolean"}}},"strict":false}]`}},
			{"strict tools", &llm.Model{BaseURL: openai}, "", fields{"tools": `[{"type":"function","name":"ls","description":"lists","parameters":{"type":"object","properties":{"all":{"type":["boolean","null"]}},"required":["all"],"additionalProperties":false},"strict":true}]`}},
			{"tools can be left out", &llm.Model{BaseURL: openai, Compat: switches{"tools": false}}, "", fields{"tools": ""}},
			{"extra field", &llm.Model{BaseURL: openai, Compat: switches{"extra_body": map[string]any{"text": map[string]any{"verbosity": "low"}}}}, "", fields{"text": `{"verbosity":"low"}`}},
			{"extra field in place of another", &llm.Model{BaseURL: openai, Compat: switches{"extra_body": map[string]any{"store": true}}}, "", fields{"store": "true"}},
		},
		"anthropic-messages": {
			{"off", claude("claude-sonnet-4-5"), "off", fields{"max_tokens": "64000", "thinking": "", "output_config": ""}},
			{"minimal", claude("claude-sonnet-4-5"), "minimal", fields{"max_tokens": "64000", "thinking": `{"type":"enabled","budget_tokens":1024}`, "output_config": ""}},
			{"low", claude("claude-sonnet-4-5"), "low", fields{"max_tokens": "64000", "thinking": `{"type":"enabled","budget_tokens":2048}`}},
			{"medium", claude("claude-sonnet-4-5"), "medium", fields{"max_tokens": "64000", "thinking": `{"type":"enabled","budget_tokens":8192}`}},
			{"high", claude("claude-sonnet-4-5"), "high", fields{"max_tokens": "64000", "thinking": `{"type":"enabled","budget_tokens":16384}`}},
			{"adaptive by the name", claude("claude-opus-4-6"), "high", fields{"max_tokens": "64000", "thinking": `{"type":"adaptive"}`, "output_config": `{"effort":"high"}`}},
			{"adaptive by compat", &llm.Model{Reasoning: true, Compat: switches{"adaptive_thinking": true, "thinking_display": "summarized"}}, "minimal", fields{"thinking": `{"type":"adaptive","display":"summarized"}`, "output_config": `{"effort":"low"}`}},
			{"adaptive off", claude("claude-opus-4-6"), "off", fields{"max_tokens": "64000", "thinking": `{"type":"disabled"}`, "output_config": ""}},
			{"nothing said of it", claude("claude-opus-4-6"), "", fields{"max_tokens": "64000", "thinking": "", "output_config": ""}},
			{"a date is no version", claude("claude-sonnet-4-20250514"), "low", fields{"thinking": `{"type":"enabled","budget_tokens":2048}`, "output_config": ""}},
			{"a model that is not said to think is asked for what it does anyway", &llm.Model{Provider: "anthropic", ID: "claude-fable-5-2"}, "off", fields{"thinking": `{"type":"adaptive","display":"summarized","block_binding":{"prefix_mismatch_behavior":"drop_block"}}`}},
			{"tools can be left out", with(claude("claude-sonnet-4-5"), "tools", false), "low", fields{"tools": ""}},
			{"on Vertex the model stands in the address", with(claude("claude-sonnet-4-5"), "vertex", true), "", fields{"anthropic_version": `"vertex-2023-10-16"`, "model": ""}},
		},
		"google-generative-ai": {
			{"gemini-2.5-flash off", gemini("gemini-2.5-flash"), "off", fields{thinking: `{"includeThoughts":false,"thinkingBudget":0}`}},
			{"gemini-2.5-flash unsaid", gemini("gemini-2.5-flash"), "", fields{thinking: ""}},
			{"gemini-2.5-flash minimal", gemini("gemini-2.5-flash"), "minimal", fields{thinking: budget("1024")}},
			{"gemini-2.5-flash low", gemini("gemini-2.5-flash"), "low", fields{thinking: budget("2048")}},
			{"gemini-2.5-flash medium", gemini("gemini-2.5-flash"), "medium", fields{thinking: budget("8192")}},
			{"gemini-2.5-flash high", gemini("gemini-2.5-flash"), "high", fields{thinking: budget("16384")}},
			{"gemini-2.5-flash xhigh", gemini("gemini-2.5-flash"), "xhigh", fields{thinking: budget("24576")}},
			{"gemini-2.5-flash max", gemini("gemini-2.5-flash"), "max", fields{thinking: budget("24576")}},
			{"gemini-2.5-pro off", gemini("gemini-2.5-pro"), "off", fields{thinking: `{"includeThoughts":false,"thinkingBudget":128}`}},
			{"gemini-2.5-pro low", gemini("gemini-2.5-pro"), "low", fields{thinking: budget("2048")}},
			{"models/gemini-2.5-pro max", gemini("models/gemini-2.5-pro"), "max", fields{thinking: budget("32768")}},
			{"gemini-2.5-pro low", with(gemini("gemini-2.5-pro"), "thinking_budgets", map[string]any{"low": "-1"}), "low", fields{thinking: budget("-1")}},
			{"gemini-2.5-pro low", with(gemini("gemini-2.5-pro"), "thinking_budgets", map[string]any{"low": int64(4000)}), "low", fields{thinking: budget("4000")}},
			{"gemini-2.5-pro low", with(gemini("gemini-2.5-pro"), "thinking_budgets", map[string]any{"low": 4000.0}), "low", fields{thinking: budget("4000")}},
			{"gemini-2.5-pro low", with(gemini("gemini-2.5-pro"), "thinking_budgets", map[string]any{"low": ""}), "low", fields{thinking: `{"includeThoughts":true}`}},
			{"gemini-3-flash-preview off", gemini("gemini-3-flash-preview"), "off", fields{thinking: `{"includeThoughts":false,"thinkingLevel":"MINIMAL"}`}},
			{"gemini-3-flash-preview minimal", gemini("gemini-3-flash-preview"), "minimal", fields{thinking: level("MINIMAL")}},
			{"gemini-3-flash-preview low", gemini("gemini-3-flash-preview"), "low", fields{thinking: level("LOW")}},
			{"gemini-3-flash-preview medium", gemini("gemini-3-flash-preview"), "medium", fields{thinking: level("MEDIUM")}},
			{"gemini-3-flash-preview high", gemini("gemini-3-flash-preview"), "high", fields{thinking: level("HIGH")}},
			{"gemini-3-flash-preview xhigh", gemini("gemini-3-flash-preview"), "xhigh", fields{thinking: level("HIGH")}},
			{"gemini-3.6-flash max", gemini("gemini-3.6-flash"), "max", fields{thinking: level("HIGH")}},
			{"gemini-3-pro-preview off", gemini("gemini-3-pro-preview"), "off", fields{thinking: `{"includeThoughts":false,"thinkingLevel":"LOW"}`}},
			{"gemini-3-pro-preview minimal", gemini("gemini-3-pro-preview"), "minimal", fields{thinking: level("LOW")}},
			{"gemini-3-pro-preview medium", gemini("gemini-3-pro-preview"), "medium", fields{thinking: level("HIGH")}},
			{"gemini-3.1-pro-preview medium", gemini("gemini-3.1-pro-preview"), "medium", fields{thinking: level("MEDIUM")}},
			{"gemini-4-pro low", gemini("gemini-4-pro"), "low", fields{thinking: level("LOW")}},
			{"gemini-flash-lite-latest low", gemini("gemini-flash-lite-latest"), "low", fields{thinking: level("LOW")}},
			{"gemini-2.5-flash-latest low", gemini("gemini-2.5-flash-latest"), "low", fields{thinking: budget("2048")}},
			{"gemini-2.0-flash high", gemini("gemini-2.0-flash"), "high", fields{thinking: ""}},
			{"gemma-3-27b-it high", gemini("gemma-3-27b-it"), "high", fields{thinking: ""}},
			{"my-tuned-model low", gemini("my-tuned-model"), "low", fields{thinking: budget("2048")}},
			{"my-tuned-model low", with(gemini("my-tuned-model"), "thinking_format", "level"), "low", fields{thinking: level("LOW")}},
			{"gemini-3-pro low", with(gemini("gemini-3-pro"), "thinking_format", "none"), "low", fields{thinking: ""}},
			{"there is nothing to say", &llm.Model{ID: "gemini-2.5-pro"}, "high", fields{"generationConfig": ""}},
			{"tools", &llm.Model{}, "", fields{"tools": `[{"functionDeclarations":[{"name":"ls","description":"lists","parameters":{"type":"OBJECT","properties":{"all":{"type":"BOOLEAN"}}}}]}]`, "toolConfig": "", "systemInstruction": `{"parts":[{"text":"be nice"}]}`}},
		},
	} {
		for _, c := range cases {
			t.Run(api+"/"+c.name, func(t *testing.T) {
				c.model.API = api
				_, body := sent(t, &llm.Request{Model: c.model, SessionID: "s1", Thinking: c.thinking, System: "be nice",
					Tools: []llm.ToolSpec{{Name: "ls", Description: "lists", Parameters: []byte(`{"type":"object","properties":{"all":{"type":"boolean"}}}`)}}})
				c.want.check(t, body)
			})
		}
	}
}

// A session id is a key of the cache; of a long one the length goes that is accepted.
func TestALongSessionIDIsCutAsACacheKey(t *testing.T) {
	for _, m := range []*llm.Model{chatModel("openai", "m", ""), itemModel("openai", "m", "")} {
		_, body := sent(t, &llm.Request{Model: m, SessionID: strings.Repeat("s", 65)})
		fields{"prompt_cache_key": `"` + strings.Repeat("s", 64) + `"`}.check(t, body)
	}
}

func TestThoughtsLeaveRoomForTheAnswer(t *testing.T) {
	enabled := func(n string) string { return `{"type":"enabled","budget_tokens":` + n + `}` }
	for _, c := range []struct {
		name       string
		model      *llm.Model
		level      string
		own, asked int
		prompt     int // characters
		want       fields
	}{
		{"a small limit grows", claude("claude-sonnet-4-5"), "medium", 64000, 1000, 0, fields{"max_tokens": "9192", "thinking": enabled("8168")}},
		{"as far as the model goes", claude("claude-sonnet-4-5"), "high", 8192, 4000, 0, fields{"max_tokens": "8192", "thinking": enabled("7168")}},
		{"no room at all", claude("claude-sonnet-4-5"), "high", 2000, 0, 0, fields{"max_tokens": "2000", "thinking": ""}},
		{"unknown limit", claude("claude-sonnet-4-5"), "low", 0, 0, 0, fields{"max_tokens": "10240", "thinking": enabled("2048")}},
		// 120,000 tokens and a few, and 18,000 stay free
		{"no more than the window holds", claude("claude-sonnet-4-5"), "high", 64000, 64000, 360_000, fields{"max_tokens": "61996", "thinking": enabled("16384")}},
		{"all that the model has", gemini("gemini-2.5-flash"), "high", 65536, 0, 0, fields{"generationConfig": `{"maxOutputTokens":65536,"thinkingConfig":{"includeThoughts":true,"thinkingBudget":16384}}`}},
		{"a short answer grows", gemini("gemini-2.5-flash"), "low", 65536, 1000, 0, fields{"generationConfig": `{"maxOutputTokens":3048,"thinkingConfig":{"includeThoughts":true,"thinkingBudget":2024}}`}},
		{"by levels too", gemini("gemini-3-flash"), "low", 65536, 1000, 0, fields{"generationConfig": `{"maxOutputTokens":3048,"thinkingConfig":{"includeThoughts":true,"thinkingLevel":"LOW"}}`}},
		{"as far as the model goes", gemini("gemini-2.5-flash"), "high", 8192, 4000, 0, fields{"generationConfig": `{"maxOutputTokens":8192,"thinkingConfig":{"includeThoughts":true,"thinkingBudget":7168}}`}},
		{"no room at all", gemini("gemini-2.5-flash"), "high", 1200, 0, 0, fields{"generationConfig": `{"maxOutputTokens":1200,"thinkingConfig":{"includeThoughts":true,"thinkingBudget":512}}`}},
		{"unknown limit", gemini("gemini-2.5-flash"), "off", 0, 0, 0, fields{"generationConfig": `{"thinkingConfig":{"includeThoughts":false,"thinkingBudget":0}}`}},
		// 60,000 tokens and a few, and 9,000 stay free
		{"no more than the window holds", gemini("gemini-2.5-flash"), "low", 65536, 39_000, 180_000, fields{"generationConfig": `{"maxOutputTokens":30996,"thinkingConfig":{"includeThoughts":true,"thinkingBudget":2048}}`}},
	} {
		t.Run(c.model.ID+"/"+c.name, func(t *testing.T) {
			r := &llm.Request{Model: c.model, Thinking: c.level, MaxTokens: c.asked}
			if c.model.MaxTokens = c.own; c.prompt > 0 {
				c.model.ContextWindow = map[string]int{"anthropic": 200_000, "google": 100_000}[c.model.Provider]
				r.Messages = []*message.Message{userSays(text(strings.Repeat("x", c.prompt)))}
			}
			_, body := sent(t, r)
			c.want.check(t, body)
		})
	}
}

func TestAnotherThinkingLevelChangesNothingElse(t *testing.T) {
	asks := fields{"reasoning_effort": "", "reasoning": "", "thinking": "", "enable_thinking": "", "chat_template_kwargs": "", "output_config": "", "generationConfig": ""}
	models := []*llm.Model{claude("claude-sonnet-4-5"), claude("claude-opus-4-6"), gemini("gemini-2.5-pro"), gemini("gemini-3-pro-preview"), itemModel("openai", "m", "https://api.openai.com/v1")}
	for _, base := range []string{"https://api.openai.com/v1", "https://openrouter.ai/api/v1", "https://api.deepseek.com/v1", "https://api.z.ai/api/paas/v4", "https://dashscope.aliyuncs.com/compatible-mode/v1"} {
		models = append(models, chatModel("p", "m", base))
	}
	for _, m := range models {
		m.Reasoning = true
		r := &llm.Request{Model: m, System: "s", SessionID: "s1", Thinking: "low",
			Messages: []*message.Message{userSays(text("go")), modelSays(m, thinks("hm", "reasoning_content"), text("a")), userSays(text("on"))}}
		first := bodyFields(t, r)
		for _, level := range []string{"off", "medium", "high", "max"} {
			r.Thinking = level
			for name, value := range bodyFields(t, r) {
				if _, ok := asks[name]; !ok && string(first[name]) != string(value) {
					t.Errorf("%s, %s: %s changed: %s, %s", m.BaseURL, level, name, first[name], value)
				}
			}
		}
	}
}

func TestToolsOfGeminiAreDescribedInTheFormThatIsAskedFor(t *testing.T) {
	tools := []llm.ToolSpec{
		{Name: "read", Description: "reads <it>", Parameters: json.RawMessage(`{"type":"object","properties":{"path":{"const":"a"}},"additionalProperties":false}`)},
		{Name: "ls", Parameters: json.RawMessage(`{"type":"object","properties":{}}`)},
	}
	for _, c := range []struct {
		compat switches
		want   fields
	}{
		{nil, fields{"tools": `[{"functionDeclarations":[{"name":"read","description":"reads <it>","parameters":{"type":"OBJECT","properties":{"path":{"type":"STRING","enum":["a"]}}}},{"name":"ls","description":""}]}]`}},
		{switches{"schema": "json", "tool_mode": "VALIDATED"}, fields{"toolConfig": `{"functionCallingConfig":{"mode":"VALIDATED"}}`,
			"tools": `[{"functionDeclarations":[{"name":"read","description":"reads <it>","parametersJsonSchema":{"type":"object","properties":{"path":{"const":"a"}},"additionalProperties":false}},{"name":"ls","description":"","parametersJsonSchema":{"type":"object","properties":{}}}]}]`}},
	} {
		m := gemini("gemini-2.5-pro")
		m.Compat = c.compat
		_, body := sent(t, &llm.Request{Model: m, Tools: tools})
		c.want.check(t, body)
	}
}

// headers are those of a request; "" is none.
type headers map[string]string

func TestAddressAndHeaders(t *testing.T) {
	const here = "https://generativelanguage.googleapis.com"
	for _, c := range []struct {
		name      string
		model     *llm.Model
		base, key string
		compat    switches
		url       string
		want      headers
	}{
		{"plain", claude("claude-sonnet-4-5"), "https://api.anthropic.com", "k", nil, "https://api.anthropic.com/v1/messages", headers{"X-Api-Key": "k"}},
		{"base with version", claude("claude-sonnet-4-5"), "https://x.example/v1", "k", nil, "https://x.example/v1/messages", headers{"Anthropic-Version": "2023-06-01"}},
		{"base with query", claude("claude-sonnet-4-5"), "https://x.example?a=b", "k", nil, "https://x.example/v1/messages?a=b", headers{"Authorization": ""}},
		{"bearer", claude("claude-sonnet-4-5"), "https://x.example", "k", switches{"auth": "bearer"}, "https://x.example/v1/messages", headers{"Authorization": "Bearer k"}},
		{"token", claude("claude-sonnet-4-5"), "https://api.anthropic.com", "sk-ant-oat-1", nil, "https://api.anthropic.com/v1/messages", headers{"Authorization": "Bearer sk-ant-oat-1"}},
		{"vertex", claude("claude-sonnet-4-5"), "https://r-aiplatform.googleapis.com/v1/publishers/anthropic/models", "k", switches{"vertex": true}, "https://r-aiplatform.googleapis.com/v1/publishers/anthropic/models/claude-sonnet-4-5:streamRawPredict", headers{"Authorization": "Bearer k"}},
		{"beta", claude("claude-sonnet-4-5"), "https://x.example", "k", switches{"beta": "a-1", "interleaved": false}, "https://x.example/v1/messages", headers{"Anthropic-Beta": "a-1"}},
		{"interleaved", claude("claude-sonnet-4-5"), "https://api.anthropic.com", "k", nil, "https://api.anthropic.com/v1/messages", headers{"Anthropic-Beta": "interleaved-thinking-2025-05-14"}},
		{"plain", gemini("gemini-x"), here + "/v1beta", "k", nil, here + "/v1beta/models/gemini-x:streamGenerateContent?alt=sse", headers{"X-Goog-Api-Key": "k"}},
		{"no version", gemini("gemini-x"), here + "/", " k\n", nil, here + "/v1beta/models/gemini-x:streamGenerateContent?alt=sse", headers{"X-Goog-Api-Key": "k"}},
		{"no key", gemini("gemini-x"), here + "/v1beta", "", nil, here + "/v1beta/models/gemini-x:streamGenerateContent?alt=sse", headers{"X-Goog-Api-Key": ""}},
		{"token", gemini("gemini-x"), here + "/v1beta", "ya29.t", nil, here + "/v1beta/models/gemini-x:streamGenerateContent?alt=sse", headers{"Authorization": "Bearer ya29.t"}},
		{"tuned", gemini("tunedModels/my one"), here + "/v1beta", "k", nil, here + "/v1beta/tunedModels/my%20one:streamGenerateContent?alt=sse", headers{"Authorization": ""}},
		{"base with query", gemini("gemini-x"), "https://x.example/gemini?a=b", "k", nil, "https://x.example/gemini/models/gemini-x:streamGenerateContent?a=b&alt=sse", headers{"X-Goog-Api-Key": "k"}},
		{"bearer", gemini("gemini-x"), "https://x.example/v1", "k", switches{"auth": "bearer"}, "https://x.example/v1/models/gemini-x:streamGenerateContent?alt=sse", headers{"Authorization": "Bearer k"}},
		{"vertex", gemini("gemini-x"), "https://us-east5-aiplatform.googleapis.com/v1/projects/p/locations/us-east5/publishers/google", "t", nil, "https://us-east5-aiplatform.googleapis.com/v1/projects/p/locations/us-east5/publishers/google/models/gemini-x:streamGenerateContent?alt=sse", headers{"Authorization": "Bearer t"}},
		{"vertex with a key", gemini("gemini-x"), "https://aiplatform.googleapis.com/v1/publishers/google", "k", switches{"auth": "x-goog-api-key"}, "https://aiplatform.googleapis.com/v1/publishers/google/models/gemini-x:streamGenerateContent?alt=sse", headers{"X-Goog-Api-Key": "k"}},
		{"vertex says no version beside", claude("m"), "https://x.example", "k", switches{"vertex": true}, "https://x.example/m:streamRawPredict", headers{"Anthropic-Version": ""}},
		{"without tools there is nothing between calls", claude("claude-sonnet-4-5"), "https://x.example", "k", switches{"tools": false, "eager_input_streaming": true, "interleaved": true}, "https://x.example/v1/messages", headers{"Anthropic-Beta": ""}},
		{"plain", itemModel("p", "m", ""), "https://api.openai.com/v1", " k\n", nil, "https://api.openai.com/v1/responses", headers{"Authorization": "Bearer k", "Api-Key": ""}},
		{"azure", itemModel("p", "m", ""), "https://r.openai.azure.com/openai/v1?api-version=1", " k\n", nil, "https://r.openai.azure.com/openai/v1/responses?api-version=1", headers{"Authorization": "Bearer k", "Api-Key": "k"}},
		{"plain", chatModel("p", "m", ""), "https://api.openai.com/v1", "k", nil, "https://api.openai.com/v1/chat/completions", headers{"Authorization": "Bearer k"}},
	} {
		t.Run(c.model.API+"/"+c.name, func(t *testing.T) {
			c.model.BaseURL, c.model.Compat = c.base, c.compat
			out, _ := sent(t, &llm.Request{Model: c.model, APIKey: c.key, Thinking: "low", Tools: []llm.ToolSpec{{Name: "ls"}}})
			if out.URL.String() != c.url {
				t.Errorf("%s; want %s", out.URL, c.url)
			}
			for name, want := range c.want {
				if got := out.Header.Get(name); got != want {
					t.Errorf("%s: %q", name, got)
				}
			}
		})
	}
}

func TestOnlyThinkingBetweenCallsIsABeta(t *testing.T) {
	tools := []llm.ToolSpec{{Name: "ls"}}
	for _, r := range []llm.Request{{Thinking: "low"}, {Thinking: "off", Tools: tools}, {Tools: tools}} {
		r.Model = claude("claude-sonnet-4-5")
		if out, _ := sent(t, &r); out.Header.Get("Anthropic-Beta") != "" {
			t.Errorf("%+v: %v", r, out.Header)
		}
	}
}

func TestSwitchesAreChecked(t *testing.T) {
	for api, c := range map[string]struct {
		good switches
		bad  []switches
	}{
		"openai-completions": {switches{"store": true, "max_tokens_field": "none"}, []switches{{"stroe": true}, {"max_tokens_field": "tokens"}}},
		"openai-responses":   {switches{"store": true, "reasoning_summary": "concise"}, []switches{{"stroe": true}, {"reasoning_summary": "none"}, {"strict": "yes"}}},
		"anthropic-messages": {switches{"cache": true, "thinking_off": "low"}, []switches{{"cahce": true}, {"cache_ttl": "1d"}}},
		"google-generative-ai": {switches{"auth": "bearer", "thinking_format": "none", "thinking_budgets": switches{"low": "1"}, "schema": "json", "tool_images": "turn", "placeholder_signature": true, "tool_mode": "ANY"},
			[]switches{{"thinking": "level"}, {"auth": "password"}, {"thinking_format": "effort"}, {"schema": true}, {"tool_images": "user"}, {"placeholder_signature": "yes"}, {"tool_mode": "auto"}, {"thinking_levels": switches{"often": "HIGH"}},
				{"thinking_budgets": switches{"low": "much"}}, {"thinking_budgets": switches{"low": 0.5}}, {"thinking_budgets": switches{"low": true}}, {"thinking_budgets": switches{"low": []any{"1"}}}}},
	} {
		if err := wireAPI(t, api).CheckCompat(c.good); err != nil {
			t.Error(err)
		}
		for _, bad := range c.bad {
			for name := range bad {
				err := wireAPI(t, api).CheckCompat(bad)
				if err == nil || !strings.Contains(err.Error(), name) || name == "thinking_budgets" && !strings.Contains(err.Error(), "whole number") {
					t.Errorf("%s: %v: %v", api, bad, err)
				}
			}
		}
	}
}

func TestARequestIsNotSentWithASwitchOfTheWrongType(t *testing.T) {
	for api, name := range map[string]string{"anthropic-messages": "cache", "openai-completions": "store", "openai-responses": "store", "google-generative-ai": "placeholder_signature"} {
		p := client(t, api)(&http.Client{Transport: roundTrip(func(*http.Request) (*http.Response, error) {
			t.Errorf("%s: sent", api)
			return nil, errSeen
		})})
		for _, err := range p.Stream(t.Context(), &llm.Request{Model: with(modelOf(api), name, "yes")}) {
			if err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("%s: %v", api, err)
			}
		}
	}
}

func TestARefusalNamesItsSwitch(t *testing.T) {
	const ofModel = ` in a section [[providers.acme.models]] of config.toml with id = "m"`
	const noTools, noThoughts, noLevels = "(--no-tools), or write compat = { tools = false }" + ofModel, "write reasoning = false" + ofModel,
		`write compat = { reasoning_efforts = { minimal = "", low = "", medium = "", high = "", xhigh = "", max = "" } }` + ofModel
	for api, said := range map[string]map[string]string{ // "": no switch
		"openai-completions": {
			"registry.ollama.ai/library/x does not support tools":    noTools,
			`"x" does not support thinking`:                          noThoughts,
			`think value "medium" is not supported for this model`:   noLevels,
			"Unrecognized request argument supplied: store":          "store = false",
			"Unsupported parameter: 'strict'":                        "strict = false",
			"Extra inputs are not permitted: stream_options":         "stream_options = false",
			"Unknown parameter: 'prompt_cache_key'.":                 "prompt_cache_key = false",
			"Unknown parameter: 'prompt_cache_retention'.":           `cache_retention = "short"`,
			"Unknown parameter: 'prompt_cache_options'.":             `cache_retention = "short"`,
			"Unrecognized request argument supplied: tool_stream":    "tool_stream = false",
			"temperature is too high":                                "",
			"reasoning_effort must be one of low, medium, high":      "",
			"Unsupported value: 'reasoning_effort' does not support": "reasoning_efforts",
		},
		"openai-responses": {
			"Your organization must be verified to generate reasoning summaries.":               `compat.reasoning_summary = ""`,
			"Unsupported parameter: 'reasoning.summary' is not supported by this model.":        `compat.reasoning_summary = ""`,
			"Unsupported parameter: 'reasoning.effort' is not supported.":                       "compat.reasoning_efforts",
			"Encrypted content is not supported with this model.":                               "compat.encrypted_reasoning = false",
			"registry.ollama.ai/library/say:latest does not support tools":                      noTools,
			`think value "medium" is not supported for this model`:                              noLevels,
			`"say:latest" does not support thinking`:                                            noThoughts,
			"Unknown parameter: 'prompt_cache_key'.":                                            "compat.prompt_cache_key = false",
			"Unknown parameter: 'prompt_cache_options'.":                                        `compat.cache_retention = "short"`,
			"prompt_cache_retention is not supported for this model.":                           `compat.cache_retention = "short"`,
			"Item 'rs_1' of type 'reasoning' was provided without its required following item.": "",
		},
		"anthropic-messages": {
			`"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.`: "adaptive_thinking = true of [providers.acme]",
			"adaptive thinking is not supported on this model":                                            "adaptive_thinking = false",
			"This model does not support effort level 'xhigh'. Supported levels: high, low, max, medium.": "/thinking",
			"output_config: Extra inputs are not permitted":                                               "adaptive_thinking = false",
			"Unexpected value(s) `interleaved-thinking-2025-05-14` for the `anthropic-beta` header.":      "interleaved = false",
			"Unexpected value(s) `thinking-binding-controls-2026-08-01` for the `anthropic-beta` header.": `block_binding = "" of`,
			"thinking.adaptive.block_binding: Extra inputs are not permitted":                             `block_binding = "" of`,
			"thinking.adaptive.block_binding.prefix_mismatch_behavior: Extra inputs are not permitted":    `block_binding = "" of`,
			"Invalid `signature` in `thinking` block. The block is bound to a different conversation. That setting requires the `thinking-binding-controls-2026-08-01` value in the `anthropic-beta` header.": `block_binding = "drop_block" of`,
			"system.0.cache_control: Extra inputs are not permitted":                                         "cache = false",
			`"thinking.type.disabled" is not supported for this model.`:                                      `thinking_off = "low" of`,
			"thinking: Input tag 'between_tools' found using 'type' does not match any of the expected tags": `thinking_off = "disabled" of`,
			"tools.0.custom.eager_input_streaming: Extra inputs are not permitted":                           "eager_input_streaming = false",
			"system.0.cache_control.ttl: Extra inputs are not permitted":                                     `cache_ttl = "" of`,
			"registry.ollama.ai/library/say:latest does not support tools":                                   noTools,
			`"say:latest" does not support thinking`:                                                         noThoughts,
			"messages: roles must alternate":                                                                 "",
		},
		"google-generative-ai": {
			"Function call is missing a thought_signature in functionCall parts.":   "compat.placeholder_signature = true of [providers.acme]",
			"User location is not supported for the API use.":                       "where you are",
			"API key not valid. Please pass a valid API key.":                       "api_key",
			"The input token count (1048577) exceeds the maximum number of tokens.": "/compact",
		},
	} {
		for message, want := range said {
			hint := func(status int) string {
				return refused(t, api, "acme", status, `{"error":{"code":"x","status":"INVALID_ARGUMENT","message":`+quoted(message)+`}}`).NextStep
			}
			if got := hint(400); !strings.Contains(got, want) || want == "" && strings.Contains(got, "compat") {
				t.Errorf("%s: %s: %q", api, message, got)
			}
			if got := hint(500); strings.Contains(got, "compat") {
				t.Errorf("%s: %s: HTTP 500: %q", api, message, got)
			}
		}
	}
}
