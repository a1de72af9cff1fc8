package responses

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"pi/agent/llm"
	"pi/agent/provider"
	"pi/session/message"
)

func userSays(blocks ...message.Block) *message.Message {
	return &message.Message{Role: message.RoleUser, Content: blocks}
}

func modelSays(m *llm.Model, blocks ...message.Block) *message.Message {
	return &message.Message{Role: message.RoleAssistant, API: m.API, Provider: m.Provider, Model: m.ID, Content: blocks}
}

func toolSays(id string, blocks ...message.Block) *message.Message {
	return &message.Message{Role: message.RoleToolResult, ToolCallID: id, ToolName: "read", Content: blocks}
}

func callBlock(id, args string) message.Block {
	return message.Block{Type: message.BlockToolCall, ID: id, Name: "read", Arguments: json.RawMessage(args)}
}

func thought(text, signature string) message.Block {
	return message.Block{Type: message.BlockThinking, Text: text, Signature: signature}
}

func signed(text, signature string) message.Block {
	return message.Block{Type: message.BlockText, Text: text, Signature: signature}
}

var picture = message.Block{Type: message.BlockImage, Data: "QUJD", MimeType: "image/png"}

func text(s string) message.Block { return message.TextBlock(s) }

func modelOf(provider, id, base string) *llm.Model {
	return &llm.Model{Provider: provider, ID: id, API: "openai-responses", BaseURL: base}
}

// body encodes a request and returns its fields.
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

