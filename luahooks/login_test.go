package luahooks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"pi/agent/llm"
)

// loginUser is a user who signs in.
type loginUser struct {
	did     []string
	answers map[string]string // to prompts; others are left
	opened  error
	flow    func(llm.Login) (llm.Credential, error)
}

func (u *loginUser) note(format string, args ...any) {
	u.did = append(u.did, fmt.Sprintf(format, args...))
}

func (u *loginUser) Open(_ context.Context, address string) error {
	u.note("open %s", address)
	return u.opened
}

func (u *loginUser) Show(text string) { u.note("show %s", text) }

func (u *loginUser) Ask(_ context.Context, prompt string, secret bool) (string, error) {
	u.note("ask %s %v", prompt, secret)
	if answer, ok := u.answers[prompt]; ok {
		return answer, nil
	}
	return "", errors.New("nobody signed in")
}

func (u *loginUser) OAuth(_ context.Context, l llm.Login) (llm.Credential, error) { return u.flow(l) }

// loginOf is the login of a provider that a hook has.
func loginOf(t *testing.T, c *Chain, provider string) *llm.Login {
	t.Helper()
	for _, p := range c.ProviderSettings() {
		if p.Name == provider && p.Login != nil {
			return p.Login
		}
	}
	t.Fatalf("no login of %s", provider)
	return nil
}

// provided is a hook with a provider that has a login.
func provided(login string) string {
	return `pi.provider("acme", { api = "openai-completions", base_url = "http://h", models = { "m" }, login = ` + login + ` })`
}

func TestALoginOfAHookIsData(t *testing.T) {
	r := newRig(t, map[string]string{"acme.lua": provided(`{ kind = "device", device_url = "https://a.example/device", token_url = "https://a.example/token",
		client_id = "pi", scopes = { "a", "b" }, extra = { audience = "x" } }`)})
	got := loginOf(t, r.chain, "acme")
	want := &llm.Login{Kind: llm.LoginDevice, DeviceURL: "https://a.example/device", TokenURL: "https://a.example/token", ClientID: "pi", Scopes: []string{"a", "b"},
		Extra: map[string]string{"audience": "x"}, Hook: llm.LoginHook{Path: filepath.Join(r.dir, "acme.lua"), Scope: "global"}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
}

func TestALoginOfAHookIsFunctions(t *testing.T) {
	r := newRig(t, map[string]string{"acme.lua": provided(`{
		start = function(ui)
			assert(ui.open("https://a.example/in"))
			ui.show("type ABCD there")
			local name = assert(ui.ask("Name"))
			local word = assert(ui.ask("Word", { secret = true }))
			ui.wait(0.001)
			local c = assert(ui.oauth{ kind = "pkce", authorize_url = "https://a.example/a", token_url = "https://a.example/t", client_id = "pi", redirect = "http://127.0.0.1:0/in" })
			c.name, c.word, c.list = name, word, { 1, 2 }
			return c
		end,
		refresh = function(c) c.access = c.access .. "+"; c.expires = 1750000000000; return c end,
		auth = function(c) return { key = c.access .. "!", headers = { ["X-Name"] = c.name }, base_url = "https://b.example/v1/" } end,
	}`)}, func(o *Options) {
		o.CheckLogin = func(l llm.Login) error { return l.Check(func(string) error { return nil }) }
	})
	l := loginOf(t, r.chain, "acme")
	user := &loginUser{answers: map[string]string{"Name": "ann", "Word": "s3cret-word"}, flow: func(l llm.Login) (llm.Credential, error) {
		if l.Kind != llm.LoginPKCE || l.ClientID != "pi" || l.Redirect != "http://127.0.0.1:0/in" {
			t.Errorf("%+v", l)
		}
		return llm.Credential(`{"access":"one","refresh":"r","token_url":"https://a.example/t"}`), nil
	}}
	c, err := l.Script.Start(t.Context(), user)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"open https://a.example/in", "show type ABCD there", "ask Name false", "ask Word true"}; !reflect.DeepEqual(user.did, want) {
		t.Errorf("%q", user.did)
	}
	var kept map[string]any
	if err := json.Unmarshal(c, &kept); err != nil || kept["access"] != "one" || kept["word"] != "s3cret-word" || kept["token_url"] != "https://a.example/t" {
		t.Errorf("%s, %v", c, err)
	}
	c, err = l.Script.Refresh(t.Context(), c)
	if err != nil || !strings.Contains(string(c), `"expires":1750000000000`) || !l.Script.Refreshes() {
		t.Errorf("%s, %v", c, err)
	}
	auth, err := l.Script.Auth(t.Context(), c)
	if want := (llm.Auth{Key: "one+!", Headers: map[string]string{"X-Name": "ann"}, BaseURL: "https://b.example/v1"}); err != nil || !reflect.DeepEqual(auth, want) {
		t.Errorf("%+v, %v", auth, err)
	}
}

