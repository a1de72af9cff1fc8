package provider_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"pi/agent/llm"
	"pi/internal/testing/wiretest"
	"pi/session"
	"pi/session/message"
)

// checkOf is what the strict server of an API refuses a request for.
func checkOf(api string) func([]byte) error {
	return map[string]func([]byte) error{"anthropic-messages": wiretest.CheckMessages, "openai-completions": wiretest.CheckChat,
		"openai-responses": wiretest.CheckResponses, "google-generative-ai": wiretest.CheckGemini}[api]
}

// taken is the answer of an API's server that had nothing to complain about.
func taken(api string) string {
	return map[string]func(spoken) string{"anthropic-messages": messagesAnswer, "openai-completions": chatAnswer,
		"openai-responses": responsesAnswer, "google-generative-ai": geminiAnswer}[api](spoken{text: "taken"})
}

func TestASecondTurnExtendsTheFirstAndCarriesItsAnswer(t *testing.T) {
	const reasoning = `{"id":"rs_1","type":"reasoning","encrypted_content":"gA<=>","summary":[{"type":"summary_text","text":"I read"},{"type":"summary_text","text":"it"}],"content":[]}`
	const commentary = `{"type":"message","id":"msg_1","phase":"commentary","role":"assistant","content":[{"type":"output_text","text":"Let me see","annotations":[]}]}`
	details := []string{
		chatDelta(`{"reasoning":"I ","reasoning_details":[{"type":"reasoning.text","text":"I ","index":0}]}`), chatDelta(`{"reasoning":"read","reasoning_details":[{"type":"reasoning.text","text":"read","index":0,"signature":"s<1>"}]}`),
		chatCalls(`{"index":0,"id":"c1","function":{"name":"read","arguments":""}},{"index":1,"id":"c2","function":{"name":"read","arguments":"{\"path\":"}}`), chatCalls(`{"index":1,"function":{"arguments":"\"a<b\"}"}}`), chatEnd}
	const detailed = `"reasoning_details":[{"index":0,"signature":"s<1>","text":"I read","type":"reasoning.text"}]`
	for _, c := range []struct {
		name  string
		model *llm.Model
		first []string // the events of its first answer
		want  string   // how that is in the second request
		same  []string // fields
	}{
		{"claude", claude("claude-sonnet-4-5"), []string{claudeBegin,
			`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"s+1=="}}`,
			`{"type":"content_block_stop","index":0}`,
			`{"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"opaque"}}`,
			`{"type":"content_block_stop","index":1}`,
			`{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"t1","name":"read","input":{}}}`,
			`{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"path\":\"a<b\"}"}}`,
			`{"type":"content_block_stop","index":2}`,
			`{"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"t2","name":"ls","input":{}}}`, claudeReason("tool_use"), claudeStop},
			`{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s+1=="},{"type":"redacted_thinking","data":"opaque"},{"type":"tool_use","id":"t1","name":"read","input":{"path":"a<b"}},{"type":"tool_use","id":"t2","name":"ls","input":{}}]}`,
			[]string{"model", "system", "tools", "thinking"}},
		{"chat", chatModel("p", "m", ""), details, detailed, []string{"model", "tools"}},
		{"chat with cache markers", with(chatModel("p", "m", ""), "cache_control", true), details, detailed, []string{"model", "tools"}},
		{"responses", &llm.Model{Provider: "openai", ID: "gpt", API: "openai-responses", Reasoning: true}, []string{`{"type":"response.created","response":{"status":"in_progress"}}`,
			itemAdded(0, `{"id":"rs_1","type":"reasoning","encrypted_content":"gX","summary":[]}`),
			itemPiece(summaryKind, 0, 0, "I read"), itemPiece(summaryKind, 0, 1, "it"), itemDone(0, reasoning),
			itemAdded(1, `{"type":"message","id":"msg_1","phase":"commentary","role":"assistant","content":[]}`), itemPiece(textKind, 1, 0, "Let me see"), itemDone(1, commentary),
			itemAdded(2, callItem("call_1", "fc_1", "")), itemPiece(callKind, 2, 0, `{"path":`), itemPiece(callKind, 2, 0, `"a<b"}`), itemDone(2, callItem("call_1", "fc_1", `{"path":"a<b"}`)),
			itemAdded(3, callItem("call_2", "fc_2", "")), itemDone(3, callItem("call_2", "fc_2", `{}`)), itemsEnd("")},
			reasoning + `,{"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":"Let me see","annotations":[]}],"phase":"commentary","status":"completed"},` +
				`{"type":"function_call","id":"fc_1","call_id":"call_1","name":"f","arguments":"{\"path\":\"a<b\"}"},{"type":"function_call","id":"fc_2","call_id":"call_2","name":"f","arguments":"{}"},` +
				`{"type":"function_call_output","call_id":"call_1","output":[{"type":"input_text","text":"x"},`,
			[]string{"model", "tools", "reasoning", "include", "prompt_cache_key"}},
		{"gemini", gemini("gemini-3-pro-preview"), []string{geminiParts(`{"text":"hm","thought":true}`), geminiParts(`{"text":" hm","thought":true,"thoughtSignature":"c2ln+/=="}`),
			geminiParts(`{"text":"I"}`, `{"text":" look"}`), geminiParts(`{"text":" it up","thoughtSignature":"dGV4dA"}`), geminiParts(`{"text":"."}`, `{"text":"","thoughtSignature":"ZW1wdHk_"}`),
			geminiParts(`{"functionCall":{"name":"read","args":{"path":"a<b"},"id":"8hd01vsf"},"thoughtSignature":"Y2FsbA"}`, `{"functionCall":{"name":"ls"}}`),
			geminiParts(`{"toolCall":{"id":"x","args":{"q":"a<b"}},"thoughtSignature":"dG9vbA"}`), geminiText("", "STOP")},
			`{"role":"model","parts":[{"text":"hm","thought":true},{"text":" hm","thought":true,"thoughtSignature":"c2ln+/=="},{"text":"I look"},{"text":" it up","thoughtSignature":"dGV4dA"},{"text":"."},{"text":"","thoughtSignature":"ZW1wdHk_"},` +
				`{"functionCall":{"id":"8hd01vsf","name":"read","args":{"path":"a<b"}},"thoughtSignature":"Y2FsbA"},{"functionCall":{"name":"ls","args":{}}},{"toolCall":{"id":"x","args":{"q":"a<b"}},"thoughtSignature":"dG9vbA"}]},` +
				`{"role":"user","parts":[{"functionResponse":{"id":"8hd01vsf","name":"read","response":{"output":"x"},"parts":[{"inlineData":{"mimeType":"image/png","data":"QUJD"}}]}},{"functionResponse":{"name":"ls","response":{"error":"no"}}}]}`,
			[]string{"systemInstruction", "tools", "generationConfig"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := c.model
			answers := []string{events(c.first...), taken(m.API)}
			var bodies [][]byte
			check := checkOf(m.API)
			s := wiretest.Answers(t, func(body []byte) (string, error) {
				bodies = append(bodies, body)
				return answers[len(bodies)-1], check(body)
			})
			m.BaseURL = s.URL
			r := &llm.Request{Model: m, APIKey: "k", SessionID: "s", Thinking: "low", System: "be nice", Messages: []*message.Message{userSays(text("go"), abc())},
				Tools: []llm.ToolSpec{{Name: "read", Description: "reads <it>", Parameters: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}}}`)}, {Name: "ls"}}}
			p := client(t, m.API)(s.Client())
			first := wiretest.Collect(p.Stream(context.Background(), r))
			calls := first.Calls()
			if first.Err != nil || first.Stop.Reason != message.StopToolUse || len(calls) != 2 {
				t.Fatalf("%s", first)
			}
			r.Messages = append(r.Messages, throughAFile(t, modelSays(m, first.Content...)), toolSays(calls[0].ID, text("x"), abc()), toolFails(calls[1].ID, text("no")))
			if second := wiretest.Collect(p.Stream(context.Background(), r)); second.Err != nil || second.Text(message.BlockText) != "taken" {
				t.Fatalf("%s", second)
			}
			wiretest.Extends(t, bodies[0], bodies[1], c.same...)
			if !bytes.Contains(bodies[1], []byte(c.want)) {
				t.Errorf("the answer came back as\n%s\nwant\n%s", bodies[1], c.want)
			}
		})
	}
}

// throughAFile is what a message is when its session was saved and opened again,
// made ready to be sent.
func throughAFile(t *testing.T, m *message.Message) *message.Message {
	t.Helper()
	m.StopReason = message.StopToolUse
	path := filepath.Join(t.TempDir(), "s.jsonl")
	s, err := session.Open(path, session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, add := range []*message.Message{userSays(text("go")), m} {
		if _, err := s.AppendMessage(add); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	opened, err := session.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	return session.ForModel(opened.Context())[1]
}

func TestToolsThatBeginWithADigitAreToldUnderAnotherName(t *testing.T) {
	answers := []string{
		events(geminiParts(`{"functionCall":{"name":"_3d","args":{}},"thoughtSignature":"c2ln"}`, `{"functionCall":{"name":"_own"}}`, `{"functionCall":{"name":"_none"}}`, `{"functionCall":{"name":"_`+strings.Repeat("9", 63)+`"}}`), geminiText("", "STOP")),
		taken("google-generative-ai")}
	var bodies [][]byte
	s := wiretest.Answers(t, func(body []byte) (string, error) {
		bodies = append(bodies, body)
		return answers[len(bodies)-1], wiretest.CheckSignedGemini(body)
	})
	m := gemini("gemini-3-pro-preview")
	m.BaseURL = s.URL
	r := &llm.Request{Model: m, APIKey: "k", Tools: []llm.ToolSpec{{Name: "3d"}, {Name: "_own"}, {Name: "own"}, {Name: strings.Repeat("9", 64)}}, Messages: []*message.Message{userSays(text("go"))}}
	p := client(t, m.API)(s.Client())
	a := wiretest.Collect(p.Stream(context.Background(), r))
	var names []string
	for _, c := range a.Calls() {
		names = append(names, c.Name)
		r.Messages = append(r.Messages, toolSays(c.ID, text("x")))
	}
	if !slices.Equal(names, []string{"3d", "_own", "_none", strings.Repeat("9", 64)}) {
		t.Errorf("calls of %q: %s", names, a)
	}
	r.Messages = slices.Insert(r.Messages, 1, modelSays(m, a.Content...))
	if b := wiretest.Collect(p.Stream(context.Background(), r)); b.Err != nil || !bytes.Contains(bodies[1], []byte(`{"functionResponse":{"name":"_3d"`)) {
		t.Errorf("%s: %s", b, bodies[1])
	}
}

// taker is a model whose server takes nothing that is wrong.
type taker struct {
	model *llm.Model
	check func([]byte) error
}

// ask sends a request to the strict server of a model.
func (to *taker) ask(t *testing.T) func(r llm.Request) wiretest.Answer {
	s := wiretest.Strict(t, to.check, taken(to.model.API))
	m := *to.model
	m.BaseURL = s.URL
	p := client(t, m.API)(s.Client())
	return func(r llm.Request) wiretest.Answer {
		r.Model, r.APIKey = &m, "k"
		return wiretest.Collect(p.Stream(context.Background(), &r))
	}
}

// takers are models that are asked in different ways.
func takers() (all []taker) {
	acme := claude("large-1")
	acme.Provider = "acme"
	all = append(all, taker{acme, wiretest.CheckMessages}, taker{claude("claude-sonnet-4-5"), wiretest.CheckMessages})
	for _, id := range []string{"large-1", "other-1", "third"} {
		for _, compat := range []switches{nil, {"cache_control": true}, {"null_content": false, "string_content": true, "tool_call_ids": "nine"}} {
			all = append(all, taker{&llm.Model{Provider: "acme", ID: id, API: "openai-completions", Compat: compat}, wiretest.CheckChat})
		}
		for _, compat := range []switches{nil, {"instructions": true, "tool_result_images": false}, {"message_ids": true}} {
			all = append(all, taker{&llm.Model{Provider: "acme", ID: id, API: "openai-responses", Compat: compat}, wiretest.CheckResponses})
		}
	}
	for id, check := range map[string]func([]byte) error{"gemini-2.5-pro": wiretest.CheckGemini, "gemini-3-pro-preview": wiretest.CheckSignedGemini} {
		own := with(gemini("large-1"), "placeholder_signature", true)
		own.Provider = "acme" // who speaks in the session
		all = append(all, taker{gemini(id), check}, taker{own, check})
	}
	return all
}

func TestEveryPrefixOfASessionIsTakenByAStrictServer(t *testing.T) {
	if raceEnabled {
		t.Skip("one thing is done at a time, and .ci/run has it without the race detector")
	}
	for n, to := range takers() {
		t.Run(fmt.Sprint(n, " ", to.model.API, " ", to.model.ID), func(t *testing.T) {
			t.Parallel()
			ask := to.ask(t)
			for i, messages := range wiretest.Resumed(t) {
				if a := ask(llm.Request{Thinking: "low", System: "be nice", Messages: messages}); a.Err != nil || a.Text(message.BlockText) != "taken" {
					t.Errorf("%v, the first %d entries: %s", to.model.Compat, i, a)
				}
			}
		})
	}
}

func TestRecordedAnswersThatWereInterruptedAreTakenByAStrictServer(t *testing.T) {
	if raceEnabled {
		t.Skip("one thing is done at a time, and .ci/run has it without the race detector")
	}
	for _, f := range wiretest.All(t) {
		a := f.Whole(client(t, f.API))
		if a.Err != nil {
			continue // such an answer is never sent again
		}
		api := wiretest.APIName(f.API)
		to := []taker{{modelOf(api), checkOf(api)}}
		switch api {
		case "anthropic-messages":
			to[0].model = claude("claude-sonnet-4-5")
		case "google-generative-ai":
			to = []taker{{gemini("gemini-2.5-pro"), wiretest.CheckGemini}, {gemini("gemini-3-pro-preview"), wiretest.CheckSignedGemini}}
		default:
			to[0].model.Provider = f.Provider
		}
		for _, to := range to {
			ask := to.ask(t)
			for _, from := range []*llm.Model{to.model, {Provider: "other", ID: "other", API: "other"}} {
				if b := ask(llm.Request{Messages: wiretest.Interrupted(t, a, from, 2)}); b.Err != nil || b.Text(message.BlockText) != "taken" {
					t.Errorf("%s: %s after %s: %s", to.model.ID, f.ID, from.Provider, b)
				}
			}
		}
	}
}

func TestAGrowingConversationIsOnlyEverAddedTo(t *testing.T) {
	if raceEnabled {
		t.Skip("one thing is done at a time, and .ci/run has it without the race detector")
	}
	for _, to := range []taker{
		{claude("claude-sonnet-4-5"), wiretest.CheckMessages},
		{chatModel("p", "gpt-5.4", "https://api.openai.com/v1"), wiretest.CheckChat},
		{chatModel("p", "anthropic/claude-opus-4.6", "https://openrouter.ai/api/v1"), wiretest.CheckChat},
		{chatModel("p", "devstral", "https://api.mistral.ai/v1"), wiretest.CheckMistral},
		{chatModel("p", "deepseek-v4", "https://api.deepseek.com/v1"), wiretest.CheckDeepSeek},
		{chatModel("p", "qwen3", "http://127.0.0.1:11434/v1"), wiretest.CheckChat},
		{itemModel("p", "m", "https://api.openai.com/v1"), wiretest.CheckResponses},
		{itemModel("p", "m", "https://openrouter.ai/api/v1"), wiretest.CheckResponses},
		{itemModel("p", "m", "http://127.0.0.1:1234/v1"), wiretest.CheckResponses},
		{gemini("gemini-2.5-pro"), wiretest.CheckGemini},
		{gemini("gemini-3-pro-preview"), wiretest.CheckSignedGemini},
	} {
		t.Run(to.model.ID+" at "+to.model.BaseURL, func(t *testing.T) {
			t.Parallel()
			to.model.Reasoning = true
			wiretest.Grows(t, to.model, to.check, func(r *llm.Request) []byte { return bodyOf(client(t, to.model.API)(new(http.Client)), r) }, func(before, body []byte) {
				switch {
				case to.model.API == "anthropic-messages":
					checkMarkers(t, before, body)
				case bytes.Contains(body, []byte(`"cache_control"`)) != strings.HasPrefix(to.model.ID, "anthropic/") || bytes.Count(body, []byte(`"cache_control"`)) > 4:
					t.Fatalf("%d markers", bytes.Count(body, []byte(`"cache_control"`)))
				}
			})
		})
	}
}

// markedBlocks returns the blocks of a body that carry markers, as they stand without
// them, and how many markers there are in all.
func markedBlocks(t *testing.T, body []byte) (blocks []string, all int) {
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
	before, _ := markedBlocks(t, first)
	after, all := markedBlocks(t, second)
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

// FuzzDecode holds for any bytes that a server may send: the stream ends with a
// stop or an error, never with both, and does not depend on how it is read.
func FuzzDecode(f *testing.F) {
	for i, seeds := range [][]string{{
		claudeEnds(claudeText, "end_turn"),
		events(claudeBegin, `{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"a","name":"f","input":{}}}`,
			`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"x\":"}}`, claudeReason("max_tokens"), claudeStop),
		events(`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":"s"}}`, claudeStop),
		"event: error\n" + events(`{"type":"error","error":{"type":"api_error","message":"no"}}`),
		events(`{"type":"ping"}`, `{"type":"content_block_delta","index":7,"delta":{"type":"text_delta","text":"x"}}`),
	}, {
		events(chatDelta(`{"content":"hi"}`), chatEnd),
		events(chatDelta(`{"reasoning_details":[{"type":"reasoning.text","text":"a","index":0},{"data":"x"}],"reasoning":"a"}`), chatEnd),
		events(chatCalls(`{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\""}},{"function":{"arguments":":1}"}}`), chatEnd),
		events(chatDelta(`{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]}]}`), "[DONE]"),
		events(`{"error":{"message":"no"}}`),
		events(`{"choices":[{"finish_reason":"length","usage":{"prompt_tokens":1}}],"usage":null}`),
	}, {
		events(itemPiece(textKind, 0, 0, "hi"), itemsEnd("")),
		events(itemAdded(0, callItem("c", "fc_1", "")), itemPiece(callKind, 0, 0, `{"x":`), itemDone(0, callItem("c", "fc_1", `{"x":1}`)), itemsEnd("")),
		events(itemPiece(textKind, 2, 0, "hi"), itemPiece(summaryKind, 0, 1, "a"), itemPiece(innerKind, 1, 0, "b"), itemsEnd(messageItem("msg_1", "hi"))),
		events(itemsEnd(reasoning1 + "," + messageItem("msg_1", "hi"))),
		events(itemDone(-1, callItem("", "", `{}`)), `{"type":"response.incomplete","response":{"incomplete_details":{"reason":"content_filter"},"usage":{"input_tokens":1}}}`),
		events(`{"type":"error","code":"x","message":"no"}`, `{"type":"response.failed","response":{"error":null}}`),
		events(itemAdded(0, callItem("a", "fc_1", "")), itemAdded(0, callItem("b", "fc_2", "")), itemOf("fc_1", callKind, 0, "{}"), itemDone(0, messageItem("msg_1", "a")), itemAdded(1, callItem("c", "", "")), itemsEnd(callItem("d", "fc_4", "{}"))),
		"event: error\ndata: {}\n\ndata: [DONE]\n\n",
	}, {
		events(geminiText("hi", ""), geminiText("", "STOP")),
		events(`{"candidates":[{"content":{"parts":[{"text":"hm","thought":true},{"text":"","thoughtSignature":"c2ln"},{"functionCall":{"name":"f","args":{"x":1},"id":"a"},"thoughtSignature":"c2ln"},{"functionCall":{"name":"g"}}]}}]}`,
			`{"candidates":[{"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":3,"cachedContentTokenCount":5,"thoughtsTokenCount":-1}}`),
		events(`{"candidates":[{"content":{"parts":[{"toolCall":{"id":"x"},"thoughtSignature":"c2ln"},{"inlineData":{"data":"QUJD"},"thoughtSignature":"c2ln"}]},"finishReason":"MALFORMED_FUNCTION_CALL"}]}`),
		events(`{"promptFeedback":{"blockReason":"SAFETY"}}`),
		events(geminiText("hi", ""), `[{"error":{"code":503,"message":"overloaded","status":"UNAVAILABLE"}}]`),
		events(`{"candidates":[{"index":1,"content":{"parts":[{"text":7}]}},{"content":[]}],"error":null}`, "[DONE]"),
	}} {
		for _, seed := range seeds {
			f.Add(uint8(i), seed)
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, stream string) {
		api := apis()[int(which)%len(apis())]
		whole := answered(t, api, stream)
		if (whole.Err == nil) == (whole.Stop.Reason == "") {
			t.Errorf("%s", whole)
		}
		folder := wiretest.Folder{API: api, Status: 200, Headers: map[string]string{"Content-Type": "text/event-stream"}}
		bytewise := folder.Ask(client(t, api)(folder.Client(func() io.Reader { return iotest.OneByteReader(strings.NewReader(stream)) })), "http://model.test")
		if bytewise.String() != whole.String() {
			t.Errorf("%s\nin single bytes\n%s", whole, bytewise)
		}
	})
}

