package provider

import (
	"fmt"
	"slices"
	"testing"

	"pi/agent/llm"
	"pi/session/message"
)

func TestRefusedThoughtsAreRecognised(t *testing.T) {
	said := func(message string) string {
		return fmt.Sprintf(`{"type":"error","error":{"type":"invalid_request_error","message":%q}}`, message)
	}
	for _, c := range []struct {
		name, body string
		status     int
		want       bool
	}{
		{"bound", said("messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation. Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to \"drop_block\"."), 400, true},
		{"of another account", said("messages.1.content.0: Invalid `signature` in `thinking` block"), 400, true},
		{"withheld", said("messages.3.content.0: Invalid `data` in `redacted_thinking` block"), 400, true},
		{"changed", said("messages.5.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response."), 400, true},
		{"in Google's words", `{"error":{"code":400,"message":"messages.1.content.0: Invalid signature in thinking block","status":"INVALID_ARGUMENT"}}`, 400, true},
		{"by a gateway, as if it would pass", said("messages.1.content.0: Invalid `signature` in `thinking` block"), 429, true},
		{"the field is not known", said("thinking.adaptive.block_binding: Extra inputs are not permitted"), 400, false},
		{"another signature", said("Invalid signature of the request"), 400, false},
		{"too long", said("prompt is too long: 213462 tokens > 200000 maximum"), 400, false},
	} {
		e := answered(c.status, c.body)
		if e.Unfit != c.want || e.Unfit && (e.Retryable || e.Overflow || e.NextStep != "") {
			t.Errorf("%s: %+v", c.name, e)
		}
	}
}

func TestRefusedThoughtsStayOutOfARequest(t *testing.T) {
	own := &llm.Model{Provider: "p", ID: "m", API: "a"}
	thought := func(signature string) message.Block {
		return message.Block{Type: message.BlockThinking, Text: "hm", Signature: signature}
	}
	says := func(id string, blocks ...message.Block) *message.Message {
		return &message.Message{Role: message.RoleAssistant, Provider: "p", Model: id, API: "a", Content: blocks}
	}
	prompt := &message.Message{Role: message.RoleUser, Content: []message.Block{message.TextBlock("go")}}
	mixed := says("m", thought("old"), message.TextBlock("x"), thought("new"))
	r := &llm.Request{Model: own, Messages: []*message.Message{prompt, says("m", thought("old")), mixed, says("other", thought("old"))}}
	if withoutRefused(r) != r {
		t.Error("a request changed though nothing was refused")
	}
	r.Refused = map[llm.Thought]bool{{Signature: "old", Text: "hm"}: true}
	got := withoutRefused(r)
	var all []string
	for _, m := range got.Messages {
		for _, b := range m.Content {
			all = append(all, m.Model+" "+string(b.Type)+" "+b.Signature)
		}
	}
	want := []string{" text ", "m text ", "m thinking new", "other thinking old"} // to another model it goes as text
	if !slices.Equal(all, want) || len(got.Messages) != 3 || len(mixed.Content) != 3 || len(r.Messages) != 4 {
		t.Errorf("%q in %d messages; the request has %d, the answer %d blocks", all, len(got.Messages), len(r.Messages), len(mixed.Content))
	}
}
