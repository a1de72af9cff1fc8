package openai

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

var picture = message.Block{Type: message.BlockImage, Data: "QUJD", MimeType: "image/png"}

func text(s string) message.Block { return message.TextBlock(s) }

func modelOf(provider, id, base string) *llm.Model {
	return &llm.Model{Provider: provider, ID: id, API: "openai-completions", BaseURL: base}
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

func TestRequestFieldsFollowTheServer(t *testing.T) {
	const openai, other = "https://api.openai.com/v1", "https://llm.example/v1"
	cases := []struct {
		name     string
		model    llm.Model
		thinking string
		field    string
		want     string // "" : absent
	}{
		{"openai limits completion tokens", llm.Model{BaseURL: openai, MaxTokens: 100}, "", "max_completion_tokens", "100"},
		{"openai gets no max_tokens", llm.Model{BaseURL: openai, MaxTokens: 100}, "", "max_tokens", ""},
		{"others limit tokens", llm.Model{BaseURL: other, MaxTokens: 100}, "", "max_tokens", "100"},
		{"an unknown limit is not sent", llm.Model{BaseURL: other}, "", "max_tokens", ""},
		{"the field can be chosen", llm.Model{BaseURL: other, MaxTokens: 9, Compat: map[string]any{"max_tokens_field": "max_completion_tokens"}}, "", "max_completion_tokens", "9"},
		{"or none", llm.Model{BaseURL: openai, MaxTokens: 9, Compat: map[string]any{"max_tokens_field": "none"}}, "", "max_completion_tokens", ""},
		{"openai stores nothing", llm.Model{BaseURL: openai}, "", "store", "false"},
		{"others are not asked", llm.Model{BaseURL: other}, "", "store", ""},
		{"openai caches by session", llm.Model{BaseURL: openai}, "", "prompt_cache_key", `"s1"`},
		{"others do not know the key", llm.Model{BaseURL: other}, "", "prompt_cache_key", ""},
		{"usage is asked for", llm.Model{BaseURL: other}, "", "stream_options", `{"include_usage":true}`},
		{"unless the server refuses", llm.Model{BaseURL: other, Compat: map[string]any{"stream_options": false}}, "", "stream_options", ""},
		{"perplexity refuses", llm.Model{BaseURL: "https://api.perplexity.ai"}, "", "stream_options", ""},
		{"effort", llm.Model{BaseURL: openai, Reasoning: true}, "high", "reasoning_effort", `"high"`},
		{"no effort without reasoning", llm.Model{BaseURL: openai}, "high", "reasoning_effort", ""},
		{"no effort when off", llm.Model{BaseURL: openai, Reasoning: true}, "off", "reasoning_effort", ""},
		{"others know three efforts", llm.Model{BaseURL: other, Reasoning: true}, "max", "reasoning_effort", `"high"`},
		{"more where the model offers them", llm.Model{BaseURL: other, Reasoning: true, Levels: []string{"off", "low", "max"}}, "max", "reasoning_effort", `"max"`},
		{"off where the model offers it", llm.Model{BaseURL: other, Reasoning: true, Levels: []string{"off", "low", "max"}}, "off", "reasoning_effort", `"none"`},
		{"words can be given", llm.Model{BaseURL: other, Reasoning: true, Compat: map[string]any{"reasoning_efforts": map[string]any{"off": "none"}}}, "off", "reasoning_effort", `"none"`},
		{"ollama thinks without a word", llm.Model{Provider: "ollama", BaseURL: other, Reasoning: true}, "high", "reasoning_effort", ""},
		{"ollama off", llm.Model{Provider: "ollama", BaseURL: other, Reasoning: true}, "off", "reasoning_effort", `"none"`},
		{"ollama has words for one family", llm.Model{Provider: "ollama", ID: "gpt-oss:20b", BaseURL: other, Reasoning: true, Levels: []string{"low", "medium", "high"}}, "medium", "reasoning_effort", `"medium"`},
		{"which always thinks", llm.Model{Provider: "ollama", ID: "gpt-oss:20b", BaseURL: other, Reasoning: true, Levels: []string{"low", "medium", "high"}}, "off", "reasoning_effort", `"low"`},
		{"nothing said of how much", llm.Model{Provider: "vllm", BaseURL: other, Reasoning: true}, "", "chat_template_kwargs", ""},
		{"nor of whether", llm.Model{BaseURL: "https://api.deepseek.com", Reasoning: true}, "", "thinking", ""},
		{"openrouter", llm.Model{BaseURL: "https://openrouter.ai/api/v1", Reasoning: true}, "low", "reasoning", `{"effort":"low"}`},
		{"openrouter off", llm.Model{BaseURL: "https://openrouter.ai/api/v1", Reasoning: true}, "off", "reasoning", `{"effort":"none"}`},
		{"zai", llm.Model{BaseURL: "https://api.z.ai/api/paas/v4", Reasoning: true}, "low", "thinking", `{"type":"enabled","clear_thinking":false}`},
		{"deepseek off", llm.Model{BaseURL: "https://api.deepseek.com", Reasoning: true}, "off", "thinking", `{"type":"disabled"}`},
		{"qwen", llm.Model{BaseURL: "https://dashscope-intl.aliyuncs.com/compatible-mode/v1", Reasoning: true}, "low", "enable_thinking", "true"},
		{"template", llm.Model{BaseURL: other, Reasoning: true, Compat: map[string]any{"thinking_format": "template"}}, "low", "chat_template_kwargs", `{"enable_thinking":true,"reasoning_effort":"low"}`},
		{"template off", llm.Model{Provider: "vllm", BaseURL: other, Reasoning: true}, "off", "chat_template_kwargs", `{"enable_thinking":false}`},
		{"together", llm.Model{BaseURL: "https://api.together.xyz/v1", Reasoning: true}, "off", "reasoning", `{"enabled":false}`},
		{"deepseek says how much", llm.Model{BaseURL: "https://api.deepseek.com", Reasoning: true}, "max", "reasoning_effort", `"max"`},
		{"deepseek off says nothing of it", llm.Model{BaseURL: "https://api.deepseek.com", Reasoning: true}, "off", "reasoning_effort", ""},
		{"thoughts apart from the text", llm.Model{BaseURL: "https://api.minimax.io/v1"}, "", "reasoning_split", "true"},
		{"extra field", llm.Model{BaseURL: other, Compat: map[string]any{"extra_body": map[string]any{"top_k": 5}}}, "", "top_k", "5"},
		{"extra field in place of another", llm.Model{BaseURL: other, Compat: map[string]any{"extra_body": map[string]any{"stream_options": nil}}}, "", "stream_options", "null"},
		{"a gateway is what its name says", llm.Model{Provider: "openai", BaseURL: "https://gateway.example/v1"}, "", "store", "false"},
		{"the address says more than the name", llm.Model{Provider: "openai", BaseURL: "https://api.groq.com/openai/v1"}, "", "store", ""},
		{"parallel calls can be named", llm.Model{BaseURL: other, Compat: map[string]any{"parallel_tool_calls": true}}, "", "parallel_tool_calls", "true"},
		{"tools can be left out", llm.Model{BaseURL: other, Compat: map[string]any{"tools": false}}, "", "tools", ""},
		{"tools", llm.Model{BaseURL: other}, "", "tools", `[{"type":"function","function":{"name":"ls","description":"lists","parameters":{"type":"object","properties":{}}}}]`},
		{"strict tools", llm.Model{BaseURL: openai}, "", "tools", `[{"type":"function","function":{"name":"ls","description":"lists","parameters":{"type":"object","properties":{},"required":[],"additionalProperties":false},"strict":true}}]`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			c.model.API = "openai-completions"
			got := body(t, &llm.Request{Model: &c.model, SessionID: "s1", Thinking: c.thinking,
				Tools: []llm.ToolSpec{{Name: "ls", Description: "lists"}}})
			if string(got[c.field]) != c.want {
				t.Errorf("%s is %s; want %s", c.field, got[c.field], c.want)
			}
		})
	}
}

