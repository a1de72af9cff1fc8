package providers

import (
	"context"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pi/agent/llm"
	"pi/agent/provider"
	"pi/cli/keyring"
)

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
	k := keyring.Key{Ring: ringWith(t, "", nil), Provider: "acme", Configured: "!cat " + vault}
	model := keyWatcher{refusing{"new"}, k.Ring}
	ask := func() (answer string) {
		t.Helper()
		key, err := k.Resolve(t.Context())
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
		{"", auth, "auth.json; /login acme asks for another"},
		{"", "", "the key is from the variable ACME_KEY"},
	} {
		k := keyring.Key{Ring: ringWith(t, tt.auth, map[string]string{"ACME_KEY": "of-env"}), Provider: "acme", Configured: tt.configured,
			Logins: []string{"acme"}, Variables: []string{"ACME_KEY"}}
		key, err := k.Resolve(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		refusal := func(hint string) *llm.ProviderError {
			return &llm.ProviderError{Provider: "acme", Status: 401, NextStep: hint}
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
			if err := (keyWatcher{ring: k.Ring}).withAdvice(refusal(e.hint), e.provider, e.key); !errors.As(err, &got) || !strings.Contains(got.NextStep, e.want) || strings.Contains(got.NextStep, key) {
				t.Errorf("%q, %q: %v", tt.configured, e.hint, got.NextStep)
			}
		}
	}
}

func TestARefusalWithoutAKeyNamesOnlyWhatIsRead(t *testing.T) {
	for _, tt := range []struct {
		variables []string
		want      string
	}{
		{nil, "no key was sent: set api_key of [providers.acme] in config.toml; in the terminal /login acme asks for it"},
		{[]string{"ACME_KEY"}, "no key was sent: export ACME_KEY, or set api_key of [providers.acme] in config.toml; in the terminal /login acme asks for it"},
	} {
		k := keyring.Key{Ring: ringWith(t, "", nil), Provider: "acme", Variables: tt.variables, Optional: true}
		if key, err := k.Resolve(t.Context()); key != "" || err != nil {
			t.Fatal(key, err)
		}
		refusal := &llm.ProviderError{Provider: "acme", Status: 401, NextStep: provider.KeyHint("acme", true)}
		var got *llm.ProviderError
		if err := (keyWatcher{ring: k.Ring}).withAdvice(refusal, "acme", ""); !errors.As(err, &got) || got.NextStep != tt.want {
			t.Errorf("%v: %v", tt.variables, got.NextStep)
		}
	}
}