func TestRequestFieldsFollowModelAndServer(t *testing.T) {
	const openai, local = "https://api.openai.com/v1", "http://127.0.0.1:1234/v1"
	with := func(name string, value any) map[string]any { return map[string]any{name: value} }
	thinker := func(levels ...string) llm.Model {
		return llm.Model{BaseURL: "https://llm.example/v1", Reasoning: true, Levels: levels}
	}
	cases := []struct {
		name     string
		model    llm.Model
		thinking string
		field    string
		want     string // "" : absent
	}{
		{"the answer is streamed", llm.Model{BaseURL: openai}, "", "stream", "true"},
		{"nothing is stored", llm.Model{BaseURL: openai}, "", "store", "false"},
		{"unless the server does not know the field", llm.Model{BaseURL: local}, "", "store", ""},
		{"thoughts are asked for in a form that can go back", llm.Model{BaseURL: openai, Reasoning: true}, "high", "include", `["reasoning.encrypted_content"]`},
		{"even when thinking is off, for it may not be", llm.Model{BaseURL: openai, Reasoning: true}, "off", "include", `["reasoning.encrypted_content"]`},
		{"not of models that have none", llm.Model{BaseURL: openai}, "high", "include", ""},
		{"nor of servers that have none", llm.Model{BaseURL: local, Reasoning: true}, "high", "include", ""},
		{"effort and summary", llm.Model{BaseURL: openai, Reasoning: true}, "high", "reasoning", `{"effort":"high","summary":"auto"}`},
		{"models that do not reason are not asked to", llm.Model{BaseURL: openai}, "high", "reasoning", ""},
		{"the summary can be left out", llm.Model{BaseURL: openai, Reasoning: true, Compat: with("reasoning_summary", "")}, "low", "reasoning", `{"effort":"low"}`},
		{"or be longer", llm.Model{BaseURL: openai, Reasoning: true, Compat: with("reasoning_summary", "detailed")}, "low", "reasoning", `{"effort":"low","summary":"detailed"}`},
		{"off where that is offered", thinker("off", "low", "high"), "off", "reasoning", `{"effort":"none"}`},
		{"else the lowest", thinker("minimal", "low", "high"), "off", "reasoning", `{"effort":"minimal","summary":"auto"}`},
		{"and nothing where nobody knows", thinker(), "off", "reasoning", ""},
		{"a level that is not offered is clamped", thinker("low", "medium"), "max", "reasoning", `{"effort":"medium","summary":"auto"}`},
		{"the highest level where it is offered", thinker("low", "max"), "max", "reasoning", `{"effort":"max","summary":"auto"}`},
		{"three words where nobody knows", thinker(), "xhigh", "reasoning", `{"effort":"high","summary":"auto"}`},
		{"the smallest of them", thinker(), "minimal", "reasoning", `{"effort":"low","summary":"auto"}`},
		{"nobody said how much", thinker("low"), "", "reasoning", ""},
		{"ollama thinks without a word", llm.Model{Provider: "ollama", BaseURL: "https://llm.example/v1", Reasoning: true}, "medium", "reasoning", ""},
		{"ollama off", llm.Model{Provider: "ollama", BaseURL: "https://llm.example/v1", Reasoning: true}, "off", "reasoning", `{"effort":"none"}`},
		{"ollama has words for one family", llm.Model{Provider: "ollama", ID: "gpt-oss", BaseURL: "https://llm.example/v1", Reasoning: true}, "medium", "reasoning", `{"effort":"medium"}`},
		{"words can be given", llm.Model{BaseURL: openai, Reasoning: true, Compat: with("reasoning_efforts", map[string]any{"high": "huge"})}, "high", "reasoning", `{"effort":"huge","summary":"auto"}`},
		{"a server that thinks as it likes", llm.Model{ID: "grok-4.20-reasoning", BaseURL: "https://api.x.ai/v1", Reasoning: true}, "high", "reasoning", ""},
		{"the answer is limited", llm.Model{BaseURL: openai, MaxTokens: 100}, "", "max_output_tokens", "100"},
		{"not below what the API takes", llm.Model{BaseURL: openai, MaxTokens: 3}, "", "max_output_tokens", "16"},
		{"an unknown limit is not sent", llm.Model{BaseURL: openai}, "", "max_output_tokens", ""},
		{"nor one that is not wanted", llm.Model{BaseURL: openai, MaxTokens: 100, Compat: with("max_output_tokens", false)}, "", "max_output_tokens", ""},
		{"the cache goes by session", llm.Model{BaseURL: openai}, "", "prompt_cache_key", `"s1"`},
		{"unless the server does not know the field", llm.Model{BaseURL: local}, "", "prompt_cache_key", ""},
		{"instructions are an item", llm.Model{BaseURL: openai}, "", "instructions", ""},
		{"or a field", llm.Model{BaseURL: openai, Compat: with("instructions", true)}, "", "instructions", `"be nice"`},
		{"parallel calls are not named", llm.Model{BaseURL: openai}, "", "parallel_tool_calls", ""},
		{"but can be", llm.Model{BaseURL: openai, Compat: with("parallel_tool_calls", true)}, "", "parallel_tool_calls", "true"},
		{"tools", llm.Model{BaseURL: "https://llm.example/v1"}, "", "tools", `[{"type":"function","name":"ls","description":"lists","parameters":{"type":"object","properties":{"all":{"type":"boolean"}}},"strict":false}]`},
		{"strict tools", llm.Model{BaseURL: openai}, "", "tools", `[{"type":"function","name":"ls","description":"lists","parameters":{"type":"object","properties":{"all":{"type":["boolean","null"]}},"required":["all"],"additionalProperties":false},"strict":true}]`},
		{"tools can be left out", llm.Model{BaseURL: openai, Compat: with("tools", false)}, "", "tools", ""},
		{"extra field", llm.Model{BaseURL: openai, Compat: with("extra_body", map[string]any{"text": map[string]any{"verbosity": "low"}})}, "", "text", `{"verbosity":"low"}`},
		{"extra field in place of another", llm.Model{BaseURL: openai, Compat: with("extra_body", map[string]any{"store": true})}, "", "store", "true"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			c.model.API = "openai-responses"
			got := body(t, &llm.Request{Model: &c.model, SessionID: "s1", Thinking: c.thinking, System: "be nice",
				Tools: []llm.ToolSpec{{Name: "ls", Description: "lists", Parameters: []byte(`{"type":"object","properties":{"all":{"type":"boolean"}}}`)}}})
			if string(got[c.field]) != c.want {
				t.Errorf("%s is %s; want %s", c.field, got[c.field], c.want)
			}
		})
	}
}

