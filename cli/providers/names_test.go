package providers

import (
	"strings"
	"testing"

	"pi/agent/provider/catalogue"
	"pi/cli/config"
)

// What people type, against the models of today: each with the keys that they have.
func TestNamesMeanModelsOfTheCatalogue(t *testing.T) {
	for _, c := range []struct{ keys, ref, want string }{ // want: provider/id, or what the error says
		{"ANTHROPIC", "opus-5", "anthropic/claude-opus-5"},
		{"ANTHROPIC", "claude-opus-5-5", "anthropic/claude-opus-5-5"},
		{"ANTHROPIC", "4.5 sonnet", "anthropic/claude-sonnet-4-5-20250929"},
		{"ANTHROPIC", "opus-6", "did you mean anthropic/claude-opus-5-5"},
		{"ANTHROPIC", ":high", "has a level and no name"},
		{"ANTHROPIC", "anthropic/claude-opus-5:hihg", `has no thinking level "hihg"`},
		{"ANTHROPIC", "anthropic/claude-opus-5:HIGH", `has no thinking level "HIGH"`},
		{"ANTHROPIC", "anthropic/claude-opus-5:beta-1", "anthropic/claude-opus-5:beta-1"},
		{"ANTHROPIC", "foo/bar", `no such model: "foo/bar" (`},
		{"ANTHROPIC", "haiku-latest", "did you mean anthropic/claude-haiku-5-5 or"},
		{"GEMINI", "lite 3.5 gemini", "google/gemini-3.5-flash-lite"},
		{"OPENAI", "gpt6 sol", "openai/gpt-6-sol"},
		{"OPENAI", "gpt-6", `"gpt-6" may be any of`},
		{"MOONSHOT", "k3", "moonshot/kimi-k3"},
		{"KIMI", "k3", "kimi-coding/k3"},
		{"OPENROUTER", "blubber:free", `no such model: "blubber:free" (`},
		{"OPENROUTER", "qwen3-codr:free", "did you mean openrouter/qwen/qwen3-coder"},
		{"XAI", "grok-4.7-fast", "did you mean xai/grok-4.7?"},
	} {
		models := New(config.Default(), ringWith(t, "", map[string]string{c.keys + "_API_KEY": "k"}), catalogue.Models)
		m, _, err := models.Match(c.ref)
		if got := ""; err != nil && !strings.Contains(err.Error(), c.want) || err == nil && m.Ref() != c.want {
			if m != nil {
				got = m.Ref()
			}
			t.Errorf("%s with a key of %s is %s, %v; want %s", c.ref, c.keys, got, err, c.want)
		}
	}
}

// What no list has is taken for what it can only be: of its family, then of the nearest version.
func TestUnlistedModelsAreLikeTheNearest(t *testing.T) {
	models := New(config.Default(), ringWith(t, "", nil), catalogue.Models)
	for _, c := range []struct {
		provider, id, like string
		window             int
		thinks             bool
	}{
		{"openai", "gpt-6", "openai/gpt-6-sol", 1050000, true},
		{"openai", "gpt-4-turbo", "openai/gpt-4o", 128000, false},
		{"openai", "gpt-4.1-nano", "openai/gpt-5-nano", 1047576, false},
		{"openai", "gpt-prod", "", 0, false},
		{"anthropic", "claude-opus-4-1", "anthropic/claude-opus-4-5-20251101", 200000, true},
		{"anthropic", "claude-opus-4-9", "anthropic/claude-opus-4-8", 1000000, true},
		{"anthropic", "claude-opus-9", "anthropic/claude-opus-5-5", 1000000, true},
		{"anthropic", "claude-3-haiku-20240307", "anthropic/claude-haiku-4-5-20251001", 200000, false},
		{"anthropic", "claude-sonet-5", "anthropic/claude-sonnet-5", 1000000, true},
		{"mistral", "mistral-large-5", "mistral/mistral-large-4", 1048576, true},
		{"moonshot", "kimi-k2.9", "moonshot/kimi-k2.7-code", 262144, true},
		{"minimax", "MiniMax-M2.9", "minimax/MiniMax-M2.7", 204800, true},
		{"google", "gemini-5-pro", "google/gemini-3.1-pro-preview-customtools", 1048576, true},
	} {
		m := models.Find(c.provider, c.id)
		if m == nil || m.Like != c.like || m.ContextWindow != c.window || m.Reasoning != c.thinks || m.Cost != nil {
			t.Errorf("%s/%s is %+v, want it to be like %s", c.provider, c.id, m, c.like)
		}
	}
}
