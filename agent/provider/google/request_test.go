package google

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

func callBlock(id, signature string) message.Block {
	return message.Block{Type: message.BlockToolCall, ID: id, Name: "read", Arguments: json.RawMessage(`{"a":1}`), Signature: signature}
}

func text(s string) message.Block { return message.TextBlock(s) }

var picture = message.Block{Type: message.BlockImage, Data: "QUJD", MimeType: "image/png"}

func model(id string) *llm.Model {
	return &llm.Model{Provider: "google", ID: id, API: "google-generative-ai", BaseURL: "https://generativelanguage.googleapis.com/v1beta", MaxTokens: 65536, Reasoning: true}
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

func TestThinkingIsAskedForAsEachModelTakesIt(t *testing.T) {
	budget := func(n string) string { return `{"includeThoughts":true,"thinkingBudget":` + n + `}` }
	level := func(w string) string { return `{"includeThoughts":true,"thinkingLevel":"` + w + `"}` }
	cases := []struct {
		id, level, want string
		compat          map[string]any
	}{
		{"gemini-2.5-flash", "off", `{"includeThoughts":false,"thinkingBudget":0}`, nil},
		{"gemini-2.5-flash", "", "", nil},
		{"gemini-2.5-flash", "minimal", budget("1024"), nil},
		{"gemini-2.5-flash", "low", budget("2048"), nil},
		{"gemini-2.5-flash", "medium", budget("8192"), nil},
		{"gemini-2.5-flash", "high", budget("16384"), nil},
		{"gemini-2.5-flash", "xhigh", budget("24576"), nil},
		{"gemini-2.5-flash", "max", budget("24576"), nil},
		{"gemini-2.5-pro", "off", `{"includeThoughts":false,"thinkingBudget":128}`, nil},
		{"gemini-2.5-pro", "low", budget("2048"), nil},
		{"models/gemini-2.5-pro", "max", budget("32768"), nil},
		{"gemini-2.5-pro", "low", budget("-1"), map[string]any{"thinking_budgets": map[string]any{"low": "-1"}}},
		{"gemini-2.5-pro", "low", budget("4000"), map[string]any{"thinking_budgets": map[string]any{"low": int64(4000)}}},
		{"gemini-2.5-pro", "low", budget("4000"), map[string]any{"thinking_budgets": map[string]any{"low": 4000.0}}},
		{"gemini-2.5-pro", "low", `{"includeThoughts":true}`, map[string]any{"thinking_budgets": map[string]any{"low": ""}}},
		{"gemini-3-flash-preview", "off", `{"includeThoughts":false,"thinkingLevel":"MINIMAL"}`, nil},
		{"gemini-3-flash-preview", "minimal", level("MINIMAL"), nil},
		{"gemini-3-flash-preview", "low", level("LOW"), nil},
		{"gemini-3-flash-preview", "medium", level("MEDIUM"), nil},
		{"gemini-3-flash-preview", "high", level("HIGH"), nil},
		{"gemini-3-flash-preview", "xhigh", level("HIGH"), nil},
		{"gemini-3.6-flash", "max", level("HIGH"), nil},
		{"gemini-3-pro-preview", "off", `{"includeThoughts":false,"thinkingLevel":"LOW"}`, nil},
		{"gemini-3-pro-preview", "minimal", level("LOW"), nil},
		{"gemini-3-pro-preview", "medium", level("HIGH"), nil},
		{"gemini-3.1-pro-preview", "medium", level("MEDIUM"), nil},
		{"gemini-4-pro", "low", level("LOW"), nil},
		{"gemini-flash-lite-latest", "low", level("LOW"), nil},
		{"gemini-2.5-flash-latest", "low", budget("2048"), nil},
		{"gemini-2.0-flash", "high", "", nil},
		{"gemma-3-27b-it", "high", "", nil},
		{"my-tuned-model", "low", budget("2048"), nil},
		{"my-tuned-model", "low", level("LOW"), map[string]any{"thinking_format": "level"}},
		{"gemini-3-pro", "low", "", map[string]any{"thinking_format": "none"}},
	}
	for _, c := range cases {
		m := model(c.id)
		m.Compat = c.compat
		var g struct{ ThinkingConfig json.RawMessage }
		if err := json.Unmarshal(body(t, &llm.Request{Model: m, Thinking: c.level})["generationConfig"], &g); err != nil || string(g.ThinkingConfig) != c.want {
			t.Errorf("%s %s: %s, %v; want %s", c.id, c.level, g.ThinkingConfig, err, c.want)
		}
	}
	m := model("gemini-2.5-pro")
	m.Reasoning, m.MaxTokens = false, 0
	if got, ok := body(t, &llm.Request{Model: m, Thinking: "high"})["generationConfig"]; ok {
		t.Errorf("there is nothing to say, but %s", got)
	}
}

func TestABudgetThatIsNoNumberIsRefused(t *testing.T) {
	for _, budget := range []any{"much", 0.5, true, []any{"1"}} {
		values := map[string]any{"thinking_budgets": map[string]any{"low": budget}}
		if err := CheckCompat(values); err == nil || !strings.Contains(err.Error(), "whole number") {
			t.Errorf("%v: %v", budget, err)
		}
	}
}

func TestThoughtsLeaveRoomForTheAnswer(t *testing.T) {
	cases := []struct {
		name, id, level string
		own, asked      int
		want            string
	}{
		{"all that the model has", "gemini-2.5-flash", "high", 65536, 0, `{"maxOutputTokens":65536,"thinkingConfig":{"includeThoughts":true,"thinkingBudget":16384}}`},
		{"a short answer grows", "gemini-2.5-flash", "low", 65536, 1000, `{"maxOutputTokens":3048,"thinkingConfig":{"includeThoughts":true,"thinkingBudget":2024}}`},
		{"by levels too", "gemini-3-flash", "low", 65536, 1000, `{"maxOutputTokens":3048,"thinkingConfig":{"includeThoughts":true,"thinkingLevel":"LOW"}}`},
		{"as far as the model goes", "gemini-2.5-flash", "high", 8192, 4000, `{"maxOutputTokens":8192,"thinkingConfig":{"includeThoughts":true,"thinkingBudget":7168}}`},
		{"no room at all", "gemini-2.5-flash", "high", 1200, 0, `{"maxOutputTokens":1200,"thinkingConfig":{"includeThoughts":true,"thinkingBudget":512}}`},
		{"unknown limit", "gemini-2.5-flash", "off", 0, 0, `{"thinkingConfig":{"includeThoughts":false,"thinkingBudget":0}}`},
	}
	for _, c := range cases {
		m := model(c.id)
		m.MaxTokens = c.own
		if got := string(body(t, &llm.Request{Model: m, Thinking: c.level, MaxTokens: c.asked})["generationConfig"]); got != c.want {
			t.Errorf("%s: %s; want %s", c.name, got, c.want)
		}
	}
}

func TestThoughtsDoNotAskForMoreThanTheWindowHolds(t *testing.T) {
	m := model("gemini-2.5-flash")
	m.ContextWindow = 100_000
	long := says(message.RoleUser, text(strings.Repeat("x", 180_000))) // 60,000 tokens and a few, and 9,000 stay free
	got := body(t, &llm.Request{Model: m, Thinking: "low", MaxTokens: 39_000, Messages: []*message.Message{long}})
	if want := `{"maxOutputTokens":30996,"thinkingConfig":{"includeThoughts":true,"thinkingBudget":2048}}`; string(got["generationConfig"]) != want {
		t.Errorf("%s; want %s", got["generationConfig"], want)
	}
}

func TestContentsAreWrittenAsTheServerTakesThem(t *testing.T) {
	m, other, chat := model("gemini-3-flash"), model("gemini-3-pro"), model("gpt")
	chat.Provider, chat.API = "openai", "openai-completions"
	old := model("gemini-2.5-flash")
	blind := model("gemini-3-flash")
	blind.Input = []string{"text"}
	thought := message.Block{Type: message.BlockThinking, Text: "hm", Signature: "c2ln"}
	signed := message.Block{Type: message.BlockText, Text: "b", Signature: "c2ln"}
	empty := message.Block{Type: message.BlockText, Signature: "c2ln"}
	whole := message.Block{Type: message.BlockThinking, Signature: `{"toolCall":{"id":"x"},"thoughtSignature":"c2ln"}`}
	const image = `{"inlineData":{"mimeType":"image/png","data":"QUJD"}}`
	model := func(parts string) string { return `{"role":"model","parts":[` + parts + `]}` }
	user := func(parts string) string { return `{"role":"user","parts":[` + parts + `]}` }
	call := func(id, signature string) string {
		if id != "" {
			id = `"id":"` + id + `",`
		}
		if signature != "" {
			signature = `,"thoughtSignature":"` + signature + `"`
		}
		return `{"functionCall":{` + id + `"name":"read","args":{"a":1}}` + signature + `}`
	}
	result := func(id, response string) string {
		if id != "" {
			id = `"id":"` + id + `",`
		}
		return `{"functionResponse":{` + id + `"name":"read","response":` + response + `}}`
	}
	const skip = "skip_thought_signature_validator"
	cases := []struct {
		name string
		to   *llm.Model
		in   []*message.Message
		want string
	}{
		{"users join", m, []*message.Message{says(message.RoleUser, text("a")), says(message.RoleUser, text(" "), text("b"), picture)},
			user(`{"text":"a"},{"text":"b"},` + image)},
		{"no image for a model that is blind", blind, []*message.Message{says(message.RoleUser, picture)}, user(`{"text":"` + provider.ImageOmitted + `"}`)},
		{"given ids go back, made ones do not", m, []*message.Message{modelSays(m, callBlock("8hd01vsf", "c2ln"), callBlock("call_pi_abc", "")), toolSays("8hd01vsf", false, text("x")), toolSays("call_pi_abc", true, text("y"))},
			model(call("8hd01vsf", "c2ln")+","+call("", "")) + "," + user(result("8hd01vsf", `{"output":"x"}`)+","+result("", `{"error":"y"}`))},
		{"ids given twice are told apart", m, []*message.Message{modelSays(m, callBlock("a", "c2ln"), callBlock("a", "")), toolSays("a", false, text("x")), toolSays("a", false, text("y"))},
			model(call("a", "c2ln")+","+call("a_2", "")) + "," + user(result("a", `{"output":"x"}`)+","+result("a_2", `{"output":"y"}`))},
		{"calls of a sister keep their id, not their signature", m, []*message.Message{modelSays(other, callBlock("a", "c2ln"), callBlock("b", "")), toolSays("a", false), toolSays("b", false)},
			model(call("a", skip)+","+call("b", "")) + "," + user(result("a", `{"output":"(no output)"}`)+","+result("b", `{"output":"(no output)"}`))},
		{"calls of another service", m, []*message.Message{modelSays(chat, callBlock("functions.add:0", "")), toolSays("functions.add:0", false, text("x"))},
			model(call("", skip)) + "," + user(result("", `{"output":"x"}`))},
		{"no placeholder for older models", old, []*message.Message{modelSays(chat, callBlock("a", "")), toolSays("a", false, text("x"))},
			model(call("", "")) + "," + user(result("", `{"output":"x"}`))},
		{"images of results go into them", m, []*message.Message{modelSays(m, callBlock("a", "c2ln")), toolSays("a", false, picture), says(message.RoleUser, text("and?"))},
			model(call("a", "c2ln")) + "," + user(`{"functionResponse":{"id":"a","name":"read","response":{"output":"(see the image)"},"parts":[`+image+`]}},{"text":"and?"}`)},
		{"or behind all results", old, []*message.Message{modelSays(old, callBlock("a", ""), callBlock("b", "")), toolSays("a", false, text("x"), picture), toolSays("b", false, text("y")), says(message.RoleUser, text("and?"))},
			model(call("a", "")+","+call("b", "")) + "," + user(result("a", `{"output":"x"}`)+","+result("b", `{"output":"y"}`)+`,{"text":"[image of the result of read]"},`+image+`,{"text":"and?"}`)},
		{"a blind model is told of images in results", blind, []*message.Message{modelSays(blind, callBlock("a", "c2ln")), toolSays("a", false, text("x"), picture)},
			model(call("a", "c2ln")) + "," + user(result("a", `{"output":"x\n`+provider.ImageOmitted+`"}`))},
		{"own parts keep their signatures", m, []*message.Message{modelSays(m, thought, text("a"), signed, empty, text("c"), whole)},
			model(`{"text":"hm","thought":true,"thoughtSignature":"c2ln"},{"text":"a"},{"text":"b","thoughtSignature":"c2ln"},{"text":"","thoughtSignature":"c2ln"},{"text":"c"},{"toolCall":{"id":"x"},"thoughtSignature":"c2ln"}`)},
		{"another model's parts are text", m, []*message.Message{modelSays(other, thought, text("a"), signed, empty, whole, message.Block{Type: message.BlockThinking, Redacted: true, Signature: "opaque"})},
			model(`{"text":"hm"},{"text":"a"},{"text":"b"}`)},
		{"own thoughts without a signature", m, []*message.Message{modelSays(m, message.Block{Type: message.BlockThinking, Text: "hm"})}, model(`{"text":"hm","thought":true}`)},
		{"a kept part that is damaged", m, []*message.Message{modelSays(m, message.Block{Type: message.BlockThinking, Signature: `{"toolCall":`}, text("a"))}, model(`{"text":"a"}`)},
		{"what is no signature is not sent as one", m, []*message.Message{modelSays(m, message.Block{Type: message.BlockText, Text: "a", Signature: `msg "1"`})}, model(`{"text":"a"}`)},
		{"an answer of which nothing is left", m, []*message.Message{says(message.RoleUser, text("a")), modelSays(other, empty), says(message.RoleUser, text("b"))}, user(`{"text":"a"},{"text":"b"}`)},
		{"arguments that are none", m, []*message.Message{modelSays(m, message.Block{Type: message.BlockToolCall, ID: "a", Name: "ls", Signature: "c2ln"}), toolSays("a", false, text("x"))},
			model(`{"functionCall":{"id":"a","name":"ls","args":{}},"thoughtSignature":"c2ln"}`) + "," + user(`{"functionResponse":{"id":"a","name":"ls","response":{"output":"x"}}}`)},
		{"no UTF-8", m, []*message.Message{says(message.RoleUser, text("a\xff<b>"))}, user(`{"text":"a` + "\uFFFD" + `<b>"}`)},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := string(body(t, &llm.Request{Model: c.to, Messages: c.in})["contents"]); got != "["+c.want+"]" {
				t.Errorf("got  %s\nwant [%s]", got, c.want)
			}
		})
	}
}

