package provider_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"pi/agent/llm"
	"pi/agent/provider"
	"pi/session/message"
)

// The same conversations, as the four APIs write them. What each has of its own stands below.
func TestOneConversationAsEachAPIWritesIt(t *testing.T) {
	const foreign = "functions.add:0|fc_1234567890123456789012345678901234567890"
	models := []*llm.Model{with(claude("claude-sonnet-4-5"), "cache", false), chatModel("acme", "m", "https://api.openai.com/v1"),
		itemModel("openai", "o", "https://api.openai.com/v1"), gemini("gemini-2.5-pro")}
	for _, c := range []struct {
		name string
		in   func(m, other *llm.Model) []*message.Message
		want [4]string // as in models
	}{
		{"text and image", func(_, _ *llm.Model) []*message.Message {
			return []*message.Message{userSays(text("a<b"), text(""), abc())}
		}, [4]string{
			`{"role":"user","content":[{"type":"text","text":"a<b"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"QUJD"}}]}`,
			`{"role":"user","content":[{"type":"text","text":"a<b"},{"type":"image_url","image_url":{"url":"data:image/png;base64,QUJD"}}]}`,
			`{"role":"user","content":[{"type":"input_text","text":"a<b"},{"type":"input_image","image_url":"data:image/png;base64,QUJD","detail":"auto"}]}`,
			`{"role":"user","parts":[{"text":"a<b"},{"inlineData":{"mimeType":"image/png","data":"QUJD"}}]}`,
		}},
		{"image for a model that cannot see", func(m, _ *llm.Model) []*message.Message {
			m.Input = []string{"text"}
			return []*message.Message{userSays(abc())}
		}, [4]string{
			`{"role":"user","content":[{"type":"text","text":"[image left out: this model takes text only]"}]}`,
			`{"role":"user","content":[{"type":"text","text":"[image left out: this model takes text only]"}]}`,
			`{"role":"user","content":[{"type":"input_text","text":"[image left out: this model takes text only]"}]}`,
			`{"role":"user","parts":[{"text":"[image left out: this model takes text only]"}]}`,
		}},
		{"text that is not UTF-8", func(_, _ *llm.Model) []*message.Message { return []*message.Message{userSays(text("a\xffb"))} }, [4]string{
			`{"role":"user","content":[{"type":"text","text":"a�b"}]}`,
			`{"role":"user","content":[{"type":"text","text":"a�b"}]}`,
			`{"role":"user","content":[{"type":"input_text","text":"a�b"}]}`,
			`{"role":"user","parts":[{"text":"a�b"}]}`,
		}},
		{"an empty answer is left out", func(m, _ *llm.Model) []*message.Message {
			return []*message.Message{userSays(text("a")), modelSays(m, text("")), userSays(text("b"))}
		}, [4]string{
			`{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}`,
			`{"role":"user","content":[{"type":"text","text":"a"}]},{"role":"user","content":[{"type":"text","text":"b"}]}`,
			`{"role":"user","content":[{"type":"input_text","text":"a"}]},{"role":"user","content":[{"type":"input_text","text":"b"}]}`,
			`{"role":"user","parts":[{"text":"a"},{"text":"b"}]}`,
		}},
		{"call and result", func(m, _ *llm.Model) []*message.Message {
			return []*message.Message{modelSays(m, calls("c1", `{"path":"x"}`)), toolSays("c1", text("out"), text("more"))}
		}, [4]string{
			`{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"read","input":{"path":"x"}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":[{"type":"text","text":"out"},{"type":"text","text":"more"}]}]}`,
			`{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"read","arguments":"{\"path\":\"x\"}"}}]},{"role":"tool","content":"out\nmore","tool_call_id":"c1"}`,
			`{"type":"function_call","call_id":"c1","name":"read","arguments":"{\"path\":\"x\"}"},{"type":"function_call_output","call_id":"c1","output":"out\nmore"}`,
			`{"role":"model","parts":[{"functionCall":{"id":"c1","name":"read","args":{"path":"x"}}}]},{"role":"user","parts":[{"functionResponse":{"id":"c1","name":"read","response":{"output":"out\nmore"}}}]}`,
		}},
		{"a failure that says nothing", func(m, _ *llm.Model) []*message.Message {
			return []*message.Message{modelSays(m, calls("c1", `{}`)), toolFails("c1")}
		}, [4]string{
			`{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"read","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":[{"type":"text","text":"(no output)"}],"is_error":true}]}`,
			`{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"read","arguments":"{}"}}]},{"role":"tool","content":"(no output)","tool_call_id":"c1"}`,
			`{"type":"function_call","call_id":"c1","name":"read","arguments":"{}"},{"type":"function_call_output","call_id":"c1","output":"(no output)"}`,
			`{"role":"model","parts":[{"functionCall":{"id":"c1","name":"read","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"id":"c1","name":"read","response":{"error":"(no output)"}}}]}`,
		}},
		{"images of results stay in them, or follow the row", func(m, _ *llm.Model) []*message.Message {
			return []*message.Message{modelSays(m, calls("a", `{}`), calls("b", `{}`)), toolSays("a", abc()), toolSays("b", text("x"), abc()), userSays(text("go on"))}
		}, [4]string{
			`{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"read","input":{}},{"type":"tool_use","id":"b","name":"read","input":{}}]},{"role":"user","content":[` +
				`{"type":"tool_result","tool_use_id":"a","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"QUJD"}}]},` +
				`{"type":"tool_result","tool_use_id":"b","content":[{"type":"text","text":"x"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"QUJD"}}]},{"type":"text","text":"go on"}]}`,
			`{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"read","arguments":"{}"}},{"id":"b","type":"function","function":{"name":"read","arguments":"{}"}}]},` +
				`{"role":"tool","content":"(the image follows)","tool_call_id":"a"},{"role":"tool","content":"x","tool_call_id":"b"},` +
				`{"role":"user","content":[{"type":"text","text":"Images from the tool results:"},{"type":"image_url","image_url":{"url":"data:image/png;base64,QUJD"}},{"type":"image_url","image_url":{"url":"data:image/png;base64,QUJD"}}]},` +
				`{"role":"user","content":[{"type":"text","text":"go on"}]}`,
			`{"type":"function_call","call_id":"a","name":"read","arguments":"{}"},{"type":"function_call","call_id":"b","name":"read","arguments":"{}"},` +
				`{"type":"function_call_output","call_id":"a","output":[{"type":"input_image","image_url":"data:image/png;base64,QUJD","detail":"auto"}]},` +
				`{"type":"function_call_output","call_id":"b","output":[{"type":"input_text","text":"x"},{"type":"input_image","image_url":"data:image/png;base64,QUJD","detail":"auto"}]},` +
				`{"role":"user","content":[{"type":"input_text","text":"go on"}]}`,
			`{"role":"model","parts":[{"functionCall":{"id":"a","name":"read","args":{}}},{"functionCall":{"id":"b","name":"read","args":{}}}]},{"role":"user","parts":[` +
				`{"functionResponse":{"id":"a","name":"read","response":{"output":"(see the image)"}}},{"functionResponse":{"id":"b","name":"read","response":{"output":"x"}}},` +
				`{"text":"[image of the result of read]"},{"inlineData":{"mimeType":"image/png","data":"QUJD"}},{"text":"[image of the result of read]"},{"inlineData":{"mimeType":"image/png","data":"QUJD"}},{"text":"go on"}]}`,
		}},
		{"broken arguments are an empty object", func(m, _ *llm.Model) []*message.Message {
			return []*message.Message{modelSays(m, calls("a", `{"x":`))}
		}, [4]string{
			`{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"read","input":{}}]}`,
			`{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"read","arguments":"{}"}}]}`,
			`{"type":"function_call","call_id":"a","name":"read","arguments":"{}"}`,
			`{"role":"model","parts":[{"functionCall":{"id":"a","name":"read","args":{}}}]}`,
		}},
		{"half a surrogate pair is replaced", func(m, _ *llm.Model) []*message.Message {
			return []*message.Message{modelSays(m, calls("a", `{"x":"\ud83d\ude00\ud83d!"}`))}
		}, [4]string{
			`{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"read","input":{"x":"\ud83d\ude00\ufffd!"}}]}`,
			`{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"read","arguments":"{\"x\":\"\\ud83d\\ude00\\ufffd!\"}"}}]}`,
			`{"type":"function_call","call_id":"a","name":"read","arguments":"{\"x\":\"\\ud83d\\ude00\\ufffd!\"}"}`,
			`{"role":"model","parts":[{"functionCall":{"id":"a","name":"read","args":{"x":"\ud83d\ude00\ufffd!"}}}]}`,
		}},
		{"another model's thoughts are text, and left out where they are withheld", func(_, other *llm.Model) []*message.Message {
			return []*message.Message{modelSays(other, thinks("hm", "c2ln"), withheld("b3BhcXVl"), text("a"))}
		}, [4]string{
			`{"role":"assistant","content":[{"type":"text","text":"hm"},{"type":"text","text":"a"}]}`,
			`{"role":"assistant","content":"hm\n\na"}`,
			`{"type":"message","role":"assistant","content":[{"type":"output_text","text":"hm","annotations":[]}],"status":"completed"},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"a","annotations":[]}],"status":"completed"}`,
			`{"role":"model","parts":[{"text":"hm"},{"text":"a"}]}`,
		}},
		{"calls of others are fitted on both sides", func(_, other *llm.Model) []*message.Message {
			return []*message.Message{modelSays(other, calls(foreign, `{}`)), toolSays(foreign, text("x"))}
		}, [4]string{
			`{"role":"assistant","content":[{"type":"tool_use","id":"functions_add_0_fc_1234567890123456789012345678901234567890","name":"read","input":{}}]},` +
				`{"role":"user","content":[{"type":"tool_result","tool_use_id":"functions_add_0_fc_1234567890123456789012345678901234567890","content":[{"type":"text","text":"x"}]}]}`,
			`{"role":"assistant","content":null,"tool_calls":[{"id":"functions.add:0","type":"function","function":{"name":"read","arguments":"{}"}}]},{"role":"tool","content":"x","tool_call_id":"functions.add:0"}`,
			`{"type":"function_call","call_id":"functions_add_0","name":"read","arguments":"{}"},{"type":"function_call_output","call_id":"functions_add_0","output":"x"}`,
			`{"role":"model","parts":[{"functionCall":{"name":"read","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"name":"read","response":{"output":"x"}}}]}`,
		}},
		{"ids that start over are told apart", func(m, _ *llm.Model) []*message.Message {
			return []*message.Message{modelSays(m, calls("call_0", `{}`)), toolSays("call_0", text("x")), modelSays(m, calls("call_0", `{}`)), toolSays("call_0", text("y"))}
		}, [4]string{
			`{"role":"assistant","content":[{"type":"tool_use","id":"call_0","name":"read","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_0","content":[{"type":"text","text":"x"}]}]},` +
				`{"role":"assistant","content":[{"type":"tool_use","id":"call_0_2","name":"read","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_0_2","content":[{"type":"text","text":"y"}]}]}`,
			`{"role":"assistant","content":null,"tool_calls":[{"id":"call_0","type":"function","function":{"name":"read","arguments":"{}"}}]},{"role":"tool","content":"x","tool_call_id":"call_0"},` +
				`{"role":"assistant","content":null,"tool_calls":[{"id":"call_0_2","type":"function","function":{"name":"read","arguments":"{}"}}]},{"role":"tool","content":"y","tool_call_id":"call_0_2"}`,
			`{"type":"function_call","call_id":"call_0","name":"read","arguments":"{}"},{"type":"function_call_output","call_id":"call_0","output":"x"},` +
				`{"type":"function_call","call_id":"call_0_2","name":"read","arguments":"{}"},{"type":"function_call_output","call_id":"call_0_2","output":"y"}`,
			`{"role":"model","parts":[{"functionCall":{"id":"call_0","name":"read","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"id":"call_0","name":"read","response":{"output":"x"}}}]},` +
				`{"role":"model","parts":[{"functionCall":{"id":"call_0_2","name":"read","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"id":"call_0_2","name":"read","response":{"output":"y"}}}]}`,
		}},
	} {
		for i, model := range models {
			t.Run(c.name+"/"+model.API, func(t *testing.T) {
				m, other := *model, *model
				other.ID, other.Provider = "other", "other"
				_, body := sent(t, &llm.Request{Model: &m, Messages: c.in(&m, &other)})
				if got := string(messagesOf(t, body)); got != "["+c.want[i]+"]" {
					t.Errorf("got  %s\nwant [%s]", got, c.want[i])
				}
			})
		}
	}
}

