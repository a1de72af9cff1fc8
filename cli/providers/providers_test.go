package providers

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pi/agent/llm"
	"pi/agent/provider/catalogue"
	"pi/agent/provider/wire"
	"pi/cli/config"
	"pi/cli/keyring"
)

// ringWith is a ring of keys with this auth.json and these variables, in 2026.
func ringWith(t *testing.T, auth string, variables map[string]string) *keyring.Ring {
	t.Helper()
	dir := t.TempDir()
	if auth != "" {
		if err := os.WriteFile(filepath.Join(dir, "auth.json"), []byte(auth), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return keyring.New(keyring.Options{AgentDir: dir, Getenv: func(name string) string { return variables[name] },
		Now: func() time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) }})
}

func TestPriceThatTheSettingsLeaveOutIsNotKnown(t *testing.T) {
	zero, one := 0.0, 1.0
	for _, c := range []struct {
		set  config.Cost
		want llm.Price
	}{
		{config.Cost{}, llm.Price{Input: -1, Output: -1, CacheRead: -1, CacheWrite: -1}},
		{config.Cost{Input: &one}, llm.Price{Input: 1, Output: -1, CacheRead: 1, CacheWrite: 1}},
		{config.Cost{Input: &zero, Output: &zero}, llm.Price{}},
		{config.Cost{Output: &one, CacheRead: &zero}, llm.Price{Input: -1, Output: 1, CacheWrite: -1}},
	} {
		set := settingsOf(config.Provider{Models: []config.Model{{ID: "m", Cost: &c.set}}})
		if got := set.Models[0].Cost; *got != c.want {
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
	models := New(cfg, ringWith(t, "", nil), catalogue.Models)
	find := func(provider, id string) *llm.Model {
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
		m.Headers["X-A"] != "1" || m.Headers["X-B"] != "2" || m.Compat["auth"] != "bearer" || *m.Cost != (llm.Price{Input: 1, Output: 2, CacheRead: 0.5, CacheWrite: 1}) {
		t.Errorf("%+v", *m)
	}
	if m.NeedsKey {
		t.Error("an address of one's own may do without a key")
	}
	if m := find("anthropic", "mine"); m.Name != "Mine" || !m.Reasoning || !slices.Equal(m.Levels, []string{"off", "high"}) || slices.Contains(m.Input, "image") || m.Cost != nil {
		t.Errorf("%+v", *m)
	}
	if m := find("anthropic", "plain"); !m.Reasoning || m.Levels != nil {
		t.Errorf("%+v", *m)
	}
	if m := find("anthropic", "claude-opus-9"); !m.Reasoning || m.MaxTokens != 128000 || m.Like != "anthropic/claude-opus-5-5" || m.Cost != nil {
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
	models := New(cfg, ringWith(t, "", nil), catalogue.Models)
	own := byID(catalogue.Models("anthropic"), "claude-sonnet-4-6")
	m := models.Find("gate", "vendor/claude-sonnet-4-6")
	if m == nil || m.ContextWindow != own.ContextWindow || !slices.Equal(m.Levels, own.Levels) || m.Cost != nil || m.Provider != "gate" || m.BaseURL != "http://gate.example" {
		t.Fatalf("%+v", m)
	}
	for id, want := range map[string]struct {
		thinks bool
		window int
		like   string
	}{
		"vendor/gpt-5-unheard-of": {true, 0, ""}, // over an API that is not its maker's
		"claude-sonnet-9":         {true, 1000000, "anthropic/claude-sonnet-5-5"},
		"some-model":              {false, 0, ""},
		"O3-deep":                 {true, 0, ""},
	} {
		if m := models.Find("gate", id); m == nil || m.Reasoning != want.thinks || m.ContextWindow != want.window || m.Like != want.like || m.Cost != nil {
			t.Errorf("%s: %+v", id, m)
		}
	}
}

func TestWhetherAModelMayThinkIsOpenOnlyWhereNobodySaysIt(t *testing.T) {
	yes, no := true, false
	cfg := config.Default()
	cfg.Providers = map[string]config.Provider{"gate": {BaseURL: "http://gate.example", API: "openai-responses", Models: []config.Model{
		{ID: "bare"}, {ID: "thinker", Reasoning: &yes}, {ID: "talker", Reasoning: &no}, {ID: "leveller", Levels: []string{"off"}},
	}}}
	models := New(cfg, ringWith(t, "", nil), catalogue.Models)
	for ref, want := range map[string]bool{
		"gate/bare": true, "gate/mystery": true, "gate/thinker": false, "gate/talker": false, "gate/leveller": false,
		"gate/gpt-4.1": false, "gate/gpt-5.4": false, "ollama/mystery:7b": true, "openai/gpt-4.1": false,
	} {
		provider, id, _ := strings.Cut(ref, "/")
		if m := models.Find(provider, id); m == nil || m.MayThink != want {
			t.Errorf("%s: %+v", ref, m)
		}
	}
}

func TestAnotherFormOfAListedNameHasItsPriceAndAddress(t *testing.T) {
	models := New(config.Default(), ringWith(t, "", nil), catalogue.Models)
	m := models.Find("anthropic", "claude-sonnet-4-5")
	if m == nil || m.ID != "claude-sonnet-4-5" || m.Cost == nil || m.Cost.Input != 3 || m.ContextWindow != 200000 {
		t.Errorf("%+v", m)
	}
	m = models.Find("opencode", "claude-sonnet-4.6")
	if m == nil || m.API != "anthropic-messages" || m.BaseURL != "https://opencode.ai/zen" || !m.NeedsKey {
		t.Errorf("%+v", m)
	}
}

func TestTheVariableOfAnAddressIsReadWhereKeysAre(t *testing.T) {
	t.Setenv("OPENAI_API_ENDPOINT", "http://of-the-process.example")
	t.Setenv("GEMINI_API_ENDPOINT", "nowhere")
	ring := ringWith(t, "", map[string]string{"OPENAI_API_ENDPOINT": "http://of-the-run.example/v1/", "ANTHROPIC_API_ENDPOINT": "nowhere"})
	cfg := config.Default()
	if m := New(cfg, ring, catalogue.Models).Find("openai", "gpt-5"); m == nil || m.BaseURL != "http://of-the-run.example/v1" {
		t.Errorf("%+v", m)
	}
	problems := Problems(cfg, ring)
	if len(problems) != 1 || !strings.HasPrefix(problems[0], "environment ANTHROPIC_API_ENDPOINT is ignored: ") {
		t.Errorf("%q", problems)
	}
	if got := Misplaced(cfg, ring, "anthropic", false); got != "the variable ANTHROPIC_API_ENDPOINT" {
		t.Error(got)
	}
	if got := Misplaced(cfg, ring, "google", false); got != "" {
		t.Error(got)
	}
}

// The settings know the names of the APIs by a rule of their own, because they know nothing of APIs.
func TestTheSettingsNameTheAPIsThatThereAre(t *testing.T) {
	var names []string
	for _, api := range wire.APIs() {
		names = append(names, api.Name)
	}
	field, ok := reflect.TypeFor[config.Provider]().FieldByName("API")
	if allowed := strings.Fields(field.Tag.Get("oneof")); !ok || !slices.Equal(allowed, names) {
		t.Errorf("api of a provider can be %q, and there are %q", allowed, names)
	}
}

func TestACacheThatShallLastIsAskedForOrAProblem(t *testing.T) {
	cfg := config.Default()
	gate := func(api string, compat map[string]any, ids ...string) config.Provider {
		p := config.Provider{Cache: "long", API: api, BaseURL: "https://gate.example/v1", Compat: compat}
		for _, id := range ids {
			p.Models = append(p.Models, config.Model{ID: id})
		}
		return p
	}
	cfg.Providers = map[string]config.Provider{
		"anthropic": {Cache: "long"}, "openai": {Cache: "long"},
		"claudes": gate("anthropic-messages", nil, "other", "claude-opus-5-5"),
		"any":     gate("anthropic-messages", nil),
		"told":    gate("openai-completions", map[string]any{"long_cache": "24h"}, "m"),
		"untold":  gate("openai-completions", nil, "gpt-5.6"),
		"others":  gate("anthropic-messages", nil, "other"),
		"groq":    {Cache: "long"}, "google": {Cache: "long"},
	}
	ring := ringWith(t, "", map[string]string{"GROQ_API_KEY": "k"})
	if m := New(cfg, ring, catalogue.Models).Find("anthropic", "claude-opus-5-5"); m == nil || m.Compat["cache_retention"] != "long" {
		t.Errorf("%+v", m)
	}
	if m := New(cfg, ring, catalogue.Models).Find("google", "gemini-3.5-flash"); m == nil || m.Compat["cache_retention"] != nil {
		t.Errorf("there is no such switch: %+v", m)
	}
	var want []string
	for _, name := range []string{"google", "groq", "others", "untold"} {
		want = append(want, fmt.Sprintf(`config.toml: cache = "long" of [providers.%s] has no effect: its server cannot be asked for that; if it can, compat.long_cache says how`, name))
	}
	if problems := Problems(cfg, ring); !slices.Equal(problems, want) {
		t.Errorf("%q, want %q", problems, want)
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

func BenchmarkProviders(b *testing.B) {
	cfg := config.Default()
	cfg.Model = "anthropic/claude-sonnet-4-6"
	ring := keyring.New(keyring.Options{AgentDir: b.TempDir(), Getenv: func(string) string { return "" }})
	b.Run("registered", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			New(cfg, ring, catalogue.Models)
		}
	})
	b.Run("one chosen by its full name", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, _, err := New(cfg, ring, catalogue.Models).Match(cfg.Model); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("all listed", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			New(cfg, ring, catalogue.Models).All()
		}
	})
}

func TestWhatToDoAboutAKeyIsWhatHoldsNow(t *testing.T) {
	dir := t.TempDir()
	ring := keyring.New(keyring.Options{AgentDir: dir, Getenv: func(string) string { return "" }})
	models := New(config.Default(), ring, catalogue.Models)
	if got := models.KeyMissing("groq"); !strings.Contains(got, "export GROQ_API_KEY") {
		t.Error(got)
	}
	login := `{"groq": {"type": "oauth", "access": "a", "expires": 1500000000000}}`
	if err := os.WriteFile(filepath.Join(dir, "auth.json"), []byte(login), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := models.KeyMissing("groq"); !strings.Contains(got, "log in again") {
		t.Error(got)
	}
}

func TestProvidersOfTheSettingsWithoutAKeyOrModelAreToldOf(t *testing.T) {
	ring := ringWith(t, `{"late": {"type": "oauth", "access": "of-login", "expires": 1500000000000}}`, map[string]string{"THERE": "key"})
	server := func(key string) config.Provider {
		return config.Provider{BaseURL: "http://127.0.0.1:1", API: "openai-completions", APIKey: key, Models: []config.Model{{ID: "one"}}}
	}
	bare := server("")
	bare.Models = nil
	got := Unused(config.Config{Providers: map[string]config.Provider{
		"lacks": server("env:GONE"), "has": server("env:THERE"), "needs-none": server(""), "asks": server("!exit 1"), "late": server(""),
		"nowhere": {APIKey: "env:GONE"}, "bare": bare, "anthropic": {APIKey: "env:THERE"},
	}}, ring)
	want := []string{"no model of bare is named: choose one with --model bare/ID or [[providers.bare.models]]; pi models --discover asks what there is",
		"lacks cannot be used, there is no key for it: export GONE, or change api_key of [providers.lacks] in config.toml"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
