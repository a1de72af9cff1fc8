package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"pi/agent/llm"
	"pi/internal/testing/wiretest"
	"pi/session/message"
)

func chunkOf(delta string) string {
	return `data: {"choices":[{"index":0,"delta":` + delta + `,"finish_reason":null}]}` + "\n\n"
}

const end = "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"

// script answers one request after the other and keeps what was asked.
func script(t *testing.T, answers ...string) (*httptest.Server, *[][]byte) {
	t.Helper()
	var bodies [][]byte
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		if err != nil || r.URL.Path != "/v1/chat/completions" {
			t.Errorf("%s %v", r.URL, err)
		}
		bodies = append(bodies, b)
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, answers[len(bodies)-1])
	}))
	t.Cleanup(s.Close)
	return s, &bodies
}

func TestASecondTurnExtendsTheFirst(t *testing.T) {
	s, bodies := script(t,
		chunkOf(`{"reasoning":"I ","reasoning_details":[{"type":"reasoning.text","text":"I ","index":0}]}`)+
			chunkOf(`{"reasoning":"read","reasoning_details":[{"type":"reasoning.text","text":"read","index":0,"signature":"s<1>"}]}`)+
			chunkOf(`{"tool_calls":[{"index":0,"id":"c1","function":{"name":"read","arguments":""}},{"index":1,"id":"c2","function":{"name":"read","arguments":"{\"path\":"}}]}`)+
			chunkOf(`{"tool_calls":[{"index":1,"function":{"arguments":"\"a<b\"}"}}]}`)+end,
		chunkOf(`{"content":"done"}`)+end)
	for _, markers := range []bool{false, true} {
		*bodies = nil
		m := modelOf("p", "m", s.URL+"/v1")
		m.Compat = map[string]any{"cache_control": markers}
		r := &llm.Request{Model: m, System: "be nice", Messages: []*message.Message{userSays(text("go"), picture)},
			Tools: []llm.ToolSpec{{Name: "read", Description: "reads <it>", Parameters: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}}}`)}}}
		p := New(s.Client())
		first := wiretest.Collect(p.Stream(context.Background(), r))
		if first.Err != nil || first.Stop.Reason != message.StopToolUse || len(first.Calls()) != 2 {
			t.Fatalf("%s", first)
		}
		r.Messages = append(r.Messages, modelSays(m, first.Content...), toolSays("c1", text("x")), toolSays("c2", picture))
		if second := wiretest.Collect(p.Stream(context.Background(), r)); second.Err != nil || second.Text(message.BlockText) != "done" {
			t.Fatalf("%s", second)
		}
		wiretest.Extends(t, (*bodies)[0], (*bodies)[1], "model", "tools")
		if want := `"reasoning_details":[{"index":0,"signature":"s<1>","text":"I read","type":"reasoning.text"}]`; !bytes.Contains((*bodies)[1], []byte(want)) {
			t.Errorf("the details did not come back: %s", (*bodies)[1])
		}
	}
}

func decodeText(t *testing.T, stream string) wiretest.Answer {
	t.Helper()
	f := wiretest.Folder{Status: 200, Headers: map[string]string{"Content-Type": "text/event-stream"}}
	return f.Ask(New(f.Client(func() io.Reader { return strings.NewReader(stream) })), "http://model.test")
}

func TestToolCallsAreToldApart(t *testing.T) {
	piece := func(s string) string { return chunkOf(`{"tool_calls":[` + s + `]}`) }
	cases := []struct{ name, in, want string }{
		{"without index, several", piece(`{"id":"a","function":{"name":"f","arguments":"{}"}},{"id":"b","function":{"name":"g","arguments":"{}"}}`), "a f {}, b g {}"},
		{"without index, in pieces", piece(`{"id":"a","function":{"name":"f","arguments":"{\"x\""}}`) + piece(`{"function":{"arguments":":1}"}}`), `a f {"x":1}`},
		{"id and name on each piece", piece(`{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\""}}`) + piece(`{"index":0,"id":"a","function":{"name":"f","arguments":":1}"}}`), `a f {"x":1}`},
		{"another id on each piece", piece(`{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\""}}`) + piece(`{"index":0,"id":"b","function":{"arguments":":1}"}}`), `a f {"x":1}`},
		{"name after the id", piece(`{"index":0,"id":"a"}`) + piece(`{"index":0,"function":{"name":"f","arguments":"{}"}}`), "a f {}"},
		{"id and name after the arguments", piece(`{"index":0,"function":{"arguments":"{\"x\""}}`) + piece(`{"index":0,"id":"a","function":{"name":"f","arguments":":1}"}}`), `a f {"x":1}`},
		{"never a name", piece(`{"index":0,"id":"a","function":{"arguments":"{\"x\""}}`) + piece(`{"index":0,"function":{"arguments":":1}"}}`), `a  {"x":1}`},
		{"no arguments at all", piece(`{"index":0,"id":"a","function":{"name":"f"}}`), "a f {}"},
		{"interleaved", piece(`{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\""}}`) + piece(`{"index":1,"id":"b","function":{"name":"g","arguments":"{}"}}`) + piece(`{"index":0,"function":{"arguments":":1}"}}`), `a f {"x":1}, b g {}`},
		{"null fields", piece(`{"index":0,"id":"a","function":{"name":"f","arguments":null}}`) + piece(`{"index":0,"id":null,"function":{"name":null,"arguments":"{}"}}`), "a f {}"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			a := decodeText(t, c.in+end)
			var got []string
			for _, b := range a.Calls() {
				got = append(got, fmt.Sprintf("%s %s %s", b.ID, b.Name, b.Arguments))
			}
			if strings.Join(got, ", ") != c.want || a.Err != nil || a.Stop.Reason != message.StopToolUse {
				t.Errorf("%s", a)
			}
		})
	}
}

func TestIDsAreMadeWhereTheyAreMissingOrRepeated(t *testing.T) {
	a := decodeText(t, chunkOf(`{"tool_calls":[{"index":0,"id":"","function":{"name":"f","arguments":"{}"}},{"index":1,"id":"0","function":{"name":"f","arguments":"{}"}},{"index":2,"id":"0","function":{"name":"f","arguments":"{}"}}]}`)+end)
	seen := map[string]bool{"": true}
	for _, b := range a.Calls() {
		if seen[b.ID] {
			t.Errorf("id %q", b.ID)
		}
		seen[b.ID] = true
	}
	if len(seen) != 4 {
		t.Errorf("%s", a)
	}
}

func TestFinishReasonsAreMapped(t *testing.T) {
	finish := func(delta, reason string) string {
		return `data: {"choices":[{"index":0,"delta":` + delta + `,"finish_reason":"` + reason + `"}]}` + "\n\n"
	}
	const call = `{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}]}`
	cases := []struct {
		delta, reason string
		want          message.StopReason
	}{
		{`{}`, "stop", message.StopEnd}, {`{}`, "end", message.StopEnd}, {`{}`, "whatever", message.StopEnd},
		{`{}`, "tool_calls", message.StopEnd}, {call, "stop", message.StopToolUse}, {call, "tool_calls", message.StopToolUse},
		{`{}`, "length", message.StopLength}, {call, "length", message.StopLength}, {`{}`, "model_length", message.StopLength},
		{`{}`, "content_filter", llm.StopRefusal}, {`{}`, "sensitive", llm.StopRefusal}, {`{"refusal":"I will not"}`, "stop", llm.StopRefusal},
	}
	for _, c := range cases {
		if a := decodeText(t, finish(c.delta, c.reason)); a.Err != nil || a.Stop.Reason != c.want || a.Stop.Raw != c.reason {
			t.Errorf("%s: %s", c.reason, a)
		}
	}
	if a := decodeText(t, finish(`{"refusal":"I will not"}`, "stop")); a.Stop.Message != "I will not" {
		t.Errorf("the refusal's text is lost: %s", a)
	}
	for _, reason := range []string{"error", "network_error", "insufficient_system_resource"} {
		a := decodeText(t, finish(`{"content":"hi"}`, reason))
		if e, ok := a.Err.(*llm.ProviderError); !ok || !e.Retryable || !strings.Contains(e.Message, reason) {
			t.Errorf("%s: %v", reason, a.Err)
		}
	}
}

func TestThinkingKeepsTheNameItCameUnder(t *testing.T) {
	cases := []struct{ delta, signature string }{
		{`{"reasoning_content":"hm"}`, "reasoning_content"},
		{`{"reasoning":"hm"}`, "reasoning"},
		{`{"reasoning_text":"hm"}`, "reasoning_text"},
		{`{"reasoning_content":"hm","reasoning":"hm"}`, "reasoning_content"},
		{`{"reasoning_content":"hm","reasoning_details":[{"type":"reasoning.text","text":"hm"}]}`, "reasoning_content"},
		{`{"reasoning":"hm","reasoning_details":[{"type":"reasoning.encrypted","data":"x"}]}`, `[{"data":"x","type":"reasoning.encrypted"}]`},
		{`{"reasoning_details":[{"type":"reasoning.summary","summary":"hm"}]}`, `[{"summary":"hm","type":"reasoning.summary"}]`},
		{`{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]}]}`, "content"},
	}
	for _, c := range cases {
		a := decodeText(t, chunkOf(c.delta)+end)
		if len(a.Content) != 1 || a.Content[0].Text != "hm" || a.Content[0].Signature != c.signature {
			t.Errorf("%s: %s", c.delta, a)
		}
	}
}

func TestAThoughtThatIsWithheldStandsWhereItCame(t *testing.T) {
	a := decodeText(t, chunkOf(`{"content":"","reasoning_details":[{"type":"reasoning.encrypted","data":"x"}]}`)+chunkOf(`{"content":"hi"}`)+end)
	if len(a.Content) != 2 || a.Content[0].Type != message.BlockThinking || a.Content[0].Signature == "" || a.Content[1].Text != "hi" {
		t.Errorf("%s", a)
	}
}

func TestWhatIsNoUTF8IsReplaced(t *testing.T) {
	a := decodeText(t, chunkOf("{\"content\":\"a\xff\",\"reasoning\":\"b\xc3\"}")+end)
	if a.Text(message.BlockText) != "a\uFFFD" || a.Text(message.BlockThinking) != "b\uFFFD" {
		t.Errorf("%s", a)
	}
}

func TestUsageIsCountedOnce(t *testing.T) {
	cases := []struct {
		name, usage string
		want        message.Usage
	}{
		{"plain", `{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15}`, message.Usage{Input: 10, Output: 5, TotalTokens: 15}},
		{"cached tokens are part of the prompt", `{"prompt_tokens":10,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":6,"cache_write_tokens":3}}`,
			message.Usage{Input: 1, Output: 5, CacheRead: 6, CacheWrite: 3, TotalTokens: 15}},
		{"cached under another name", `{"prompt_tokens":10,"completion_tokens":5,"prompt_cache_hit_tokens":6}`, message.Usage{Input: 4, Output: 5, CacheRead: 6, TotalTokens: 15}},
		{"reasoning is part of the completion", `{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15,"completion_tokens_details":{"reasoning_tokens":3}}`, message.Usage{Input: 10, Output: 5, TotalTokens: 15}},
		{"unless the total says otherwise", `{"prompt_tokens":10,"completion_tokens":5,"total_tokens":18,"completion_tokens_details":{"reasoning_tokens":3}}`, message.Usage{Input: 10, Output: 8, TotalTokens: 18}},
		{"nulls and nonsense", `{"prompt_tokens":10,"completion_tokens":null,"prompt_tokens_details":"none"}`, message.Usage{Input: 10, TotalTokens: 10}},
	}
	for _, c := range cases {
		a := decodeText(t, end[:strings.Index(end, "data: [DONE]")]+`data: {"choices":[],"usage":`+c.usage+"}\n\ndata: [DONE]\n\n")
		if a.Usage == nil || *a.Usage != c.want {
			t.Errorf("%s: %+v", c.name, a.Usage)
		}
	}
}