// written is what becomes of messages in one API.
type written struct {
	name   string
	model  *llm.Model
	system string
	in     []*message.Message
	want   string // the list of the request
}

func TestMessagesAreWrittenAsTheServerTakesThem(t *testing.T) {
	for api, cases := range map[string][]written{
		"anthropic-messages": messagesWritten(), "openai-completions": chatWritten(),
		"openai-responses": itemsWritten(), "google-generative-ai": contentsWritten(),
	} {
		for _, c := range cases {
			t.Run(api+"/"+c.name, func(t *testing.T) {
				_, body := sent(t, &llm.Request{Model: c.model, System: c.system, Messages: c.in})
				if got := string(messagesOf(t, body)); got != "["+c.want+"]" {
					t.Errorf("got  %s\nwant [%s]", got, c.want)
				}
			})
		}
	}
}

func messagesWritten() []written {
	m := with(claude("claude-sonnet-4-5"), "cache", false)
	use := func(id string) string { return `{"type":"tool_use","id":"` + id + `","name":"read","input":{"a":1}}` }
	return []written{
		{"users join", m, "", []*message.Message{userSays(text("a")), userSays(text(" "), text("b"), abc())},
			`{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"QUJD"}}]}`},
		{"results come first and together", m, "", []*message.Message{modelSays(m, calls("a", `{"a":1}`), calls("b", `{"a":1}`)), toolSays("a", text("x")), userSays(text("stop")), toolFails("b")},
			`{"role":"assistant","content":[` + use("a") + `,` + use("b") + `]},{"role":"user","content":[` +
				`{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"x"}]},{"type":"tool_result","tool_use_id":"b","content":[{"type":"text","text":"(no output)"}],"is_error":true},{"type":"text","text":"stop"}]}`},
		{"images behind failed results", m, "", []*message.Message{modelSays(m, calls("a", `{"a":1}`), calls("b", `{"a":1}`)), toolFails("a", text("no"), abc()), toolFails("b", abc())},
			`{"role":"assistant","content":[` + use("a") + `,` + use("b") + `]},{"role":"user","content":[` +
				`{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"no"}],"is_error":true},{"type":"tool_result","tool_use_id":"b","content":[{"type":"text","text":"(the image follows)"}],"is_error":true},` +
				`{"type":"image","source":{"type":"base64","media_type":"image/png","data":"QUJD"}},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"QUJD"}}]}`},
		{"own thoughts unchanged", m, "", []*message.Message{modelSays(m, thinks("hm", "sig"), withheld("opaque"), text("a"))},
			`{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"sig"},{"type":"redacted_thinking","data":"opaque"},{"type":"text","text":"a"}]}`},
		{"own thought without text", m, "", []*message.Message{modelSays(m, thinks("", "sig"), text("a"))},
			`{"role":"assistant","content":[{"type":"thinking","thinking":"","signature":"sig"},{"type":"text","text":"a"}]}`},
		{"unsigned thought", m, "", []*message.Message{modelSays(m, thinks("hm", ""))},
			`{"role":"assistant","content":[{"type":"text","text":"hm"}]}`},
		{"no blanks at the very end", m, "", []*message.Message{userSays(text("a")), modelSays(m, text("so far \n"))},
			`{"role":"user","content":[{"type":"text","text":"a"}]},{"role":"assistant","content":[{"type":"text","text":"so far"}]}`},
	}
}

