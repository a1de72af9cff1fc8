package responses

import (
	"encoding/json"
	"testing"

	"pi/internal/testing/wiretest"
)

func decoding(kind, begin string) *wiretest.Decoding {
	var into event
	return &wiretest.Decoding{
		Client: New, API: "openai-responses", Begin: events(added(0, begin)), End: events(completed("")), AllocsPerDelta: 12, KeepsText: true,
		Name: "response." + kind + ".delta",
		Delta: `{"type":"response.` + kind + `.delta","sequence_number":7,"item_id":"msg_065915db01d8635a016a3c125c524c81a39e48ac0ebbcb6b30",` +
			`"output_index":0,"content_index":0,"delta":" word","logprobs":[],"obfuscation":"pkXRwN2J"}`,
		Parse: func(data []byte) error {
			into = event{}
			return json.Unmarshal(data, &into)
		},
	}
}

func BenchmarkDecode20000Deltas(b *testing.B) {
	b.Run("text", decoding(textKind, `{"type":"message","id":"m"}`).Benchmark)
	b.Run("thought", decoding(summaryKind, `{"type":"reasoning","id":"r"}`).Benchmark)
	b.Run("arguments", decoding(callKind, `{"type":"function_call","id":"f","call_id":"c","name":"f"}`).Benchmark)
}

func TestNothingButItsTextIsKeptOfADelta(t *testing.T) {
	decoding(textKind, `{"type":"message","id":"m"}`).Memory(t)
}
