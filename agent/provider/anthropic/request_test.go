package anthropic

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"pi/agent/llm"
	"pi/agent/provider"
	"pi/session/message"
)

func says(role message.Role, blocks ...message.Block) *message.Message {
	return &message.Message{Role: role, Content: blocks}
}

func modelSays(m *llm.Model, blocks ...message.Block) *message.Message {
	return &message.Message{Role: message.RoleAssistant, API: m.API, Provider: m.Provider, Model: m.ID, Content: blocks}
}

func toolSays(id string, failed bool, blocks ...message.Block) *message.Message {
	return &message.Message{Role: message.RoleToolResult, ToolCallID: id, ToolName: "read", IsError: failed, Content: blocks}
}

func callBlock(id string) message.Block {
	return message.Block{Type: message.BlockToolCall, ID: id, Name: "read", Arguments: json.RawMessage(`{"a":1}`)}
}

func text(s string) message.Block { return message.TextBlock(s) }

var picture = message.Block{Type: message.BlockImage, Data: "QUJD", MimeType: "image/png"}

func model(id string) *llm.Model {
	return &llm.Model{Provider: "anthropic", ID: id, API: "anthropic-messages", BaseURL: "https://api.anthropic.com", MaxTokens: 64000, Reasoning: true}
}

func body(t *testing.T, r *llm.Request) map[string]json.RawMessage {
	t.Helper()
	call, err := encode(r)
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(call.Body, &fields); err != nil {
		t.Fatalf("%v: %s", err, call.Body)
	}
	return fields
}

func TestThinkingLeavesRoomForTheAnswer(t *testing.T) {
	cases := []struct {
		name, id, level  string
		own, asked       int
		compat           map[string]any
		max, think, effs string
	}{
		{"off", "claude-sonnet-4-5", "off", 64000, 0, nil, "64000", "", ""},
		{"minimal", "claude-sonnet-4-5", "minimal", 64000, 0, nil, "64000", `{"type":"enabled","budget_tokens":1024}`, ""},
		{"low", "claude-sonnet-4-5", "low", 64000, 0, nil, "64000", `{"type":"enabled","budget_tokens":2048}`, ""},
		{"medium", "claude-sonnet-4-5", "medium", 64000, 0, nil, "64000", `{"type":"enabled","budget_tokens":8192}`, ""},
		{"high", "claude-sonnet-4-5", "high", 64000, 0, nil, "64000", `{"type":"enabled","budget_tokens":16384}`, ""},
		{"a small limit grows", "claude-sonnet-4-5", "medium", 64000, 1000, nil, "9192", `{"type":"enabled","budget_tokens":8168}`, ""},
		{"as far as the model goes", "claude-sonnet-4-5", "high", 8192, 4000, nil, "8192", `{"type":"enabled","budget_tokens":7168}`, ""},
		{"no room at all", "claude-sonnet-4-5", "high", 2000, 0, nil, "2000", "", ""},
		{"unknown limit", "claude-sonnet-4-5", "low", 0, 0, nil, "10240", `{"type":"enabled","budget_tokens":2048}`, ""},
		{"adaptive by the name", "claude-opus-4-6", "high", 64000, 0, nil, "64000", `{"type":"adaptive"}`, `{"effort":"high"}`},
		{"adaptive by compat", "sonnet", "minimal", 64000, 0, map[string]any{"adaptive_thinking": true, "thinking_display": "summarized"}, "64000", `{"type":"adaptive","display":"summarized"}`, `{"effort":"low"}`},
		{"adaptive off", "claude-opus-4-6", "off", 64000, 0, nil, "64000", `{"type":"disabled"}`, ""},
		{"nothing said of it", "claude-opus-4-6", "", 64000, 0, nil, "64000", "", ""},
		{"a date is no version", "claude-sonnet-4-20250514", "low", 64000, 0, nil, "64000", `{"type":"enabled","budget_tokens":2048}`, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			m := model(c.id)
			m.MaxTokens, m.Compat = c.own, c.compat
			got := body(t, &llm.Request{Model: m, Thinking: c.level, MaxTokens: c.asked})
			if string(got["max_tokens"]) != c.max || string(got["thinking"]) != c.think || string(got["output_config"]) != c.effs {
				t.Errorf("max_tokens %s, thinking %s, output_config %s", got["max_tokens"], got["thinking"], got["output_config"])
			}
		})
	}
}

