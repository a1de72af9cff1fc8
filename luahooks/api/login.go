package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"time"

	"pi/agent/llm"
	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// loginOptions reads the option login of pi.provider: {kind, …}, which is data, or {start, refresh?,
// auth?}, which are functions. It returns nil without one, and raises for one that cannot work.
func (p *providers) loginOptions(L *lua.LState, provider string, t *lua.LTable) *llm.Login {
	if t == nil {
		return nil
	}
	script := &scriptLogin{home: p, name: provider}
	l := p.readLogin(L, "provider: login", t, luavm.Opt("start", &script.start), luavm.Opt("refresh", &script.refresh), luavm.Opt("auth", &script.auth))
	l.Hook = llm.LoginHook{Path: p.Hook.Path, Scope: p.Hook.Scope}
	switch hasFunctions := script.start != nil || script.refresh != nil || script.auth != nil; {
	case !hasFunctions:
		p.mustWork(L, "provider: login", l)
		return &l
	case l.Kind != "":
		luavm.Raise(L, "provider: login: it has a kind, which is a standard way to sign in, or functions; start can call ui.oauth{ kind = %q, … }", l.Kind)
	case script.start == nil:
		luavm.Raise(L, "provider: login: start is missing, the function that signs in")
	case l.AuthorizeURL+l.DeviceURL+l.TokenURL+l.ClientID+l.Redirect != "" || len(l.Scopes)+len(l.Extra) > 0:
		luavm.Raise(L, "provider: login: beside functions there is nothing else; start gives it to ui.oauth{ … }")
	}
	l.Script = script
	return &l
}

// readLogin reads the fields of a login that is data, and options more.
func (p *providers) readLogin(L *lua.LState, function string, t *lua.LTable, more ...luavm.Option) (l llm.Login) {
	kind := ""
	luavm.UnpackTable(L, t, function, append(more, luavm.Opt("kind", &kind), luavm.Opt("authorize_url", &l.AuthorizeURL), luavm.Opt("device_url", &l.DeviceURL),
		luavm.Opt("token_url", &l.TokenURL), luavm.Opt("client_id", &l.ClientID), luavm.Opt("scopes", &l.Scopes), luavm.Opt("redirect", &l.Redirect), luavm.Opt("extra", &l.Extra))...)
	l.Kind = llm.LoginKind(kind)
	return l
}

// mustWork raises for a login by data that cannot work.
func (p *providers) mustWork(L *lua.LState, function string, l llm.Login) {
	if p.CheckLogin != nil {
		must(L, function, p.CheckLogin(l))
	}
}

// scriptLogin is the functions of a hook by which a user signs in.
type scriptLogin struct {
	home                 *providers
	name                 string // of the provider
	start, refresh, auth *lua.LFunction
}

func (s *scriptLogin) owner() Owner { return s.home.Owner }

func (s *scriptLogin) successor(now *Registered) (*scriptLogin, bool) {
	next, _ := now.Providers.Find(s.name)
	if next.Settings.Login == nil {
		return nil, false
	}
	script, ok := next.Settings.Login.Script.(*scriptLogin)
	return script, ok
}

// Start is that of [llm.LoginScript].
func (s *scriptLogin) Start(ctx context.Context, user llm.LoginUI) (kept llm.Credential, err error) {
	ui := &loginUI{user: user}
	defer ui.end()
	err = s.call(ctx, "start", &ui.hidden, func(s *scriptLogin, L *lua.LState) error {
		ui.providers = s.home
		v, failed := callLogin(L, s.start, ui.table(L))
		if failed != nil {
			return failed
		}
		kept, err = s.credential("start", v)
		return err
	})
	return kept, err
}

// Refreshes is that of [llm.LoginScript].
func (s *scriptLogin) Refreshes() bool { return s.refresh != nil }

// Refresh is that of [llm.LoginScript].
func (s *scriptLogin) Refresh(ctx context.Context, c llm.Credential) (kept llm.Credential, err error) {
	hidden := new(hidden)
	hidden.add(c)
	err = s.call(ctx, "refresh", hidden, func(s *scriptLogin, L *lua.LState) error {
		if s.refresh == nil {
			return errors.New("the hook has no function refresh any more")
		}
		v, failed := callLogin(L, s.refresh, s.home.records.JSON(json.RawMessage(c)))
		if failed != nil {
			return failed
		}
		kept, err = s.credential("refresh", v)
		return err
	})
	return kept, err
}

