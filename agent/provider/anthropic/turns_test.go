package anthropic

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"pi/agent/llm"
	"pi/internal/sse"
	"pi/internal/testing/wiretest"
	"pi/session/message"
)

func events(all ...string) string {
	var s strings.Builder
	for _, e := range all {
		s.WriteString("data: " + e + "\n\n")
	}
	return s.String()
}

const (
	begin   = `{"type":"message_start","message":{"usage":{"input_tokens":10,"output_tokens":1}}}`
	endStop = `{"type":"message_stop"}`
)

func ends(reason string) string {
	return `{"type":"message_delta","delta":{"stop_reason":"` + reason + `"},"usage":{"output_tokens":5}}`
}

func TestASecondTurnExtendsTheFirst(t *testing.T) {
	answers := []string{
		events(begin,
			`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"s+1=="}}`,
			`{"type":"content_block_stop","index":0}`,
			`{"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"opaque"}}`,
			`{"type":"content_block_stop","index":1}`,
			`{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"t1","name":"read","input":{}}}`,
			`{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"path\":\"a<b\"}"}}`,
			`{"type":"content_block_stop","index":2}`, ends("tool_use"), endStop),
		events(begin, `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"done"}}`, ends("end_turn"), endStop),
	}
	var bodies [][]byte
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		if err != nil || r.URL.Path != "/v1/messages" || r.Header.Get("X-Api-Key") != "k" {
			t.Errorf("%s %v %v", r.URL, r.Header, err)
		}
		bodies = append(bodies, b)
		io.WriteString(w, answers[len(bodies)-1])
	}))
	defer s.Close()
	m := model("claude-sonnet-4-5")
	m.BaseURL = s.URL
	r := &llm.Request{Model: m, APIKey: "k", Thinking: "low", System: "be nice", Messages: []*message.Message{says(message.RoleUser, text("go"), picture)},
		Tools: []llm.ToolSpec{{Name: "read", Description: "reads <it>", Parameters: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}}}`)}}}
	p := New(s.Client())
	first := wiretest.Collect(p.Stream(context.Background(), r))
	if first.Err != nil || first.Stop.Reason != message.StopToolUse || len(first.Calls()) != 1 {
		t.Fatalf("%s", first)
	}
	r.Messages = append(r.Messages, modelSays(m, first.Content...), toolSays("t1", false, text("x"), picture))
	if second := wiretest.Collect(p.Stream(context.Background(), r)); second.Err != nil || second.Text(message.BlockText) != "done" {
		t.Fatalf("%s", second)
	}
	wiretest.Extends(t, bodies[0], bodies[1], "model", "system", "tools", "thinking")
	want := `{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s+1=="},{"type":"redacted_thinking","data":"opaque"},{"type":"tool_use","id":"t1","name":"read","input":{"path":"a<b"}}]}`
	if !bytes.Contains(bodies[1], []byte(want)) {
		t.Errorf("the answer came back as %s", bodies[1])
	}
}

func decodeText(t *testing.T, stream string) wiretest.Answer {
	t.Helper()
	f := wiretest.Folder{Status: 200, Headers: map[string]string{"Content-Type": "text/event-stream"}}
	return f.Ask(New(f.Client(func() io.Reader { return strings.NewReader(stream) })), "http://model.test")
}

// Servers that speak this API in front of other models send the signature whole.
func TestASignatureThatStandsInTheStartOfABlockIsKept(t *testing.T) {
	answer := decodeText(t, events(begin,
		`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"hm","signature":"s1=="}}`,
		`{"type":"content_block_stop","index":0}`,
		`{"type":"content_block_start","index":1,"content_block":{"type":"text","text":"done"}}`,
		`{"type":"content_block_stop","index":1}`, ends("end_turn"), endStop))
	if answer.Err != nil || len(answer.Content) != 2 {
		t.Fatalf("%s", answer)
	}
	if b := answer.Content[0]; b.Text != "hm" || b.Signature != "s1==" {
		t.Errorf("the thinking is %q, signed %q", b.Text, b.Signature)
	}
}