func chatWritten() []written {
	plain := chatModel("p", "m", "https://llm.example/v1")
	mistral := chatModel("mistral", "m", "https://api.mistral.ai/v1")
	deepseek := chatModel("deepseek", "m", "https://api.deepseek.com")
	deepseek.Reasoning = true
	reasoner := chatModel("openai", "o", "https://api.openai.com/v1")
	reasoner.Reasoning = true
	claude := chatModel("openrouter", "anthropic/claude-c", "https://openrouter.ai/api/v1")
	silent := with(chatModel("p", "m", "https://llm.example/v1"), "send_reasoning", false)
	listed := with(chatModel("p", "m", "https://llm.example/v1"), "string_content", false)
	router := chatModel("p", "m", "https://router.huggingface.co/v1")
	named := with(chatModel("p", "m", "https://llm.example/v1"), "reasoning_field", "reasoning_content")
	detailed := callsSigned("a", `{}`, `{"type":"reasoning.encrypted","data":"x"}`)
	return []written{
		{"system", plain, "be nice", nil, `{"role":"system","content":"be nice"}`},
		{"developer", reasoner, "be nice", nil, `{"role":"developer","content":"be nice"}`},
		{"text for a server that nobody knows", plain, "", []*message.Message{userSays(text("a"), text("b"))}, `{"role":"user","content":"a\nb"}`},
		{"unless it is said to take lists", listed, "", []*message.Message{userSays(text("a"), text("b"))},
			`{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}`},
		{"text for one that is known", reasoner, "", []*message.Message{userSays(text("a"))}, `{"role":"user","content":[{"type":"text","text":"a"}]}`},
		{"text for a provider of the catalogue", router, "", []*message.Message{userSays(text("a"))}, `{"role":"user","content":[{"type":"text","text":"a"}]}`},
		{"text as a string", deepseek, "", []*message.Message{userSays(text("a"), text("b"))}, `{"role":"user","content":"a\nb"}`},
		{"an empty answer is left out", plain, "", []*message.Message{modelSays(plain, text(""), thinks("hm", "reasoning"))}, ``},
		{"own thought under its name", plain, "", []*message.Message{modelSays(plain, thinks("hm", "reasoning_content"), text("a"))},
			`{"role":"assistant","content":"a","reasoning_content":"hm"}`},
		{"own thought under its other name", plain, "", []*message.Message{modelSays(plain, thinks("hm", "reasoning"), text("a"))},
			`{"role":"assistant","content":"a","reasoning":"hm"}`},
		{"own details unchanged", plain, "", []*message.Message{modelSays(plain, thinks("hm", `[{"z":1,"a":2.50}]`), text("a"))},
			`{"role":"assistant","content":"a","reasoning_details":[{"z":1,"a":2.50}]}`},
		{"typed thought", mistral, "", []*message.Message{modelSays(mistral, thinks("hm", "content"), text("a"))},
			`{"role":"assistant","content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}],"closed":true},{"type":"text","text":"a"}]}`},
		{"own thought under the name that is insisted on", named, "", []*message.Message{modelSays(named, thinks("hm", "reasoning"), text("a"))},
			`{"role":"assistant","content":"a","reasoning_content":"hm"}`},
		{"own thoughts that are not to go back are no text", silent, "", []*message.Message{modelSays(silent, thinks("hm", "reasoning"), text("a"), detailed)},
			`{"role":"assistant","content":"a","tool_calls":[{"id":"a","type":"function","function":{"name":"read","arguments":"{}"}}]}`},
		{"own detail of a call", plain, "", []*message.Message{modelSays(plain, detailed)},
			`{"role":"assistant","content":null,"reasoning_details":[{"type":"reasoning.encrypted","data":"x"}],"tool_calls":[{"id":"a","type":"function","function":{"name":"read","arguments":"{}"}}]}`},
		{"another model's detail of a call is dropped", plain, "", []*message.Message{modelSays(mistral, detailed)},
			`{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"read","arguments":"{}"}}]}`},
		{"nothing follows a tool message directly", mistral, "", []*message.Message{toolSays("abcdefgh1", text("x")), userSays(text("go on"))},
			`{"role":"tool","content":"x","name":"read","tool_call_id":"abcdefgh1"},{"role":"assistant","content":"Done."},{"role":"user","content":[{"type":"text","text":"go on"}]}`},
		{"thinking that is demanded", deepseek, "", []*message.Message{modelSays(plain, calls("a", `{}`))},
			`{"role":"assistant","content":null,"reasoning_content":"","tool_calls":[{"id":"a","type":"function","function":{"name":"read","arguments":"{}"}}]}`},
		{"cache markers", claude, "s", []*message.Message{userSays(text("a")), modelSays(claude, calls("c", `{}`)), toolSays("c", text("x"))},
			`{"role":"system","content":[{"type":"text","text":"s","cache_control":{"type":"ephemeral"}}]},{"role":"user","content":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}]},` +
				`{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"read","arguments":"{}"}}]},{"role":"tool","content":[{"type":"text","text":"x","cache_control":{"type":"ephemeral"}}],"tool_call_id":"c"}`},
	}
}

