package anthropic

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"pi/agent/provider/wiretest"
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
