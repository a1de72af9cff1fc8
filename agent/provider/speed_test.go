package provider_test

import (
	"testing"

	"pi/internal/testing/wiretest"
)

// decodings are pieces of answers of each API, as they come many times.
func decodings(t testing.TB) map[string]*wiretest.Decoding {
	all := map[string]*wiretest.Decoding{}
	add := func(api, kind string, d wiretest.Decoding) {
		d.Client, d.API = client(t, api), api
		if d.AllocsPerDelta == 0 {
			d.AllocsPerDelta = 12
		}
		all[api+"/"+kind] = &d
	}
	for kind, delta := range map[string]string{"text": `{"type":"text_delta","text":" word"}`, "thought": `{"type":"thinking_delta","thinking":" word"}`, "arguments": `{"type":"input_json_delta","partial_json":" word"}`} {
		begin := events(claudeBegin, claudeText)
		if kind == "arguments" {
			begin = events(claudeBegin, claudeCall)
		}
		add("anthropic-messages", kind, wiretest.Decoding{Begin: begin, End: events(claudeReason("end_turn"), claudeStop),
			Name: "content_block_delta", Delta: `{"type":"content_block_delta","index":0,"delta":` + delta + `}`})
	}
	for kind, delta := range map[string]string{
		"text":      `{"content":" word"}`,
		"thought":   `{"role":"assistant","content":"","reasoning":" word","reasoning_details":[{"type":"reasoning.text","text":" word","format":"unknown","index":0}]}`, // that comes twice
		"summary":   `{"role":"assistant","content":"","reasoning":" word","reasoning_details":[{"type":"reasoning.summary","summary":" word","format":"openai-responses-v1","index":0}]}`,
		"arguments": `{"tool_calls":[{"index":0,"id":"c","type":"function","function":{"name":"f","arguments":" word"}}]}`,
	} {
		add("openai-completions", kind, wiretest.Decoding{End: events(chatEnd),
			Delta: `{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":` + delta + `,"finish_reason":null}]}`})
	}
	for kind, c := range map[string][2]string{
		"text":      {textKind, `{"type":"message","id":"m"}`},
		"thought":   {summaryKind, `{"type":"reasoning","id":"r"}`},
		"arguments": {callKind, `{"type":"function_call","id":"f","call_id":"c","name":"f"}`},
	} {
		name := "response." + c[0] + ".delta"
		add("openai-responses", kind, wiretest.Decoding{Begin: events(itemAdded(0, c[1])), End: events(itemsEnd("")), KeepsText: true, Name: name,
			Delta: `{"type":"` + name + `","sequence_number":7,"item_id":"msg_065915db01d8635a016a3c125c524c81a39e48ac0ebbcb6b30","output_index":0,"content_index":0,"delta":" word","logprobs":[],"obfuscation":"pkXRwN2J"}`})
	}
	for kind, part := range map[string]string{"text": `{"text": " word"}`, "thought": `{"text": " word","thought": true}`} {
		// There is usage in each event, as the service sends it.
		add("google-generative-ai", kind, wiretest.Decoding{End: events(geminiText("", "STOP")), AllocsPerDelta: 22,
			Delta: `{"candidates": [{"content": {"parts": [` + part + `],"role": "model"},"index": 0}],"usageMetadata": {"promptTokenCount": 10,"candidatesTokenCount": 24,"totalTokenCount": 1433,` +
				`"promptTokensDetails": [{"modality": "TEXT","tokenCount": 10}],"thoughtsTokenCount": 1114},"modelVersion": "gemini-2.5-pro","responseId": "2ACzaf-8I9HRz7IPlMmB4Qk"}`})
	}
	return all
}

func BenchmarkDecode20000Deltas(b *testing.B) {
	for name, d := range decodings(b) {
		b.Run(name, d.Benchmark)
	}
}

// What is held of a delta is its text at most, where it is compared with what comes at the end.
func TestNothingIsKeptOfADelta(t *testing.T) {
	if raceEnabled {
		t.Skip("one thing is done at a time, and .ci/run has it without the race detector")
	}
	all := decodings(t)
	for _, api := range apis() {
		if all[api+"/text"] == nil {
			t.Fatalf("nothing is decoded of %s", api)
		}
		t.Run(api, all[api+"/text"].Memory)
	}
}
