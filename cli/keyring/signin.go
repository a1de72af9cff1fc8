package keyring

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"pi/agent/llm"
	"pi/cli/config"
	"pi/cli/keyring/oauth"
	"pi/internal/printable"
)

// LoginOpenRouter is the kind of the login of OpenRouter, which is inside of the program: no settings
// name it.
const LoginOpenRouter llm.LoginKind = "openrouter"

// errLeft is a sign-in that its user has left.
var errLeft = errors.New("nobody signed in")

// SignIn signs a user in to a provider, and keeps what came of it. ask is for the functions of a
// hook: it returns what is typed. The error has no secrets in it.
func (r *Ring) SignIn(ctx context.Context, provider string, l llm.Login, user oauth.User, ask AskFunc) error {
	if l.Kind == LoginOpenRouter {
		key, err := oauth.OpenRouter{AuthorizeURL: l.AuthorizeURL, KeysURL: l.TokenURL, Base: r.transport}.Key(ctx, user)
		if err != nil {
			return err
		}
		return r.Keep(provider, key)
	}
	entry, err := r.newLogin(ctx, l, user, ask)
	if err != nil {
		return err
	}
	return r.auth.change(func(text []byte) ([]byte, error) {
		return withEntry(text, provider, func([]byte) []byte { return entry })
	})
}

// newLogin returns the entry of a new login.
func (r *Ring) newLogin(ctx context.Context, l llm.Login, user oauth.User, ask AskFunc) ([]byte, error) {
	if l.Script != nil {
		c, err := l.Script.Start(ctx, &scriptUser{ring: r, user: user, ask: ask})
		if err != nil {
			if ctx.Err() != nil {
				err = context.Cause(ctx)
			}
			return nil, err
		}
		return credentialEntry(l.Hook, c, r.now())
	}
	token, err := r.standard(ctx, l, user)
	if err != nil {
		return nil, err
	}
	return tokenEntry(token, l, r.now()), nil
}

// standard runs the flow of a login by data.
func (r *Ring) standard(ctx context.Context, l llm.Login, user oauth.User) (oauth.Token, error) {
	if err := CheckLogin(l); err != nil {
		return oauth.Token{}, err
	}
	client := oauth.Client{AuthorizeURL: l.AuthorizeURL, DeviceURL: l.DeviceURL, TokenURL: l.TokenURL, ID: l.ClientID,
		Scopes: l.Scopes, Redirect: l.Redirect, Extra: l.Extra, Base: r.transport, Now: r.now}
	switch l.Kind {
	case llm.LoginPKCE:
		return client.PKCE(ctx, user)
	case llm.LoginDevice:
		return client.Device(ctx, user)
	}
	return oauth.Token{}, fmt.Errorf("kind %s is no sign-in", l.Kind)
}

// CheckLogin returns an error for a login by data that cannot work: see [llm.Login.Check]. Only https
// addresses are asked or opened, and those of this machine.
func CheckLogin(l llm.Login) error {
	if err := l.Check(oauth.CheckText); err != nil {
		return err
	}
	if l.Redirect != "" {
		if err := oauth.CheckRedirectURL(l.Redirect); err != nil {
			return fmt.Errorf("redirect: %w", err)
		}
	}
	return nil
}

// AskFunc returns what a user types in answer to a prompt; with secret it is not shown. ok is false if
// they leave.
type AskFunc func(ctx context.Context, prompt string, secret bool) (text string, ok bool, err error)

// scriptUser is the user of a login that is functions of a hook. Everything a hook says is cleaned.
type scriptUser struct {
	ring *Ring
	user oauth.User
	ask  AskFunc
}

func (s *scriptUser) Open(ctx context.Context, address string) error {
	u, err := url.Parse(address)
	if err != nil {
		return errors.New("that is no address")
	}
	if err := oauth.CheckAddress(u); err != nil {
		return err
	}
	s.user.Tell("Open this address to sign in:\n" + printable.VisibleLine(address))
	if s.user.Open == nil {
		return nil
	}
	if err := s.user.Open(ctx, address); err != nil {
		s.user.Tell("no browser was opened: " + printable.Line(err.Error()))
	}
	return nil
}

