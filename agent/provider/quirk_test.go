package provider

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pi/agent/llm"
)

// inForce lists what the table says of a model, as its switches end up.
func inForce(m *llm.Model) string {
	values := map[string]string{}
	var words Words
	for name, value := range quirksOf(m) {
		values[name] = fmt.Sprint(value)
		if name == "reasoning_efforts" {
			words.add(value)
			values[name] = fmt.Sprint(map[string]string(words))
		}
	}
	var list []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		list = append(list, name+"="+values[name])
	}
	return strings.Join(list, " ")
}

func TestWhatIsKnownOfEachServer(t *testing.T) {
	const older = "developer_role=false encrypted_reasoning=false prompt_cache_key=false"
	const few = "minimal:minimal off:none xhigh:xhigh"
	const unasked = "high: low: max: medium: minimal: off:none xhigh:"
	cases := []struct{ api, base, id, want string }{
		{chat, "https://api.openai.com/v1", "gpt-4.1", "long_cache=24h max_tokens_field=max_completion_tokens prompt_cache_key=true session_header=session_id x-client-request-id store=true strict=true"},
		{chat, "https://api.openai.com/v1", "o3!", "always_thinks=true developer_role=true long_cache=24h max_tokens_field=max_completion_tokens prompt_cache_key=true session_header=session_id x-client-request-id store=true strict=true"},
		{chat, "https://api.openai.com/v1", "o1-mini!", "always_thinks=true developer_role=false long_cache=24h max_tokens_field=max_completion_tokens prompt_cache_key=true session_header=session_id x-client-request-id store=true strict=true"},
		{chat, "https://api.openai.com/v1", "gpt-5-mini!", "always_thinks=true developer_role=true long_cache=24h max_tokens_field=max_completion_tokens prompt_cache_key=true reasoning_efforts=map[minimal:minimal] session_header=session_id x-client-request-id store=true strict=true"},
		{responses, "https://api.openai.com/v1", "gpt-5.4!", "long_cache=24h reasoning_efforts=map[max:xhigh minimal:low off:none xhigh:xhigh] session_header=session-id x-client-request-id strict=true"},
		{responses, "https://api.openai.com/v1", "gpt-5.6-sol!", "long_cache=30m reasoning_efforts=map[max:max minimal:low off:none xhigh:xhigh] session_header=session-id x-client-request-id strict=true"},
		{responses, "https://api.openai.com/v1", "gpt-5.2-codex!", "long_cache=24h reasoning_efforts=map[max:xhigh minimal:low off: xhigh:xhigh] session_header=session-id x-client-request-id strict=true"},
		{chat, "https://r.openai.azure.com/openai/v1", "gpt-4.1", "auth=both max_tokens_field=max_completion_tokens"},
		{chat, "https://r.services.ai.azure.com/models?api-version=1", "grok-4", "always_thinks=true auth=both max_tokens_field=max_completion_tokens"},
		{chat, "https://openrouter.ai/api/v1", "x/y", "reasoning_efforts=map[" + few + "] session_header=x-session-id thinking_format=reasoning usage_cost=true"},
		{chat, "https://openrouter.ai/api/v1", "anthropic/claude", "cache_control=true reasoning_efforts=map[" + few + "] session_header=x-session-id thinking_format=reasoning usage_cost=true"},
		{chat, "https://OpenRouter.ai/api/v1", "Anthropic/Claude", "cache_control=true reasoning_efforts=map[" + few + "] session_header=x-session-id thinking_format=reasoning usage_cost=true"},
		{chat, "https://ai-gateway.vercel.sh/v1", "x/y", "reasoning_efforts=map[" + few + "] thinking_format=reasoning usage_cost=true"},
		{chat, "https://api.groq.com/openai/v1", "openai/gpt-oss-120b", "always_thinks=true max_tokens_field=max_completion_tokens"},
		{chat, "https://api.groq.com/openai/v1", "qwen/qwen3-32b", "max_tokens_field=max_completion_tokens reasoning_efforts=map[high:default low:default max:default medium:default minimal:default off:none xhigh:default]"},
		{chat, "https://api.x.ai/v1", "grok-4", "always_thinks=true thinking_format=none"},
		{chat, "https://api.x.ai/v1", "grok-4.5", "always_thinks=true reasoning_efforts=map[off:low] thinking_format=reasoning_effort"},
		{chat, "https://api.x.ai/v1", "grok-3-mini", "always_thinks=true reasoning_efforts=map[medium:high] thinking_format=reasoning_effort"},
		{chat, "https://api.deepseek.com/v1", "deepseek-v4-pro!", "reasoning_efforts=map[high:high low:high max:max medium:high minimal:high xhigh:max] require_reasoning=true string_content=true thinking_format=thinking"},
		{chat, "https://api.mistral.ai/v1", "devstral", "assistant_after_tools=true prompt_cache_key=true reasoning_efforts=map[low:high medium:high minimal:high off:none] session_header=x-affinity stream_options=false thinking_format=none tool_call_ids=nine tool_result_images=true tool_result_name=true"},
		{chat, "https://api.mistral.ai/v1", "mistral-small-latest", "assistant_after_tools=true prompt_cache_key=true reasoning_efforts=map[low:high medium:high minimal:high off:none] session_header=x-affinity stream_options=false thinking_format=reasoning_effort tool_call_ids=nine tool_result_images=true tool_result_name=true"},
		{chat, "https://api.cerebras.ai/v1", "gpt-oss-120b", "always_thinks=true max_tokens_field=max_completion_tokens string_content=true"},
		{chat, "https://api.cerebras.ai/v1", "zai-glm-4.7", "max_tokens_field=max_completion_tokens string_content=true thinking_format=none"},
		{chat, "https://api.together.xyz/v1", "moonshotai/Kimi-K2.6", "thinking_format=reasoning_enabled"},
		{chat, "https://api.together.xyz/v1", "openai/gpt-oss-120b", "always_thinks=true thinking_format=reasoning_effort"},
		{chat, "https://api.fireworks.ai/inference/v1", "accounts/fireworks/models/glm-5p2", "reasoning_efforts=map[max:max off:none xhigh:xhigh] session_header=x-session-affinity"},
		{chat, "https://router.huggingface.co/v1", "x/y", ""},
		{chat, "https://api.moonshot.ai/v1", "kimi-k3!", "always_thinks=true reasoning_efforts=map[high:high low:low max:max medium:high minimal:low off:low xhigh:max] require_reasoning=true thinking_format=reasoning_effort"},
		{chat, "https://api.moonshot.cn/v1", "moonshot-v1-8k", "thinking_format=thinking"},
		{chat, "https://api.z.ai/api/coding/paas/v4", "glm-4.7", "keep_thinking=true thinking_format=thinking tool_stream=true"},
		{chat, "https://open.bigmodel.cn/api/paas/v4", "glm-5.2", "keep_thinking=true reasoning_efforts=map[high:high low:high max:max medium:high minimal:high xhigh:max] thinking_format=thinking tool_stream=true"},
		{chat, "https://coding-intl.dashscope.aliyuncs.com/v1", "qwen3", "thinking_format=enable_thinking"},
		{chat, "https://dashscope-intl.aliyuncs.com/compatible-mode/v1", "qwen3", "thinking_format=enable_thinking"},
		{chat, "https://api.minimax.io/v1", "MiniMax-M3", "max_tokens_field=max_completion_tokens reasoning_split=true thinking_format=thinking"},
		{claude, "https://api.minimaxi.com/anthropic", "MiniMax-M3", ""},
		{chat, "https://o-a.snowflakecomputing.com/api/v2/cortex/v1", "m", "max_tokens_field=max_completion_tokens"},
		{chat, "https://api.perplexity.ai", "sonar", "stream_options=false string_content=true thinking_format=none tools=false"},
		{chat, "https://api.githubcopilot.com", "m", "thinking_format=none"},
		{chat, "https://api.avian.io/v1", "m", ""},
		{chat, "https://ollama.com/v1", "m", "reasoning_efforts=map[" + unasked + "]"},
		{chat, "https://notollama.com/v1", "m", "string_content=true"},
		{chat, "https://ollama.com.example/v1", "m", "string_content=true"},
		{chat, "http://127.0.0.1:11434/v1", "m", "reasoning_efforts=map[" + unasked + "]"},
		{chat, "http://[::1]:11434/v1", "m", "reasoning_efforts=map[" + unasked + "]"},
		{chat, "ollama", "gpt-oss:20b", "always_thinks=true reasoning_efforts=map[high:high low:low max:high medium:medium minimal:low off:none xhigh:high]"},
		{responses, "http://127.0.0.1:11434/v1", "qwen3:8b", older + " reasoning_efforts=map[" + unasked + "] reasoning_summary= store=false tool_result_images=false"},
		{responses, "http://127.0.0.1:11434/v1", "gpt-oss:120b-cloud", older + " reasoning_efforts=map[high:high low:low max:high medium:medium minimal:low off:none xhigh:high] reasoning_summary= store=false tool_result_images=false"},
		{claude, "http://127.0.0.1:11434", "qwen3:8b", ""},
		{chat, "http://gpu.lan:11434/v1", "m", "string_content=true"},
		{chat, "http://127.0.0.1:8000/v1", "m", "string_content=true"},
		{chat, "http://127.0.0.1:1234/v1", "m", ""},
		{responses, "http://127.0.0.1:8000/v1", "m", ""},
		{chat, "vllm", "Qwen/Qwen3-32B", "thinking_format=template"},
		{chat, "vllm", "openai/gpt-oss-20b", "always_thinks=true thinking_format=reasoning_effort"},
		{chat, "llama.cpp", "m", "thinking_format=template"},
		{chat, "zhipu-coding", "glm-4.7", "keep_thinking=true thinking_format=thinking tool_stream=true"},
		{chat, "nobody", "m", "string_content=true"},
		{responses, "https://api.deepseek.com/v1", "m", older + " reasoning_efforts=map[max:max medium:high off:none xhigh:max] reasoning_summary= store=false tool_result_images=false"},
		{responses, "http://127.0.0.1:1234/v1", "m", older + " reasoning_summary= store=false tool_result_images=false"},
		{responses, "https://api.x.ai/v1", "grok-4.20-reasoning", "developer_role=false reasoning_efforts=map[high: low: max: medium: minimal: xhigh:] reasoning_summary="},
		{responses, "https://api.x.ai/v1", "grok-3-mini", "developer_role=false reasoning_efforts=map[high:high low:low max:high medium:high minimal:low xhigh:high] reasoning_summary="},
		{responses, "https://openrouter.ai/api/v1", "x/y", "developer_role=false message_ids=true reasoning_efforts=map[" + few + "] session_header=x-session-id usage_cost=true"},
		{responses, "https://r.openai.azure.com/openai/v1", "m", "auth=both strict=true"},
		{gemini, "https://europe-west1-aiplatform.googleapis.com/v1/projects/p/locations/l/publishers/google", "m", "auth=bearer"},
		{claude, "https://api.anthropic.com", "claude-sonnet-4-5", "eager_input_streaming=true interleaved=true long_cache=1h"},
		{claude, "https://us-east5-aiplatform.googleapis.com/v1", "claude-opus-4-1@20250805", "auth=bearer long_cache=1h vertex=true"},
		{claude, "https://openrouter.ai/api", "anthropic/claude-opus-4.6", "adaptive_thinking=true auth=bearer long_cache=1h reasoning_efforts=map[xhigh:max] session_header=x-session-id"},
		{claude, "https://openrouter.ai/api", "anthropic/claude-haiku-5.5", "adaptive_thinking=true auth=bearer block_binding= long_cache=1h session_header=x-session-id thinking_display=summarized"},
		{claude, "https://proxy.example", "claude-haiku-5-5", "adaptive_thinking=true block_binding=drop_block long_cache=1h thinking_display=summarized"},
		{claude, "https://api.anthropic.com", "claude-opus-4-8", "adaptive_thinking=true eager_input_streaming=true interleaved=true long_cache=1h thinking_display=summarized"},
		{chat, "https://api.x.ai/v1", "grok-4.3!", "reasoning_efforts=map[off:none] thinking_format=reasoning_effort"},
		{chat, "https://api.x.ai/v1", "grok-4.20-reasoning!", "always_thinks=true thinking_format=none"},
		{claude, "https://api.kimi.com/coding", "kimi-for-coding", ""},
	}
	for _, c := range cases {
		m := &llm.Model{API: c.api, BaseURL: c.base}
		m.ID, m.Reasoning = strings.CutSuffix(c.id, "!")
		if !strings.Contains(c.base, "/") {
			m.Provider, m.BaseURL = c.base, "https://gateway.example/v1"
		}
		if got := inForce(m); got != c.want {
			t.Errorf("%s %s %s:\ngot  %s\nwant %s", c.api, c.base, c.id, got, c.want)
		}
	}
}