func TestALoginWithoutRefreshAndAuth(t *testing.T) {
	r := newRig(t, map[string]string{"acme.lua": provided(`{ start = function() return { access = "a" } end }`)})
	script := loginOf(t, r.chain, "acme").Script
	if auth, err := script.Auth(t.Context(), llm.Credential(`{"access":"a"}`)); err != nil || auth.Key != "a" || script.Refreshes() {
		t.Errorf("%+v, %v", auth, err)
	}
	if _, err := script.Auth(t.Context(), llm.Credential(`{"token":"a"}`)); err == nil || !strings.Contains(err.Error(), "no function auth") {
		t.Error(err)
	}
}

func TestWhyALoginOfAHookFails(t *testing.T) {
	for _, tt := range []struct{ login, want string }{
		{`start = function(ui) return nil, "not on Sundays" end`, "not on Sundays"},
		{`start = function(ui) return ui.ask("x") end`, "nobody signed in"},
		{`start = function(ui) return ui.oauth{ kind = "device", device_url = "https://a", token_url = "https://a", client_id = "c" } end`, "access_denied"},
		{`start = function(ui) error("broken") end`, "acme.lua:1: broken"},
		{`start = function(ui) return "token" end`, "acme.lua:1: start must return a table, such as { access =, refresh =, expires = }, or nil and a message, not a string"},
		{`start = function(ui) end`, "not a nil"},
		{`start = function(ui) return { "a" } end`, "not a list"},
		{`start = function(ui) return { access = print } end`, "start returned: at .access: a function cannot be JSON"},
		{`start = function(ui) ui.opn("x") end`, `did you mean "open"`},
		{`start = function(ui) ui.ask("x", { secrt = true }) end`, `acme.lua:1: ui.ask: unknown option "secrt", did you mean "secret"?`},
		{`start = function(ui) ui.wait(-1) end`, "-1 is no number of seconds"},
		{`start = function(ui) ui.wait(1/0) end`, "no number of seconds"},
		{`start = function(ui) ui.oauth{ kind = "key" } end`, `acme.lua:1: ui.oauth: a key is asked for with ui.ask(prompt, { secret = true })`},
		{`start = function(ui) ui.oauth{ kind = "device", token_ur = "x" } end`, `did you mean "token_url"`},
		{`start = function(ui) ui.oauth{ kind = "devise" } end`, `acme.lua:1: ui.oauth: kind is pkce, device, key, not "devise"`},
	} {
		r := newRig(t, map[string]string{"acme.lua": provided(`{ ` + tt.login + ` }`)}, func(o *Options) {
			o.CheckLogin = func(l llm.Login) error { return l.Check(func(string) error { return nil }) }
		})
		user := &loginUser{flow: func(llm.Login) (llm.Credential, error) { return nil, errors.New("access_denied") }}
		c, err := loginOf(t, r.chain, "acme").Script.Start(t.Context(), user)
		if err == nil || c != nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %s, %v; want %s", tt.login, c, err, tt.want)
		}
	}
}