// Reasoning items: sealed, sealed and without a text, of no use to the server, and in the open.
const (
	reasoning1 = `{"id":"rs_1","type":"reasoning","encrypted_content":"z<1>","summary":[{"type":"summary_text","text":"hm"}]}`
	reasoning2 = `{"id":"rs_2","type":"reasoning","encrypted_content":"z2","summary":[]}`
	unsealed   = `{"id":"rs_3","type":"reasoning","summary":[{"type":"summary_text","text":"hm"}]}`
	inTheOpen  = `{"id":"r","type":"reasoning","summary":[],"content":[{"type":"reasoning_text","text":"hm"}]}`
)

func itemsWritten() []written {
	m := itemModel("openai", "o", "https://api.openai.com/v1")
	thinker := itemModel("openai", "o", "https://api.openai.com/v1")
	thinker.Reasoning = true
	other := itemModel("openai", "other", "")
	blind := itemModel("openai", "o", "https://api.openai.com/v1")
	blind.Input = []string{"text"}
	old := itemModel("lmstudio", "o", "http://127.0.0.1:1234/v1")
	router := itemModel("openrouter", "o", "https://openrouter.ai/api/v1")
	silent := with(itemModel("openai", "o", "https://api.openai.com/v1"), "send_reasoning", false)
	field := with(itemModel("openai", "o", "https://api.openai.com/v1"), "instructions", true)
	long := "call_1|fc_" + strings.Repeat("x", 450)
	// A message and a call of the model as they are sent.
	saidItem := func(more, text string) string {
		return `{"type":"message",` + more + `"role":"assistant","content":[{"type":"output_text","text":"` + text + `","annotations":[]}],"status":"completed"}`
	}
	calledItem := func(more, id string) string {
		return `{"type":"function_call",` + more + `"call_id":"` + id + `","name":"read","arguments":"{}"}`
	}
	return []written{
		{"system", m, "be nice", nil, `{"role":"system","content":"be nice"}`},
		{"developer", thinker, "be nice", nil, `{"role":"developer","content":"be nice"}`},
		{"instructions are no item", field, "be nice", nil, ``},
		{"an empty message is left out", m, "", []*message.Message{userSays(text("")), modelSays(m, text(""))}, ``},
		{"own text with its id", m, "", []*message.Message{modelSays(m, signedText("a", "msg_1"))}, saidItem(`"id":"msg_1",`, "a")},
		{"and its phase", m, "", []*message.Message{modelSays(m, signedText("a", `{"v":1,"id":"msg_1","phase":"commentary"}`))},
			`{"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":"a","annotations":[]}],"phase":"commentary","status":"completed"}`},
		{"a phase without a good id", m, "", []*message.Message{modelSays(m, signedText("a", `{"v":1,"id":"uuid","phase":"final_answer"}`))},
			`{"type":"message","role":"assistant","content":[{"type":"output_text","text":"a","annotations":[]}],"phase":"final_answer","status":"completed"}`},
		{"a signature of something else", m, "", []*message.Message{modelSays(m, signedText("a", `{"v":`)), modelSays(m, signedText("b", `sig==`))}, saidItem("", "a") + "," + saidItem("", "b")},
		{"text of another model without", m, "", []*message.Message{modelSays(other, signedText("a", `{"v":1,"id":"msg_1","phase":"commentary"}`))}, saidItem("", "a")},
		{"ids are made up where they must be", router, "", []*message.Message{modelSays(other, text("a")), userSays(text("b")), modelSays(other, text("c"))},
			saidItem(`"id":"msg_0",`, "a") + `,{"role":"user","content":[{"type":"input_text","text":"b"}]},` + saidItem(`"id":"msg_2",`, "c")},
		{"own thought unchanged in front of its text", m, "", []*message.Message{modelSays(m, thinks("hm", reasoning1), signedText("a", "msg_1"))}, reasoning1 + "," + saidItem(`"id":"msg_1",`, "a")},
		{"and of its call", m, "", []*message.Message{modelSays(m, thinks("hm", reasoning1), calls("c1|fc_1", `{}`))}, reasoning1 + "," + calledItem(`"id":"fc_1",`, "c1")},
		{"each in its place", m, "", []*message.Message{modelSays(m, thinks("hm", reasoning1), calls("c1|fc_1", `{}`), thinks("", reasoning2), calls("c2|fc_2", `{}`))},
			reasoning1 + "," + calledItem(`"id":"fc_1",`, "c1") + "," + reasoning2 + "," + calledItem(`"id":"fc_2",`, "c2")},
		{"an item that stands there twice goes once", m, "", []*message.Message{modelSays(m, thinks("hm", reasoning1), signedText("a", "msg_1")), modelSays(m, thinks("hm", reasoning1), signedText("a", "msg_1")), modelSays(m, signedText("b", "msg_1"))},
			reasoning1 + "," + saidItem(`"id":"msg_1",`, "a") + "," + saidItem("", "a") + "," + saidItem("", "b")},
		{"a thought that led to nothing is dropped", m, "", []*message.Message{modelSays(m, signedText("a", "msg_1"), thinks("hm", reasoning1)), userSays(text("go on"))},
			saidItem(`"id":"msg_1",`, "a") + `,{"role":"user","content":[{"type":"input_text","text":"go on"}]}`},
		{"also in front of an empty text", m, "", []*message.Message{modelSays(m, thinks("hm", reasoning1), text(""))}, ``},
		{"a thought that its server cannot read is dropped, and ids with it", m, "", []*message.Message{modelSays(m, thinks("hm", unsealed), signedText("a", "msg_1"), calls("c1|fc_1", `{}`))},
			saidItem("", "a") + "," + calledItem("", "c1")},
		{"but not its phase", m, "", []*message.Message{modelSays(m, thinks("hm", unsealed), signedText("a", `{"v":1,"id":"msg_1","phase":"commentary"}`))},
			`{"type":"message","role":"assistant","content":[{"type":"output_text","text":"a","annotations":[]}],"phase":"commentary","status":"completed"}`},
		{"one that was cut off is dropped too", m, "", []*message.Message{modelSays(m, thinks("hm", ""), signedText("a", "msg_1"))}, saidItem("", "a")},
		{"a thought whose id is long goes without", m, "", []*message.Message{modelSays(m, thinks("hm", `{"id":"`+strings.Repeat("x", 450)+`","type":"reasoning","encrypted_content":"z","summary":[]}`), text("a"))},
			`{"type":"reasoning","encrypted_content":"z","summary":[]},` + saidItem("", "a")},
		{"a thought in the open goes back", old, "", []*message.Message{modelSays(old, thinks("hm", inTheOpen), calls("c1|fc_1", `{}`))}, inTheOpen + "," + calledItem(`"id":"fc_1",`, "c1")},
		{"unless that is switched off", silent, "", []*message.Message{modelSays(silent, thinks("hm", reasoning1), calls("c1|fc_1", `{}`))}, calledItem("", "c1")},
		{"another model's thought is text", m, "", []*message.Message{modelSays(other, thinks(" hm ", reasoning1), signedText("a", "msg_1"), calls("c1|fc_1", `{}`))},
			saidItem("", "hm") + "," + saidItem("", "a") + "," + calledItem("", "c1")},
		{"of another API too", m, "", []*message.Message{modelSays(m, thinks("hm", "reasoning_content"), text("a"))}, saidItem("", "hm") + "," + saidItem("", "a")},
		{"call and result", m, "", []*message.Message{modelSays(m, calls("c1|fc_1", `{"path":"x"}`)), toolSays("c1|fc_1", text("out"), text("more"))},
			`{"type":"function_call","id":"fc_1","call_id":"c1","name":"read","arguments":"{\"path\":\"x\"}"},{"type":"function_call_output","call_id":"c1","output":"out\nmore"}`},
		{"an image in a result for a model that cannot see", blind, "", []*message.Message{toolSays("c1", text("x"), abc())},
			`{"type":"function_call_output","call_id":"c1","output":"x\n[image left out: this model takes text only]"}`},
		{"images of results follow the row where they must", old, "", []*message.Message{toolSays("a", abc()), toolSays("b", text("x"), abc()), userSays(text("go on"))},
			`{"type":"function_call_output","call_id":"a","output":"(the image follows)"},{"type":"function_call_output","call_id":"b","output":"x"},` +
				`{"role":"user","content":[{"type":"input_text","text":"Images from the tool results:"},{"type":"input_image","image_url":"data:image/png;base64,QUJD","detail":"auto"},{"type":"input_image","image_url":"data:image/png;base64,QUJD","detail":"auto"}]},` +
				`{"role":"user","content":[{"type":"input_text","text":"go on"}]}`},
		{"a long id of an item does not go", m, "", []*message.Message{modelSays(m, calls(long, `{}`)), toolSays(long, text("x"))},
			calledItem("", "call_1") + `,{"type":"function_call_output","call_id":"call_1","output":"x"}`},
		{"nor one of another form", m, "", []*message.Message{modelSays(m, calls("c1|abc", `{}`))}, calledItem("", "c1")},
		{"ids that start over are told apart", m, "", []*message.Message{
			modelSays(m, calls("call_0|fc_1", `{}`)), toolSays("call_0|fc_1", text("x")), modelSays(m, calls("call_0|fc_2", `{}`)), toolSays("call_0|fc_2", text("y"))},
			calledItem(`"id":"fc_1",`, "call_0") + `,{"type":"function_call_output","call_id":"call_0","output":"x"},` +
				calledItem("", "call_0_2") + `,{"type":"function_call_output","call_id":"call_0_2","output":"y"}`},
	}
}