func TestClaudeThinksAdaptivelyFromVersion46On(t *testing.T) {
	for id, want := range map[string]bool{
		"claude-3-5-sonnet-20241022": false, "claude-3-7-sonnet-latest": false, "claude-sonnet-4-20250514": false, "claude-opus-4-1-20250805": false,
		"claude-opus-4-5-20251101": false, "claude-haiku-4-5": false, "claude-sonnet-4-5@20250929": false, "anthropic/claude-opus-4.5": false,
		"us.anthropic.claude-sonnet-4-20250514-v1:0": false, "kimi-k2-0905": false, "claude-sonnet-4-0": false, "claude-opus-4": false,
		"claude-opus-4-6": true, "claude-sonnet-4-6-20260217": true, "anthropic/claude-opus-4.7": true, "claude-mythos-5": true, "claude-fable-5": true,
		"claude-sonnet-5": true, "claude-sonnet-5-1-20270101": true, "claude-haiku-6": true, "global.anthropic.claude-opus-4-6-v1:0": true, "claude-opus-10": true,
	} {
		got := strings.Contains(inForce(&llm.Model{API: claude, ID: id}), "adaptive_thinking=true")
		if got != want {
			t.Errorf("%s: %v", id, got)
		}
	}
}

func TestTheTableIsWellFormed(t *testing.T) {
	named := map[string]bool{}
	for _, k := range kinds {
		if named[k.server] {
			t.Errorf("%s stands there twice", k.server)
		}
		named[k.server] = true
	}
	used := map[string]bool{}
	for _, row := range allRows() {
		for server := range strings.FieldsSeq(row.servers) {
			used[server] = true
			if !named[server] && server != strangers {
				t.Errorf("%+v: nobody knows a server %s", row, server)
			}
		}
		for api := range strings.FieldsSeq(row.apis) {
			if !slices.Contains([]string{chat, responses, claude, gemini}, api) {
				t.Errorf("%+v: there is no api %s", row, api)
			}
		}
		if row.name == "" || row.value == nil {
			t.Errorf("%+v says nothing", row)
		}
	}
	for server := range named {
		if !used[server] {
			t.Errorf("nothing is known of %s; it needs no name", server)
		}
	}
}

