package anthropic

import (
	"strings"
	"testing"

	"pi/agent/llm"
	"pi/session/message"
)

func TestTheServerIsAskedToDropThoughtsThatDoNotFit(t *testing.T) {
	const vertex, router = "https://r-aiplatform.googleapis.com/v1/publishers/anthropic/models", "https://openrouter.ai/api"
	const own, zen = "https://gateway.example/v1", "https://opencode.ai/zen"
	const drop, beta = `"block_binding":{"prefix_mismatch_behavior":"drop_block"}`, "thinking-binding-controls-2026-08-01"
	for _, c := range []struct {
		id, base, level string
		compat          map[string]any
		want            bool
	}{
		{"claude-opus-5-5", "", "low", nil, true},
		{"claude-sonnet-5-5", "", "max", nil, true},
		{"claude-haiku-5-5-20261001", vertex, "high", nil, true},
		{"claude-fable-5-1@20260901", vertex, "high", nil, true},
		{"claude-mythos-5-2", zen, "high", nil, true},
		{"anthropic/claude-opus-5.5", own, "high", nil, true},
		{"claude-fable-6", own, "high", nil, true},
		{"claude-opus-5-5", router, "high", nil, false},
		{"anthropic/claude-opus-5.5", router, "high", nil, false},
		{"claude-opus-5", "", "high", nil, false},
		{"claude-opus-5-20260401", "", "high", nil, false},
		{"claude-fable-5@20260601", vertex, "high", nil, false},
		{"claude-opus-4-8", "", "high", nil, false},
		{"claude-opus-4-6", "", "high", nil, false},
		{"claude-opus-4-5-20251101", "", "high", nil, false},
		{"anthropic/claude-haiku-4.5", own, "high", nil, false},
		{"claude-3-5-sonnet-20241022", "", "high", nil, false},
		{"MiniMax-M3.1", own, "high", nil, false},
		{"claude-opus-5-5", "", "low", map[string]any{"block_binding": ""}, false},
		{"glm", own, "low", map[string]any{"block_binding": "drop_block", "adaptive_thinking": true}, true},
	} {
		m := model(c.id)
		if m.Compat = c.compat; c.base != "" {
			m.BaseURL = c.base
		}
		call, err := encode(&llm.Request{Model: m, Thinking: c.level})
		if err != nil {
			t.Fatal(err)
		}
		field, header := strings.Contains(string(call.Body), drop), strings.Contains(call.Header.Get("Anthropic-Beta"), beta)
		if field != c.want || header != c.want {
			t.Errorf("%s at %s: %s, beta %q", c.id, m.BaseURL, call.Body, call.Header.Get("Anthropic-Beta"))
		}
	}
}

func TestAModelThatIsNotSaidToThinkIsAskedForWhatItDoesAnyway(t *testing.T) {
	m := model("claude-fable-5-2")
	m.Reasoning = false
	if got := string(body(t, &llm.Request{Model: m, Thinking: "off"})["thinking"]); got != `{"type":"adaptive","display":"summarized","block_binding":{"prefix_mismatch_behavior":"drop_block"}}` {
		t.Error(got)
	}
}

func TestWithThinkingDisabledAllThoughtsStayOut(t *testing.T) {
	m := model("claude-haiku-5-5")
	talk := []*message.Message{
		says(message.RoleUser, text("a")),
		modelSays(m, message.Block{Type: message.BlockThinking, Text: "hm", Signature: "sig"}, message.Block{Type: message.BlockThinking, Redacted: true, Signature: "opaque"}, text("b")),
		says(message.RoleUser, text("c")),
		modelSays(m, message.Block{Type: message.BlockThinking, Signature: "sig"}),
		says(message.RoleUser, text("d")),
	}
	r := &llm.Request{Model: m, Messages: talk, Thinking: "low"}
	if got := string(body(t, r)["messages"]); !strings.Contains(got, `"signature":"sig"`) || !strings.Contains(got, "redacted_thinking") {
		t.Errorf("with thinking: %s", got)
	}
	m.Compat = map[string]any{"cache": false}
	r.Thinking = "off"
	if got := string(body(t, r)["messages"]); strings.Contains(got, "thinking") {
		t.Errorf("without thinking: %s", got)
	}
	if m.Compat["block_binding"] = ""; !strings.Contains(string(body(t, r)["messages"]), `"signature":"sig"`) {
		t.Error("where nothing is bound, thoughts go along as with any level")
	}
	v := newConversation(new(compat), r)
	v.from = noThoughts
	for _, m := range talk {
		v.Add(m)
	}
	got := v.messages
	if len(got) != 3 || len(got[1].Content) != 1 || *got[1].Content[0].Text != "b" || len(got[2].Content) != 2 {
		t.Errorf("%+v", got)
	}
}

func TestOnlyRequestsThatHaveTheFieldSayWhatBecomesOfThoughts(t *testing.T) {
	r := &llm.Request{Model: model("claude-haiku-5-5")}
	for kind, want := range map[string]bool{"adaptive": true, "enabled": true, "disabled": false, "between_tools": false} {
		c := &compat{binding: dropBlock, adaptive: true, thinkingOff: kind}
		q := &request{Thinking: &thinking{Type: kind}}
		c.bind(q)
		if got := q.Thinking.Binding != nil; got != want || (c.thoughtsFrom(r) == noThoughts) != (kind == "disabled") {
			t.Errorf("%s: binding %v, leaves out thoughts %v", kind, got, c.thoughtsFrom(r))
		}
	}
}

func TestNoHintNamesASwitchThatIsOn(t *testing.T) {
	const said = "messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation."
	for id, want := range map[string]string{"claude-opus-5-5": "", "thinker": `set compat.block_binding = "drop_block" of [providers.anthropic]`} {
		call, err := encode(&llm.Request{Model: model(id), Thinking: "low"})
		if err != nil {
			t.Fatal(err)
		}
		if got := call.Hint(400, said); got != want {
			t.Errorf("%s: %q", id, got)
		}
		if got := call.Hint(400, "thinking.adaptive.block_binding: Extra inputs are not permitted"); !strings.Contains(got, `block_binding = ""`) {
			t.Errorf("%s: %q", id, got)
		}
	}
}

// Where thoughts are what the model says between its calls, there is no field that says what
// becomes of those that do not fit: those of the turn in progress do.
func TestBetweenCallsTheThoughtsOfTheTurnInProgressGoAlong(t *testing.T) {
	m := model("claude-sonnet-5-5")
	m.Compat = map[string]any{"cache": false}
	said := func(signature string) message.Block {
		return message.Block{Type: message.BlockThinking, Text: "I look", Signature: signature}
	}
	r := &llm.Request{Model: m, Thinking: "off", Messages: []*message.Message{
		says(message.RoleUser, text("a")), modelSays(m, said("earlier"), callBlock("1")), toolSays("1", false), modelSays(m, text("b")),
		says(message.RoleUser, text("c")), modelSays(m, said("now"), callBlock("2")), toolSays("2", false),
	}}
	if got := string(body(t, r)["messages"]); strings.Contains(got, "earlier") || !strings.Contains(got, `"signature":"now"`) {
		t.Error(got)
	}
	if r.Thinking = "low"; !strings.Contains(string(body(t, r)["messages"]), "earlier") {
		t.Error("with thinking the server leaves out what does not fit")
	}
}