const (
	item1 = `{"id":"rs_1","type":"reasoning","encrypted_content":"z<1>","summary":[{"type":"summary_text","text":"hm"}]}`
	item2 = `{"id":"rs_2","type":"reasoning","encrypted_content":"z2","summary":[]}`
	bare  = `{"id":"rs_3","type":"reasoning","summary":[{"type":"summary_text","text":"hm"}]}`
	local = `{"id":"r","type":"reasoning","summary":[],"content":[{"type":"reasoning_text","text":"hm"}]}`
)

// said is a message of the model as it is sent.
func said(more, text string) string {
	return `{"type":"message",` + more + `"role":"assistant","content":[{"type":"output_text","text":"` + text + `","annotations":[]}],"status":"completed"}`
}

func called(more, id string) string {
	return `{"type":"function_call",` + more + `"call_id":"` + id + `","name":"read","arguments":"{}"}`
}

func TestMessagesAreWrittenAsItems(t *testing.T) {
	m := modelOf("openai", "o", "https://api.openai.com/v1")
	thinker := modelOf("openai", "o", "https://api.openai.com/v1")
	thinker.Reasoning = true
	other := modelOf("openai", "other", "")
	blind := modelOf("openai", "o", "https://api.openai.com/v1")
	blind.Input = []string{"text"}
	old := modelOf("lmstudio", "o", "http://127.0.0.1:1234/v1")
	router := modelOf("openrouter", "o", "https://openrouter.ai/api/v1")
	silent := modelOf("openai", "o", "https://api.openai.com/v1")
	silent.Compat = map[string]any{"send_reasoning": false}
	field := modelOf("openai", "o", "https://api.openai.com/v1")
	field.Compat = map[string]any{"instructions": true}
	long := "call_1|fc_" + strings.Repeat("x", 450)
	cases := []struct {
		name   string
		model  *llm.Model
		system string
		in     []*message.Message
		want   string
	}{
		{"system", m, "be nice", nil, `{"role":"system","content":"be nice"}`},
		{"developer", thinker, "be nice", nil, `{"role":"developer","content":"be nice"}`},
		{"instructions are no item", field, "be nice", nil, ``},
		{"text and image", m, "", []*message.Message{userSays(text("a<b"), text(""), picture)},
			`{"role":"user","content":[{"type":"input_text","text":"a<b"},{"type":"input_image","image_url":"data:image/png;base64,QUJD","detail":"auto"}]}`},
		{"image for a model that cannot see", blind, "", []*message.Message{userSays(picture)},
			`{"role":"user","content":[{"type":"input_text","text":"[image left out: this model takes text only]"}]}`},
		{"text that is not UTF-8", m, "", []*message.Message{userSays(text("a\xffb"))}, `{"role":"user","content":[{"type":"input_text","text":"a�b"}]}`},
		{"an empty message is left out", m, "", []*message.Message{userSays(text("")), modelSays(m, text(""))}, ``},
		{"own text with its id", m, "", []*message.Message{modelSays(m, signed("a", "msg_1"))}, said(`"id":"msg_1",`, "a")},
		{"and its phase", m, "", []*message.Message{modelSays(m, signed("a", `{"v":1,"id":"msg_1","phase":"commentary"}`))},
			`{"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":"a","annotations":[]}],"phase":"commentary","status":"completed"}`},
		{"a phase without a good id", m, "", []*message.Message{modelSays(m, signed("a", `{"v":1,"id":"uuid","phase":"final_answer"}`))},
			`{"type":"message","role":"assistant","content":[{"type":"output_text","text":"a","annotations":[]}],"phase":"final_answer","status":"completed"}`},
		{"a signature of something else", m, "", []*message.Message{modelSays(m, signed("a", `{"v":`)), modelSays(m, signed("b", `sig==`))}, said("", "a") + "," + said("", "b")},
		{"text of another model without", m, "", []*message.Message{modelSays(other, signed("a", `{"v":1,"id":"msg_1","phase":"commentary"}`))}, said("", "a")},
		{"ids are made up where they must be", router, "", []*message.Message{modelSays(other, text("a")), userSays(text("b")), modelSays(other, text("c"))},
			said(`"id":"msg_0",`, "a") + `,{"role":"user","content":[{"type":"input_text","text":"b"}]},` + said(`"id":"msg_2",`, "c")},
		{"own thought unchanged in front of its text", m, "", []*message.Message{modelSays(m, thought("hm", item1), signed("a", "msg_1"))}, item1 + "," + said(`"id":"msg_1",`, "a")},
		{"and of its call", m, "", []*message.Message{modelSays(m, thought("hm", item1), callBlock("c1|fc_1", `{}`))}, item1 + "," + called(`"id":"fc_1",`, "c1")},
		{"each in its place", m, "", []*message.Message{modelSays(m, thought("hm", item1), callBlock("c1|fc_1", `{}`), thought("", item2), callBlock("c2|fc_2", `{}`))},
			item1 + "," + called(`"id":"fc_1",`, "c1") + "," + item2 + "," + called(`"id":"fc_2",`, "c2")},
		{"an item that stands there twice goes once", m, "", []*message.Message{modelSays(m, thought("hm", item1), signed("a", "msg_1")), modelSays(m, thought("hm", item1), signed("a", "msg_1")), modelSays(m, signed("b", "msg_1"))},
			item1 + "," + said(`"id":"msg_1",`, "a") + "," + said("", "a") + "," + said("", "b")},
		{"a thought that led to nothing is dropped", m, "", []*message.Message{modelSays(m, signed("a", "msg_1"), thought("hm", item1)), userSays(text("go on"))},
			said(`"id":"msg_1",`, "a") + `,{"role":"user","content":[{"type":"input_text","text":"go on"}]}`},
		{"also in front of an empty text", m, "", []*message.Message{modelSays(m, thought("hm", item1), text(""))}, ``},
		{"a thought that its server cannot read is dropped, and ids with it", m, "", []*message.Message{modelSays(m, thought("hm", bare), signed("a", "msg_1"), callBlock("c1|fc_1", `{}`))},
			said("", "a") + "," + called("", "c1")},
		{"but not its phase", m, "", []*message.Message{modelSays(m, thought("hm", bare), signed("a", `{"v":1,"id":"msg_1","phase":"commentary"}`))},
			`{"type":"message","role":"assistant","content":[{"type":"output_text","text":"a","annotations":[]}],"phase":"commentary","status":"completed"}`},
		{"one that was cut off is dropped too", m, "", []*message.Message{modelSays(m, thought("hm", ""), signed("a", "msg_1"))}, said("", "a")},
		{"a thought whose id is long goes without", m, "", []*message.Message{modelSays(m, thought("hm", `{"id":"`+strings.Repeat("x", 450)+`","type":"reasoning","encrypted_content":"z","summary":[]}`), text("a"))},
			`{"type":"reasoning","encrypted_content":"z","summary":[]},` + said("", "a")},
		{"a thought in the open goes back", old, "", []*message.Message{modelSays(old, thought("hm", local), callBlock("c1|fc_1", `{}`))}, local + "," + called(`"id":"fc_1",`, "c1")},
		{"unless that is switched off", silent, "", []*message.Message{modelSays(silent, thought("hm", item1), callBlock("c1|fc_1", `{}`))}, called("", "c1")},
		{"another model's thought is text", m, "", []*message.Message{modelSays(other, thought(" hm ", item1), signed("a", "msg_1"), callBlock("c1|fc_1", `{}`))},
			said("", "hm") + "," + said("", "a") + "," + called("", "c1")},
		{"of another API too", m, "", []*message.Message{modelSays(m, thought("hm", "reasoning_content"), text("a"))}, said("", "hm") + "," + said("", "a")},
		{"a withheld thought is dropped", m, "", []*message.Message{modelSays(other, message.Block{Type: message.BlockThinking, Redacted: true, Text: "x", Signature: "x"}, text("a"))}, said("", "a")},
		{"call and result", m, "", []*message.Message{modelSays(m, callBlock("c1|fc_1", `{"path":"x"}`)), toolSays("c1|fc_1", text("out"), text("more"))},
			`{"type":"function_call","id":"fc_1","call_id":"c1","name":"read","arguments":"{\"path\":\"x\"}"},{"type":"function_call_output","call_id":"c1","output":"out\nmore"}`},
		{"a result that says nothing", m, "", []*message.Message{toolSays("c1")}, `{"type":"function_call_output","call_id":"c1","output":"(no output)"}`},
		{"a result with an image", m, "", []*message.Message{toolSays("c1", text("x"), picture)},
			`{"type":"function_call_output","call_id":"c1","output":[{"type":"input_text","text":"x"},{"type":"input_image","image_url":"data:image/png;base64,QUJD","detail":"auto"}]}`},
		{"an image in a result for a model that cannot see", blind, "", []*message.Message{toolSays("c1", text("x"), picture)},
			`{"type":"function_call_output","call_id":"c1","output":"x\n[image left out: this model takes text only]"}`},
		{"images of results follow the row where they must", old, "", []*message.Message{toolSays("a", picture), toolSays("b", text("x"), picture), userSays(text("go on"))},
			`{"type":"function_call_output","call_id":"a","output":"(the image follows)"},{"type":"function_call_output","call_id":"b","output":"x"},` +
				`{"role":"user","content":[{"type":"input_text","text":"Images from the tool results:"},{"type":"input_image","image_url":"data:image/png;base64,QUJD","detail":"auto"},{"type":"input_image","image_url":"data:image/png;base64,QUJD","detail":"auto"}]},` +
				`{"role":"user","content":[{"type":"input_text","text":"go on"}]}`},
		{"a long id of an item does not go", m, "", []*message.Message{modelSays(m, callBlock(long, `{}`)), toolSays(long, text("x"))},
			called("", "call_1") + `,{"type":"function_call_output","call_id":"call_1","output":"x"}`},
		{"nor one of another form", m, "", []*message.Message{modelSays(m, callBlock("c1|abc", `{}`))}, called("", "c1")},
		{"calls of others are fitted on both sides", m, "", []*message.Message{modelSays(other, callBlock("functions.add:0", `{}`)), toolSays("functions.add:0", text("x"))},
			called("", "functions_add_0") + `,{"type":"function_call_output","call_id":"functions_add_0","output":"x"}`},
		{"ids that start over are told apart", m, "", []*message.Message{
			modelSays(m, callBlock("call_0|fc_1", `{}`)), toolSays("call_0|fc_1", text("x")), modelSays(m, callBlock("call_0|fc_2", `{}`)), toolSays("call_0|fc_2", text("y"))},
			called(`"id":"fc_1",`, "call_0") + `,{"type":"function_call_output","call_id":"call_0","output":"x"},` +
				called("", "call_0_2") + `,{"type":"function_call_output","call_id":"call_0_2","output":"y"}`},
		{"broken arguments are an empty object", m, "", []*message.Message{modelSays(m, callBlock("a", `{"x":`))}, called("", "a")},
		{"half a surrogate pair", m, "", []*message.Message{modelSays(m, callBlock("a", `{"x":"\ud83d!"}`))},
			`{"type":"function_call","call_id":"a","name":"read","arguments":"{\"x\":\"\\ufffd!\"}"}`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := string(body(t, &llm.Request{Model: c.model, System: c.system, Messages: c.in})["input"])
			if got != "["+c.want+"]" {
				t.Errorf("got  %s\nwant [%s]", got, c.want)
			}
		})
	}
}