func TestToolsAreDescribedInTheFormThatIsAskedFor(t *testing.T) {
	tools := []llm.ToolSpec{
		{Name: "read", Description: "reads <it>", Parameters: json.RawMessage(`{"type":"object","properties":{"path":{"const":"a"}},"additionalProperties":false}`)},
		{Name: "ls", Parameters: json.RawMessage(`{"type":"object","properties":{}}`)},
	}
	cases := []struct {
		compat map[string]any
		want   string
	}{
		{nil, `[{"functionDeclarations":[{"name":"read","description":"reads <it>","parameters":{"type":"OBJECT","properties":{"path":{"type":"STRING","enum":["a"]}}}},{"name":"ls","description":""}]}]`},
		{map[string]any{"schema": "json", "tool_mode": "VALIDATED"}, `[{"functionDeclarations":[{"name":"read","description":"reads <it>","parametersJsonSchema":{"type":"object","properties":{"path":{"const":"a"}},"additionalProperties":false}},{"name":"ls","description":"","parametersJsonSchema":{"type":"object","properties":{}}}]}]`},
	}
	for _, c := range cases {
		m := model("gemini-2.5-pro")
		m.Compat = c.compat
		q := body(t, &llm.Request{Model: m, Tools: tools, System: "s"})
		if string(q["tools"]) != c.want {
			t.Errorf("got  %s\nwant %s", q["tools"], c.want)
		}
		if mode := string(q["toolConfig"]); (mode == `{"functionCallingConfig":{"mode":"VALIDATED"}}`) != (c.compat != nil) {
			t.Errorf("toolConfig %s", mode)
		}
		if got := string(q["systemInstruction"]); got != `{"parts":[{"text":"s"}]}` {
			t.Errorf("systemInstruction %s", got)
		}
	}
}

