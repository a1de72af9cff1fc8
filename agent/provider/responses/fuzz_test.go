package responses

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
