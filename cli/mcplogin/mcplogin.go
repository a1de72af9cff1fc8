// Package mcplogin signs users in to MCP servers that are reached over HTTP, and signs the
// requests to them.
//
//	mcplogin.go   [Logins]: who is signed in where; [Logins.Handler] signs requests
//	flow.go       [Logins.SignIn]: from what a server wants to a token, by the SDK
//	store.go      mcp-auth.json of the agent directory
//	token.go      tokens, and how they are renewed
//	transport.go  what is asked of authorization servers, and how much of their answers is read
//	errors.go     what of a failure is shown
//
// A request opens no browser: one that needs a sign-in fails with an error that names the
// command, and what the server said is remembered for [Logins.SignIn]. A token, and the secret of
// a client, goes to the authorization server that gave it and to nobody else; tokens of a server
// are those of its name and address together, so that a changed address has none.
//
// Known limit, of the SDK: an address with the number of a private network instead of a name
// cannot be signed in to; a name that leads there can.
package mcplogin

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"

	"pi/agent/mcp"
	"pi/internal/printable"
)

// FileName is the file of the logins in the agent directory.
const FileName = "mcp-auth.json"

// Options say where logins are and how servers are reached.
type Options struct {
	AgentDir string
	HTTP     http.RoundTripper // with proxies and certificates as for models; nil: [http.DefaultTransport]
	Now      func() time.Time  // nil: time.Now
	// Command is what a user signs in with, in front of the name; "": pi mcp login.
	Command string
}

// Logins are the logins of a user. All methods may be called from any goroutine.
type Logins struct {
	store   store
	base    http.RoundTripper
	now     func() time.Time
	command string

	mu       sync.Mutex             // guards what follows
	wants    map[string]challenge   // by key: what a server said to a request that it did not let in
	renewing map[string]*sync.Mutex // by key: held while a token is renewed
}

// New returns the logins that o names. Nothing is read before somebody asks.
func New(o Options) *Logins {
	l := &Logins{store: store{path: filepath.Join(o.AgentDir, FileName)}, base: o.HTTP, now: o.Now, command: o.Command,
		wants: map[string]challenge{}, renewing: map[string]*sync.Mutex{}}
	if l.base == nil {
		l.base = http.DefaultTransport
	}
	if l.now == nil {
		l.now = time.Now
	}
	if l.command == "" {
		l.command = "pi mcp login"
	}
	return l
}

// challenge is how a server refuses a request.
type challenge struct {
	status int
	header http.Header // WWW-Authenticate alone
}

// scopes are what the challenge says that a request needs; none: it does not say.
func (c challenge) scopes() []string {
	all, _ := oauthex.ParseWWWAuthenticate(c.header.Values("WWW-Authenticate"))
	for _, one := range all {
		if one.Scheme == "bearer" && one.Params["scope"] != "" {
			return strings.Fields(one.Params["scope"])
		}
	}
	return nil
}

// wantsScopes reports whether the challenge says that the user is signed in for too little.
func (c challenge) wantsScopes() bool {
	all, _ := oauthex.ParseWWWAuthenticate(c.header.Values("WWW-Authenticate"))
	return c.status == http.StatusForbidden && slices.ContainsFunc(all, func(one oauthex.Challenge) bool {
		return one.Scheme == "bearer" && one.Params["error"] == "insufficient_scope"
	})
}

// SignInError is a request that a server did not let in. It wraps [mcp.ErrSignIn].
type SignInError struct {
	Server  string
	Command string
	Scopes  []string // that are missing; none: the user is not signed in
}

func (e *SignInError) Error() string {
	if len(e.Scopes) > 0 {
		return fmt.Sprintf("what you are signed in for is not enough, this needs %s: %s %s", printable.Short(printable.Line(strings.Join(e.Scopes, " "))), e.Command, e.Server)
	}
	return fmt.Sprintf("%v: %s %s", mcp.ErrSignIn, e.Command, e.Server)
}