func TestMessagesAreWrittenAsTheServerTakesThem(t *testing.T) {
	plain := modelOf("p", "m", "https://llm.example/v1")
	mistral := modelOf("mistral", "m", "https://api.mistral.ai/v1")
	deepseek := modelOf("deepseek", "m", "https://api.deepseek.com")
	deepseek.Reasoning = true
	reasoner := modelOf("openai", "o", "https://api.openai.com/v1")
	reasoner.Reasoning = true
	blind := modelOf("p", "m", "https://llm.example/v1")
	blind.Input = []string{"text"}
	claude := modelOf("openrouter", "anthropic/claude-c", "https://openrouter.ai/api/v1")
	silent := modelOf("p", "m", "https://llm.example/v1")
	silent.Compat = map[string]any{"send_reasoning": false}
	listed := modelOf("p", "m", "https://llm.example/v1")
	listed.Compat = map[string]any{"string_content": false}
	router := modelOf("p", "m", "https://router.huggingface.co/v1")
	named := modelOf("p", "m", "https://llm.example/v1")
	named.Compat = map[string]any{"reasoning_field": "reasoning_content"}
	detailed := callBlock("a", `{}`)
	detailed.Signature = `{"type":"reasoning.encrypted","data":"x"}`
	const foreignID = "functions.add:0|fc_1234567890123456789012345678901234567890"
	cases := []struct {
		name   string
		model  *llm.Model
		system string
		in     []*message.Message
		want   string
	}{
		{"system", plain, "be nice", nil, `[{"role":"system","content":"be nice"}]`},
		{"developer", reasoner, "be nice", nil, `[{"role":"developer","content":"be nice"}]`},
		{"text and image", plain, "", []*message.Message{userSays(text("a<b"), text(""), picture)},
			`[{"role":"user","content":[{"type":"text","text":"a<b"},{"type":"image_url","image_url":{"url":"data:image/png;base64,QUJD"}}]}]`},
		{"image for a model that cannot see", blind, "", []*message.Message{userSays(picture)},
			`[{"role":"user","content":"[image left out: this model takes text only]"}]`},
		{"text for a server that nobody knows", plain, "", []*message.Message{userSays(text("a"), text("b"))}, `[{"role":"user","content":"a\nb"}]`},
		{"unless it is said to take lists", listed, "", []*message.Message{userSays(text("a"), text("b"))},
			`[{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}]`},
		{"text for one that is known", reasoner, "", []*message.Message{userSays(text("a"))}, `[{"role":"user","content":[{"type":"text","text":"a"}]}]`},
		{"text for a provider of the catalogue", router, "", []*message.Message{userSays(text("a"))}, `[{"role":"user","content":[{"type":"text","text":"a"}]}]`},
		{"text as a string", deepseek, "", []*message.Message{userSays(text("a"), text("b"))}, `[{"role":"user","content":"a\nb"}]`},
		{"call and result", plain, "", []*message.Message{modelSays(plain, callBlock("c1", `{"path":"x"}`)), toolSays("c1", text("out"))},
			`[{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"read","arguments":"{\"path\":\"x\"}"}}]},{"role":"tool","content":"out","tool_call_id":"c1"}]`},
		{"images of results follow the row", plain, "", []*message.Message{modelSays(plain, callBlock("a", `{}`), callBlock("b", `{}`)), toolSays("a", picture), toolSays("b")},
			`[{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"read","arguments":"{}"}},{"id":"b","type":"function","function":{"name":"read","arguments":"{}"}}]},` +
				`{"role":"tool","content":"(the image follows)","tool_call_id":"a"},{"role":"tool","content":"(no output)","tool_call_id":"b"},` +
				`{"role":"user","content":[{"type":"text","text":"Images from the tool results:"},{"type":"image_url","image_url":{"url":"data:image/png;base64,QUJD"}}]}]`},
		{"broken arguments are an empty object", plain, "", []*message.Message{modelSays(plain, callBlock("a", `{"x":`))},
			`[{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"read","arguments":"{}"}}]}]`},
		{"half a surrogate pair", plain, "", []*message.Message{modelSays(plain, callBlock("a", `{"x":"\ud83d\ude00\ud83d!"}`))},
			`[{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"read","arguments":"{\"x\":\"\\ud83d\\ude00\\ufffd!\"}"}}]}]`},
		{"text that is not UTF-8", plain, "", []*message.Message{userSays(text("a\xffb"))}, `[{"role":"user","content":"a�b"}]`},
		{"an empty answer is left out", plain, "", []*message.Message{modelSays(plain, text(""), thought("hm", "reasoning"))}, `[]`},
		{"own thought under its name", plain, "", []*message.Message{modelSays(plain, thought("hm", "reasoning_content"), text("a"))},
			`[{"role":"assistant","content":"a","reasoning_content":"hm"}]`},
		{"own thought under its other name", plain, "", []*message.Message{modelSays(plain, thought("hm", "reasoning"), text("a"))},
			`[{"role":"assistant","content":"a","reasoning":"hm"}]`},
		{"own details unchanged", plain, "", []*message.Message{modelSays(plain, thought("hm", `[{"z":1,"a":2.50}]`), text("a"))},
			`[{"role":"assistant","content":"a","reasoning_details":[{"z":1,"a":2.50}]}]`},
		{"typed thought", mistral, "", []*message.Message{modelSays(mistral, thought("hm", "content"), text("a"))},
			`[{"role":"assistant","content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}],"closed":true},{"type":"text","text":"a"}]}]`},
		{"another model's thought is text", plain, "", []*message.Message{modelSays(mistral, thought("hm", "reasoning"), text("a"))},
			`[{"role":"assistant","content":"hm\n\na"}]`},
		{"own thought under the name that is insisted on", named, "", []*message.Message{modelSays(named, thought("hm", "reasoning"), text("a"))},
			`[{"role":"assistant","content":"a","reasoning_content":"hm"}]`},
		{"own thoughts that are not to go back are no text", silent, "", []*message.Message{modelSays(silent, thought("hm", "reasoning"), text("a"), detailed)},
			`[{"role":"assistant","content":"a","tool_calls":[{"id":"a","type":"function","function":{"name":"read","arguments":"{}"}}]}]`},
		{"own detail of a call", plain, "", []*message.Message{modelSays(plain, detailed)},
			`[{"role":"assistant","content":null,"reasoning_details":[{"type":"reasoning.encrypted","data":"x"}],"tool_calls":[{"id":"a","type":"function","function":{"name":"read","arguments":"{}"}}]}]`},
		{"another model's detail of a call is dropped", plain, "", []*message.Message{modelSays(mistral, detailed)},
			`[{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"read","arguments":"{}"}}]}]`},
		{"a withheld thought is dropped", plain, "", []*message.Message{modelSays(mistral, message.Block{Type: message.BlockThinking, Redacted: true, Signature: "x"}, text("a"))},
			`[{"role":"assistant","content":"a"}]`},
		{"calls of others are fitted on both sides", plain, "", []*message.Message{modelSays(mistral, callBlock(foreignID, `{}`)), toolSays(foreignID, text("x"))},
			`[{"role":"assistant","content":null,"tool_calls":[{"id":"functions.add:0","type":"function","function":{"name":"read","arguments":"{}"}}]},{"role":"tool","content":"x","tool_call_id":"functions.add:0"}]`},
		{"ids that start over are told apart", plain, "", []*message.Message{
			modelSays(plain, callBlock("call_0", `{}`)), toolSays("call_0", text("x")), modelSays(plain, callBlock("call_0", `{}`)), toolSays("call_0", text("y"))},
			`[{"role":"assistant","content":null,"tool_calls":[{"id":"call_0","type":"function","function":{"name":"read","arguments":"{}"}}]},{"role":"tool","content":"x","tool_call_id":"call_0"},` +
				`{"role":"assistant","content":null,"tool_calls":[{"id":"call_0_2","type":"function","function":{"name":"read","arguments":"{}"}}]},{"role":"tool","content":"y","tool_call_id":"call_0_2"}]`},
		{"nothing follows a tool message directly", mistral, "", []*message.Message{toolSays("abcdefgh1", text("x")), userSays(text("go on"))},
			`[{"role":"tool","content":"x","name":"read","tool_call_id":"abcdefgh1"},{"role":"assistant","content":"Done."},{"role":"user","content":[{"type":"text","text":"go on"}]}]`},
		{"thinking that is demanded", deepseek, "", []*message.Message{modelSays(plain, callBlock("a", `{}`))},
			`[{"role":"assistant","content":null,"reasoning_content":"","tool_calls":[{"id":"a","type":"function","function":{"name":"read","arguments":"{}"}}]}]`},
		{"cache markers", claude, "s", []*message.Message{userSays(text("a")), modelSays(claude, callBlock("c", `{}`)), toolSays("c", text("x"))},
			`[{"role":"system","content":[{"type":"text","text":"s","cache_control":{"type":"ephemeral"}}]},{"role":"user","content":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}]},` +
				`{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"read","arguments":"{}"}}]},{"role":"tool","content":[{"type":"text","text":"x","cache_control":{"type":"ephemeral"}}],"tool_call_id":"c"}]`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := string(body(t, &llm.Request{Model: c.model, System: c.system, Messages: c.in})["messages"])
			if got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestARefusalNamesItsSwitch(t *testing.T) {
	m := modelOf("local", "m", "http://x")
	for said, want := range map[string]string{
		"registry.ollama.ai/library/x does not support tools":    `(--no-tools), or write compat = { tools = false } in a section [[providers.local.models]] of config.toml with id = "m"`,
		`"x" does not support thinking`:                          `write reasoning = false in a section [[providers.local.models]] of config.toml with id = "m"`,
		`think value "medium" is not supported for this model`:   `write compat = { reasoning_efforts = { minimal = "", low = "", medium = "", high = "", xhigh = "", max = "" } } in a section [[providers.local.models]] of config.toml with id = "m"`,
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
	} {
		if got := hint(m)(400, said); !strings.Contains(got, want) || (got == "") != (want == "") {
			t.Errorf("%s: %q", said, got)
		}
	}
}

func TestMistralGetsNineCharactersOnBothSides(t *testing.T) {
	m := modelOf("mistral", "m", "https://api.mistral.ai/v1")
	var got []struct {
		ToolCalls []struct{ ID string } `json:"tool_calls"`
		ResultOf  string                `json:"tool_call_id"`
	}
	raw := body(t, &llm.Request{Model: m, Messages: []*message.Message{
		modelSays(m, callBlock("toolu_01AbC", `{}`)), toolSays("toolu_01AbC", text("x")),
	}})["messages"]
	if err := json.Unmarshal(raw, &got); err != nil {
		t.Fatal(err)
	}
	id := got[0].ToolCalls[0].ID
	if len(id) != 9 || strings.Trim(id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") != "" || got[1].ResultOf != id {
		t.Errorf("call %q, result %q", id, got[1].ResultOf)
	}
}

func TestALongSessionIDIsCutAsACacheKey(t *testing.T) {
	r := &llm.Request{Model: modelOf("p", "m", "https://api.openai.com/v1"), SessionID: strings.Repeat("s", 65)}
	if got, want := string(body(t, r)["prompt_cache_key"]), `"`+strings.Repeat("s", 64)+`"`; got != want {
		t.Errorf("%s", got)
	}
}

func TestCompatNamesWhatIsWrong(t *testing.T) {
	if err := CheckCompat(map[string]any{"store": true, "max_tokens_field": "none"}); err != nil {
		t.Error(err)
	}
	if err := CheckCompat(map[string]any{"stroe": true}); err == nil || !strings.Contains(err.Error(), `"stroe"`) {
		t.Errorf("unknown key: %v", err)
	}
	m := modelOf("p", "m", "http://x")
	m.Compat = map[string]any{"store": "yes"}
	if _, err := encode(&llm.Request{Model: m}); err == nil || !strings.Contains(err.Error(), "store") {
		t.Errorf("wrong type: %v", err)
	}
}

func TestALongRequestIsTheSameAsWrittenAtOnce(t *testing.T) {
	m := modelOf("p", `m","messages":[]`, "https://llm.example/v1")
	r := &llm.Request{Model: m, System: `<"messages":[]>`, Tools: []llm.ToolSpec{{Name: "ls", Parameters: []byte(`{"messages":[]}`)}}}
	for range 3 {
		r.Messages = append(r.Messages, userSays(text(strings.Repeat("<a & b>\n", 80_000))), modelSays(m, text("ok")))
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