func contentsWritten() []written {
	m, other, chat := gemini("gemini-3-flash"), gemini("gemini-3-pro"), gemini("gpt")
	chat.Provider, chat.API = "openai", "openai-completions"
	old := gemini("gemini-2.5-flash")
	blind := gemini("gemini-3-flash")
	blind.Input = []string{"text"}
	thought := thinks("hm", "c2ln")
	signed := signedText("b", "c2ln")
	empty := signedText("", "c2ln")
	whole := thinks("", `{"toolCall":{"id":"x"},"thoughtSignature":"c2ln"}`)
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
	return []written{
		{"users join", m, "", []*message.Message{userSays(text("a")), userSays(text(" "), text("b"), abc())},
			user(`{"text":"a"},{"text":"b"},` + image)},
		{"given ids go back, made ones do not", m, "", []*message.Message{modelSays(m, callsSigned("8hd01vsf", `{"a":1}`, "c2ln"), callsSigned("call_pi_abc", `{"a":1}`, "")), toolSays("8hd01vsf", text("x")), toolFails("call_pi_abc", text("y"))},
			model(call("8hd01vsf", "c2ln")+","+call("", "")) + "," + user(result("8hd01vsf", `{"output":"x"}`)+","+result("", `{"error":"y"}`))},
		{"ids given twice are told apart", m, "", []*message.Message{modelSays(m, callsSigned("a", `{"a":1}`, "c2ln"), callsSigned("a", `{"a":1}`, "")), toolSays("a", text("x")), toolSays("a", text("y"))},
			model(call("a", "c2ln")+","+call("a_2", "")) + "," + user(result("a", `{"output":"x"}`)+","+result("a_2", `{"output":"y"}`))},
		{"calls of a sister keep their id, not their signature", m, "", []*message.Message{modelSays(other, callsSigned("a", `{"a":1}`, "c2ln"), callsSigned("b", `{"a":1}`, "")), toolSays("a"), toolSays("b")},
			model(call("a", skip)+","+call("b", "")) + "," + user(result("a", `{"output":"(no output)"}`)+","+result("b", `{"output":"(no output)"}`))},
		{"calls of another service", m, "", []*message.Message{modelSays(chat, callsSigned("functions.add:0", `{"a":1}`, "")), toolSays("functions.add:0", text("x"))},
			model(call("", skip)) + "," + user(result("", `{"output":"x"}`))},
		{"no placeholder for older models", old, "", []*message.Message{modelSays(chat, callsSigned("a", `{"a":1}`, "")), toolSays("a", text("x"))},
			model(call("", "")) + "," + user(result("", `{"output":"x"}`))},
		{"images of results go into them", m, "", []*message.Message{modelSays(m, callsSigned("a", `{"a":1}`, "c2ln")), toolSays("a", abc()), userSays(text("and?"))},
			model(call("a", "c2ln")) + "," + user(`{"functionResponse":{"id":"a","name":"read","response":{"output":"(see the image)"},"parts":[`+image+`]}},{"text":"and?"}`)},
		{"a blind model is told of images in results", blind, "", []*message.Message{modelSays(blind, callsSigned("a", `{"a":1}`, "c2ln")), toolSays("a", text("x"), abc())},
			model(call("a", "c2ln")) + "," + user(result("a", `{"output":"x\n`+provider.ImageOmitted+`"}`))},
		{"own parts keep their signatures", m, "", []*message.Message{modelSays(m, thought, text("a"), signed, empty, text("c"), whole)},
			model(`{"text":"hm","thought":true,"thoughtSignature":"c2ln"},{"text":"a"},{"text":"b","thoughtSignature":"c2ln"},{"text":"","thoughtSignature":"c2ln"},{"text":"c"},{"toolCall":{"id":"x"},"thoughtSignature":"c2ln"}`)},
		{"another model's parts are text", m, "", []*message.Message{modelSays(other, thought, text("a"), signed, empty, whole, withheld("opaque"))},
			model(`{"text":"hm"},{"text":"a"},{"text":"b"}`)},
		{"own thoughts without a signature", m, "", []*message.Message{modelSays(m, thinks("hm", ""))}, model(`{"text":"hm","thought":true}`)},
		{"a kept part that is damaged", m, "", []*message.Message{modelSays(m, thinks("", `{"toolCall":`), text("a"))}, model(`{"text":"a"}`)},
		{"what is no signature is not sent as one", m, "", []*message.Message{modelSays(m, signedText("a", `msg "1"`))}, model(`{"text":"a"}`)},
		{"an answer of which nothing is left", m, "", []*message.Message{userSays(text("a")), modelSays(other, empty), userSays(text("b"))}, user(`{"text":"a"},{"text":"b"}`)},
		{"arguments that are none", m, "", []*message.Message{modelSays(m, message.Block{Type: message.BlockToolCall, ID: "a", Name: "ls", Signature: "c2ln"}), toolSays("a", text("x"))},
			model(`{"functionCall":{"id":"a","name":"ls","args":{}},"thoughtSignature":"c2ln"}`) + "," + user(`{"functionResponse":{"id":"a","name":"ls","response":{"output":"x"}}}`)},
	}
}