// What a hook raises is an error for the user and a line in the log, and may be what a server answered.
func TestErrorsOfALoginDoNotRepeatTokens(t *testing.T) {
	var log strings.Builder
	r := newRig(t, map[string]string{"acme.lua": provided(`{
		start = function(ui) local c = ui.oauth{ kind = "device" }; local typed = ui.ask("Word", { secret = true }); error("bad: " .. c.access .. " " .. typed) end,
		refresh = function(c) return nil, "refused: " .. c.refresh .. " of " .. c.token_url end,
		auth = function(c) error("bad: " .. c.deep.token) end,
	}`)})
	script := loginOf(t, r.chain, "acme").Script
	c := llm.Credential(`{"access":"access-token","refresh":"refresh-token","token_url":"https://a.example/t","deep":{"token":"deep-token"}}`)
	_, err := script.Start(t.Context(), &loginUser{answers: map[string]string{"Word": "typed-secret"}, flow: func(llm.Login) (llm.Credential, error) { return c, nil }})
	fmt.Fprintln(&log, err)
	_, err = script.Refresh(t.Context(), c)
	fmt.Fprintln(&log, err)
	_, err = script.Auth(t.Context(), c)
	fmt.Fprintln(&log, err)
	fmt.Fprintln(&log, strings.Join(r.host.notices(), "\n"))
	for _, h := range r.chain.Hooks() {
		fmt.Fprintln(&log, h.LastError)
	}
	for _, secret := range []string{"access-token", "refresh-token", "deep-token", "typed-secret"} {
		if strings.Contains(log.String(), secret) {
			t.Errorf("%s is repeated: %s", secret, &log)
		}
	}
	if !strings.Contains(log.String(), "refused: … of https://a.example/t") || strings.Count(log.String(), "bad: …") < 2 {
		t.Error(log.String())
	}
}

func TestAWrongLoginIsRaisedAtItsLine(t *testing.T) {
	for login, want := range map[string]string{
		`{}`:                                `kind is pkce, device, key, not ""`,
		`"device"`:                          `login`,
		`{ knd = "device" }`:                `did you mean "kind"`,
		`{ kind = "devise" }`:               `not "devise", did you mean "device"`,
		`{ kind = "device" }`:               `kind device needs device_url`,
		`{ kind = "key", client_id = "x" }`: `kind key asks for a key and has no other field`,
		`{ kind = "pkce", start = function() end }`:   `it has a kind, which is a standard way to sign in, or functions; start can call ui.oauth{ kind = "pkce", … }`,
		`{ refresh = function() end }`:                `start is missing, the function that signs in`,
		`{ start = function() end, client_id = "x" }`: `beside functions there is nothing else`,
		`{ start = "x" }`:                             `start`,
		`{ kind = "device", scopes = "x" }`:           `scopes`,
	} {
		r := newRig(t, map[string]string{"bad.lua": "\n" + provided(login)}, func(o *Options) {
			o.CheckLogin = func(l llm.Login) error { return l.Check(func(string) error { return nil }) }
		})
		if got := strings.Join(r.host.notices(), "\n"); !strings.Contains(got, "bad.lua:2: provider") || !strings.Contains(got, want) {
			t.Errorf("%s: %s; want %s", login, got, want)
		}
	}
}

// A hook may keep ui, and has nobody in front of it any more.
func TestTheUserOfALoginIsForStart(t *testing.T) {
	r := newRig(t, map[string]string{"acme.lua": "local kept\n" + provided(`{
		start = function(ui) kept = ui; return { access = "a" } end,
		refresh = function() kept.show("x") end,
	}`)})
	script := loginOf(t, r.chain, "acme").Script
	user := new(loginUser)
	c, err := script.Start(t.Context(), user)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = script.Refresh(t.Context(), c); err == nil || !strings.Contains(err.Error(), "acme.lua:4: ui.show: the login is over; the functions of ui are for start") || len(user.did) > 0 {
		t.Errorf("%v, %q", err, user.did)
	}
}

// A login is of the hook, not of a version of it: what was handed out before a reload goes on.
func TestALoginGoesOnWithTheNewVersionOfItsHook(t *testing.T) {
	r := newRig(t, map[string]string{"acme.lua": provided(`{ start = function() return { access = "old" } end }`)})
	script := loginOf(t, r.chain, "acme").Script
	r.write("acme.lua", provided(`{ start = function() return { access = "new" } end }`))
	r.chain.Reload(context.Background(), false)
	if c, err := script.Start(t.Context(), &loginUser{}); err != nil || !strings.Contains(string(c), "new") {
		t.Errorf("%s, %v", c, err)
	}
	r.write("acme.lua", "")
	r.chain.Reload(context.Background(), false)
	if c, err := script.Start(t.Context(), &loginUser{}); err == nil {
		t.Errorf("%s", c)
	}
}