// Claude Sonnet 5.5 says what it does between its calls in thoughts, where it does not think.
func TestWhatIsSaidBetweenCallsIsMarkedAsSpoken(t *testing.T) {
	stream := events(begin, `{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"I "}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"look"}}`, `{"type":"content_block_stop","index":0}`, ends("end_turn"), endStop)
	for _, c := range []struct {
		id, level string
		off       string // the switch thinking_off
		spoken    bool
	}{
		{"claude-sonnet-5-5", "", betweenTools, true},
		{"claude-sonnet-5-5", "off", betweenTools, true},
		{"claude-sonnet-5-5", "low", betweenTools, false},
		{"claude-opus-5-5", "off", "low", false},
		{"claude-haiku-5-5", "off", "disabled", false},
	} {
		m := model(c.id)
		m.Compat = map[string]any{"adaptive_thinking": true, "thinking_off": c.off}
		n := 0
		for _, delta := range decoded(t, &llm.Request{Model: m, Thinking: c.level}, stream) {
			if delta.Kind == llm.DeltaThinking {
				if n++; delta.Spoken != c.spoken {
					t.Errorf("%s at %q: %+v", c.id, c.level, delta)
				}
			}
		}
		if n != 2 {
			t.Errorf("%s at %q: %d thoughts", c.id, c.level, n)
		}
	}
}