func TestUsageIsFoundWhereverItStands(t *testing.T) {
	const counts = `{"prompt_tokens":10,"completion_tokens":5}`
	finish := func(more, inner string) string {
		return `data: {"choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":"stop"` + inner + `}]` + more + "}\n\n"
	}
	const done = "data: [DONE]\n\n"
	for name, stream := range map[string]string{
		"a chunk of its own":        finish("", "") + `data: {"choices":[],"usage":` + counts + "}\n\n" + done,
		"the finishing chunk":       finish(`,"usage":`+counts, "") + done,
		"a repeated finish":         finish(`,"usage":null`, "") + `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":` + counts + "}\n\n" + done,
		"every chunk":               finish(`,"usage":{"prompt_tokens":10,"completion_tokens":1}`, "") + `data: {"choices":[],"usage":` + counts + "}\n\n",
		"a field of Groq":           finish(`,"x_groq":{"usage":`+counts+"}", "") + done,
		"the choice":                finish("", `,"usage":`+counts) + done,
		"a choice that is no other": `data: {"choices":[{"index":1,"usage":{"prompt_tokens":99}},{"index":0,"delta":{"content":"hi"},"finish_reason":"stop","usage":` + counts + "}]}\n\n" + done,
	} {
		a := decodeText(t, stream)
		if want := (message.Usage{Input: 10, Output: 5, TotalTokens: 15}); a.Usage == nil || *a.Usage != want || a.Err != nil || a.Text(message.BlockText) != "hi" {
			t.Errorf("%s: %s", name, a)
		}
	}
}

