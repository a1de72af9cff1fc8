package app

import (
	"slices"
	"strings"
	"testing"

	"pi/agent/llm"
	"pi/agent/provider/catalogue"
	"pi/cli/config"
	"pi/cli/keyring"
	"pi/cli/providers"
	"pi/session"
)

// decodings counts the records of the catalogue that are decoded.
type decodings struct{ names []string }

func (d *decodings) decode(name string) []*llm.Model {
	d.names = append(d.names, name)
	return catalogue.Models(name)
}

// noVariables takes the keys and addresses of the user who runs the test away.
func noVariables(t testing.TB) {
	for _, p := range catalogue.Providers() {
		for _, name := range append(slices.Clip(p.KeyVars), p.BaseVar) {
			if name != "" {
				t.Setenv(name, "")
			}
		}
	}
}

// begin is the start of a run with these settings and variables, up to its model.
func begin(t *testing.T, cfg config.Config, variables map[string]string, model string) (*llm.Model, *decodings) {
	t.Helper()
	d := &decodings{}
	noVariables(t)
	for name, value := range variables {
		t.Setenv(name, value)
	}
	ring := keyring.New(keyring.Options{AgentDir: t.TempDir()})
	c := &modelChoice{place: &Place{Options: Options{Model: model}, Config: cfg, Keys: ring}, models: providers.New(cfg, ring, d.decode), later: &messages{}}
	if len(d.names) > 0 {
		t.Errorf("making the registry decoded %q", d.names)
	}
	m, _, err := c.choose(session.New(session.Options{Cwd: t.TempDir(), Dir: t.TempDir()}))
	if err != nil {
		t.Fatal(err)
	}
	return m, d
}

func TestAStartDecodesNoMoreOfTheCatalogueThanItsModelNeeds(t *testing.T) {
	local := map[string]config.Provider{"local": {BaseURL: "http://127.0.0.1:1", API: "openai-completions", Models: []config.Model{{ID: "small"}}}}
	key := map[string]string{"OPENAI_API_KEY": "k", "GROQ_API_KEY": "k"}
	tests := []struct {
		name, model, inSettings string
		variables               map[string]string
		want                    string
		decoded                 []string
	}{
		{"nothing is set", "", "", nil, "local/small", []string{"local"}},
		{"the settings name a model of their own", "", "local/small", key, "local/small", []string{"local"}},
		{"the settings name one of the catalogue", "", "anthropic/claude-sonnet-4-6", key, "anthropic/claude-sonnet-4-6", []string{"anthropic"}},
		{"the command line does", "groq/qwen/qwen3-32b", "local/small", key, "groq/qwen/qwen3-32b", []string{"groq"}},
		{"the first provider with a key decides", "", "", key, "openai/gpt-6.1-sol", []string{"openai"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cfg := config.Default()
			cfg.Model, cfg.Providers = tt.inSettings, local
			m, d := begin(t, cfg, tt.variables, tt.model)
			if m.Ref() != tt.want {
				t.Errorf("it begins with %s, want %s", m.Ref(), tt.want)
			}
			decoded := slices.DeleteFunc(d.names, func(name string) bool { return len(catalogue.Models(name)) == 0 })
			want := slices.DeleteFunc(slices.Clone(tt.decoded), func(name string) bool { return len(catalogue.Models(name)) == 0 })
			if !slices.Equal(decoded, want) {
				t.Errorf("decoded %q, want %q", decoded, want)
			}
		})
	}
}

func TestWithoutAnyProviderItIsTheDemo(t *testing.T) {
	if m, d := begin(t, config.Default(), nil, ""); m.Ref() != "demo/tour" {
		t.Errorf("%s, %q", m.Ref(), d.names)
	}
}

func TestADefaultThatAFetchedListLacksIsWarnedOf(t *testing.T) {
	noVariables(t)
	t.Setenv("OPENAI_API_KEY", "k")
	for listed, provider := range map[string]string{"gpt-6.1-sol": "", "gpt-7-sol": "", "gpt-8-sol": "openai"} {
		fetched := func(name string) []*llm.Model {
			return []*llm.Model{{Provider: name, ID: listed, API: "openai-responses", BaseURL: "https://model.test", NeedsKey: true}}
		}
		ring := keyring.New(keyring.Options{AgentDir: t.TempDir()})
		c := &modelChoice{place: &Place{Options: Options{Provider: provider}, Config: config.Default(), Keys: ring}, models: providers.New(config.Default(), ring, fetched), later: &messages{}}
		m, _, err := c.choose(session.New(session.Options{Cwd: t.TempDir(), Dir: t.TempDir()}))
		if err != nil || m.Ref() != "openai/gpt-6.1-sol" {
			t.Fatal(m, err)
		}
		if warned := strings.HasPrefix(strings.Join(c.later.warnings, ""), "gpt-6.1-sol is not among the models"); warned != (listed != m.ID) {
			t.Errorf("with %s in the list: %q", listed, c.later.warnings)
		}
	}
}

func BenchmarkFirstModel(b *testing.B) {
	noVariables(b)
	b.Setenv("GROQ_API_KEY", "k")
	ring := keyring.New(keyring.Options{AgentDir: b.TempDir()})
	b.ReportAllocs()
	for b.Loop() {
		c := &modelChoice{place: &Place{Keys: ring}, models: providers.New(config.Default(), ring, catalogue.Models)}
		if c.first() == nil {
			b.Fatal("no model")
		}
	}
}