func TestAddressAndHeaders(t *testing.T) {
	const here = "https://generativelanguage.googleapis.com"
	cases := []struct {
		name, base, id, key string
		compat              map[string]any
		url                 string
		header, value       string
	}{
		{"plain", here + "/v1beta", "gemini-x", "k", nil, here + "/v1beta/models/gemini-x:streamGenerateContent?alt=sse", "X-Goog-Api-Key", "k"},
		{"no version", here + "/", "gemini-x", " k\n", nil, here + "/v1beta/models/gemini-x:streamGenerateContent?alt=sse", "X-Goog-Api-Key", "k"},
		{"no key", here + "/v1beta", "gemini-x", "", nil, here + "/v1beta/models/gemini-x:streamGenerateContent?alt=sse", "X-Goog-Api-Key", ""},
		{"token", here + "/v1beta", "gemini-x", "ya29.t", nil, here + "/v1beta/models/gemini-x:streamGenerateContent?alt=sse", "Authorization", "Bearer ya29.t"},
		{"tuned", here + "/v1beta", "tunedModels/my one", "k", nil, here + "/v1beta/tunedModels/my%20one:streamGenerateContent?alt=sse", "Authorization", ""},
		{"base with query", "https://x.example/gemini?a=b", "gemini-x", "k", nil, "https://x.example/gemini/models/gemini-x:streamGenerateContent?a=b&alt=sse", "X-Goog-Api-Key", "k"},
		{"bearer", "https://x.example/v1", "gemini-x", "k", map[string]any{"auth": "bearer"}, "https://x.example/v1/models/gemini-x:streamGenerateContent?alt=sse", "Authorization", "Bearer k"},
		{"vertex", "https://us-east5-aiplatform.googleapis.com/v1/projects/p/locations/us-east5/publishers/google", "gemini-x", "t", nil,
			"https://us-east5-aiplatform.googleapis.com/v1/projects/p/locations/us-east5/publishers/google/models/gemini-x:streamGenerateContent?alt=sse", "Authorization", "Bearer t"},
		{"vertex with a key", "https://aiplatform.googleapis.com/v1/publishers/google", "gemini-x", "k", map[string]any{"auth": "x-goog-api-key"},
			"https://aiplatform.googleapis.com/v1/publishers/google/models/gemini-x:streamGenerateContent?alt=sse", "X-Goog-Api-Key", "k"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			m := model(c.id)
			m.BaseURL, m.Compat = c.base, c.compat
			call, err := encode(&llm.Request{Model: m, APIKey: c.key})
			if err != nil {
				t.Fatal(err)
			}
			if call.URL != c.url || call.Header.Get(c.header) != c.value {
				t.Errorf("%s, %s: %q", call.URL, c.header, call.Header.Get(c.header))
			}
		})
	}
}

