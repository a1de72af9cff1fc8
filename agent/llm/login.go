package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"pi/internal/suggest"
)

// Login is how a user signs in to a provider, as config.toml or a hook describes it: by data, or, of
// a hook, by functions. Signing in and renewing is done by package cli/keyring.
type Login struct {
	Kind         LoginKind
	AuthorizeURL string // of [LoginPKCE]
	DeviceURL    string // of [LoginDevice]
	TokenURL     string // of both
	ClientID     string
	Scopes       []string
	Redirect     string            // of [LoginPKCE], on this machine; its port 0 is any; "": port 0, /callback
	Extra        map[string]string // goes along with every request, a renewal too

	// Script are the functions of a hook; nil: the login is data. Hook says whose they are: a
	// credential that Start returned is kept with it, and is given to the functions of that hook
	// only.
	Script LoginScript
	Hook   LoginHook
}

// LoginKind is what a user does to sign in.
type LoginKind string

// The kinds. A login that is functions has none.
const (
	LoginKey    LoginKind = "key"    // they type a key
	LoginPKCE   LoginKind = "pkce"   // a browser comes back with a code
	LoginDevice LoginKind = "device" // they type a code at another device
)

// LoginKinds are the words for a kind, in the order in which they are told.
func LoginKinds() []string {
	return []string{string(LoginPKCE), string(LoginDevice), string(LoginKey)}
}

// LoginHook says which hook a login is of. It is kept with what that returned.
type LoginHook struct {
	Path  string `json:"path"`  // absolute
	Scope string `json:"scope"` // as the chain of hooks has it: user, project, the name of a package
}

// LoginScript are the functions of a hook by which a user signs in. They may be called from any
// goroutine, and have what remains of ctx.
type LoginScript interface {
	// Start signs the user in and returns what is kept.
	Start(ctx context.Context, ui LoginUI) (Credential, error)
	// Refresh returns what is kept in place of a credential that is about to end or was refused.
	Refresh(ctx context.Context, c Credential) (Credential, error)
	// Auth returns what requests are let in with. A script without such a function gives the
	// field access as the key.
	Auth(ctx context.Context, c Credential) (Auth, error)
	// Refreshes says whether the script has a function for Refresh. A credential of [LoginUI.OAuth]
	// is renewed at its token address without one.
	Refreshes() bool
}

// Credential is what a script keeps: a JSON object. Its fields access, refresh and expires (in
// milliseconds since 1970) mean what they do in each login; others are the script's own. The fields
// type, hook and obtained are not its business: they are not given to it, and are replaced.
type Credential json.RawMessage

// Auth is what a request is let in with. What is empty is as it is without a login.
type Auth struct {
	Key     string
	Headers map[string]string
	BaseURL string
}

// LoginUI is the user who signs in, for a script. An error of a method says that the user has left,
// or that there is none; then ctx has often ended.
type LoginUI interface {
	// Open shows an address and opens it in a browser. That there is no browser is told to the user
	// and is no error; an address that is neither https nor on this machine is one.
	Open(ctx context.Context, address string) error
	// Show tells the user something.
	Show(text string)
	// Ask returns what the user types; with secret it is not shown.
	Ask(ctx context.Context, prompt string, secret bool) (string, error)
	// OAuth runs a standard flow of kind pkce or device and returns the credential: access, refresh,
	// expires, token_url, client_id, extra.
	OAuth(ctx context.Context, l Login) (Credential, error)
}

// Check returns an error for a login by data that cannot work, in words for whoever wrote it: fields
// are called as in config.toml and in Lua. checkAddress says what is wrong with an address that is
// to be opened or asked.
func (l Login) Check(checkAddress func(address string) error) error {
	switch l.Kind {
	case LoginKey:
		if l.AuthorizeURL+l.DeviceURL+l.TokenURL+l.ClientID+l.Redirect != "" || len(l.Scopes)+len(l.Extra) > 0 {
			return errors.New("kind key asks for a key and has no other field; kind pkce or device signs in")
		}
		return nil
	case LoginPKCE, LoginDevice:
	default:
		return fmt.Errorf("kind is %s, not %q%s", strings.Join(LoginKinds(), ", "), l.Kind, suggest.Hint(string(l.Kind), LoginKinds()))
	}
	for _, f := range []struct {
		name, value string
		of          LoginKind // "": both
		isAddress   bool
	}{
		{"authorize_url", l.AuthorizeURL, LoginPKCE, true}, {"device_url", l.DeviceURL, LoginDevice, true},
		{"token_url", l.TokenURL, "", true}, {"client_id", l.ClientID, "", false},
	} {
		isOurs := f.of == "" || f.of == l.Kind
		switch {
		case isOurs && f.value == "":
			return fmt.Errorf("kind %s needs %s", l.Kind, f.name)
		case !isOurs && f.value != "":
			return fmt.Errorf("%s is of kind %s, and this is %s", f.name, f.of, l.Kind)
		case isOurs && f.isAddress:
			if err := checkAddress(f.value); err != nil {
				return fmt.Errorf("%s: %w", f.name, err)
			}
		}
	}
	if l.Redirect != "" && l.Kind != LoginPKCE {
		return fmt.Errorf("redirect is of kind pkce, and this is %s", l.Kind)
	}
	for _, name := range flowFields() {
		if _, ok := l.Extra[name]; ok {
			return fmt.Errorf("extra: %s is a field of the sign-in itself, which sets it", name)
		}
	}
	return nil
}

// flowFields are those that a sign-in or a renewal sets: another value, such as a state that does not
// change, would take away what they protect.
func flowFields() []string {
	return []string{"response_type", "client_id", "redirect_uri", "scope", "state", "code_challenge", "code_challenge_method",
		"grant_type", "code", "code_verifier", "device_code", "refresh_token"}
}