// Auth is that of [llm.LoginScript].
func (s *scriptLogin) Auth(ctx context.Context, c llm.Credential) (a llm.Auth, err error) {
	hidden := new(hidden)
	hidden.add(c)
	err = s.call(ctx, "auth", hidden, func(s *scriptLogin, L *lua.LState) error {
		if s.auth == nil {
			a, err = accessOf(c)
			return err
		}
		v, failed := callLogin(L, s.auth, s.home.records.JSON(json.RawMessage(c)))
		if failed != nil {
			return failed
		}
		t, ok := v.(*lua.LTable)
		if !ok {
			return fmt.Errorf("auth must return { key =, headers =, base_url = }, or nil and a message, not a %s", v.Type())
		}
		luavm.UnpackTable(L, t, "auth", luavm.Opt("key", &a.Key), luavm.Opt("headers", &a.Headers), luavm.Opt("base_url", &a.BaseURL))
		a.BaseURL = strings.TrimRight(a.BaseURL, "/")
		return nil
	})
	return a, err
}

// accessOf is what requests are let in with where a hook does not say.
func accessOf(c llm.Credential) (a llm.Auth, err error) {
	var standard struct{ Access string }
	if err := json.Unmarshal(c, &standard); err != nil || standard.Access == "" {
		return a, errors.New("what start returned has no access, and the login has no function auth that says what to send")
	}
	return llm.Auth{Key: standard.Access}, nil
}

// function is the one of a name; nil if there is none.
func (s *scriptLogin) function(name string) *lua.LFunction {
	return map[string]*lua.LFunction{"start": s.start, "refresh": s.refresh, "auth": s.auth}[name]
}

// call runs a function of the login in a job of its own, or in the newer version of the hook if the
// VM was replaced before it began. Errors do not repeat what is hidden. The hook is told of those
// that are not the words of the function itself.
func (s *scriptLogin) call(ctx context.Context, function string, hidden *hidden, do func(s *scriptLogin, L *lua.LState) error) error {
	what := "login " + s.name + ": " + function
	var said error
	s, err := latest(ctx, s, func(s *scriptLogin) error {
		return hidden.in(s.home.jobs.run(ctx, what, func(L *lua.LState) error {
			err := do(s, L)
			if words, ok := errors.AsType[saidError](err); ok {
				said = hidden.in(words)
				return nil
			}
			return err
		}))
	})
	if err != nil {
		if fn := s.function(function); fn != nil {
			err = placedIn(fn, err)
		}
		s.owner().Failed(ctx, what, nil, err, NobodyElse)
		return fmt.Errorf("hook %s: %w", s.home.Hook.Name, err)
	}
	return said
}

// saidError is what a function of a hook says why it failed: nil and a message.
type saidError string

func (e saidError) Error() string { return string(e) }

// callLogin calls a function of a login. nil and a message is a saidError.
func callLogin(L *lua.LState, fn *lua.LFunction, arg lua.LValue) (lua.LValue, error) {
	L.Push(fn)
	L.Push(arg)
	L.Call(1, 2)
	v, message := L.Get(-2), L.Get(-1)
	L.Pop(2)
	if text, ok := message.(lua.LString); ok && v == lua.LNil {
		return nil, saidError(text)
	}
	return v, nil
}

// credential reads what a function of that name returned, which is to be kept.
func (s *scriptLogin) credential(name string, v lua.LValue) (llm.Credential, error) {
	t, ok := v.(*lua.LTable)
	if !ok {
		return nil, fmt.Errorf("%s must return a table, such as { access =, refresh =, expires = }, or nil and a message, not a %s", name, v.Type())
	}
	raw, err := s.home.records.Encode(t, "what "+name+" returned")
	switch {
	case err != nil:
		return nil, err
	case !strings.HasPrefix(string(raw), "{"):
		return nil, fmt.Errorf("%s must return a table with names, such as { access =, refresh =, expires = }, not a list", name)
	}
	return llm.Credential(raw), nil
}

// loginUI is the user who signs in, for the function start of a hook.
type loginUI struct {
	*providers
	user   llm.LoginUI
	hidden hidden

	mu    sync.Mutex // guards ended
	ended bool
}

// end lets nobody use it any more: a hook may have kept it.
func (u *loginUI) end() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.ended = true
}

// table is what Lua gets: {open, show, ask, wait, oauth}.
func (u *loginUI) table(L *lua.LState) *lua.LTable {
	t := luavm.NewRecord(L, 5)
	for name, fn := range map[string]any{"open": u.open, "show": u.show, "ask": u.ask, "wait": u.sleep, "oauth": u.oauth} {
		luavm.Set(t, name, u.vm.Func("ui."+name, fn))
	}
	return u.vm.StrictTable("ui", t)
}

