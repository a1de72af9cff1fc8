package keyring

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pi/agent/llm"
)

// testRing is a keyring of its own: these variables, this auth.json, the year 2026.
func testRing(t *testing.T, auth string, variables map[string]string) *Ring {
	t.Helper()
	dir := t.TempDir()
	if auth != "" {
		if err := os.WriteFile(filepath.Join(dir, "auth.json"), []byte(auth), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return New(Options{AgentDir: dir, Getenv: func(name string) string { return variables[name] },
		Now: func() time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) }})
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
		{name: "a copy of the settings", configured: "env:PI_KEY_THAT_IS_NOT_KEPT", auth: literal, variables: set, from: "config.toml", needed: true,
			err: "waits for your approval", hint: "pi trust shows the change and asks"},
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
			k := Key{Ring: testRing(t, tt.auth, tt.variables), Provider: "acme", Configured: tt.configured,
				Logins: []string{"acme", "acme-login"}, Variables: []string{"ACME_KEY", "SECOND_KEY"}, Optional: tt.optional}
			key, err := k.Resolve(t.Context())
			if key != tt.key || k.Place() != tt.from || k.Present() != tt.present || k.Needed() != tt.needed {
				t.Errorf("%q from %q, present %v, needed %v", key, k.Place(), k.Present(), k.Needed())
			}
			var pe *llm.ProviderError
			if (err != nil) != (tt.err != "") || err != nil && (!errors.As(err, &pe) || !strings.Contains(pe.Message, tt.err) || !strings.Contains(pe.NextStep, tt.hint)) {
				t.Errorf("error %v, hint %q", err, pe)
			}
		})
	}
}

func TestWhetherThereIsAKeyIsToldWithoutRunningAnything(t *testing.T) {
	ran := filepath.Join(t.TempDir(), "ran")
	k := Key{Ring: testRing(t, "", nil), Provider: "acme", Configured: "!echo key; : >" + ran}
	if !k.Present() || !k.Needed() {
		t.Error("a command is believed to print a key")
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("the command was run")
	}
}

func TestACancelledKeyIsNoProviderError(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	k := Key{Ring: testRing(t, "", nil), Provider: "acme", Configured: "!echo key"}
	if _, err := k.Resolve(ctx); err != context.Canceled {
		t.Errorf("%v", err)
	}
}