func TestTheKeyGoesAsTheServerTakesIt(t *testing.T) {
	for base, want := range map[string]string{"https://api.openai.com/v1": "", "https://r.openai.azure.com/openai/v1?api-version=1": "k"} {
		call, err := encode(&llm.Request{Model: modelOf("p", "m", base), APIKey: " k\n"})
		if err != nil || call.Header.Get("Authorization") != "Bearer k" || call.Header.Get("Api-Key") != want {
			t.Errorf("%s: %v %v", base, call.Header, err)
		}
		if path, _, _ := strings.Cut(call.URL, "?"); !strings.HasSuffix(path, "/v1/responses") {
			t.Errorf("%s", call.URL)
		}
	}
}

func TestASessionIDIsCutToALengthThatIsTaken(t *testing.T) {
	got := body(t, &llm.Request{Model: modelOf("openai", "m", ""), SessionID: strings.Repeat("s", 100)})["prompt_cache_key"]
	if want := `"` + strings.Repeat("s", 64) + `"`; string(got) != want {
		t.Errorf("%s", got)
	}
}

func TestCompatNamesWhatIsWrong(t *testing.T) {
	if err := CheckCompat(map[string]any{"store": true, "reasoning_summary": "concise"}); err != nil {
		t.Error(err)
	}
	for name, values := range map[string]map[string]any{
		"stroe":             {"stroe": true},
		"reasoning_summary": {"reasoning_summary": "none"},
		"strict":            {"strict": "yes"},
	} {
		if err := CheckCompat(values); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	m := modelOf("p", "m", "http://x")
	m.Compat = map[string]any{"store": "yes"}
	if _, err := encode(&llm.Request{Model: m}); err == nil || !strings.Contains(err.Error(), "store") {
		t.Errorf("wrong type: %v", err)
	}
}

func TestHintsNameTheSwitchOfARefusedField(t *testing.T) {
	hint := refusals.Hint(modelOf("p", "m", ""))
	for said, want := range map[string]string{
		"Your organization must be verified to generate reasoning summaries.":        `compat.reasoning_summary = ""`,
		"Unsupported parameter: 'reasoning.summary' is not supported by this model.": `compat.reasoning_summary = ""`,
		"Unsupported parameter: 'reasoning.effort' is not supported.":                "compat.reasoning_efforts",
		"Encrypted content is not supported with this model.":                        "compat.encrypted_reasoning = false",
		"registry.ollama.ai/library/say:latest does not support tools":               `(--no-tools), or write compat = { tools = false } in a section [[providers.p.models]] of config.toml with id = "m"`,
		`think value "medium" is not supported for this model`:                       `write compat = { reasoning_efforts = { minimal = ""`,
		`"say:latest" does not support thinking`:                                     "write reasoning = false in a section",
		"Unknown parameter: 'prompt_cache_key'.":                                     "compat.prompt_cache_key = false",
		"Unknown parameter: 'prompt_cache_options'.":                                 `compat.cache_retention = "short"`,
		"prompt_cache_retention is not supported for this model.":                    `compat.cache_retention = "short"`,
	} {
		if got := hint(400, said); !strings.Contains(got, want) || !strings.Contains(got, "[providers.p") {
			t.Errorf("%s: %q", said, got)
		}
		if got := hint(500, said); got != "" {
			t.Errorf("HTTP 500: %q", got)
		}
	}
	if got := hint(400, "Item 'rs_1' of type 'reasoning' was provided without its required following item."); got != "" {
		t.Errorf("%q", got)
	}
}

func TestALongRequestIsTheSameAsWrittenAtOnce(t *testing.T) {
	m := modelOf("p", `m","input":[]`, "https://llm.example/v1")
	r := &llm.Request{Model: m, System: `<"input":[]>`, Tools: []llm.ToolSpec{{Name: "ls", Parameters: []byte(`{"input":[]}`)}}}
	for range 3 {
		r.Messages = append(r.Messages, userSays(text(strings.Repeat("<a & b>\n", 80_000))), modelSays(m, thought("", item1), text("ok")))
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