func TestThinkingDoesNotAskForMoreThanTheWindowHolds(t *testing.T) {
	m := model("claude-sonnet-4-5")
	m.ContextWindow = 200_000
	long := says(message.RoleUser, text(strings.Repeat("x", 360_000))) // 120,000 tokens and a few, and 18,000 stay free
	got := body(t, &llm.Request{Model: m, Thinking: "high", MaxTokens: m.MaxTokens, Messages: []*message.Message{long}})
	if want := "61996"; string(got["max_tokens"]) != want || string(got["thinking"]) != `{"type":"enabled","budget_tokens":16384}` {
		t.Errorf("max_tokens %s, thinking %s; want %s", got["max_tokens"], got["thinking"], want)
	}
}

func TestNoBudgetInATurnThatBeganWithoutAThought(t *testing.T) {
	m, other := model("claude-sonnet-4-5"), model("claude-haiku-4-5")
	signed := message.Block{Type: message.BlockThinking, Text: "hm", Signature: "sig"}
	withheld := message.Block{Type: message.BlockThinking, Redacted: true, Signature: "opaque"}
	result := toolSays("a", false, text("x"))
	cases := []struct {
		name string
		turn []*message.Message
		want bool
	}{
		{"a prompt", nil, true},
		{"its own calls", []*message.Message{modelSays(m, signed, callBlock("a")), result}, true},
		{"its own calls, the thought withheld", []*message.Message{modelSays(m, withheld, callBlock("a")), result}, true},
		{"calls it made without thinking", []*message.Message{modelSays(m, callBlock("a")), result}, false},
		{"calls of another model", []*message.Message{modelSays(other, signed, callBlock("a")), result}, false},
		{"later calls without a thought", []*message.Message{modelSays(m, signed, callBlock("a")), result, modelSays(m, callBlock("b")), toolSays("b", false)}, true},
		{"later calls with one", []*message.Message{modelSays(m, callBlock("a")), result, modelSays(m, signed, callBlock("b")), toolSays("b", false)}, false},
		{"steering beside the results", []*message.Message{modelSays(m, callBlock("a")), result, says(message.RoleUser, text("on"))}, false},
		{"another prompt", []*message.Message{modelSays(m, text("a")), says(message.RoleUser, text("on"))}, true},
		{"an answer to be continued", []*message.Message{modelSays(m, signed, text("a"))}, true},
		{"one without a thought", []*message.Message{modelSays(m, text("a"))}, false},
	}
	for _, c := range cases {
		r := &llm.Request{Model: m, Thinking: "low", Messages: append([]*message.Message{says(message.RoleUser, text("go"))}, c.turn...)}
		if got := body(t, r)["thinking"]; (got != nil) != c.want {
			t.Errorf("%s: thinking %s", c.name, got)
		}
	}
}