// waitForUser waits with the clock of the hook stopped. It raises when the login is over.
func (u *loginUI) waitForUser(L *lua.LState, function string, f func(ctx context.Context) error) error {
	u.mu.Lock()
	ended := u.ended
	u.mu.Unlock()
	if ended {
		luavm.Raise(L, "%s: the login is over; the functions of ui are for start", function)
	}
	return u.waitFor(L, function, true, f)
}

// open is ui.open(url): it shows an address and opens it in the browser. nil and a message for an
// address that is not to be opened.
func (u *loginUI) open(L *lua.LState, address string) error {
	return u.waitForUser(L, "ui.open", func(ctx context.Context) error { return u.user.Open(ctx, address) })
}

// show is ui.show(text).
func (u *loginUI) show(L *lua.LState, text string) {
	_ = u.waitForUser(L, "ui.show", func(context.Context) error { u.user.Show(text); return nil })
}

// ask is ui.ask(prompt, {secret}?) → what the user types, or nil and a message.
func (u *loginUI) ask(L *lua.LState, prompt string, opts lua.LValue) (text *string, err error) {
	var secret bool
	if opts != lua.LNil {
		luavm.UnpackTable(L, L.CheckTable(2), "ui.ask", luavm.Opt("secret", &secret))
	}
	err = u.waitForUser(L, "ui.ask", func(ctx context.Context) error {
		typed, err := u.user.Ask(ctx, prompt, secret)
		text = &typed
		return err
	})
	if err != nil {
		return nil, err
	}
	if secret {
		u.hidden.note(*text)
	}
	return text, nil
}

// sleep is ui.wait(seconds).
func (u *loginUI) sleep(L *lua.LState, seconds float64) {
	most := float64(math.MaxInt64 / int64(time.Second))
	if !(seconds >= 0 && seconds < most) {
		luavm.RaiseArg(L, 1, "ui.wait", "%v is no number of seconds", seconds)
	}
	_ = u.waitForUser(L, "ui.wait", func(ctx context.Context) error {
		u.Clock.Sleep(ctx, time.Duration(seconds*float64(time.Second)))
		return nil
	})
}

// oauth is ui.oauth{kind, …} → credential: it runs a standard flow, with the fields of a login that
// is data. nil and a message where nobody signed in.
func (u *loginUI) oauth(L *lua.LState, opts *lua.LTable) (lua.LValue, error) {
	l := u.readLogin(L, "ui.oauth", opts)
	if l.Kind == llm.LoginKey {
		luavm.Raise(L, "ui.oauth: a key is asked for with ui.ask(prompt, { secret = true })")
	}
	u.mustWork(L, "ui.oauth", l)
	var c llm.Credential
	err := u.waitForUser(L, "ui.oauth", func(ctx context.Context) (err error) {
		c, err = u.user.OAuth(ctx, l)
		return err
	})
	if err != nil {
		return lua.LNil, err
	}
	u.hidden.add(c)
	return u.records.JSON(json.RawMessage(c)), nil
}

// hidden are texts that no error repeats: tokens, and what was typed as a secret.
type hidden struct {
	mu    sync.Mutex
	texts []string
}

// shortestHidden is how long a text is at least that may be a token. Shorter ones are words.
const shortestHidden = 8

// note hides a text.
func (h *hidden) note(text string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(text) >= shortestHidden {
		h.texts = append(h.texts, text)
	}
}

// add hides the texts of a credential, but for addresses.
func (h *hidden) add(c llm.Credential) {
	var all any
	if json.Unmarshal(c, &all) != nil {
		return
	}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			if !strings.Contains(v, "://") {
				h.note(v)
			}
		case []any:
			for _, one := range v {
				walk(one)
			}
		case map[string]any:
			for _, one := range v {
				walk(one)
			}
		}
	}
	walk(all)
}

// in returns an error without what is hidden in its words.
func (h *hidden) in(err error) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	without := func(text string) string {
		for _, one := range h.texts {
			text = strings.ReplaceAll(text, one, "…")
		}
		return text
	}
	switch e := err.(type) {
	case saidError:
		return saidError(without(string(e)))
	case *luavm.Error:
		clean := *e
		clean.Message, clean.Traceback, clean.Value = without(e.Message), without(e.Traceback), nil
		return &clean
	}
	return err
}
