package openai

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"pi/agent/llm"
	"pi/internal/testing/wiretest"
	"pi/session/message"
)

func encoded(t *testing.T, r *llm.Request) []byte {
	t.Helper()
	call, err := encode(r)
	if err != nil {
		t.Fatal(err)
	}
	return call.Body
}

func TestAGrowingConversationIsOnlyEverAddedTo(t *testing.T) {
	tools := []llm.ToolSpec{{Name: "read", Parameters: json.RawMessage(`{"type":"object"}`)}}
	servers := []struct {
		base, id string
		check    func([]byte) error
	}{
		{"https://api.openai.com/v1", "gpt-5.4", wiretest.CheckChat},
		{"https://openrouter.ai/api/v1", "anthropic/claude-opus-4.6", wiretest.CheckChat},
		{"https://api.mistral.ai/v1", "devstral", wiretest.CheckMistral},
		{"https://api.deepseek.com/v1", "deepseek-v4", wiretest.CheckDeepSeek},
		{"http://127.0.0.1:11434/v1", "qwen3", wiretest.CheckChat},
	}
	for _, server := range servers {
		m := modelOf("p", server.id, server.base)
		m.Reasoning = true
		for seed := range uint64(30) {
			var before []byte
			for _, messages := range wiretest.Growing(seed, m, 10) {
				r := &llm.Request{Model: m, System: "s", Tools: tools, Messages: messages, Thinking: "low", SessionID: "s1"}
				body := encoded(t, r)
				if again := encoded(t, r); !bytes.Equal(again, body) {
					t.Fatalf("the same request twice:\n%s\n%s", body, again)
				}
				if err := server.check(body); err != nil {
					t.Fatalf("%s, seed %d: %v", server.base, seed, err)
				}
				if before != nil {
					wiretest.Continues(t, "messages", before, body)
				}
				if markers := strings.Count(string(body), `"cache_control"`); (markers > 0) != strings.HasPrefix(server.id, "anthropic/") || markers > 4 {
					t.Fatalf("%s: %d markers", server.base, markers)
				}
				before = body
			}
		}
	}
}

func TestAnotherThinkingLevelChangesNothingElse(t *testing.T) {
	thinks := []string{"reasoning_effort", "reasoning", "thinking", "enable_thinking", "chat_template_kwargs"}
	for _, base := range []string{"https://api.openai.com/v1", "https://openrouter.ai/api/v1", "https://api.deepseek.com/v1", "https://api.z.ai/api/paas/v4", "https://dashscope.aliyuncs.com/compatible-mode/v1"} {
		m := modelOf("p", "m", base)
		m.Reasoning = true
		r := &llm.Request{Model: m, System: "s", SessionID: "s1", Thinking: "low",
			Messages: []*message.Message{userSays(text("go")), modelSays(m, thought("hm", "reasoning_content"), text("a")), userSays(text("on"))}}
		first := body(t, r)
		for _, level := range []string{"off", "medium", "max"} {
			r.Thinking = level
			for name, value := range body(t, r) {
				if !slices.Contains(thinks, name) && string(first[name]) != string(value) {
					t.Errorf("%s, %s: %s changed: %s, %s", base, level, name, first[name], value)
				}
			}
		}
	}
}
