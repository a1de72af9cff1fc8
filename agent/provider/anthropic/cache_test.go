package anthropic

import (
	"bytes"
	"encoding/json"
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
	for seed := range uint64(60) {
		m := model("claude-sonnet-4-5")
		var before []byte
		for _, messages := range wiretest.Growing(seed, m, 12) {
			body := encoded(t, &llm.Request{Model: m, System: "s", Tools: tools, Messages: messages, Thinking: "low"})
			if again := encoded(t, &llm.Request{Model: m, System: "s", Tools: tools, Messages: messages, Thinking: "low"}); !bytes.Equal(again, body) {
				t.Fatalf("the same request twice:\n%s\n%s", body, again)
			}
			if err := wiretest.CheckMessages(body); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			if before != nil {
				wiretest.Continues(t, "messages", before, body)
				checkMarkers(t, before, body)
			}
			before = body
		}
	}
}

// marked returns the blocks of a body that carry markers, as they stand without
// them, and how many markers there are in all.
func marked(t *testing.T, body []byte) (blocks []string, all int) {
	t.Helper()
	var q struct {
		Messages []struct{ Content []map[string]json.RawMessage }
	}
	if err := json.Unmarshal(body, &q); err != nil {
		t.Fatal(err)
	}
	for _, m := range q.Messages {
		for _, b := range m.Content {
			if b["cache_control"] == nil {
				continue
			}
			delete(b, "cache_control")
			text, err := json.Marshal(b)
			if err != nil {
				t.Fatal(err)
			}
			blocks = append(blocks, string(text))
		}
	}
	return blocks, strings.Count(string(body), `"cache_control"`)
}

func checkMarkers(t *testing.T, first, second []byte) {
	t.Helper()
	before, _ := marked(t, first)
	after, all := marked(t, second)
	if all > 4 || len(after) != 2 || all != 3 {
		t.Fatalf("%d markers, %d of them on messages", all, len(after))
	}
	newest := before[len(before)-1]
	if after[0] != newest && after[1] != newest {
		t.Fatalf("what was newest is not marked any more: %s\nmarked: %s", newest, after)
	}
	for _, b := range after {
		if strings.Contains(b, `"type":"thinking"`) || strings.Contains(b, `"text":""`) {
			t.Fatalf("a marker on %s", b)
		}
	}
}

func TestAnotherThinkingLevelChangesNothingElse(t *testing.T) {
	for _, id := range []string{"claude-sonnet-4-5", "claude-opus-4-6"} {
		m := model(id)
		messages := []*message.Message{says(message.RoleUser, text("go")), modelSays(m, message.Block{Type: message.BlockThinking, Text: "hm", Signature: "s"}, text("a")), says(message.RoleUser, text("on"))}
		first := body(t, &llm.Request{Model: m, System: "s", Messages: messages, Thinking: "low"})
		for _, level := range []string{"off", "high", "max"} {
			for name, value := range body(t, &llm.Request{Model: m, System: "s", Messages: messages, Thinking: level}) {
				if name != "thinking" && name != "output_config" && string(first[name]) != string(value) {
					t.Errorf("%s: %s changed: %s, %s", level, name, first[name], value)
				}
			}
		}
	}
}