func TestNoBudgetInATurnThatBeganWithoutAThought(t *testing.T) {
	m, other, signed := claude("claude-sonnet-4-5"), claude("claude-haiku-4-5"), thinks("hm", "sig")
	result := toolSays("a", text("x"))
	cases := []struct {
		name string
		turn []*message.Message
		want bool
	}{
		{"a prompt", nil, true},
		{"its own calls", []*message.Message{modelSays(m, signed, calls("a", `{}`)), result}, true},
		{"its own calls, the thought withheld", []*message.Message{modelSays(m, withheld("opaque"), calls("a", `{}`)), result}, true},
		{"calls it made without thinking", []*message.Message{modelSays(m, calls("a", `{}`)), result}, false},
		{"calls of another model", []*message.Message{modelSays(other, signed, calls("a", `{}`)), result}, false},
		{"later calls without a thought", []*message.Message{modelSays(m, signed, calls("a", `{}`)), result, modelSays(m, calls("b", `{}`)), toolSays("b")}, true},
		{"later calls with one", []*message.Message{modelSays(m, calls("a", `{}`)), result, modelSays(m, signed, calls("b", `{}`)), toolSays("b")}, false},
		{"steering beside the results", []*message.Message{modelSays(m, calls("a", `{}`)), result, userSays(text("on"))}, false},
		{"another prompt", []*message.Message{modelSays(m, text("a")), userSays(text("on"))}, true},
		{"an answer to be continued", []*message.Message{modelSays(m, signed, text("a"))}, true},
		{"one without a thought", []*message.Message{modelSays(m, text("a"))}, false},
	}
	for _, c := range cases {
		r := &llm.Request{Model: m, Thinking: "low", Messages: append([]*message.Message{userSays(text("go"))}, c.turn...)}
		if got := bodyFields(t, r)["thinking"]; (got != nil) != c.want {
			t.Errorf("%s: thinking %s", c.name, got)
		}
	}
}

