package openai

import (
	"encoding/json"
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

// FuzzEncode holds for any conversation: a server as strict as that one takes the
// request, a longer conversation only adds to it, and what is kept of it changes no byte.
func FuzzEncode(f *testing.F) {
	for i, plan := range wiretest.Plans() {
		f.Add(plan, uint8(i))
	}
	servers := []struct {
		provider, id, base string
		check              func([]byte) error
	}{
		{"openai", "m", "", wiretest.CheckChat},
		{"mistral", "mistral-large-latest", "https://api.mistral.ai/v1", wiretest.CheckMistral},
	}
	f.Fuzz(func(t *testing.T, plan []byte, kind uint8) {
		if len(plan) > 60 {
			return
		}
		server := servers[int(kind)%len(servers)]
		m := modelOf(server.provider, server.id, server.base)
		var before []byte
		kept := new(api)
		for _, messages := range wiretest.Planned(t, plan, m, wiretest.PlannedBlock) {
			call, err := encodeTwice(t, kept, &llm.Request{Model: m, System: "be nice", Messages: messages, SessionID: "s"})
			if err != nil || !json.Valid(call.Body) {
				t.Fatalf("%v: %s", err, call.Body)
			}
			if err := server.check(call.Body); err != nil {
				t.Fatalf("%v in %s", err, call.Body)
			}
			if before != nil {
				wiretest.Continues(t, "messages", before, call.Body)
			}
			before = call.Body
		}
	})
}