func TestTheConfigurationWinsOverTheTable(t *testing.T) {
	var field string
	var words Words
	store := false
	s := Switches{"max_tokens_field": OneOf(&field, "max_tokens", "max_completion_tokens"), "store": &store, "reasoning_efforts": &words}
	m := &llm.Model{Provider: "mine", API: chat, ID: "gpt-5.4", BaseURL: "https://api.openai.com/v1", Compat: map[string]any{
		"max_tokens_field": "max_tokens", "reasoning_efforts": map[string]any{"max": "huge"}, "of_another_api": 1,
	}}
	if err := s.Set(m); err != nil || field != "max_tokens" || !store || words["max"] != "huge" || words["xhigh"] != "xhigh" {
		t.Errorf("%v, %q, %v, %v", err, field, store, words)
	}
	for name, value := range map[string]any{
		"max_tokens_field": "max_token", "store": "yes", "reasoning_efforts": map[string]any{"hihg": "x"},
	} {
		m.Compat = map[string]any{name: value}
		err := s.Set(m)
		if e, ok := err.(*llm.ProviderError); !ok || !strings.Contains(e.Message, "compat "+name+" cannot be") || !strings.Contains(e.NextStep, "compat."+name+" of [providers.mine]") {
			t.Errorf("%s: %v", name, err)
		}
		if s.Check(m.Compat) == nil {
			t.Errorf("%s is not checked", name)
		}
	}
	if e, ok := s.Check(map[string]any{"stroe": true}).(*UnknownSwitch); !ok || e.Name != "stroe" || len(e.Known) != 3 {
		t.Errorf("%+v", e)
	}
}

func BenchmarkQuirksOfOneModel(b *testing.B) {
	m := &llm.Model{API: chat, ID: "anthropic/claude-opus-4.6", BaseURL: "https://openrouter.ai/api/v1", Reasoning: true}
	for b.Loop() {
		for range quirksOf(m) {
		}
	}
}
