package responses

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

func added(index int, item string) string {
	return fmt.Sprintf(`{"type":"response.output_item.added","output_index":%d,"item":%s}`, index, item)
}

func done(index int, item string) string {
	return fmt.Sprintf(`{"type":"response.output_item.done","output_index":%d,"item":%s}`, index, item)
}

// piece is a delta; its item id is another one each time.
func piece(kind string, index, part int, text string) string {
	return fmt.Sprintf(`{"type":"response.%s.delta","item_id":%q,"output_index":%d,"content_index":%d,"summary_index":%d,"delta":%q,"obfuscation":"xyz"}`, kind, text, index, part, part, text)
}

func completed(output string) string {
	return `{"type":"response.completed","response":{"status":"completed","output":[` + output + `],"usage":{"input_tokens":10,"output_tokens":5,"total_tokens":15}}}`
}

const (
	textKind    = "output_text"
	summaryKind = "reasoning_summary_text"
	innerKind   = "reasoning_text"
	callKind    = "function_call_arguments"
)

func messageItem(id, text string) string {
	return `{"type":"message","id":"` + id + `","role":"assistant","content":[{"type":"output_text","text":"` + text + `","annotations":[]}]}`
}

func callItem(call, id, args string) string {
	return fmt.Sprintf(`{"type":"function_call","id":%q,"call_id":%q,"name":"f","arguments":%q}`, id, call, args)
}

func decodeText(t *testing.T, stream string) wiretest.Answer {
	t.Helper()
	f := wiretest.Folder{Status: 200, Headers: map[string]string{"Content-Type": "text/event-stream"}}
	return f.Ask(New(f.Client(func() io.Reader { return strings.NewReader(stream) })), "http://model.test")
}