func (s *scriptUser) Show(text string) { s.user.Tell(printable.Text(text)) }

func (s *scriptUser) Ask(ctx context.Context, prompt string, secret bool) (string, error) {
	if s.ask == nil {
		return "", errors.New("there is nobody to ask")
	}
	text, ok, err := s.ask(ctx, printable.Line(prompt), secret)
	if err == nil && !ok {
		err = errLeft
	}
	return text, err
}

func (s *scriptUser) OAuth(ctx context.Context, l llm.Login) (llm.Credential, error) {
	token, err := s.ring.standard(ctx, l, s.user)
	if err != nil {
		return nil, err
	}
	return llm.Credential(entryOf(nil, tokenEntry(token, l, s.ring.now()), hostFields())), nil
}

// offers says in a few words how one gets at a provider.
func offers(l *llm.Login) string {
	switch {
	case l == nil:
		return "a key"
	case l.Script != nil:
		return "the login of the hook " + config.Tilde(l.Hook.Path)
	case l.Kind == llm.LoginPKCE:
		return "a browser" + saidBy(l.Hook)
	case l.Kind == llm.LoginDevice:
		return "a code for a browser" + saidBy(l.Hook)
	case l.Kind == LoginOpenRouter:
		return "a browser or a key"
	}
	return "a key"
}

// saidBy names the hook that says where one signs in; "" where no hook does.
func saidBy(hook llm.LoginHook) string {
	if hook.Path == "" {
		return ""
	}
	return ", as the hook " + config.Tilde(hook.Path) + " says"
}

// HasSignIn reports whether a provider is signed in to otherwise than with a key.
func (a Account) HasSignIn() bool {
	return a.Login != nil && (a.Login.Script != nil || a.Login.Kind != llm.LoginKey)
}

// Offers says in a few words how one gets at the provider.
func (a Account) Offers() string { return offers(a.Login) }

// There says in a few words what is there of the provider; "" if nothing is.
func (a Account) There() string {
	switch {
	case a.From == "":
		return ""
	case a.Held == nil || a.From != authName:
		return "has a key: " + a.From
	}
	return a.Held.String() + " in " + authName
}

// String is what is held, in a few words.
func (h Held) String() string {
	text := "a key"
	if h.IsLogin {
		text = "a login"
	}
	if !h.Until.IsZero() {
		text += " until " + h.Until.Local().Format(time.DateTime)
	}
	if h.Renewed {
		text += ", renewed by itself"
	}
	return text
}

// signIn signs the user in and tells of it.
func (l Login) signIn(ctx context.Context, a Account) (string, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	err := l.Ring.SignIn(ctx, a.Name, *a.Login, l.User.Browser(cancel), l.User.Ask)
	switch {
	case errors.Is(err, errLeft) || errors.Is(context.Cause(ctx), errLeft):
		return "login: nobody signed in; nothing was changed", nil
	case err != nil && ctx.Err() != nil:
		return "", context.Cause(ctx)
	case err != nil:
		text := err.Error()
		if !strings.HasPrefix(text, "sign in") {
			text = "sign in to " + a.Name + ": " + text
		}
		return "", errors.New(text)
	}
	held := "is kept"
	for _, h := range l.Ring.Held() {
		if h.Name == a.Name && !h.Until.IsZero() {
			held = "holds until " + h.Until.Local().Format(time.DateTime) + " and is kept"
			if h.Renewed {
				held = "is renewed by itself and kept"
			}
		}
	}
	return l.after(ctx, a, fmt.Sprintf("you are signed in to %s; the login %s in %s", a.Name, held, config.Tilde(l.Ring.auth.path)), true), nil
}

// Left is the error of a sign-in that its user has left, for what [User.Browser] returns.
func Left() error { return errLeft }