func TestCacheMarkersStandOnSystemAndTheTwoNewestUserBlocks(t *testing.T) {
	m := claude("claude-sonnet-4-5")
	conversation := []*message.Message{
		userSays(text("one")), modelSays(m, calls("a", `{}`)), toolSays("a", text("two")),
		modelSays(m, calls("b", `{}`)), toolSays("b", text("three")),
	}
	r := &llm.Request{Model: m, System: "s", Messages: conversation, Tools: []llm.ToolSpec{{Name: "read"}}}
	q := bodyFields(t, r)
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
	if q := bodyFields(t, r); !strings.Contains(string(q["tools"]), "cache_control") {
		t.Error("without a system prompt the tools should be marked")
	}
}

func TestMistralGetsNineCharactersOnBothSides(t *testing.T) {
	m := chatModel("mistral", "m", "https://api.mistral.ai/v1")
	var got []struct {
		ToolCalls []struct{ ID string } `json:"tool_calls"`
		ResultOf  string                `json:"tool_call_id"`
	}
	raw := bodyFields(t, &llm.Request{Model: m, Messages: []*message.Message{
		modelSays(m, calls("toolu_01AbC", `{}`)), toolSays("toolu_01AbC", text("x")),
	}})["messages"]
	if err := json.Unmarshal(raw, &got); err != nil {
		t.Fatal(err)
	}
	id := got[0].ToolCalls[0].ID
	if len(id) != 9 || strings.Trim(id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") != "" || got[1].ResultOf != id {
		t.Errorf("call %q, result %q", id, got[1].ResultOf)
	}
}