// SignIn is the command. It tells servers that the error says itself what to do.
func (e *SignInError) SignIn() string { return e.Command + " " + e.Server }

// Missing are the scopes that the user is to sign in for. It tells servers that there are such.
func (e *SignInError) Missing() []string { return e.Scopes }

// Is makes it an [mcp.ErrSignIn].
func (e *SignInError) Is(target error) bool { return target == mcp.ErrSignIn }

// Handler returns what signs the requests to a server, nil if its entry has an Authorization of
// its own.
func (l *Logins) Handler(e mcp.Entry) (auth.OAuthHandler, error) {
	if !e.IsHTTP() {
		return nil, nil
	}
	for name := range e.Headers {
		if http.CanonicalHeaderKey(name) == "Authorization" {
			return nil, nil
		}
	}
	return &handler{logins: l, entry: e}, nil
}

// handler signs the requests to one server.
type handler struct {
	logins *Logins
	entry  mcp.Entry
}

// TokenSource is that of [auth.OAuthHandler]: nil if nobody is signed in.
func (h *handler) TokenSource(context.Context) (oauth2.TokenSource, error) {
	_, found, err := h.logins.store.find(h.entry)
	if err != nil || !found {
		return nil, err
	}
	return tokens{h.logins, h.entry}, nil
}

// Authorize is that of [auth.OAuthHandler], which is called for a request that was refused. It
// returns nil if the request may be let in with another token, that is there already or can be had
// without the user.
func (h *handler) Authorize(ctx context.Context, request *http.Request, response *http.Response) error {
	defer response.Body.Close()
	l := h.logins
	c := challenge{response.StatusCode, http.Header{"Www-Authenticate": response.Header.Values("WWW-Authenticate")}}
	if c.status == http.StatusForbidden && !c.wantsScopes() {
		return errors.New("it refuses this (403 Forbidden)")
	}
	sent, _ := strings.CutPrefix(request.Header.Get("Authorization"), "Bearer ")
	if c.status == http.StatusUnauthorized && sent != "" {
		err := l.replace(ctx, h.entry, sent)
		if err == nil {
			return nil
		} else if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	l.mu.Lock()
	l.wants[keyOf(h.entry)] = c
	l.mu.Unlock()
	refused := &SignInError{Server: h.entry.Name, Command: l.command}
	if c.wantsScopes() {
		refused.Scopes = c.scopes()
	}
	return refused
}

// Wants reports whether a server refused the last request for want of a sign-in, and the scopes that
// it named if the user is signed in for too little. A sign-in answers it.
func (l *Logins) Wants(e mcp.Entry) (scopes []string, wants bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c, wants := l.wants[keyOf(e)]
	if c.wantsScopes() {
		scopes = c.scopes()
	}
	return scopes, wants
}

// What [Logins.State] may say: that a login does not hold any more; and, before the reason, that the
// logins cannot be read.
const (
	StateRanOut  = "the login ran out"
	StateUnknown = "unknown: "
)

// State says in a few words whether a user is signed in to a server, and until when; "": not.
func (l *Logins) State(e mcp.Entry) string {
	have, found, err := l.store.find(e)
	switch {
	case err != nil:
		return StateUnknown + err.Error()
	case !found:
		return ""
	case have.Expires == 0 || have.Refresh != "":
		return "signed in"
	case have.expiry().Before(l.now()):
		return StateRanOut
	}
	return "signed in until " + have.expiry().Local().Format("2006-01-02 15:04")
}

// SignOut forgets the logins of servers of a name, whatever their addresses; was is false if there
// is none.
func (l *Logins) SignOut(name string) (was bool, err error) {
	err = l.store.change(func(all map[string]login) error {
		for key := range all {
			if of, _, _ := strings.Cut(key, " "); of == name {
				was = true
				delete(all, key)
			}
		}
		return nil
	})
	return was, err
}

// keyOf is the name of a login in the file.
func keyOf(e mcp.Entry) string { return e.Name + " " + e.URL }
