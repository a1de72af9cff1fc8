package openai

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
		chunkOf(`{"content":"hi"}`) + end,
		chunkOf(`{"reasoning_details":[{"type":"reasoning.text","text":"a","index":0},{"data":"x"}],"reasoning":"a"}`) + end,
		chunkOf(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\""}},{"function":{"arguments":":1}"}}]}`) + end,
		chunkOf(`{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]}]}`) + "data: [DONE]\n\n",
		"data: {\"error\":{\"message\":\"no\"}}\n\n",
		"data: {\"choices\":[{\"finish_reason\":\"length\",\"usage\":{\"prompt_tokens\":1}}],\"usage\":null}\n\n",
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
