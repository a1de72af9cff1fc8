package openai

import (
	"encoding/json"
	"testing"

	"pi/internal/testing/wiretest"
)

func decoding(delta string) *wiretest.Decoding {
	var into chunk
	return &wiretest.Decoding{
		Client: New, API: "openai-completions", End: end, AllocsPerDelta: 12,
		Delta: `{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":` + delta + `,"finish_reason":null}]}`,
		Parse: func(data []byte) error {
			into = chunk{}
			return json.Unmarshal(data, &into)
		},
	}
}

// Pieces of an answer, of a thought that comes twice, and of arguments.
var pieces = map[string]string{
	"text":      `{"content":" word"}`,
	"thought":   `{"role":"assistant","content":"","reasoning":" word","reasoning_details":[{"type":"reasoning.text","text":" word","format":"unknown","index":0}]}`,
	"summary":   `{"role":"assistant","content":"","reasoning":" word","reasoning_details":[{"type":"reasoning.summary","summary":" word","format":"openai-responses-v1","index":0}]}`,
	"arguments": `{"tool_calls":[{"index":0,"id":"c","type":"function","function":{"name":"f","arguments":" word"}}]}`,
}

func BenchmarkDecode20000Deltas(b *testing.B) {
	for name, delta := range pieces {
		b.Run(name, decoding(delta).Benchmark)
	}
}

func TestNothingIsKeptOfADelta(t *testing.T) {
	decoding(pieces["text"]).Memory(t)
}
