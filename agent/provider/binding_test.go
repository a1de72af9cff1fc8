package provider_test

import (
	"io"
	"strings"
	"testing"

	"pi/agent/llm"
	"pi/internal/testing/wiretest"
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
		m := claude(c.id)
		if m.Compat = c.compat; c.base != "" {
			m.BaseURL = c.base
		}
		out, body := sent(t, &llm.Request{Model: m, Thinking: c.level})
		field, header := strings.Contains(string(body), drop), strings.Contains(out.Header.Get("Anthropic-Beta"), beta)
		if field != c.want || header != c.want {
			t.Errorf("%s at %s: %s, beta %q", c.id, m.BaseURL, body, out.Header.Get("Anthropic-Beta"))
		}
	}
}

func TestWithThinkingDisabledAllThoughtsStayOut(t *testing.T) {
	m := claude("claude-haiku-5-5")
	talk := []*message.Message{
		userSays(text("a")),
		modelSays(m, thinks("hm", "sig"), withheld("opaque"), text("b")),
		userSays(text("c")),
		modelSays(m, thinks("", "sig")),
		userSays(text("d")),
	}
	r := &llm.Request{Model: m, Messages: talk, Thinking: "low"}
	if got := string(bodyFields(t, r)["messages"]); !strings.Contains(got, `"signature":"sig"`) || !strings.Contains(got, "redacted_thinking") {
		t.Errorf("with thinking: %s", got)
	}
	m.Compat = map[string]any{"cache": false}
	r.Thinking = "off"
	const left = `[{"role":"user","content":[{"type":"text","text":"a"}]},{"role":"assistant","content":[{"type":"text","text":"b"}]},{"role":"user","content":[{"type":"text","text":"c"},{"type":"text","text":"d"}]}]`
	if got := string(bodyFields(t, r)["messages"]); got != left {
		t.Errorf("without thinking: %s", got)
	}
	if m.Compat["block_binding"] = ""; !strings.Contains(string(bodyFields(t, r)["messages"]), `"signature":"sig"`) {
		t.Error("where nothing is bound, thoughts go along as with any level")
	}
}

func TestOnlyRequestsThatHaveTheFieldSayWhatBecomesOfThoughts(t *testing.T) {
	for _, c := range []struct {
		level  string
		compat switches
		want   string // thinking
	}{
		{"low", switches{"adaptive_thinking": true}, `{"type":"adaptive","block_binding":{"prefix_mismatch_behavior":"drop_block"}}`},
		{"low", switches{"adaptive_thinking": false}, `{"type":"enabled","budget_tokens":2048,"block_binding":{"prefix_mismatch_behavior":"drop_block"}}`},
		{"off", switches{"adaptive_thinking": true, "thinking_off": "disabled"}, `{"type":"disabled"}`},
		{"off", switches{"adaptive_thinking": true, "thinking_off": "between_tools"}, `{"type":"between_tools"}`},
	} {
		m := claude("thinker")
		m.Compat = c.compat
		m.Compat["block_binding"] = "drop_block"
		_, body := sent(t, &llm.Request{Model: m, Thinking: c.level})
		fields{"thinking": c.want}.check(t, body)
	}
}

func TestNoHintNamesASwitchThatIsOn(t *testing.T) {
	const said = "messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation."
	for id, want := range map[string]string{"claude-opus-5-5": "", "thinker": `set compat.block_binding = "drop_block" of [providers.anthropic]`} {
		m := claude(id)
		hint := func(said string) string {
			f := wiretest.Folder{API: m.API, Status: 400, Headers: map[string]string{"Content-Type": "application/json"}}
			p := client(t, m.API)(f.Client(func() io.Reader {
				return strings.NewReader(`{"type":"error","error":{"type":"invalid_request_error","message":"` + said + `"}}`)
			}))
			return providerError(t, wiretest.Collect(p.Stream(t.Context(), &llm.Request{Model: m, Thinking: "low"})).Err).NextStep
		}
		if got := hint(said); got != want {
			t.Errorf("%s: %q", id, got)
		}
		if got := hint("thinking.adaptive.block_binding: Extra inputs are not permitted"); !strings.Contains(got, `block_binding = ""`) {
			t.Errorf("%s: %q", id, got)
		}
	}
}

// Where thoughts are what the model says between its calls, there is no field that says what
// becomes of those that do not fit: those of the turn in progress do.
func TestBetweenCallsTheThoughtsOfTheTurnInProgressGoAlong(t *testing.T) {
	m := claude("claude-sonnet-5-5")
	m.Compat = map[string]any{"cache": false}
	said := func(signature string) message.Block {
		return message.Block{Type: message.BlockThinking, Text: "I look", Signature: signature}
	}
	r := &llm.Request{Model: m, Thinking: "off", Messages: []*message.Message{
		userSays(text("a")), modelSays(m, said("earlier"), calls("1", `{}`)), toolSays("1"), modelSays(m, text("b")),
		userSays(text("c")), modelSays(m, said("now"), calls("2", `{}`)), toolSays("2"),
	}}
	if got := string(bodyFields(t, r)["messages"]); strings.Contains(got, "earlier") || !strings.Contains(got, `"signature":"now"`) {
		t.Error(got)
	}
	if r.Thinking = "low"; !strings.Contains(string(bodyFields(t, r)["messages"]), "earlier") {
		t.Error("with thinking the server leaves out what does not fit")
	}
}
