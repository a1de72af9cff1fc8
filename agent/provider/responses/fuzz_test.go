package responses

import (
	"encoding/json"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"pi/agent/llm"
	"pi/internal/testing/wiretest"
	"pi/session/message"
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
		events(added(0, callItem("a", "fc_1", "")), added(0, callItem("b", "fc_2", "")), of("fc_1", callKind, 0, "{}"), done(0, messageItem("msg_1", "a")), added(1, callItem("c", "", "")), completed(callItem("d", "fc_4", "{}"))),
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

// FuzzEncode holds for any conversation: a strict server takes the request, a longer
// conversation only adds to it, and what is kept of it changes no byte.
func FuzzEncode(f *testing.F) {
	for i, plan := range wiretest.Plans() {
		f.Add(plan, uint8(i))
	}
	f.Fuzz(func(t *testing.T, plan []byte, kind uint8) {
		if len(plan) > 60 {
			return
		}
		m := modelOf([]string{"openai", "lmstudio", "openrouter", "acme"}[kind%4], "m", "")
		var before []json.RawMessage
		kept := new(api)
		for _, messages := range wiretest.Planned(t, plan, m, blockOf) {
			call, err := encodeTwice(t, kept, &llm.Request{Model: m, System: "be nice", Messages: messages, SessionID: "s"})
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

// blockOf is some block of an answer.
func blockOf(c byte) message.Block {
	blocks := []message.Block{
		thought("hm", item1), thought("", item2), thought("hm", bare), thought("hm", local), thought("hm", ""), thought("hm", "c2ln"),
		signed("a", "msg_1"), signed("b", `{"v":1,"id":"msg_2","phase":"commentary"}`), signed("c", `{"v":`), text("d"), text(""),
		callBlock("call_1|fc_1", `{"x":1}`), callBlock("call_1|fc_2", `{`), callBlock("functions.add:0", `{}`), callBlock("", `{}`),
		callBlock(strings.Repeat("x", 450)+"|"+strings.Repeat("y", 450), `{}`), callBlock("|", `{}`), callBlock("ü", `null`),
		{Type: message.BlockThinking, Redacted: true, Signature: "opaque"},
	}
	return blocks[int(c)%len(blocks)]
}