func TestSwitchesAreChecked(t *testing.T) {
	for _, bad := range []map[string]any{
		{"thinking": "level"}, {"auth": "password"}, {"thinking_format": "effort"}, {"schema": true}, {"tool_images": "user"},
		{"placeholder_signature": "yes"}, {"tool_mode": "auto"}, {"thinking_levels": map[string]any{"often": "HIGH"}},
	} {
		if err := CheckCompat(bad); err == nil {
			t.Errorf("%v is taken", bad)
		}
	}
	good := map[string]any{"auth": "bearer", "thinking_format": "none", "thinking_budgets": map[string]any{"low": "1"}, "schema": "json",
		"tool_images": "turn", "placeholder_signature": true, "tool_mode": "ANY"}
	if err := CheckCompat(good); err != nil {
		t.Error(err)
	}
}

func TestALongRequestIsTheSameAsWrittenAtOnce(t *testing.T) {
	m := model("gemini-2.5-pro")
	r := &llm.Request{Model: m, System: `<"contents":[]}>`, Tools: []llm.ToolSpec{{Name: "ls", Description: `"contents":[]}`}}}
	for range 3 {
		r.Messages = append(r.Messages, says(message.RoleUser, text(strings.Repeat("<a & b>\n", 80_000))), modelSays(m, text("ok")))
	}
	c, err := compatOf(m)
	if err != nil {
		t.Fatal(err)
	}
	v := newConversation(c, m)
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
	v := newConversation(c, r.Model)
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
