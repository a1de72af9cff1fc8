package google

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
		events(says1("hi", ""), says1("", "STOP")),
		events(`{"candidates":[{"content":{"parts":[{"text":"hm","thought":true},{"text":"","thoughtSignature":"c2ln"},{"functionCall":{"name":"f","args":{"x":1},"id":"a"},"thoughtSignature":"c2ln"},{"functionCall":{"name":"g"}}]}}]}`,
			`{"candidates":[{"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":3,"cachedContentTokenCount":5,"thoughtsTokenCount":-1}}`),
		events(`{"candidates":[{"content":{"parts":[{"toolCall":{"id":"x"},"thoughtSignature":"c2ln"},{"inlineData":{"data":"QUJD"},"thoughtSignature":"c2ln"}]},"finishReason":"MALFORMED_FUNCTION_CALL"}]}`),
		events(`{"promptFeedback":{"blockReason":"SAFETY"}}`),
		events(says1("hi", ""), `[{"error":{"code":503,"message":"overloaded","status":"UNAVAILABLE"}}]`),
		events(`{"candidates":[{"index":1,"content":{"parts":[{"text":7}]}},{"content":[]}],"error":null}`, "[DONE]"),
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
	f.Fuzz(func(t *testing.T, plan []byte, signs bool) {
		if len(plan) > 60 {
			return
		}
		m, check := model("gemini-2.5-pro"), wiretest.CheckGemini
		if signs {
			m, check = model("gemini-3-pro-preview"), wiretest.CheckSignedGemini
		}
		var before []byte
		kept := new(api)
		for _, messages := range wiretest.Planned(t, plan, m, wiretest.PlannedBlock) {
			call, err := encodeTwice(t, kept, &llm.Request{Model: m, System: "be nice", Messages: messages, SessionID: "s"})
			if err != nil {
				t.Fatal(err)
			}
			if err := check(call.Body); err != nil {
				t.Fatalf("%v in %s", err, call.Body)
			}
			if before != nil {
				wiretest.Continues(t, "contents", before, call.Body)
			}
			before = call.Body
		}
	})
}
