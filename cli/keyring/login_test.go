package keyring

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"pi/agent/llm"
	"pi/cli/keyring/oauth"
)

// answering is a user with these answers, who notes what was asked.
type answering struct {
	choice string // the beginning of the line to choose
	secret string
	yes    bool
	asked  []string
}

func (a *answering) Choose(_ context.Context, title string, options []string) (string, bool, error) {
	a.asked = append(a.asked, title)
	for _, o := range options {
		if a.choice != "" && strings.HasPrefix(o, a.choice) {
			return o, true, nil
		}
	}
	return "", false, nil
}

func (a *answering) Ask(_ context.Context, title string, _ bool) (string, bool, error) {
	a.asked = append(a.asked, title)
	return a.secret, a.secret != "", nil
}

func (a *answering) Browser(context.CancelCauseFunc) oauth.User { return oauth.User{} }

func (a *answering) Confirm(_ context.Context, title, message string) (bool, error) {
	a.asked = append(a.asked, title+": "+message)
	return a.yes, nil
}

func TestAUserLogsIn(t *testing.T) {
	const key = "sk-typed"
	for _, tt := range []struct {
		name, argument   string
		user             answering
		refused          bool
		fails            error
		asked, want, err string
		kept             bool
		begins           string // the model that is gone on with
	}{
		{name: "a provider that is chosen", user: answering{choice: "acme", secret: key}, asked: "Sign in to which provider?|Key of Acme (it is not shown)",
			want: "the key of acme works and is kept in ", kept: true},
		{name: "one that is named", argument: "ac", user: answering{secret: " " + key + "\n"}, asked: "Key of Acme (it is not shown)", want: "; /model acme/one asks it", kept: true},
		{name: "one that was waited for", argument: "acme", begins: "two", user: answering{secret: key}, want: "; the model is acme/two now", kept: true},
		{name: "it has no effect, so nothing begins", argument: "other", begins: "two", user: answering{secret: key}, want: "it has no effect yet", kept: true},
		{name: "none is chosen", user: answering{}, asked: "Sign in to which provider?", want: "no key was changed"},
		{name: "no key is typed", argument: "acme", user: answering{}, asked: "Key of Acme (it is not shown)", want: "no key was changed"},
		{name: "it is refused", argument: "acme", user: answering{secret: key}, refused: true, fails: errors.New("HTTP 401: bad key " + key),
			asked: "Key of Acme (it is not shown)|Acme refuses the key. Keep it all the same?: HTTP 401: bad key …", want: "the key was not kept"},
		{name: "it is refused, and kept", argument: "acme", user: answering{secret: key, yes: true}, refused: true, fails: errors.New("HTTP 401"), want: "was refused and is kept", kept: true},
		{name: "it cannot be tried", argument: "acme", user: answering{secret: key}, fails: errors.New("no network"),
			asked: "Key of Acme (it is not shown)|The key could not be tried. Keep it all the same?: no network", want: "the key was not kept"},
		{name: "it cannot be tried, and is kept", argument: "acme", user: answering{secret: key, yes: true}, fails: errors.New("no network"), want: "was not tried and is kept", kept: true},
		{name: "the settings come before it", argument: "other", user: answering{secret: key}, want: "it has no effect yet: api_key of [providers.other]", kept: true},
		{name: "a provider that is not there", argument: "acmee", err: `there is no provider of that name, did you mean "acme"?`},
		{name: "a key in place of a provider", argument: key, err: "there is no provider of that name"},
		{name: "a key behind the provider", argument: "acme " + key, err: "it asks for the key itself"},
		{name: "a command in place of a key", argument: "acme", user: answering{secret: "!sk-command"}, err: "read as the name of a variable or as a command"},
	} {
		r := testRing(t, "", nil)
		tried := ""
		l := Login{Ring: r, User: &tt.user,
			Accounts: []Account{{Name: "acme", Aliases: []string{"ac"}, Title: "Acme", Model: "acme/one"}, {Name: "other", Title: "Other", From: "config.toml", Before: "api_key of [providers.other] in config.toml"}},
			Begin: func(_ context.Context, provider string) string {
				if tt.begins == "" {
					return ""
				}
				return provider + "/" + tt.begins
			},
			Try: func(_ context.Context, provider, k string) (bool, error) {
				tried = k
				return tt.refused, tt.fails
			}}
		status, err := l.Run(t.Context(), tt.argument)
		if (err != nil) != (tt.err != "") || err != nil && !strings.Contains(err.Error(), tt.err) || !strings.Contains(status, tt.want) {
			t.Errorf("%s: %q, %v", tt.name, status, err)
		}
		asked := strings.Join(tt.user.asked, "|")
		if tt.asked != "" && asked != tt.asked {
			t.Errorf("%s: asked %q", tt.name, asked)
		}
		if err != nil && strings.Contains(err.Error(), "sk-") || strings.Contains(status+asked, "sk-") {
			t.Errorf("%s: the key is shown: %q, %v, %q", tt.name, status, err, asked)
		}
		if tried != "" && tried != key {
			t.Errorf("%s: %q was tried", tt.name, tried)
		}
		data, _ := os.ReadFile(r.auth.path)
		if strings.Contains(string(data), key) != tt.kept {
			t.Errorf("%s: auth.json has %q", tt.name, data)
		}
	}
}

func TestALoginThatIsInterruptedKeepsNothing(t *testing.T) {
	r := testRing(t, "", nil)
	ctx, cancel := context.WithCancel(t.Context())
	l := Login{Ring: r, User: &answering{secret: "sk-typed", yes: true}, Accounts: []Account{{Name: "acme"}},
		Try: func(ctx context.Context, _, _ string) (bool, error) {
			cancel()
			return false, ctx.Err()
		}}
	if _, err := l.Run(ctx, "acme"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := os.Stat(r.auth.path); err == nil {
		t.Error("a key was kept")
	}
}

func TestWhatAnAccountOffersNamesTheHookThatSaysSo(t *testing.T) {
	l := &llm.Login{Kind: llm.LoginDevice}
	if got := (Account{Login: l}).Offers(); got != "a code for a browser" {
		t.Error(got)
	}
	l.Hook.Path = "/hooks/acme.lua"
	if got := (Account{Login: l}).Offers(); got != "a code for a browser, as the hook /hooks/acme.lua says" {
		t.Error(got)
	}
}

func TestWhichAddressesAHookOpens(t *testing.T) {
	for address, opens := range map[string]bool{"https://a.example/#/device": true, "http://127.0.0.1:1/x": true, "http://a.example/": false, "file:///etc/passwd": false, "%": false} {
		opened := ""
		ui := scriptUser{user: oauth.User{Tell: func(string) {}, Open: func(_ context.Context, a string) error { opened = a; return nil }}}
		if err := ui.Open(t.Context(), address); (err == nil) != opens || (opened == address) != opens {
			t.Errorf("%s: opened %q, %v", address, opened, err)
		}
	}
}