func TestOnlyTheFirstChoiceCounts(t *testing.T) {
	other := `{"index":1,"delta":{"content":"no","tool_calls":[{"index":0,"id":"a","function":{"name":"f"}}]},"finish_reason":"length"}`
	a := decodeText(t, `data: {"choices":[`+other+"]}\n\n"+`data: {"choices":[`+other+`,{"index":0,"delta":{"content":"yes"},"finish_reason":null}]}`+"\n\n"+end)
	if a.Err != nil || a.Stop.Reason != message.StopEnd || a.Text(message.BlockText) != "yes" || len(a.Content) != 1 {
		t.Errorf("%s", a)
	}
}

func TestWhatCannotBeReadSpoilsAnAnswerOnlyBeforeItsEnd(t *testing.T) {
	const garbled = "data: {\"choices\":\n\n"
	finish, _, _ := strings.Cut(end, "data: [DONE]")
	if a := decodeText(t, chunkOf(`{"content":"hi"}`)+finish+garbled+"data: [DONE]\n\n"); a.Err != nil || a.Text(message.BlockText) != "hi" {
		t.Errorf("after the reason: %s", a)
	}
	if a := decodeText(t, chunkOf(`{"content":"hi"}`)+garbled+end); a.Err == nil {
		t.Errorf("before it: %s", a)
	}
}

func TestUsageHasItsPrice(t *testing.T) {
	f := wiretest.Folder{Status: 200}
	p := New(f.Client(func() io.Reader {
		return strings.NewReader(`data: {"choices":[{"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":1000000,"completion_tokens":500000}}`)
	}))
	r := &llm.Request{Model: &llm.Model{BaseURL: "http://model.test", Cost: &llm.Price{Input: 2, Output: 8}}}
	if a := wiretest.Collect(p.Stream(context.Background(), r)); a.Err != nil || a.Usage == nil || a.Usage.Cost != (message.Cost{Input: 2, Output: 4, Total: 6}) {
		t.Errorf("%s", a)
	}
}