// FuzzEncode holds for any conversation: a strict server takes the request, a longer
// conversation only adds to it, and what is kept of it changes no byte.
func FuzzEncode(f *testing.F) {
	all := []taker{
		{claude("claude-sonnet-4-5"), wiretest.CheckMessages},
		{chatModel("openai", "m", ""), wiretest.CheckChat},
		{chatModel("mistral", "mistral-large-latest", "https://api.mistral.ai/v1"), wiretest.CheckMistral},
		{itemModel("openai", "m", ""), wiretest.CheckResponses},
		{itemModel("lmstudio", "m", ""), wiretest.CheckResponses},
		{itemModel("openrouter", "m", ""), wiretest.CheckResponses},
		{itemModel("acme", "m", ""), wiretest.CheckResponses},
		{gemini("gemini-2.5-pro"), wiretest.CheckGemini},
		{gemini("gemini-3-pro-preview"), wiretest.CheckSignedGemini},
	}
	for i, plan := range wiretest.Plans() {
		for which := range all {
			f.Add(plan, uint8(which), i%2 == 0)
		}
	}
	f.Fuzz(func(t *testing.T, plan []byte, which uint8, thinking bool) {
		if len(plan) > 60 {
			return
		}
		to := all[int(which)%len(all)]
		m := with(to.model, "prompt_cache_key", false)
		block := wiretest.PlannedBlock
		if m.API == "openai-responses" {
			block = itemBlock
		}
		kept := client(t, m.API)(nil)
		var before []byte
		for _, messages := range wiretest.Planned(t, plan, m, block) {
			r := &llm.Request{Model: m, APIKey: "k", System: "be nice", Messages: messages, SessionID: "s"}
			if thinking && m.API == "anthropic-messages" {
				r.Thinking = "low"
			}
			body := bodyOf(kept, r)
			if r.SessionID = ""; !bytes.Equal(body, bodyOf(kept, r)) {
				t.Fatalf("%s\nas a whole\n%s", body, bodyOf(kept, r))
			}
			if err := to.check(body); err != nil {
				t.Fatalf("%v in %s", err, body)
			}
			if before != nil {
				wiretest.Continues(t, before, body)
			}
			before = body
		}
	})
}

// itemBlock is some block of an answer.
func itemBlock(c byte) message.Block {
	blocks := []message.Block{
		thinks("hm", reasoning1), thinks("", reasoning2), thinks("hm", unsealed), thinks("hm", inTheOpen), thinks("hm", ""), thinks("hm", "c2ln"),
		signedText("a", "msg_1"), signedText("b", `{"v":1,"id":"msg_2","phase":"commentary"}`), signedText("c", `{"v":`), text("d"), text(""),
		calls("call_1|fc_1", `{"x":1}`), calls("call_1|fc_2", `{`), calls("functions.add:0", `{}`), calls("", `{}`),
		calls(strings.Repeat("x", 450)+"|"+strings.Repeat("y", 450), `{}`), calls("|", `{}`), calls("ü", `null`),
		withheld("opaque"),
	}
	return blocks[int(c)%len(blocks)]
}
