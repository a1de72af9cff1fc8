package anthropic

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"pi/agent/llm"
	"pi/internal/testing/wiretest"
)

// FuzzDecode holds for any bytes that a server may send: the stream ends with a
// stop or an error, never with both, and does not depend on how it is read.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		events(begin, endless, ends("end_turn"), endStop),
		events(begin, `{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"a","name":"f","input":{}}}`,
			`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"x\":"}}`, ends("max_tokens"), endStop),
		events(`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":"s"}}`, endStop),
		"event: error\n" + events(`{"type":"error","error":{"type":"api_error","message":"no"}}`),
		events(`{"type":"ping"}`, `{"type":"content_block_delta","index":7,"delta":{"type":"text_delta","text":"x"}}`),
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
		f.Add(plan, i%2 == 0)
	}
	f.Fuzz(func(t *testing.T, plan []byte, thinks bool) {
		if len(plan) > 60 {
			return
		}
		m, thinking := model("claude-sonnet-4-5"), ""
		if thinks {
			thinking = "low"
		}
		var before []byte
		kept := new(api)
		for _, messages := range wiretest.Planned(t, plan, m, wiretest.PlannedBlock) {
			call, err := encodeTwice(t, kept, &llm.Request{Model: m, System: "be nice", Messages: messages, Thinking: thinking, SessionID: "s"})
			if err != nil {
				t.Fatal(err)
			}
			if err := wiretest.CheckMessages(call.Body); err != nil {
				t.Fatalf("%v in %s", err, call.Body)
			}
			if before != nil {
				wiretest.Continues(t, "messages", before, call.Body)
			}
			before = call.Body
		}
	})
}