// With thinking on it does so as well, beside its other thoughts.
func TestAThoughtBeforeACallIsSpokenBetweenCalls(t *testing.T) {
	calls := []*message.Message{{Role: message.RoleAssistant, Content: []message.Block{{Type: message.BlockToolCall, ID: "a", Name: "f"}}},
		{Role: message.RoleToolResult, ToolCallID: "a", ToolName: "f"}, {Role: message.RoleUser, Content: []message.Block{message.TextBlock("and?")}}}
	const thought, call, text = `"type":"thinking","thinking":"hm"`, `"type":"tool_use","id":"b","name":"f"`, `"type":"text","text":"so"`
	for _, c := range []struct {
		name     string
		off      string // the switch thinking_off
		messages []*message.Message
		blocks   []string
		spoken   []int
	}{
		{"behind a call", betweenTools, calls[:2], []string{thought, call}, []int{0}},
		{"and what was steered", betweenTools, calls, []string{thought, thought, call, thought, call}, []int{1, 3}},
		{"the first thought is none", betweenTools, calls[2:], []string{thought, call}, nil},
		{"but the next may be", betweenTools, calls[2:], []string{thought, thought, call}, []int{1}},
		{"before the end", betweenTools, calls, []string{thought, text}, nil},
		{"before a text", betweenTools, calls, []string{thought, text, call}, nil},
		{"another model", "low", calls, []string{thought, call}, nil},
	} {
		m := model("claude-sonnet-5-5")
		m.Compat = map[string]any{"adaptive_thinking": true, "thinking_off": c.off}
		lines := []string{begin}
		for i, b := range c.blocks {
			lines = append(lines, fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":{%s}}`, i, b), fmt.Sprintf(`{"type":"content_block_stop","index":%d}`, i))
		}
		var spoken []int
		for _, d := range decoded(t, &llm.Request{Model: m, Thinking: "high", Messages: c.messages}, events(append(lines, ends("tool_use"), endStop)...)) {
			if d.Spoken {
				spoken = append(spoken, d.Index)
			}
		}
		if !slices.Equal(spoken, c.spoken) {
			t.Errorf("%s: %v are spoken, want %v", c.name, spoken, c.spoken)
		}
	}
}

// decoded are the deltas of an answer.
func decoded(t *testing.T, r *llm.Request, stream string) (out []llm.Delta) {
	t.Helper()
	d := new(api).newDecoder(r)
	for reader := sse.NewReader(strings.NewReader(stream)); ; {
		e, err := reader.Next()
		if err == io.EOF {
			return out
		}
		if out, _, err = d.Event(e, out); err != nil {
			t.Fatal(err)
		}
	}
}

func TestStopReasonsAreMapped(t *testing.T) {
	const call = `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a","name":"f","input":{"x":1}}}`
	cases := []struct {
		reason, block string
		want          message.StopReason
	}{
		{"end_turn", endless, message.StopEnd}, {"stop_sequence", endless, message.StopEnd}, {"stop", endless, message.StopEnd}, {"tool_calls", call, message.StopToolUse},
		{"tool_use", call, message.StopToolUse}, {"end_turn", call, message.StopToolUse}, {"tool_use", endless, message.StopEnd},
		{"", endless, message.StopEnd}, {"new_word", endless, llm.StopRefusal}, {"new_word", call, llm.StopRefusal}, {"content_filter", endless, llm.StopRefusal},
		{"length", endless, message.StopLength}, {"max_tokens", call, message.StopLength}, {"model_context_window_exceeded", endless, message.StopLength},
		{"refusal", endless, llm.StopRefusal}, {"sensitive", endless, llm.StopRefusal}, {"pause_turn", endless, llm.StopPause},
	}
	for _, c := range cases {
		a := decodeText(t, events(begin, c.block, ends(c.reason), endStop))
		if a.Err != nil || a.Stop.Reason != c.want || a.Stop.Raw != c.reason || (a.Stop.Message == "") == (c.want == llm.StopRefusal) {
			t.Errorf("%s: %s", c.reason, a)
		}
		if calls := a.Calls(); len(calls) == 1 && string(calls[0].Arguments) != `{"x":1}` {
			t.Errorf("arguments of the start: %s", calls[0].Arguments)
		}
	}
}

func TestAReasonStaysIfALaterEventHasNone(t *testing.T) {
	a := decodeText(t, events(begin, endless, ends("max_tokens"), `{"type":"message_delta","delta":{"stop_reason":null},"usage":{"output_tokens":6}}`, endStop))
	if a.Err != nil || a.Stop.Raw != "max_tokens" || a.Usage.Output != 6 {
		t.Errorf("%s", a)
	}
}

func TestBlocksThatNobodyAskedForAreSkippedWhole(t *testing.T) {
	delta := func(d string) string { return `{"type":"content_block_delta","index":0,"delta":{` + d + `}}` }
	a := decodeText(t, events(begin, `{"type":"content_block_start","index":0,"content_block":{"type":"server_thing","id":"a","name":"f","text":"no","input":{}}}`,
		delta(`"type":"text_delta","text":"no"`), delta(`"type":"thinking_delta","thinking":"no"`), delta(`"type":"signature_delta","signature":"no"`),
		delta(`"type":"input_json_delta","partial_json":"{}"`), delta(`"type":"new_delta"`), `{"type":"content_block_stop","index":0}`,
		`{"type":"content_block_start","index":1,"content_block":{"type":"text","text":"yes"}}`, ends("end_turn"), endStop))
	if a.Err != nil || len(a.Content) != 1 || a.Text(message.BlockText) != "yes" || a.Stop.Reason != message.StopEnd {
		t.Errorf("%s", a)
	}
}

// endless is a block that is never closed.
const endless = `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"hi"}}`

func TestAnErrorInTheStreamIsJudgedByItsType(t *testing.T) {
	for kind, retry := range map[string]bool{
		"overloaded_error": true, "api_error": true, "rate_limit_error": true,
		"invalid_request_error": false, "authentication_error": false,
	} {
		a := decodeText(t, events(begin, endless)+"event: error\n"+events(`{"type":"error","error":{"type":"`+kind+`","message":"no"}}`))
		e, ok := a.Err.(*llm.ProviderError)
		if !ok || e.Retryable != retry || e.Type != kind || e.Message != "no" {
			t.Errorf("%s: %+v", kind, a.Err)
		}
	}
}

func TestAnErrorWithoutATypeIsOne(t *testing.T) {
	a := decodeText(t, events(begin, endless, `{"error":{"message":"upstream is gone","code":502}}`, ends("end_turn"), endStop))
	if e, ok := a.Err.(*llm.ProviderError); !ok || e.Message != "upstream is gone" || e.Status != 502 || !e.Retryable {
		t.Errorf("%+v", a.Err)
	}
	if a := decodeText(t, events(begin, `{"error":null}`, ends("end_turn"), endStop)); a.Err != nil {
		t.Errorf("no error: %v", a.Err)
	}
}

func TestUsageIsOverwrittenNotAdded(t *testing.T) {
	a := decodeText(t, events(
		`{"type":"message_start","message":{"usage":{"input_tokens":4,"cache_read_input_tokens":100,"cache_creation_input_tokens":20,"output_tokens":1}}}`,
		`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":5,"cache_read_input_tokens":null,"output_tokens":9}}`, endStop))
	if want := (message.Usage{Input: 5, Output: 9, CacheRead: 100, CacheWrite: 20, TotalTokens: 134}); a.Usage == nil || *a.Usage != want {
		t.Errorf("%+v", a.Usage)
	}
}

func TestEveryEventIsASignOfLife(t *testing.T) {
	f := wiretest.Folder{Status: 200}
	stream := ": hi\n\n" + events(`{"type":"ping"}`, `{"type":"new_event"}`, begin, endless, ends("end_turn"), endStop)
	p := New(f.Client(func() io.Reader { return strings.NewReader(stream) }))
	var kinds []llm.DeltaKind
	for d, err := range p.Stream(context.Background(), &llm.Request{Model: model("m")}) {
		if err != nil {
			t.Fatal(err)
		}
		kinds = append(kinds, d.Kind)
	}
	want := []llm.DeltaKind{llm.DeltaPing, llm.DeltaPing, llm.DeltaPing, llm.DeltaUsage, llm.DeltaText, llm.DeltaUsage, llm.DeltaStop}
	if !slices.Equal(kinds, want) {
		t.Errorf("deltas %v; want %v", kinds, want)
	}
}
