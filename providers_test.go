package main

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"syscall"
	"testing"

	"pi/agent"
	"pi/agent/provider/catalogue"
	"pi/cli/config"
	"pi/session"
)

// decodings counts the records of the catalogue that are decoded.
type decodings struct{ names []string }

func (d *decodings) decode(name string) []*agent.Model {
	d.names = append(d.names, name)
	return catalogue.Models(name)
}

// begin is the start of a run with these settings and variables, up to its model.
func begin(t *testing.T, cfg config.Config, variables map[string]string, model string) (*agent.Model, *decodings) {
	t.Helper()
	d := &decodings{}
	ring := testRing(t, "", variables)
	r := &run{Place: &Place{Options: Options{Model: model}, Config: cfg, Keys: ring}, models: newModels(cfg, ring, d.decode)}
	if len(d.names) > 0 {
		t.Errorf("making the registry decoded %q", d.names)
	}
	m, _, err := r.chooseModel(session.New(session.Options{Cwd: t.TempDir(), Dir: t.TempDir()}))
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
		{"the first provider with a key decides", "", "", key, "openai/gpt-5.6-sol", []string{"openai"}},
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

func TestPriceThatTheSettingsLeaveOutIsNotKnown(t *testing.T) {
	zero, one := 0.0, 1.0
	for _, c := range []struct {
		set  config.Cost
		want agent.Price
	}{
		{config.Cost{}, agent.Price{Input: -1, Output: -1, CacheRead: -1, CacheWrite: -1}},
		{config.Cost{Input: &one}, agent.Price{Input: 1, Output: -1, CacheRead: 1, CacheWrite: 1}},
		{config.Cost{Input: &zero, Output: &zero}, agent.Price{}},
		{config.Cost{Output: &one, CacheRead: &zero}, agent.Price{Input: -1, Output: 1, CacheWrite: -1}},
	} {
		if got := price(&c.set); *got != c.want {
			t.Errorf("%+v: %+v", c.set, *got)
		}
	}
}

func TestTheSettingsOverrideFieldsOfTheCatalogue(t *testing.T) {
	yes, half, one, two := true, 0.5, 1.0, 2.0
	cfg := config.Default()
	cfg.Providers = map[string]config.Provider{
		"anthropic": {
			BaseURL: "http://proxy.example", Headers: map[string]string{"X-A": "1", "X-B": "1"}, Compat: map[string]any{"auth": "bearer"},
			Models: []config.Model{
				{ID: "claude-sonnet-4-6", MaxTokens: 1000, Headers: map[string]string{"X-B": "2"}, Cost: &config.Cost{Input: &one, Output: &two, CacheRead: &half}},
				{ID: "mine", Name: "Mine", Levels: []string{"high", "off"}, Input: []string{"text"}},
				{ID: "plain", Reasoning: &yes},
				{ID: "claude-opus-9"},
			},
		},
		"opencode": {BaseURL: "http://proxy.example/zen/v1"},
		"openai":   {API: "openai-completions"},
	}
	models := newModels(cfg, testRing(t, "", nil), catalogue.Models)
	find := func(provider, id string) *agent.Model {
		t.Helper()
		m := models.Find(provider, id)
		if m == nil {
			t.Fatalf("there is no %s/%s", provider, id)
		}
		return m
	}
	own := byID(catalogue.Models("anthropic"), "claude-sonnet-4-6")
	m := find("anthropic", "claude-sonnet-4-6")
	if m.BaseURL != "http://proxy.example" || m.MaxTokens != 1000 || m.ContextWindow != own.ContextWindow || !slices.Equal(m.Levels, own.Levels) ||
		m.Headers["X-A"] != "1" || m.Headers["X-B"] != "2" || m.Compat["auth"] != "bearer" || *m.Cost != (agent.Price{Input: 1, Output: 2, CacheRead: 0.5, CacheWrite: 1}) {
		t.Errorf("%+v", *m)
	}
	if m.NeedsKey {
		t.Error("an address of one's own may do without a key")
	}
	if m := find("anthropic", "mine"); m.Name != "Mine" || !m.Reasoning || !slices.Equal(m.Levels, []string{"off", "high"}) || m.TakesImages() || m.Cost != nil {
		t.Errorf("%+v", *m)
	}
	if m := find("anthropic", "plain"); !m.Reasoning || m.Levels != nil {
		t.Errorf("%+v", *m)
	}
	if m := find("anthropic", "claude-opus-9"); !m.Reasoning || m.ContextWindow != 0 {
		t.Errorf("%+v", *m)
	}
	if m := find("anthropic", "claude-opus-4-6"); m.BaseURL != "http://proxy.example" || m.Headers["X-B"] != "1" {
		t.Errorf("%+v", *m)
	}
	if m := find("opencode", "claude-sonnet-4-6"); m.BaseURL != "http://proxy.example/zen" || m.API != "anthropic-messages" {
		t.Errorf("%+v", *m)
	}
	if m := find("openai", "gpt-5"); m.API != "openai-completions" || !m.NeedsKey {
		t.Errorf("%+v", *m)
	}
}

func TestAnUnlistedModelIsLikeTheMakersOfTheSameName(t *testing.T) {
	cfg := config.Default()
	cfg.Providers = map[string]config.Provider{"gate": {BaseURL: "http://gate.example", API: "anthropic-messages"}}
	models := newModels(cfg, testRing(t, "", nil), catalogue.Models)
	own := byID(catalogue.Models("anthropic"), "claude-sonnet-4-6")
	m := models.Find("gate", "vendor/claude-sonnet-4-6")
	if m == nil || m.ContextWindow != own.ContextWindow || !slices.Equal(m.Levels, own.Levels) || m.Cost != nil || m.Provider != "gate" || m.BaseURL != "http://gate.example" {
		t.Fatalf("%+v", m)
	}
	for id, thinks := range map[string]bool{"vendor/gpt-5-unheard-of": true, "claude-sonnet-9": true, "some-model": false, "O3-deep": true} {
		if m := models.Find("gate", id); m == nil || m.Reasoning != thinks || m.ContextWindow != 0 {
			t.Errorf("%s: %+v", id, m)
		}
	}
}

func TestAnotherFormOfAListedNameHasItsPriceAndAddress(t *testing.T) {
	models := newModels(config.Default(), testRing(t, "", nil), catalogue.Models)
	m := models.Find("anthropic", "claude-sonnet-4-5")
	if m == nil || m.ID != "claude-sonnet-4-5" || m.Cost == nil || m.Cost.Input != 3 || m.ContextWindow != 200000 {
		t.Errorf("%+v", m)
	}
	m = models.Find("opencode", "claude-sonnet-4.6")
	if m == nil || m.API != "anthropic-messages" || m.BaseURL != "https://opencode.ai/zen" || !m.NeedsKey {
		t.Errorf("%+v", m)
	}
}

func TestAnAddressIsMovedWithItsLastParts(t *testing.T) {
	for _, tt := range []struct{ address, from, to, want string }{
		{"https://a/v1", "https://a/v1", "http://b", "http://b"},
		{"https://a/zen", "https://a/zen/v1", "http://b/v1", "http://b"},
		{"https://a/zen", "https://a/zen/v1", "http://b", "http://b"},
		{"https://a/v1/x", "https://a/v1", "http://b", "http://b/x"},
		{"https://other", "https://a/v1", "http://b", "http://b"},
		{"", "", "http://b", "http://b"},
	} {
		if got := rebased(tt.address, tt.from, tt.to); got != tt.want {
			t.Errorf("%+v: %s", tt, got)
		}
	}
}

func TestWordsFindModels(t *testing.T) {
	all := []listedModel{{Provider: "anthropic", ID: "claude-sonnet-4-6", Name: "Claude Sonnet 4.6"}, {Provider: "openrouter", ID: "anthropic/claude-opus-4", Name: "Opus"}, {Provider: "openai", ID: "gpt-5"}}
	for words, want := range map[string]int{"": 3, "claude": 2, "CLAUDE opus": 1, "4.6": 1, "gpt5": 1, "clson": 1, "anthropic/": 2, "x": 0, "gpt claude": 0} {
		if got := search(all, []string{words}); len(got) != want || got == nil && want == 0 {
			t.Errorf("%q finds %v", words, got)
		}
	}
}

func TestSilentPortsOfThisMachineAreOneLine(t *testing.T) {
	failed := func(provider, address, hint string) error {
		cause := &net.OpError{Op: "dial", Err: fmt.Errorf("dial tcp %s: %w", address, syscall.ECONNREFUSED)}
		return fmt.Errorf("ask %s for its models: %w", provider, &agent.ProviderError{Provider: provider, Message: cause.Error(), Hint: hint, Err: cause})
	}
	got := unanswered([]error{
		failed("ollama", "127.0.0.1:11434", "is it running?"), failed("lmstudio", "127.0.0.1:1234", ""), failed("ollama", "10.0.0.1:99", "is it running?"),
		failed("mine", "127.0.0.1:8080", ""), errors.New("ask x for its models: no"),
	})
	want := []string{
		"ask ollama for its models: ollama: dial: dial tcp 10.0.0.1:99: connection refused", "    is it running?",
		"ask mine for its models: mine: dial: dial tcp 127.0.0.1:8080: connection refused", "ask x for its models: no",
		"nothing answers at the usual ports of this machine: lmstudio :1234, ollama :11434",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if got := unanswered(nil); len(got) != 0 {
		t.Errorf("%q", got)
	}
}

func BenchmarkProviders(b *testing.B) {
	cfg := config.Default()
	cfg.Model = "anthropic/claude-sonnet-4-6"
	ring := newKeyring(b.TempDir())
	ring.getenv = func(string) string { return "" }
	b.Run("registered", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			newModels(cfg, ring, catalogue.Models)
		}
	})
	b.Run("one chosen by its full name", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, _, err := newModels(cfg, ring, catalogue.Models).Match(cfg.Model); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("the first with a key", func(b *testing.B) {
		b.ReportAllocs()
		ring.getenv = func(name string) string { return map[string]string{"GROQ_API_KEY": "k"}[name] }
		for b.Loop() {
			r := &run{Place: &Place{Keys: ring}, models: newModels(cfg, ring, catalogue.Models)}
			if r.firstModel() == nil {
				b.Fatal("no model")
			}
		}
	})
	b.Run("all listed", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			newModels(cfg, ring, catalogue.Models).All()
		}
	})
}