func TestMessagesAreWrittenAsTheServerTakesThem(t *testing.T) {
	m, other := model("claude-sonnet-4-5"), model("claude-haiku-4-5")
	m.Compat = map[string]any{"cache": false}
	signed := message.Block{Type: message.BlockThinking, Text: "hm", Signature: "sig"}
	withheld := message.Block{Type: message.BlockThinking, Redacted: true, Signature: "opaque"}
	use := func(id string) string { return `{"type":"tool_use","id":"` + id + `","name":"read","input":{"a":1}}` }
	cases := []struct {
		name string
		in   []*message.Message
		want string
	}{
		{"users join", []*message.Message{says(message.RoleUser, text("a")), says(message.RoleUser, text(" "), text("b"), picture)},
			`[{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"QUJD"}}]}]`},
		{"results come first and together", []*message.Message{modelSays(m, callBlock("a"), callBlock("b")), toolSays("a", false, text("x")), says(message.RoleUser, text("stop")), toolSays("b", true)},
			`[{"role":"assistant","content":[` + use("a") + `,` + use("b") + `]},{"role":"user","content":[` +
				`{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"x"}]},{"type":"tool_result","tool_use_id":"b","content":[{"type":"text","text":"(no output)"}],"is_error":true},{"type":"text","text":"stop"}]}]`},
		{"image in a result", []*message.Message{toolSays("a", false, picture)},
			`[{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"QUJD"}}]}]}]`},
		{"images behind failed results", []*message.Message{modelSays(m, callBlock("a"), callBlock("b")), toolSays("a", true, text("no"), picture), toolSays("b", true, picture)},
			`[{"role":"assistant","content":[` + use("a") + `,` + use("b") + `]},{"role":"user","content":[` +
				`{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"no"}],"is_error":true},{"type":"tool_result","tool_use_id":"b","content":[{"type":"text","text":"(the image follows)"}],"is_error":true},` +
				`{"type":"image","source":{"type":"base64","media_type":"image/png","data":"QUJD"}},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"QUJD"}}]}]`},
		{"own thoughts unchanged", []*message.Message{modelSays(m, signed, withheld, text("a"))},
			`[{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"sig"},{"type":"redacted_thinking","data":"opaque"},{"type":"text","text":"a"}]}]`},
		{"own thought without text", []*message.Message{modelSays(m, message.Block{Type: message.BlockThinking, Signature: "sig"}, text("a"))},
			`[{"role":"assistant","content":[{"type":"thinking","thinking":"","signature":"sig"},{"type":"text","text":"a"}]}]`},
		{"another model's thoughts", []*message.Message{modelSays(other, signed, withheld, text("a"))},
			`[{"role":"assistant","content":[{"type":"text","text":"hm"},{"type":"text","text":"a"}]}]`},
		{"unsigned thought", []*message.Message{modelSays(m, message.Block{Type: message.BlockThinking, Text: "hm"})},
			`[{"role":"assistant","content":[{"type":"text","text":"hm"}]}]`},
		{"foreign ids on both sides", []*message.Message{modelSays(other, callBlock("functions.add:0")), toolSays("functions.add:0", false, text("x"))},
			`[{"role":"assistant","content":[` + use("functions_add_0") + `]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"functions_add_0","content":[{"type":"text","text":"x"}]}]}]`},
		{"no blanks at the very end", []*message.Message{says(message.RoleUser, text("a")), modelSays(m, text("so far \n"))},
			`[{"role":"user","content":[{"type":"text","text":"a"}]},{"role":"assistant","content":[{"type":"text","text":"so far"}]}]`},
		{"an empty answer is left out", []*message.Message{says(message.RoleUser, text("a")), modelSays(m, text("")), says(message.RoleUser, text("b"))},
			`[{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}]`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := string(body(t, &llm.Request{Model: m, Messages: c.in})["messages"]); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestCacheMarkersStandOnSystemAndTheTwoNewestUserBlocks(t *testing.T) {
	m := model("claude-sonnet-4-5")
	conversation := []*message.Message{
		says(message.RoleUser, text("one")), modelSays(m, callBlock("a")), toolSays("a", false, text("two")),
		modelSays(m, callBlock("b")), toolSays("b", false, text("three")),
	}
	r := &llm.Request{Model: m, System: "s", Messages: conversation, Tools: []llm.ToolSpec{{Name: "read"}}}
	q := body(t, r)
	if n := strings.Count(string(q["system"]), "cache_control"); n != 1 {
		t.Errorf("system has %d", n)
	}
	if strings.Contains(string(q["tools"]), "cache_control") {
		t.Error("tools are covered by the system prompt")
	}
	var messages []json.RawMessage
	if err := json.Unmarshal(q["messages"], &messages); err != nil {
		t.Fatal(err)
	}
	for i, want := range []bool{false, false, true, false, true} {
		if got := strings.Contains(string(messages[i]), `"cache_control":{"type":"ephemeral"}`); got != want {
			t.Errorf("message %d: %s", i, messages[i])
		}
	}
	r.System = ""
	if q := body(t, r); !strings.Contains(string(q["tools"]), "cache_control") {
		t.Error("without a system prompt the tools should be marked")
	}
}

func TestAddressAndHeaders(t *testing.T) {
	cases := []struct {
		name, base, key string
		compat          map[string]any
		url             string
		header, value   string
	}{
		{"plain", "https://api.anthropic.com", "k", nil, "https://api.anthropic.com/v1/messages", "X-Api-Key", "k"},
		{"base with version", "https://x.example/v1/", "k", nil, "https://x.example/v1/messages", "Anthropic-Version", "2023-06-01"},
		{"base with query", "https://x.example?a=b", "k", nil, "https://x.example/v1/messages?a=b", "Authorization", ""},
		{"bearer", "https://x.example", "k", map[string]any{"auth": "bearer"}, "https://x.example/v1/messages", "Authorization", "Bearer k"},
		{"token", "https://api.anthropic.com", "sk-ant-oat-1", nil, "https://api.anthropic.com/v1/messages", "Authorization", "Bearer sk-ant-oat-1"},
		{"vertex", "https://r-aiplatform.googleapis.com/v1/publishers/anthropic/models", "k", map[string]any{"vertex": true},
			"https://r-aiplatform.googleapis.com/v1/publishers/anthropic/models/claude-sonnet-4-5:streamRawPredict", "Authorization", "Bearer k"},
		{"beta", "https://x.example", "k", map[string]any{"beta": "a-1", "interleaved": false}, "https://x.example/v1/messages", "Anthropic-Beta", "a-1"},
		{"interleaved", "https://api.anthropic.com", "k", nil, "https://api.anthropic.com/v1/messages", "Anthropic-Beta", "interleaved-thinking-2025-05-14"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			m := model("claude-sonnet-4-5")
			m.BaseURL, m.Compat = strings.TrimSuffix(c.base, "/"), c.compat
			call, err := encode(&llm.Request{Model: m, APIKey: c.key, Thinking: "low", Tools: []llm.ToolSpec{{Name: "ls"}}})
			if err != nil {
				t.Fatal(err)
			}
			if call.URL != c.url || call.Header.Get(c.header) != c.value {
				t.Errorf("%s, %s: %q", call.URL, c.header, call.Header.Get(c.header))
			}
		})
	}
}

func TestOnVertexTheModelStandsInTheAddress(t *testing.T) {
	m := model("claude-sonnet-4-5")
	m.Compat = map[string]any{"vertex": true}
	r := &llm.Request{Model: m, APIKey: "k"}
	if q := body(t, r); string(q["anthropic_version"]) != `"vertex-2023-10-16"` || q["model"] != nil {
		t.Errorf("anthropic_version %s, model %s", q["anthropic_version"], q["model"])
	}
	if call, err := encode(r); err != nil || call.Header.Get("Anthropic-Version") != "" {
		t.Errorf("%v, %v", call.Header, err)
	}
}

func TestOnlyThinkingBetweenCallsIsABeta(t *testing.T) {
	tools := []llm.ToolSpec{{Name: "ls"}}
	for _, r := range []llm.Request{{Thinking: "low"}, {Thinking: "off", Tools: tools}, {Tools: tools}} {
		r.Model = model("claude-sonnet-4-5")
		if call, err := encode(&r); err != nil || call.Header.Get("Anthropic-Beta") != "" {
			t.Errorf("%+v: %v, %v", r, call.Header, err)
		}
	}
}

func TestALongRequestIsTheSameAsWrittenAtOnce(t *testing.T) {
	m := &llm.Model{Provider: "p", ID: `m","messages":[]`, API: "anthropic-messages", BaseURL: "https://llm.example", MaxTokens: 100}
	r := &llm.Request{Model: m, System: `<"messages":[]>`, Tools: []llm.ToolSpec{{Name: "ls", Parameters: []byte(`{"messages":[]}`)}}}
	for range 3 {
		r.Messages = append(r.Messages,
			&message.Message{Role: message.RoleUser, Content: []message.Block{message.TextBlock(strings.Repeat("<a & b>\n", 80_000))}},
			&message.Message{Role: message.RoleAssistant, Content: []message.Block{message.TextBlock("ok")}})
	}
	c, err := compatOf(m)
	if err != nil {
		t.Fatal(err)
	}
	v := newConversation(c, r)
	for _, m := range r.Messages {
		v.Add(m)
	}
	want, err := provider.Encode(c.request(r, v))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := encode(r); err != nil || !bytes.Equal(got.Body, want) {
		t.Errorf("%d bytes, not %d: %v", len(got.Body), len(want), err)
	}
}

func TestToolsCanBeLeftOut(t *testing.T) {
	m := model("claude-sonnet-4-5")
	m.Compat = map[string]any{"tools": false, "eager_input_streaming": true}
	r := &llm.Request{Model: m, Thinking: "low", Tools: []llm.ToolSpec{{Name: "ls"}}}
	call, err := encode(r)
	if tools := body(t, r)["tools"]; err != nil || tools != nil || call.Header.Get("Anthropic-Beta") != "" {
		t.Errorf("tools %s, %v, %v", tools, call.Header, err)
	}
}

// encode makes the call of a request that nothing was written of before.
func encode(r *llm.Request) (*provider.Call, error) { return new(api).encode(r) }

// encodeTwice encodes a request with what is kept of the one before it, which has to be
// what it is as a whole.
func encodeTwice(t *testing.T, kept *api, r *llm.Request) (*provider.Call, error) {
	t.Helper()
	c, err := compatOf(r.Model)
	if err != nil {
		t.Fatal(err)
	}
	v := newConversation(c, r)
	for _, m := range r.Messages {
		v.Add(m)
	}
	whole, err := provider.Encode(c.request(r, v))
	if err != nil {
		t.Fatal(err)
	}
	call, err := kept.encode(r)
	if err == nil && !bytes.Equal(call.Body, whole) {
		t.Fatalf("%s\nas a whole\n%s", call.Body, whole)
	}
	return call, err
}
