package openai

import (
	"encoding/json"
	"testing"

	"pi/agent/provider"
)

// TestARequestIsWrittenAsItsStruct holds that what is written by hand is what an
// encoder makes of the struct, byte for byte.
func TestARequestIsWrittenAsItsStruct(t *testing.T) {
	yes, no, odd := true, false, "a <b> & \"c\"\n\u2028\x01é"
	tools := []tool{
		{Type: "function", Function: function{Name: odd, Description: odd, Parameters: json.RawMessage("{ \"type\" : \"object\",\n\"x\":\"<&>\u2028\"}"), Strict: &no}},
		{Type: "function", Function: function{Name: "bare", Parameters: json.RawMessage(`{}`)}},
		{Type: "function", Function: function{Name: "none"}},
	}
	messages := []wireMessage{
		{Role: "system", Content: odd},
		{Role: "user", Content: "", Name: odd},
		{Role: "user", Content: []part{textPart(odd), {Type: "image_url", ImageURL: &imageURL{URL: "data:"}}}},
		{Role: "assistant", Content: nil, ToolCalls: []toolCall{{ID: "1", Type: "function", Function: callBody{Name: "read", Arguments: `{"a":"<"}`}}}},
		{Role: "assistant", Content: odd, ReasoningContent: &odd}, {Role: "assistant", Content: odd, Reasoning: &odd}, {Role: "assistant", Content: odd, ReasoningText: &odd},
		{Role: "assistant", Content: odd, ReasoningDetails: json.RawMessage(`[ 1 ]`)},
		{Role: "assistant", Content: odd, ToolCalls: []toolCall{{}}},
		{Role: "tool", Content: odd, ToolCallID: odd},
	}
	for name, q := range map[string]request{
		"empty":     {Messages: []wireMessage{}},
		"one":       {Model: odd, Messages: messages[:1], Stream: true},
		"messages":  {Model: "m", Messages: messages, Stream: true},
		"tools":     {Model: "m", Messages: messages[:2], Tools: tools, ParallelToolCalls: &yes},
		"limits":    {Model: "m", Messages: messages[:1], MaxTokens: 7, StreamOptions: &streamOptions{IncludeUsage: true}, Store: &no},
		"others":    {Model: "m", Messages: messages[:1], MaxCompletionTokens: 1 << 40, StreamOptions: &streamOptions{}, PromptCacheKey: odd},
		"thinking":  {Model: "m", Messages: messages[:1], thinking: thinking{ReasoningEffort: odd, Reasoning: &reasoning{Effort: "low", Enabled: &yes}, Thinking: &thinkingType{Type: "enabled", Clear: &no}}},
		"switches":  {Model: "m", Messages: messages[:1], PromptCacheKey: "k", thinking: thinking{EnableThinking: &no, Template: &templateFlags{}, Split: true}},
		"cache":     {Model: "m", Messages: messages[:1], PromptCacheKey: "k", ToolStream: true, LongCache: provider.LongCache{Retention: odd}},
		"one field": {Model: "m", Messages: messages[:1], thinking: thinking{EnableThinking: &no}},
	} {
		want, err := provider.Encode(&q)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := q.encode(nil); err != nil || string(got) != string(want) {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, err, got, want)
		}
	}
	broken := request{Tools: []tool{{Function: function{Parameters: json.RawMessage(`{`)}}}}
	if got, err := broken.encode(nil); err == nil {
		t.Errorf("parameters that are no JSON were written: %s", got)
	}
}