func TestASecondTurnExtendsTheFirst(t *testing.T) {
	const reasoning = `{"id":"rs_1","type":"reasoning","encrypted_content":"gA<=>","summary":[{"type":"summary_text","text":"I read"},{"type":"summary_text","text":"it"}],"content":[]}`
	const commentary = `{"type":"message","id":"msg_1","phase":"commentary","role":"assistant","content":[{"type":"output_text","text":"Let me see","annotations":[]}]}`
	answers := []string{
		events(`{"type":"response.created","response":{"status":"in_progress"}}`,
			added(0, `{"id":"rs_1","type":"reasoning","encrypted_content":"gX","summary":[]}`),
			piece(summaryKind, 0, 0, "I read"), piece(summaryKind, 0, 1, "it"), done(0, reasoning),
			added(1, `{"type":"message","id":"msg_1","phase":"commentary","role":"assistant","content":[]}`), piece(textKind, 1, 0, "Let me see"), done(1, commentary),
			added(2, callItem("call_1", "fc_1", "")), piece(callKind, 2, 0, `{"path":`), piece(callKind, 2, 0, `"a<b"}`), done(2, callItem("call_1", "fc_1", `{"path":"a<b"}`)),
			added(3, callItem("call_2", "fc_2", "")), done(3, callItem("call_2", "fc_2", `{}`)), completed("")),
		events(added(0, messageItem("msg_2", "")), piece(textKind, 0, 0, "done"), completed("")),
	}
	var bodies [][]byte
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		if err == nil {
			err = wiretest.CheckResponses(b)
		}
		if err != nil || r.URL.Path != "/v1/responses" || r.Header.Get("Authorization") != "Bearer k" {
			t.Errorf("%s %v %v", r.URL, r.Header, err)
		}
		bodies = append(bodies, b)
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, answers[len(bodies)-1])
	}))
	defer s.Close()
	m := modelOf("openai", "gpt", s.URL+"/v1")
	m.Reasoning = true
	r := &llm.Request{Model: m, APIKey: "k", SessionID: "s", Thinking: "low", System: "be nice", Messages: []*message.Message{userSays(text("go"), picture)},
		Tools: []llm.ToolSpec{{Name: "read", Description: "reads <it>", Parameters: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}}}`)}}}
	p := New(s.Client())
	first := wiretest.Collect(p.Stream(context.Background(), r))
	calls := first.Calls()
	if first.Err != nil || first.Stop.Reason != message.StopToolUse || len(calls) != 2 || first.Text(message.BlockThinking) != "I read\n\nit" {
		t.Fatalf("%s", first)
	}
	if calls[0].ID != "call_1|fc_1" || first.Content[0].Signature != reasoning || first.Content[1].Signature != `{"v":1,"id":"msg_1","phase":"commentary"}` {
		t.Errorf("%s %s", calls[0].ID, first)
	}
	r.Messages = append(r.Messages, modelSays(m, first.Content...), toolSays(calls[0].ID, text("x")), toolSays(calls[1].ID, picture))
	if second := wiretest.Collect(p.Stream(context.Background(), r)); second.Err != nil || second.Text(message.BlockText) != "done" {
		t.Fatalf("%s", second)
	}
	wiretest.Extends(t, bodies[0], bodies[1], "model", "tools", "reasoning", "include", "prompt_cache_key")
	want := reasoning + `,{"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":"Let me see","annotations":[]}],"phase":"commentary","status":"completed"},` +
		`{"type":"function_call","id":"fc_1","call_id":"call_1","name":"f","arguments":"{\"path\":\"a<b\"}"},{"type":"function_call","id":"fc_2","call_id":"call_2","name":"f","arguments":"{}"},` +
		`{"type":"function_call_output","call_id":"call_1","output":"x"}`
	if !bytes.Contains(bodies[1], []byte(want)) {
		t.Errorf("the answer came back as %s", bodies[1])
	}
}

// shape shows the blocks of an answer.
func shape(a wiretest.Answer) string {
	var all []string
	for _, b := range a.Content {
		switch b.Type {
		case message.BlockToolCall:
			all = append(all, fmt.Sprintf("call %s %s %s", b.ID, b.Name, b.Arguments))
		default:
			all = append(all, fmt.Sprintf("%s %q sig %s", b.Type, b.Text, b.Signature))
		}
	}
	for _, raw := range a.Broken {
		all = append(all, "broken "+raw)
	}
	return strings.Join(all, ", ")
}

func TestItemsAreJoinedByTheirIndex(t *testing.T) {
	const open = `{"type":"reasoning","id":"rs_1","encrypted_content":"z","summary":[]}`
	const both = `{"type":"reasoning","id":"rs_1","summary":[{"text":"hm"}],"content":[{"text":"hm"}]}`
	cases := []struct {
		name   string
		stream []string
		want   string
	}{
		{"interleaved", []string{added(0, callItem("a", "", "")), added(1, callItem("b", "", "")), piece(callKind, 1, 0, `{"x"`), piece(callKind, 0, 0, `{}`), piece(callKind, 1, 0, `:1}`)},
			`call a f {}, call b f {"x":1}`},
		{"events without a beginning", []string{piece(textKind, 0, 0, "a"), piece(textKind, 0, 1, "b"), piece(callKind, 1, 0, `{"x":`), done(1, callItem("c", "fc", `{"x":1}`))},
			`text "ab" sig , call c|fc f {"x":1}`},
		{"items that come whole", []string{done(0, open), done(1, messageItem("msg_1", "a")), done(2, callItem("c", "", `{"x":1}`))},
			`thinking "" sig ` + open + `, text "a" sig msg_1, call c f {"x":1}`},
		{"arguments at the beginning only", []string{added(0, callItem("c", "", `{"x":1}`))}, `call c f {"x":1}`},
		{"no arguments", []string{added(0, callItem("c", "", "")), added(1, callItem("d", "", "")), done(1, callItem("d", "", ""))}, `call c f {}, call d f {}`},
		{"arguments as an object", []string{done(0, `{"type":"function_call","call_id":"c","name":"f","arguments":{"x":1}}`)}, `call c f {"x":1}`},
		{"arguments that stay incomplete", []string{added(0, callItem("c", "", "")), piece(callKind, 0, 0, `{"x"`)}, `call c f {}, broken {"x"`},
		{"a finished item goes on where the pieces ended", []string{piece(textKind, 0, 0, "a"), done(0, messageItem("msg_1", "abc"))}, `text "abc" sig msg_1`},
		{"and wins over other pieces", []string{piece(textKind, 0, 0, "x"), done(0, messageItem("msg_1", "abc")), added(1, callItem("c", "", "")), piece(callKind, 1, 0, `{"x":2}`), done(1, callItem("c", "", `{"x":1}`))},
			`text "abc" sig msg_1, call c f {"x":1}`},
		{"but not over the same in other words", []string{added(0, callItem("c", "", "")), piece(callKind, 0, 0, `{ "x":1}`), done(0, callItem("c", "", `{"x":1}`))}, `call c f { "x":1}`},
		{"nor when it says nothing", []string{piece(textKind, 0, 0, "a"), done(0, messageItem("msg_1", ""))}, `text "a" sig msg_1`},
		{"what follows a finished item is ignored", []string{done(0, messageItem("msg_1", "a")), piece(textKind, 0, 0, "b"), done(0, messageItem("msg_1", "ab"))}, `text "a" sig msg_1`},
		{"in order of the index", []string{piece(textKind, 1, 0, "a"), piece(summaryKind, 0, 0, "hm"), done(1, messageItem("", "a"))}, `thinking "hm" sig , text "a" sig `},
		{"also what comes last and whole", []string{done(1, messageItem("", "a")), done(0, open)}, `thinking "" sig ` + open + `, text "a" sig `},
		{"and calls", []string{done(2, callItem("c", "", "{}")), done(1, callItem("b", "", "{}")), piece(textKind, 0, 0, "a")}, `text "a" sig , call b f {}, call c f {}`},
		{"places that stay empty", []string{piece(textKind, 3, 0, "a"), added(1, `{"type":"web_search_call","id":"ws_1"}`)}, `text "a" sig `},
		{"an index far away", []string{piece(textKind, 1<<40, 0, "a")}, `text "a" sig `},
		{"thoughts in the open", []string{piece(innerKind, 0, 0, "a"), piece(innerKind, 0, 1, "b")}, "thinking \"a\\n\\nb\" sig "},
		{"thoughts that come twice", []string{piece(summaryKind, 0, 0, "hm"), piece(innerKind, 0, 0, "hm"), done(0, both)}, `thinking "hm" sig ` + both},
		{"an unknown event and unknown items", []string{`{"type":"response.new_thing","delta":{"a":1}}`, added(0, `{"type":"mcp_call","id":"m"}`), piece(textKind, 0, 0, "no"), done(0, `{"type":"mcp_call","id":"m","name":"f","arguments":"{}"}`), piece(textKind, 1, 0, "a")}, `text "a" sig `},
		{"a refusal is what the model says", []string{piece("refusal", 0, 0, "I can't")}, `text "I can't" sig `},
		{"a finished refusal", []string{done(0, `{"type":"message","id":"msg_1","content":[{"type":"refusal","refusal":"I can't"}]}`)}, `text "I can't" sig msg_1`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			a := decodeText(t, events(c.stream...)+events(completed("")))
			if got := shape(a); got != c.want || a.Err != nil {
				t.Errorf("got  %s\nwant %s\n%v", got, c.want, a.Err)
			}
		})
	}
}

// of is a delta whose item id is that of its item.
func of(id, kind string, index int, text string) string {
	return fmt.Sprintf(`{"type":"response.%s.delta","item_id":%q,"output_index":%d,"delta":%q}`, kind, id, index, text)
}

func TestItemsThatShareAnIndexAreToldApart(t *testing.T) {
	const open = `{"type":"reasoning","id":"rs_1","encrypted_content":"z","summary":[]}`
	cases := []struct {
		name   string
		stream []string
		want   string
	}{
		{"calls one after the other", []string{
			added(0, callItem("a", "fc_1", "")), of("fc_1", callKind, 0, `{"x":1}`), done(0, callItem("a", "fc_1", `{"x":1}`)),
			added(0, callItem("b", "fc_2", "")), of("fc_2", callKind, 0, `{"x":2}`), done(0, callItem("b", "fc_2", `{"x":2}`))},
			`call a|fc_1 f {"x":1}, call b|fc_2 f {"x":2}`},
		{"a thought, and a message and a call behind it", []string{
			added(0, open), done(0, open), added(1, messageItem("msg_1", "")), of("msg_1", textKind, 1, "a"),
			added(1, callItem("c", "fc_1", "")), of("fc_1", callKind, 1, `{"x":1}`), done(1, callItem("c", "fc_1", `{"x":1}`)),
			of("msg_1", textKind, 1, "b"), done(1, messageItem("msg_1", "ab"))},
			`thinking "" sig ` + open + `, text "ab" sig msg_1, call c|fc_1 f {"x":1}`},
		{"calls whose pieces interleave", []string{
			added(0, callItem("a", "fc_1", "")), added(0, callItem("b", "fc_2", "")), of("fc_2", callKind, 0, `{"x"`), of("fc_1", callKind, 0, `{}`), of("fc_2", callKind, 0, `:2}`),
			done(0, callItem("a", "fc_1", `{}`)), done(0, callItem("b", "fc_2", `{"x":2}`))},
			`call a|fc_1 f {}, call b|fc_2 f {"x":2}`},
		{"a piece of an unknown id goes to the newest", []string{
			added(0, callItem("a", "fc_1", "")), done(0, callItem("a", "fc_1", `{}`)), added(0, callItem("b", "fc_2", "")), piece(callKind, 0, 0, `{"x":2}`)},
			`call a|fc_1 f {}, call b|fc_2 f {"x":2}`},
		{"one of a known id to its item, whatever its index", []string{
			added(0, callItem("a", "fc_1", "")), added(1, callItem("b", "fc_2", "")), of("fc_2", callKind, 0, `{"x":2}`)},
			`call a|fc_1 f {}, call b|fc_2 f {"x":2}`},
		{"an id that all items have says nothing", []string{
			added(0, callItem("a", "i", "")), added(1, callItem("b", "i", "")), of("i", callKind, 0, `{"x":1}`), of("i", callKind, 1, `{"x":2}`)},
			`call a|i f {"x":1}, call b|i f {"x":2}`},
		{"the same id of an item, another call", []string{
			added(0, callItem("a", "fc_1", "")), done(0, callItem("a", "fc_1", `{"x":1}`)), added(0, callItem("b", "fc_1", "")), done(0, callItem("b", "fc_1", `{"x":2}`))},
			`call a|fc_1 f {"x":1}, call b|fc_1 f {"x":2}`},
		{"the same item twice", []string{
			added(0, callItem("a", "fc_1", "")), added(0, callItem("b", "fc_2", "")), added(0, callItem("a", "fc_1", "")), done(0, callItem("a", "fc_1", `{"x":1}`)), done(0, callItem("b", "fc_2", `{"x":2}`)), done(0, callItem("a", "fc_1", `{"x":1}`))},
			`call a|fc_1 f {"x":1}, call b|fc_2 f {"x":2}`},
		{"items that come whole", []string{done(0, messageItem("msg_1", "a")), done(0, callItem("a", "fc_1", `{"x":1}`)), done(0, callItem("b", "fc_2", `{"x":2}`))},
			`text "a" sig msg_1, call a|fc_1 f {"x":1}, call b|fc_2 f {"x":2}`},
		{"a whole call while another is open", []string{added(0, callItem("a", "fc_1", "")), done(0, callItem("b", "fc_2", `{"x":2}`)), done(0, callItem("a", "fc_1", `{"x":1}`))},
			`call a|fc_1 f {"x":1}, call b|fc_2 f {"x":2}`},
		{"words without a beginning, then a call", []string{piece(textKind, 0, 0, "a"), added(0, callItem("a", "fc_1", "")), done(0, callItem("a", "fc_1", `{"x":1}`))},
			`text "a" sig , call a|fc_1 f {"x":1}`},
		{"an item whose id is another one each time", []string{added(0, callItem("a", "x1", "")), piece(callKind, 0, 0, `{"x":1}`), done(0, callItem("a", "x2", `{"x":1}`)), added(1, messageItem("x3", "")), piece(textKind, 1, 0, "a"), done(1, messageItem("x4", "a"))},
			`call a|x1 f {"x":1}, text "a" sig x4`},
		{"a call whose ids are others in each event", []string{
			added(0, callItem("a", "x1", "")), piece(callKind, 0, 0, `{"x":1}`), done(0, callItem("b", "", `{"x":1}`))},
			`call a|x1 f {"x":1}`},
		{"a whole call that comes again with another id of its item", []string{
			added(0, callItem("a", "x1", "")), done(0, callItem("a", "x2", `{"x":1}`)), done(0, callItem("a", "x3", `{"x":1}`))},
			`call a|x1 f {"x":1}`},
		{"an index that a shared one took", []string{
			added(0, callItem("a", "fc_1", "")), added(0, callItem("b", "fc_2", "")), added(1, callItem("c", "fc_3", "")), piece(callKind, 1, 0, `{"x":3}`), of("fc_2", callKind, 0, `{"x":2}`), done(1, callItem("c", "fc_3", `{"x":3}`))},
			`call a|fc_1 f {}, call b|fc_2 f {"x":2}, call c|fc_3 f {"x":3}`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			a := decodeText(t, events(c.stream...)+events(completed("")))
			if got := shape(a); got != c.want || a.Err != nil {
				t.Errorf("got  %s\nwant %s\n%v", got, c.want, a.Err)
			}
		})
	}
}

func TestTheListAtTheEndFinishesWhatWasNot(t *testing.T) {
	const open = `{"type":"reasoning","id":"rs_1","encrypted_content":"z","summary":[]}`
	cases := []struct {
		name, output string
		stream       []string
		want         string
	}{
		{"an answer without events", open + "," + callItem("c", "fc_1", `{"x":1}`), nil, `thinking "" sig ` + open + `, call c|fc_1 f {"x":1}`},
		{"items that are not finished, by their ids", callItem("c", "fc_1", `{"x":1}`) + "," + open, []string{added(0, open), added(1, callItem("c", "fc_1", "")), piece(callKind, 1, 0, `{"x"`)},
			`thinking "" sig ` + open + `, call c|fc_1 f {"x":1}`},
		{"or their place, where they have none", messageItem("msg_1", "abc"), []string{piece(textKind, 0, 0, "ab")}, `text "abc" sig msg_1`},
		{"a call that never came", callItem("a", "fc_1", `{"x":1}`) + "," + callItem("b", "fc_2", `{"x":2}`), []string{added(0, callItem("a", "fc_1", "")), done(0, callItem("a", "fc_1", `{"x":1}`))},
			`call a|fc_1 f {"x":1}, call b|fc_2 f {"x":2}`},
		{"also behind a message", messageItem("msg_1", "a") + "," + callItem("b", "fc_2", `{"x":2}`), []string{added(0, messageItem("msg_1", "")), piece(textKind, 0, 0, "a"), done(0, messageItem("msg_1", "a"))},
			`text "a" sig msg_1, call b|fc_2 f {"x":2}`},
		{"not one that came with another id of its item", callItem("a", "x9", `{"x":1}`), []string{added(0, callItem("a", "x1", "")), done(0, callItem("a", "x2", `{"x":1}`))},
			`call a|x1 f {"x":1}`},
		{"nor one that has the same to say under another id", callItem("c", "", `{"x": 1}`), []string{added(0, callItem("a", "x1", "")), done(0, callItem("b", "", `{"x":1}`))},
			`call a|x1 f {"x":1}`},
		{"but the same once more", callItem("c", "", `{"x":1}`) + "," + callItem("d", "", `{"x":1}`), []string{done(0, callItem("a", "x1", `{"x":1}`))},
			`call a|x1 f {"x":1}, call d f {"x":1}`},
		{"and the same as one that is in the list itself", callItem("a", "x1", `{"x":1}`) + "," + callItem("d", "", `{"x":1}`), []string{done(0, callItem("a", "x1", `{"x":1}`))},
			`call a|x1 f {"x":1}, call d f {"x":1}`},
		{"an open call of that id", callItem("a", "x9", `{"x":1}`), []string{added(3, callItem("a", "x1", ""))}, `call a|x1 f {"x":1}`},
		{"those that are finished stay", messageItem("msg_1", "other"), []string{done(0, messageItem("msg_1", "a"))}, `text "a" sig msg_1`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			a := decodeText(t, events(append(c.stream, completed(c.output))...))
			if got := shape(a); got != c.want || a.Err != nil {
				t.Errorf("got  %s\nwant %s\n%v", got, c.want, a.Err)
			}
		})
	}
}

func TestIDsOfCallsAreMadeWhereTheyAreMissingOrRepeated(t *testing.T) {
	a := decodeText(t, events(done(0, callItem("", "fc_1", "{}")), done(1, callItem("0", "", "{}")), done(2, callItem("0", "", "{}")), completed("")))
	seen := map[string]bool{"": true}
	for _, b := range a.Calls() {
		call, _, _ := strings.Cut(b.ID, "|")
		if seen[call] {
			t.Errorf("id %q", b.ID)
		}
		seen[call] = true
	}
	if len(seen) != 4 {
		t.Errorf("%s", a)
	}
}

// What came without an id of its call may be any call of the list, so none is added.
func TestACallWithoutAnIDIsNotRunTwice(t *testing.T) {
	a := decodeText(t, events(done(0, callItem("", "", `{"x":1}`)), completed(callItem("a", "fc_1", `{"x":1}`))))
	if a.Err != nil || len(a.Calls()) != 1 {
		t.Errorf("%s", a)
	}
}

func TestTheEndIsMapped(t *testing.T) {
	end := func(kind, response string) string {
		return events(`{"type":"response.` + kind + `","response":` + response + `}`)
	}
	call := events(done(0, callItem("c", "", "{}")))
	cases := []struct {
		stream string
		want   message.StopReason
		raw    string
	}{
		{end("completed", `{"status":"completed"}`), message.StopEnd, "completed"},
		{end("completed", `{}`), message.StopEnd, "completed"},
		{end("done", `{"status":"completed"}`), message.StopEnd, "completed"},
		{events(`{"type":"response.completed"}`), message.StopEnd, "completed"},
		{call + end("completed", `{"status":"completed"}`), message.StopToolUse, "completed"},
		{call + end("incomplete", `{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"}}`), message.StopLength, "incomplete:max_output_tokens"},
		{end("incomplete", `{"incomplete_details":{"reason":"content_filter"}}`), llm.StopRefusal, "incomplete:content_filter"},
		{end("incomplete", `{"incomplete_details":null}`), message.StopLength, "incomplete"},
		{end("completed", `{}`) + "data: [DONE]\n\n", message.StopEnd, "completed"},
		{"data: [DONE]\n\n" + end("completed", `{}`), message.StopEnd, "completed"},
	}
	for _, c := range cases {
		if a := decodeText(t, c.stream); a.Err != nil || a.Stop.Reason != c.want || a.Stop.Raw != c.raw {
			t.Errorf("%s: %s", c.stream, a)
		}
	}
}

func TestFailuresAreReportedOnce(t *testing.T) {
	hi := events(piece(textKind, 0, 0, "hi"))
	failed := events(`{"type":"response.failed","response":{"status":"failed","error":{"code":"server_error","message":"no"}}}`)
	cases := []struct {
		name, stream, code, message string
		retry                       bool
	}{
		{"error at the top", events(`{"type":"error","code":"rate_limit_exceeded","message":"slow down","param":null,"sequence_number":3}`) + failed, "rate_limit_exceeded", "slow down", true},
		{"error under its name", events(`{"type":"error","error":{"type":"insufficient_quota","code":"insufficient_quota","message":"no credit"}}`) + failed, "insufficient_quota", "no credit", false},
		{"error without a type", events(`{"error":{"code":502,"message":"upstream"}}`), "502", "upstream", true},
		{"error by the name of the event", "event: error\n" + events(`{"message":"no"}`), "", "no", true},
		{"failed", failed, "server_error", "no", true},
		{"failed without a word", events(`{"type":"response.failed","response":{"error":null}}`), "server_error", "the server gave up the answer", true},
		{"cancelled", events(`{"type":"response.cancelled","response":{"status":"cancelled"}}`), "cancelled", "the server gave up the answer", false},
		{"cut off", "", "", "the answer ended early", true},
		{"an error that is none", events(`{"error":null}`), "", "the answer ended early", true},
		{"cut off behind its mark", "data: [DONE]\n\n", "", "the answer ended early", true},
		{"unreadable", "data: {\"type\n\n", "", "the answer holds something that cannot be read", true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			a := decodeText(t, hi+c.stream)
			e, ok := a.Err.(*llm.ProviderError)
			if !ok || e.Code != c.code || !strings.HasPrefix(e.Message, c.message) || e.Retryable != c.retry {
				t.Fatalf("%+v", a.Err)
			}
			if a.Text(message.BlockText) != "hi" || a.Stop.Reason != "" {
				t.Errorf("%s", a)
			}
		})
	}
}

func TestAnOverflowIsRecognisedInTheStreamToo(t *testing.T) {
	for _, event := range []string{
		`{"type":"error","error":{"type":"invalid_request_error","code":"context_length_exceeded","message":"Your input exceeds the context window of this model."}}`,
		`{"type":"response.failed","response":{"status":"failed","error":{"code":"context_length_exceeded","message":"Please adjust your input"}}}`,
	} {
		e, ok := decodeText(t, events(event)).Err.(*llm.ProviderError)
		if !ok || !e.Overflow || e.Retryable {
			t.Errorf("%s: %+v", event, e)
		}
	}
}

func TestUsageIsCountedOnce(t *testing.T) {
	cases := []struct {
		name, usage string
		want        message.Usage
	}{
		{"plain", `{"input_tokens":10,"output_tokens":5,"total_tokens":15}`, message.Usage{Input: 10, Output: 5, TotalTokens: 15}},
		{"cached tokens are part of the input", `{"input_tokens":10,"output_tokens":5,"input_tokens_details":{"cached_tokens":6,"cache_write_tokens":3}}`,
			message.Usage{Input: 1, Output: 5, CacheRead: 6, CacheWrite: 3, TotalTokens: 15}},
		{"reasoning is part of the output", `{"input_tokens":10,"output_tokens":5,"total_tokens":15,"output_tokens_details":{"reasoning_tokens":3}}`, message.Usage{Input: 10, Output: 5, TotalTokens: 15}},
		{"unless the total says otherwise", `{"input_tokens":10,"output_tokens":5,"total_tokens":18,"output_tokens_details":{"reasoning_tokens":3}}`, message.Usage{Input: 10, Output: 8, TotalTokens: 18}},
		{"nulls and nonsense", `{"input_tokens":10,"output_tokens":null,"input_tokens_details":"none"}`, message.Usage{Input: 10, TotalTokens: 10}},
	}
	for _, c := range cases {
		a := decodeText(t, events(`{"type":"response.completed","response":{"usage":`+c.usage+`}}`))
		if a.Usage == nil || *a.Usage != c.want {
			t.Errorf("%s: %+v", c.name, a.Usage)
		}
	}
	if a := decodeText(t, events(`{"type":"response.completed","response":{"usage":null}}`)); a.Usage != nil || a.Err != nil {
		t.Errorf("%s", a)
	}
}

func TestEveryEventIsASignOfLife(t *testing.T) {
	f := wiretest.Folder{Status: 200}
	stream := ": hi\n\n" + events(`{"type":"response.created"}`, `{"type":"response.new"}`, added(0, messageItem("", "")), piece(textKind, 0, 0, "a"), completed(""))
	p := New(f.Client(func() io.Reader { return strings.NewReader(stream) }))
	var kinds []llm.DeltaKind
	for d, err := range p.Stream(context.Background(), &llm.Request{Model: modelOf("p", "m", "http://model.test")}) {
		if err != nil {
			t.Fatal(err)
		}
		kinds = append(kinds, d.Kind)
	}
	want := []llm.DeltaKind{llm.DeltaPing, llm.DeltaPing, llm.DeltaPing, llm.DeltaPing, llm.DeltaText, llm.DeltaUsage, llm.DeltaStop}
	if !slices.Equal(kinds, want) {
		t.Errorf("deltas %v; want %v", kinds, want)
	}
}
