package google

import (
	"encoding/json"
	"testing"

	"pi/internal/testing/wiretest"
)

// decoding has usage in each event, as the service sends it.
func decoding(part string) *wiretest.Decoding {
	var into chunk
	return &wiretest.Decoding{
		Client: New, API: "google-generative-ai", End: events(says1("", "STOP")), AllocsPerDelta: 22,
		Delta: `{"candidates": [{"content": {"parts": [` + part + `],"role": "model"},"index": 0}],"usageMetadata": {"promptTokenCount": 10,"candidatesTokenCount": 24,"totalTokenCount": 1433,` +
			`"promptTokensDetails": [{"modality": "TEXT","tokenCount": 10}],"thoughtsTokenCount": 1114},"modelVersion": "gemini-2.5-pro","responseId": "2ACzaf-8I9HRz7IPlMmB4Qk"}`,
		Parse: func(data []byte) error {
			into = chunk{}
			return json.Unmarshal(data, &into)
		},
	}
}

func BenchmarkDecode20000Deltas(b *testing.B) {
	b.Run("text", decoding(`{"text": " word"}`).Benchmark)
	b.Run("thought", decoding(`{"text": " word","thought": true}`).Benchmark)
}

func TestNothingIsKeptOfADelta(t *testing.T) {
	decoding(`{"text": " word"}`).Memory(t)
}
