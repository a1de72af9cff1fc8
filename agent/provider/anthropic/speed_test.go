package anthropic

import (
	"encoding/json"
	"testing"

	"pi/internal/testing/wiretest"
)

func decoding(delta string) *wiretest.Decoding {
	var into event
	return &wiretest.Decoding{
		Client: New, API: "anthropic-messages", Begin: events(begin, endless), End: events(ends("end_turn"), endStop), AllocsPerDelta: 12,
		Name: "content_block_delta", Delta: `{"type":"content_block_delta","index":0,"delta":` + delta + `}`,
		Parse: func(data []byte) error {
			into = event{}
			return json.Unmarshal(data, &into)
		},
	}
}

func BenchmarkDecode20000Deltas(b *testing.B) {
	b.Run("text", decoding(`{"type":"text_delta","text":" word"}`).Benchmark)
	b.Run("thought", decoding(`{"type":"thinking_delta","thinking":" word"}`).Benchmark)
	arguments := decoding(`{"type":"input_json_delta","partial_json":" word"}`)
	arguments.Begin = events(begin, `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"c","name":"f","input":{}}}`)
	b.Run("arguments", arguments.Benchmark)
}

func TestNothingIsKeptOfADelta(t *testing.T) {
	decoding(`{"type":"text_delta","text":" word"}`).Memory(t)
}