func TestALongRequestSaysTheSameAsAShortOne(t *testing.T) {
	for _, api := range apis() {
		m := with(modelOf(api), "cache", false)
		m.ID = `m","messages":[],"input":[],"contents":[]`
		round := []*message.Message{userSays(text(strings.Repeat("<a & b>\n", 80_000))), modelSays(m, text("ok"))}
		r := &llm.Request{Model: m, System: `<"messages":[],"input":[],"contents":[]}>`, Tools: []llm.ToolSpec{{Name: "ls", Parameters: []byte(`{"messages":[],"input":[],"contents":[]}`)}}}
		list := func(rounds int) (elements []json.RawMessage, rest string) {
			r.Messages = nil
			for range rounds {
				r.Messages = append(r.Messages, round...)
			}
			_, body := sent(t, r)
			raw := messagesOf(t, body)
			if err := json.Unmarshal(raw, &elements); err != nil {
				t.Fatalf("%s: %v", api, err)
			}
			return elements, string(bytes.Replace(body, raw, nil, 1))
		}
		short, around := list(1)
		long, same := list(3)
		before := len(short) - 2 // the system prompt
		if same != around || len(long) != before+6 {
			t.Errorf("%s: %d elements in %s; want %s", api, len(long), same, around)
		}
		for i, e := range long[before:] {
			if !bytes.Equal(e, short[before+i%2]) {
				t.Errorf("%s: element %d is %.100s", api, i, e)
			}
		}
	}
}
