package main

import (
	"context"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pi/agent/llm"
	"pi/agent/provider"
	"pi/agent/provider/catalogue"
	"pi/cli/config"
)

// testRing is a keyring of its own: these variables, this auth.json, the year 2026.
func testRing(t *testing.T, auth string, variables map[string]string) *keyring {
	t.Helper()
	dir := t.TempDir()
	if auth != "" {
		if err := os.WriteFile(filepath.Join(dir, "auth.json"), []byte(auth), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r := newKeyring(dir)
	r.getenv = func(name string) string { return variables[name] }
	r.now = func() time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) }
	return r
}

func TestTheFirstPlaceOfAKeyDecides(t *testing.T) {
	const literal = `{"acme": {"type": "api_key", "key": "of-auth"}}`
	const valid = `{"acme-login": {"type": "oauth", "access": "of-login", "expires": 1893456000000}}`
	const expired = `{"acme": {"type": "oauth", "access": "of-login", "expires": 1500000000000}}`
	set := map[string]string{"ACME_KEY": "of-env", "SECOND_KEY": "second", "MINE": "mine"}
	tests := []struct {
		name, configured, auth string
		variables              map[string]string
		optional               bool
		key, from, err, hint   string
		present, needed        bool
	}{
		{name: "settings first", configured: "literal", auth: literal, variables: set, key: "literal", from: "config.toml", present: true, needed: true},
		{name: "a variable of the settings", configured: "env:MINE", auth: literal, variables: set, key: "mine", from: "config.toml", present: true, needed: true},
		{name: "settings that name nothing", configured: "env:GONE", auth: literal, variables: set, from: "config.toml", needed: true,
			err: "environment variable GONE is not set", hint: "export GONE, or change api_key of [providers.acme] in config.toml"},
		{name: "auth.json second", auth: literal, variables: set, key: "of-auth", from: "auth.json", present: true, needed: true},
		{name: "a login by another name", auth: valid, variables: set, key: "of-login", from: "auth.json", present: true, needed: true},
		{name: "a login that ran out", auth: expired, variables: set, from: "auth.json", needed: true, err: "the login in auth.json ran out at 2017-07-", hint: "log in again"},
		{name: "the environment last", variables: set, key: "of-env", from: "ACME_KEY", present: true, needed: true},
		{name: "its second name", variables: map[string]string{"SECOND_KEY": "second"}, key: "second", from: "SECOND_KEY", present: true, needed: true},
		{name: "nothing", needed: true, err: "environment variable ACME_KEY is not set", hint: "export ACME_KEY, or set api_key of [providers.acme]"},
		{name: "nothing, and none needed", optional: true, present: true},
		{name: "an address of one's own, and a key", optional: true, variables: set, key: "of-env", from: "ACME_KEY", present: true, needed: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			k := providerKey{ring: testRing(t, tt.auth, tt.variables), provider: "acme", configured: tt.configured,
				logins: []string{"acme", "acme-login"}, variables: []string{"ACME_KEY", "SECOND_KEY"}, optional: tt.optional}
			key, err := k.resolve(t.Context())
			if key != tt.key || k.place().name != tt.from || k.present() != tt.present || k.needed() != tt.needed {
				t.Errorf("%q from %q, present %v, needed %v", key, k.place().name, k.present(), k.needed())
			}
			var pe *llm.ProviderError
			if (err != nil) != (tt.err != "") || err != nil && (!errors.As(err, &pe) || !strings.Contains(pe.Message, tt.err) || !strings.Contains(pe.Hint, tt.hint)) {
				t.Errorf("error %v, hint %q", err, pe)
			}
		})
	}
}

func TestWhetherThereIsAKeyIsToldWithoutRunningAnything(t *testing.T) {
	ran := filepath.Join(t.TempDir(), "ran")
	k := providerKey{ring: testRing(t, "", nil), provider: "acme", configured: "!echo key; : >" + ran}
	if !k.present() || !k.needed() {
		t.Error("a command is believed to print a key")
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("the command was run")
	}
}

func TestWhatToDoAboutAKeyIsWhatHoldsNow(t *testing.T) {
	ring := testRing(t, "", nil)
	models := newModels(config.Default(), ring, catalogue.Models)
	if got := models.KeyMissing("groq"); !strings.Contains(got, "export GROQ_API_KEY") {
		t.Error(got)
	}
	login := `{"groq": {"type": "oauth", "access": "a", "expires": 1500000000000}}`
	if err := os.WriteFile(ring.auth.path, []byte(login), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := models.KeyMissing("groq"); !strings.Contains(got, "log in again") {
		t.Error(got)
	}
}

func TestACancelledKeyIsNoProviderError(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	k := providerKey{ring: testRing(t, "", nil), provider: "acme", configured: "!echo key"}
	if _, err := k.resolve(ctx); err != context.Canceled {
		t.Errorf("%v", err)
	}
}

// refusing is a model that accepts one key only.
type refusing struct{ good string }

func (p refusing) Stream(_ context.Context, r *llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		if r.APIKey != p.good {
			yield(llm.Delta{}, &llm.ProviderError{Provider: "acme", Status: 401, Message: "no such key"})
			return
		}
		yield(llm.Delta{Kind: llm.DeltaText, Text: "hello"}, nil)
	}
}

