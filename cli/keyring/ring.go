// Package keyring finds the keys of providers, and says what to do where there is
// none or a server refuses it.
//
// The key of a provider is looked for in this order, and the first place that
// names one decides, whether it can be read or not:
//
//	--api-key                      for the provider of the model that is begun with
//	api_key of [providers.NAME]    "env:NAME", "file:PATH", "!command", or the key itself
//	auth.json                      what a login wrote, of this program or of another one
//	the provider's variables       ANTHROPIC_API_KEY and the like
//
// Whether there is one is told without running anything. A login in auth.json is renewed before it
// ends, and after a server refused it.
//
//	ring.go      [Ring]: where the keys of one run come from
//	key.go       [Key]: the key of one provider, its place, and what to do without it
//	spec.go      what a setting says of a key: a variable, a file, a command, the key itself
//	authfile.go  auth.json, read again when it has changed
//	folderlock.go the lock of auth.json that other programs know too; keep.go: what is written to it
//	renew.go     logins are renewed where they came from
//	command.go   commands that print keys; each is run once until its key is refused
//	login.go     [Login] asks a user for a key, or signs them in (signin.go)
//
// No key is written anywhere else, and no error repeats one.
package keyring

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"pi/agent/llm"
	"pi/cli/config"
	"pi/internal/printable"
)

// Ring is where the keys of one run come from. It is safe for concurrent use.
type Ring struct {
	getenv   func(string) string
	agentDir string
	auth     *authFile
	commands *commands
	now      func() time.Time
	mayRun   func(command string) error // of auth.json; nil: each may

	transport http.RoundTripper // to authorization servers; nil: the usual one
	renewing  chan struct{}     // holds one while a login is renewed

	mu     sync.Mutex
	from   map[sentKey]sentWith
	failed map[string]time.Time // when the renewal of a login failed, by its token
}

// Options say where keys are.
type Options struct {
	AgentDir string                     // where auth.json is
	MayRun   func(command string) error // whether a command of auth.json may be run; nil: each may
	Getenv   func(string) string        // nil: os.Getenv
	Now      func() time.Time           // nil: time.Now

	Transport http.RoundTripper // to authorization servers; nil: http.DefaultTransport
}

// New returns a ring that looks for keys where o says. It reads and runs nothing before it
// is asked for a key.
func New(o Options) *Ring {
	r := &Ring{agentDir: o.AgentDir, auth: newAuthFile(o.AgentDir), commands: newCommands(), mayRun: o.MayRun, getenv: os.Getenv, now: time.Now,
		transport: o.Transport, renewing: make(chan struct{}, 1), from: map[sentKey]sentWith{}, failed: map[string]time.Time{}}
	if o.Getenv != nil {
		r.getenv = o.Getenv
	}
	if o.Now != nil {
		r.now = o.Now
	}
	return r
}

// Getenv is a variable of the run's environment, "" if it is not set.
func (r *Ring) Getenv(name string) string { return r.getenv(name) }

// Resolve turns what a settings file says about a key, or about a header that
// carries one, into the key: "env:NAME" is that variable, "file:PATH" is what
// the file holds now, "!command" is what the command prints or printed before, anything else is
// the key itself. The error
// names the variable, the file, or the program and what it said on standard error, and never
// what it printed.
func (r *Ring) Resolve(ctx context.Context, spec string) (string, error) {
	if name, ok := strings.CutPrefix(spec, "env:"); ok {
		return keyFromVariable(strings.TrimSpace(name), r.getenv)
	}
	if name, ok := strings.CutPrefix(spec, "file:"); ok {
		return r.keyFromFile(name)
	}
	if command, ok := strings.CutPrefix(spec, "!"); ok {
		return r.commands.key(ctx, strings.TrimSpace(command))
	}
	return spec, nil
}

// Expired returns a line for the user about each login that has run out and is not renewed by itself.
// login returns how the user's settings say that one signs in to a provider, nil if they do not.
func (r *Ring) Expired(login func(provider string) *llm.Login) []string {
	var lines []string
	for _, l := range r.auth.all() {
		k := Key{Ring: r, Provider: l.name, Login: login(l.name)}
		if l.expired(r.now()) && l.Hook == nil && !k.mayRenew(l) {
			lines = append(lines, fmt.Sprintf("the login of %s in %s ran out; %s", printable.Line(l.name), r.auth.path, k.howToSignIn(l)))
		}
	}
	return lines
}

// Problems are what of auth.json cannot be used.
func (r *Ring) Problems() []config.Problem { return r.auth.unusable() }

// Freeze reads auth.json now and not again before release is called. It is for
// callers that ask about every provider.
func (r *Ring) Freeze() (release func()) { return r.auth.freeze() }

// sentKey is a key as it was sent, "" where none was.
type sentKey struct{ provider, key string }

// sentWith is what is known of a key that was sent.
type sentWith struct {
	advice string                                            // what to do if it is refused
	auth   llm.Auth                                          // what goes along
	again  func(ctx context.Context) (llm.Auth, bool, error) // see [Ring.Again]; nil: it is from no login
}

// Sent remembers what the user can do if the server of a provider refuses key; Advice
// returns it.
func (r *Ring) Sent(provider, key, advice string) {
	r.noteSent(provider, key, sentWith{advice: advice})
}

func (r *Ring) noteSent(provider, key string, with sentWith) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.from[sentKey{provider, key}] = with
}

// Advice is what [Ring.Sent] noted about a key of a provider; "" if nothing was.
func (r *Ring) Advice(provider, key string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.from[sentKey{provider, key}].advice
}

// Along is what goes along with a key of a provider: headers, and another address.
func (r *Ring) Along(provider, key string) llm.Auth {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.from[sentKey{provider, key}].auth
}

// Refused tells the ring that a server refused a key. If a command printed it, that
// command runs again for the next request, for the key may have been replaced.
func (r *Ring) Refused(key string) { r.commands.forgetKey(key) }
