package catalogue_test

import (
	"testing"

	"pi/agent"
	"pi/agent/provider/catalogue"
)

func TestAnotherNameOfAModelIsRecognised(t *testing.T) {
	for _, c := range []struct{ provider, id, want string }{
		{"anthropic", "claude-sonnet-4-6", "claude-sonnet-4-6"},
		{"anthropic", "claude-sonnet-4-5", "claude-sonnet-4-5-20250929"},
		{"anthropic", "Claude-Sonnet-4.5", "claude-sonnet-4-5-20250929"},
		{"anthropic", "anthropic/claude-haiku-4.5:thinking", "claude-haiku-4-5-20251001"},
		{"anthropic", "claude-opus-4-5@20251101", "claude-opus-4-5-20251101"},
		{"anthropic", "claude-opus-4", "claude-opus-4-20250514"},
		{"anthropic", "claude-opus-4-6-latest", "claude-opus-4-6"},
		{"google-vertex-anthropic", "claude-haiku-4-5-20251001", "claude-haiku-4-5@20251001"},
		{"openai", "gpt-5.4-2026-03-05", "gpt-5.4"},
		{"openai", "openai/GPT-4o-2024-08-06", "gpt-4o"},
		{"openai", "gpt-5-mini", "gpt-5-mini"},
		{"mistral", "mistral-medium-2505", "mistral-medium-2505"},
		{"openai", "gpt-5.9", ""},
		{"openai", "gpt-", ""},
		{"openai", "", ""},
		{"openai", "/", ""},
		{"openai", "-2024-08-06", ""},
		{"anthropic", "claude", ""},
	} {
		got := ""
		if m := catalogue.Like(catalogue.Models(c.provider), c.id); m != nil {
			got = m.ID
		}
		if got != c.want {
			t.Errorf("%s/%s is %q, want %q", c.provider, c.id, got, c.want)
		}
	}
}

func TestTheNearestNameWins(t *testing.T) {
	models := []*agent.Model{{ID: "acme/m-20250101"}, {ID: "acme/m"}, {ID: "other/M"}}
	for id, want := range map[string]string{"m": "acme/m", "OTHER/m": "other/M", "m-latest": "acme/m-20250101"} {
		if m := catalogue.Like(models, id); m == nil || m.ID != want {
			t.Errorf("%s is %v, want %s", id, m, want)
		}
	}
}