func TestAKeyThatAServerRefusesIsAskedForAnew(t *testing.T) {
	vault := filepath.Join(t.TempDir(), "vault")
	put := func(key string) {
		if err := os.WriteFile(vault, []byte(key), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("old")
	k := providerKey{ring: testRing(t, "", nil), provider: "acme", configured: "!cat " + vault}
	model := refusals{refusing{"new"}, k.ring}
	ask := func() (answer string) {
		t.Helper()
		key, err := k.resolve(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for d, err := range model.Stream(t.Context(), &llm.Request{Model: &llm.Model{Provider: "acme"}, APIKey: key}) {
			if err != nil {
				return err.Error()
			}
			answer += d.Text
		}
		return answer
	}
	if got := ask(); !strings.Contains(got, "401") {
		t.Fatal(got)
	}
	put("new")
	if got := ask(); got != "hello" {
		t.Fatal(got)
	}
	put("newer, and not asked for")
	if got := ask(); got != "hello" {
		t.Fatal(got)
	}
}

func TestAnErrorAboutAKeySaysWhereItIsFrom(t *testing.T) {
	const auth = `{"acme": {"type": "api_key", "key": "of-auth"}}`
	for _, tt := range []struct{ configured, auth, want string }{
		{"literal", auth, "the key is from api_key of [providers.acme] in config.toml"},
		{"!echo printed", auth, "the command in api_key of [providers.acme] in config.toml prints"},
		{"", auth, "auth.json; log in again"},
		{"", "", "the key is from the variable ACME_KEY"},
	} {
		k := providerKey{ring: testRing(t, tt.auth, map[string]string{"ACME_KEY": "of-env"}), provider: "acme", configured: tt.configured,
			logins: []string{"acme"}, variables: []string{"ACME_KEY"}}
		key, err := k.resolve(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		refusal := func(hint string) *llm.ProviderError {
			return &llm.ProviderError{Provider: "acme", Status: 401, Hint: hint}
		}
		plain := provider.KeyHint("acme", false)
		for _, e := range []struct{ provider, key, hint, want string }{
			{"acme", key, plain, tt.want},
			{"acme", key, "the key may not use it; " + plain, "the key may not use it; the key is "},
			{"acme", key, "the plan has ended", "the plan has ended"},
			{"acme", "another", plain, plain},
			{"other", key, plain, plain},
		} {
			var got *llm.ProviderError
			if err := k.ring.explained(refusal(e.hint), e.provider, e.key); !errors.As(err, &got) || !strings.Contains(got.Hint, e.want) || strings.Contains(got.Hint, key) {
				t.Errorf("%q, %q: %v", tt.configured, e.hint, got.Hint)
			}
		}
	}
}

func TestARefusalWithoutAKeyNamesOnlyWhatIsRead(t *testing.T) {
	for _, tt := range []struct {
		variables []string
		want      string
	}{
		{nil, "no key was sent: set api_key of [providers.acme] in config.toml"},
		{[]string{"ACME_KEY"}, "no key was sent: export ACME_KEY, or set api_key of [providers.acme] in config.toml"},
	} {
		k := providerKey{ring: testRing(t, "", nil), provider: "acme", variables: tt.variables, optional: true}
		if key, err := k.resolve(t.Context()); key != "" || err != nil {
			t.Fatal(key, err)
		}
		refusal := &llm.ProviderError{Provider: "acme", Status: 401, Hint: provider.KeyHint("acme", true)}
		var got *llm.ProviderError
		if err := k.ring.explained(refusal, "acme", ""); !errors.As(err, &got) || got.Hint != tt.want {
			t.Errorf("%v: %v", tt.variables, got.Hint)
		}
	}
}

func TestProvidersOfTheSettingsWithoutAKeyOrModelAreToldOf(t *testing.T) {
	ring := testRing(t, `{"late": {"type": "oauth", "access": "of-login", "expires": 1500000000000}}`, map[string]string{"THERE": "key"})
	server := func(key string) config.Provider {
		return config.Provider{BaseURL: "http://127.0.0.1:1", API: "openai-completions", APIKey: key, Models: []config.Model{{ID: "one"}}}
	}
	bare := server("")
	bare.Models = nil
	got := unusedServers(config.Config{Providers: map[string]config.Provider{
		"lacks": server("env:GONE"), "has": server("env:THERE"), "needs-none": server(""), "asks": server("!exit 1"), "late": server(""),
		"nowhere": {APIKey: "env:GONE"}, "bare": bare, "anthropic": {APIKey: "env:THERE"},
	}}, ring)
	want := []string{"no model of bare is named: choose one with --model bare/ID or [[providers.bare.models]]; pi models --discover asks what there is",
		"lacks cannot be used, there is no key for it: export GONE, or change api_key of [providers.lacks] in config.toml"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
