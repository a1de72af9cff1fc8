package responses

import (
	"encoding/json"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"pi/agent"
	"pi/agent/provider/wiretest"
	"pi/session"
)

// FuzzDecode holds for any bytes that a server may send: the stream ends with a
// stop or an error, never with both, and does not depend on how it is read.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		events(piece(textKind, 0, 0, "hi"), completed("")),
		events(added(0, callItem("c", "fc_1", "")), piece(callKind, 0, 0, `{"x":`), done(0, callItem("c", "fc_1", `{"x":1}`)), completed("")),
		events(piece(textKind, 2, 0, "hi"), piece(summaryKind, 0, 1, "a"), piece(innerKind, 1, 0, "b"), completed(messageItem("msg_1", "hi"))),
		events(completed(item1 + "," + messageItem("msg_1", "hi"))),
		events(done(-1, callItem("", "", `{}`)), `{"type":"response.incomplete","response":{"incomplete_details":{"reason":"content_filter"},"usage":{"input_tokens":1}}}`),
		events(`{"type":"error","code":"x","message":"no"}`, `{"type":"response.failed","response":{"error":null}}`),
		"event: error\ndata: {}\n\ndata: [DONE]\n\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, stream string) {
		folder := wiretest.Folder{Status: 200, Headers: map[string]string{"Content-Type": "text/event-stream"}}
		read := func(body func() io.Reader) wiretest.Answer {
			return folder.Ask(New(folder.Client(body)), "http://model.test")
		}
		whole := read(func() io.Reader { return strings.NewReader(stream) })
		if (whole.Err == nil) == (whole.Stop.Reason == "") {
			t.Errorf("%s", whole)
		}
		if bytewise := read(func() io.Reader { return iotest.OneByteReader(strings.NewReader(stream)) }); bytewise.String() != whole.String() {
			t.Errorf("%s\nin single bytes\n%s", whole, bytewise)
		}
	})
}

// FuzzEncode holds for any conversation: a strict server takes the request, and a
// longer conversation only adds to it.
func FuzzEncode(f *testing.F) {
	f.Add([]byte("u t a T S c C r r u u"), uint8(0))
	f.Add([]byte("uaSaTaCCCrruSSTCru"), uint8(1))
	f.Add([]byte("uAbcCrBLlrxaSCCruimi"), uint8(2))
	f.Add([]byte("uaSSuaTSCuirraCCru"), uint8(3))
	f.Fuzz(func(t *testing.T, plan []byte, kind uint8) {
		if len(plan) > 60 {
			return
		}
		m := modelOf([]string{"openai", "lmstudio", "openrouter", "acme"}[kind%4], "m", "")
		var before []json.RawMessage
		for _, messages := range conversationsOf(t, plan, m) {
			call, err := encode(&agent.Request{Model: m, System: "be nice", Messages: messages})
			if err != nil {
				t.Fatal(err)
			}
			if err := wiretest.CheckResponses(call.Body); err != nil {
				t.Fatalf("%v in %s", err, call.Body)
			}
			var now struct{ Input []json.RawMessage }
			if err := json.Unmarshal(call.Body, &now); err != nil || len(now.Input) < len(before) {
				t.Fatalf("%v: %s", err, call.Body)
			}
			for i := range before {
				if string(before[i]) != string(now.Input[i]) {
					t.Fatalf("item %d was %s and is %s", i, before[i], now.Input[i])
				}
			}
			before = now.Input
		}
	})
}

// conversationsOf makes a session of a plan: u, a and A begin a message of the
// user, of m and of another model, r adds a result of the oldest open call, and
// any other letter a block of the message before. It returns what is sent before
// each answer.
func conversationsOf(t *testing.T, plan []byte, m *agent.Model) (all [][]*session.Message) {
	s := session.New(session.Options{})
	var now *session.Message
	var open []string
	add := func(next *session.Message) {
		if now != nil && len(now.Content) > 0 {
			if now.Role == session.RoleAssistant {
				all = append(all, session.ForModel(s.Context()))
			}
			if _, err := s.AppendMessage(now); err != nil {
				t.Fatal(err)
			}
		}
		now = next
	}
	add(userSays(text("begin")))
	for _, c := range plan {
		switch c {
		case 'u':
			add(userSays(text("go on")))
			open = nil
		case 'a', 'A':
			model := m
			if c == 'A' {
				model = modelOf("other", "o", "")
			}
			add(modelSays(model))
			open = nil
		case 'r':
			if len(open) > 0 {
				add(toolSays(open[0], text("result"), picture))
				open = open[1:]
			}
		default:
			b := blockOf(c)
			if now.Role == session.RoleAssistant {
				now.Content = append(now.Content, b)
				if b.Type == session.BlockToolCall {
					open = append(open, b.ID)
				}
			}
		}
	}
	add(userSays(text("end")))
	add(nil)
	return append(all, session.ForModel(s.Context()))
}

// blockOf is some block of an answer.
func blockOf(c byte) session.Block {
	blocks := []session.Block{
		thought("hm", item1), thought("", item2), thought("hm", bare), thought("hm", local), thought("hm", ""), thought("hm", "c2ln"),
		signed("a", "msg_1"), signed("b", `{"v":1,"id":"msg_2","phase":"commentary"}`), signed("c", `{"v":`), text("d"), text(""),
		callBlock("call_1|fc_1", `{"x":1}`), callBlock("call_1|fc_2", `{`), callBlock("functions.add:0", `{}`), callBlock("", `{}`),
		callBlock(strings.Repeat("x", 450)+"|"+strings.Repeat("y", 450), `{}`), callBlock("|", `{}`), callBlock("ü", `null`),
		{Type: session.BlockThinking, Redacted: true, Signature: "opaque"},
	}
	return blocks[int(c)%len(blocks)]
}
