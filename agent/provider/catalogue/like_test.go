package catalogue_test

import (
	"testing"

	"pi/agent/llm"
	"pi/agent/provider/catalogue"
)

func TestAnotherFormOfANameIsRecognised(t *testing.T) {
	for _, c := range []struct {
		provider, id, want string // want: the name for people
		priced             bool
	}{
		{"anthropic", "claude-sonnet-4-6", "Claude Sonnet 4.6", true},
		{"anthropic", "claude-sonnet-4-5", "Claude Sonnet 4.5", true},
		{"anthropic", "Claude-Sonnet-4.5", "Claude Sonnet 4.5", true},
		{"anthropic", "anthropic/claude-haiku-4.5", "Claude Haiku 4.5", true},
		{"anthropic", "claude-opus-4-5@20251101", "Claude Opus 4.5", true},
		{"anthropic", "claude-opus-4-5-20991231", "Claude Opus 4.5", false},
		{"anthropic", "claude-haiku-4-5", "Claude Haiku 4.5", true},
		{"anthropic", "claude-opus-4-6-latest", "Claude Opus 4.6", true},
		{"anthropic", "us.anthropic.claude-haiku-4-5-20251001-v1:0", "Claude Haiku 4.5", true},
		{"anthropic", "anthropic.claude-opus-5-5", "Claude Opus 5.5", true},
		{"google-vertex-anthropic", "claude-haiku-4-5-20251001", "Claude 4.5 Haiku", true},
		{"openai", "gpt-5.4-2026-03-05", "GPT-5.4", false},
		{"openai", "openai/GPT-4o-2024-08-06", "GPT-4o", false},
		{"openai", "gpt-5-mini", "GPT-5 Mini", true},
		{"groq", "gpt-oss:20b", "GPT OSS 20B", true},
		{"groq", "gpt-oss-20b:free", "", false},
		{"openai", "gpt-5.9", "", false},
		{"openai", "gpt-", "", false},
		{"openai", "", "", false},
		{"openai", "/", "", false},
		{"openai", "-2024-08-06", "", false},
		{"anthropic", "claude", "", false},
	} {
		m := catalogue.Like(catalogue.Models(c.provider), c.id)
		switch {
		case m == nil && c.want != "", m != nil && m.Name != c.want:
			t.Errorf("%s/%s is %+v, want %q", c.provider, c.id, m, c.want)
		case m != nil && (m.ID != c.id || (m.Cost != nil) != c.priced):
			t.Errorf("%s/%s is asked for as %s, and its price is known: %v", c.provider, c.id, m.ID, m.Cost != nil)
		}
	}
}

func TestTheNearestFormWins(t *testing.T) {
	models := []*llm.Model{{ID: "acme/m-20250101", Name: "dated"}, {ID: "acme/m", Name: "plain"}, {ID: "other/M", Name: "other"}}
	for id, want := range map[string]string{"m": "plain", "OTHER/m": "other", "m-latest": "dated"} {
		if m := catalogue.Like(models, id); m == nil || m.Name != want {
			t.Errorf("%s is %v, want %s", id, m, want)
		}
	}
	if models[0].ID != "acme/m-20250101" {
		t.Error("the list has changed")
	}
}
