package mcplogin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"pi/agent/mcp"
	"pi/cli/keyring/oauth"
	"pi/internal/safefile"
	"pi/internal/testing/oauthtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bench is a user with an agent directory and a server that wants a sign-in.
type bench struct {
	*testing.T
	server *oauthtest.Server
	dir    string
	entry  mcp.Entry
	now    time.Time
	told   strings.Builder
	base   *http.Transport
}

func newBench(t *testing.T, behaviour oauthtest.Behaviour) *bench {
	b := &bench{T: t, server: oauthtest.New(behaviour), dir: t.TempDir(), now: time.Now(), base: http.DefaultTransport.(*http.Transport).Clone()}
	t.Cleanup(func() { b.base.CloseIdleConnections(); b.server.Close() })
	b.entry = mcp.Entry{Name: "docs", URL: b.server.MCP(), OAuth: &mcp.OAuth{}}
	return b
}

// logins are those of a program that has just begun.
func (b *bench) logins() *Logins {
	return New(Options{AgentDir: b.dir, HTTP: b.base, Now: func() time.Time { return b.now }})
}

// user is one whose browser goes where it is sent.
func (b *bench) user() oauth.User {
	return oauth.User{Tell: func(text string) { fmt.Fprintln(&b.told, text) }, Open: func(ctx context.Context, address string) error {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
		if err != nil {
			return err
		}
		answer, err := (&http.Client{Transport: b.base}).Do(r)
		if err != nil {
			return err
		}
		defer answer.Body.Close()
		_, err = io.Copy(io.Discard, answer.Body)
		return err
	}}
}

// call asks the server who is calling.
func (b *bench) call(l *Logins, tool string) (string, error) {
	b.Helper()
	h, err := l.Handler(b.entry)
	if err != nil {
		b.Fatal(err)
	}
	transport := &sdk.StreamableClientTransport{Endpoint: b.entry.URL, HTTPClient: &http.Client{Transport: b.base}, OAuthHandler: h, DisableStandaloneSSE: true}
	session, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(b.Context(), transport, nil)
	if err != nil {
		return "", err
	}
	defer session.Close()
	result, err := session.CallTool(b.Context(), &sdk.CallToolParams{Name: tool, Arguments: map[string]any{}})
	if err != nil {
		return "", err
	}
	return result.Content[0].(*sdk.TextContent).Text, nil
}

func (b *bench) signIn(l *Logins) {
	b.Helper()
	if err := l.SignIn(b.Context(), b.entry, b.user()); err != nil {
		b.Fatal(err)
	}
}

func TestAUserSignsInAndIsLetIn(t *testing.T) {
	for name, behaviour := range map[string]oauthtest.Behaviour{
		"as usual": {Scopes: []string{"read"}}, "with issuers": {NamesItself: true}, "with secrets": {Secrets: true}, "with rotation": {Rotates: true},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, behaviour)
			l := b.logins()
			_, err := b.call(l, "whoami")
			var wants *SignInError
			if !errors.Is(err, mcp.ErrSignIn) || !errors.As(err, &wants) || wants.Error() != "it wants you to sign in: pi mcp login docs" || l.State(b.entry) != "" {
				t.Fatalf("%v, %q", err, l.State(b.entry))
			}
			b.signIn(l)
			for _, l := range []*Logins{l, b.logins()} { // and the next program too
				if text, err := b.call(l, "whoami"); err != nil || text != "you have "+strings.Join(behaviour.Scopes, " ") {
					t.Errorf("%q, %v", text, err)
				}
			}
			if state := l.State(b.entry); state != "signed in" {
				t.Errorf("%q", state)
			}
			info, err := os.Stat(filepath.Join(b.dir, FileName))
			if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
				t.Errorf("%v, %v", info.Mode(), err)
			}
			if was, err := l.SignOut(b.entry.Name); !was || err != nil {
				t.Errorf("%v, %v", was, err)
			}
			if _, err := b.call(l, "whoami"); !errors.Is(err, mcp.ErrSignIn) {
				t.Errorf("after the end of the login: %v", err)
			}
		})
	}
}

func TestAProgramIsRegisteredOnce(t *testing.T) {
	b := newBench(t, oauthtest.Behaviour{Secrets: true})
	for range 3 {
		b.signIn(b.logins())
	}
	if n := b.server.Count("POST /register"); n != 1 {
		t.Errorf("registered %d times", n)
	}
	all, err := b.logins().store.read()
	if err != nil || len(all) != 1 {
		t.Fatalf("%v, %v", all, err)
	}
	// Where its port is taken pi is registered anew, for another address.
	u, _ := url.Parse(all[keyOf(b.entry)].Redirect)
	taken, err := oauth.Listen(portOf(t, u), "")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	b.signIn(b.logins())
	if n := b.server.Count("POST /register"); n != 2 {
		t.Errorf("registered %d times", n)
	}
}

func portOf(t *testing.T, u *url.URL) (port int) {
	t.Helper()
	if _, err := fmt.Sscan(u.Port(), &port); err != nil {
		t.Fatal(err)
	}
	return port
}

func TestAClientThatWasRegisteredByHand(t *testing.T) {
	free, err := oauth.Listen(0, "")
	if err != nil {
		t.Fatal(err)
	}
	redirect, err := url.Parse(free.RedirectURL())
	free.Close()
	if err != nil {
		t.Fatal(err)
	}
	b := newBench(t, oauthtest.Behaviour{NoRegister: true})
	l := b.logins()
	if err := l.SignIn(t.Context(), b.entry, b.user()); err == nil || !strings.Contains(err.Error(), "oauth.clientId") {
		t.Errorf("%v", err)
	}
	b.server.AddClient("mine", "s3cret", redirect.String())
	b.entry.OAuth = &mcp.OAuth{ClientID: "mine", ClientSecret: "s3cret", Port: portOf(t, redirect), Scopes: []string{"some", "more"}}
	b.signIn(l)
	if text, err := b.call(l, "whoami"); err != nil || text != "you have more some" {
		t.Errorf("%q, %v", text, err)
	}
}

func TestALoginIsOfANameAndAnAddress(t *testing.T) {
	b := newBench(t, oauthtest.Behaviour{})
	l := b.logins()
	b.signIn(l)
	for _, e := range []mcp.Entry{{Name: "docs", URL: b.server.URL + "/other"}, {Name: "others", URL: b.entry.URL}} {
		h, err := l.Handler(e)
		if err != nil {
			t.Fatal(err)
		}
		if source, err := h.TokenSource(t.Context()); source != nil || err != nil {
			t.Errorf("%s %s has a token: %v", e.Name, e.URL, err)
		}
	}
	b.entry.Headers = map[string]string{"authorization": "Bearer own"}
	if h, err := l.Handler(b.entry); h != nil || err != nil {
		t.Errorf("an entry with a header of its own is signed: %v, %v", h, err)
	}
}

func TestTokensAreRenewedBeforeTheirEnd(t *testing.T) {
	for _, rotates := range []bool{false, true} {
		b := newBench(t, oauthtest.Behaviour{Life: 1000, Rotates: rotates})
		l := b.logins()
		b.signIn(l)
		first := b.server.Count("POST /token")
		for _, step := range []struct {
			after   time.Duration
			renewed int
		}{{700 * time.Second, 0}, {801 * time.Second, 1}, {100 * time.Second, 0}, {5000 * time.Second, 1}} {
			b.now = b.now.Add(step.after)
			before := b.server.Count("POST /token")
			if _, err := b.call(l, "whoami"); err != nil {
				t.Fatal(err)
			}
			if n := b.server.Count("POST /token") - before; n != step.renewed {
				t.Errorf("rotates %v: %d renewals after %v, want %d", rotates, n, step.after, step.renewed)
			}
		}
		if first != 1 {
			t.Errorf("%d requests for one token", first)
		}
	}
}

func TestATokenThatIsRefusedIsReplacedUnlessItIsNew(t *testing.T) {
	b := newBench(t, oauthtest.Behaviour{Rotates: true})
	l := b.logins()
	b.signIn(l)
	for range 3 { // again and again, in one session
		b.now = b.now.Add(10 * time.Minute)
		b.server.Forget(false)
		if _, err := b.call(l, "whoami"); err != nil {
			t.Fatal(err)
		}
	}
	b.server.Forget(false)
	before := b.server.Count("POST /token")
	if _, err := b.call(l, "whoami"); !errors.Is(err, mcp.ErrSignIn) {
		t.Errorf("a token that was got so is replaced again: %v", err)
	}
	if n := b.server.Count("POST /token") - before; n != 0 {
		t.Errorf("%d renewals", n)
	}
}

func TestARefusedRenewalTakesNothingAway(t *testing.T) {
	b := newBench(t, oauthtest.Behaviour{Life: 1000})
	l := b.logins()
	b.signIn(l)
	before, err := os.ReadFile(l.store.path)
	if err != nil {
		t.Fatal(err)
	}
	b.server.Forget(true)
	b.now = b.now.Add(2000 * time.Second)
	if _, err := b.call(l, "whoami"); !errors.Is(err, mcp.ErrSignIn) {
		t.Errorf("%v", err)
	}
	if after, err := os.ReadFile(l.store.path); err != nil || string(after) != string(before) {
		t.Errorf("the login is another one: %v", err)
	}
	b.signIn(l)
	if _, err := b.call(l, "whoami"); err != nil {
		t.Error(err)
	}
}

func TestServersThatAreDownAreNoEndOfALogin(t *testing.T) {
	b := newBench(t, oauthtest.Behaviour{Life: 1000})
	l := b.logins()
	b.signIn(l)
	b.server.Change(func(is *oauthtest.Behaviour) {
		is.Instead = func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path == "/token" {
				w.WriteHeader(http.StatusBadGateway)
				return true
			}
			return false
		}
	})
	b.now = b.now.Add(900 * time.Second)
	if _, err := b.call(l, "whoami"); err != nil {
		t.Errorf("the token still holds: %v", err)
	}
	b.server.Change(func(is *oauthtest.Behaviour) { is.Instead = nil })
	b.now = b.now.Add(900 * time.Second)
	if _, err := b.call(l, "whoami"); err != nil {
		t.Error(err)
	}
}

func TestOfSeveralProgramsOneRenews(t *testing.T) {
	b := newBench(t, oauthtest.Behaviour{Life: 1000, Rotates: true})
	b.signIn(b.logins())
	b.now = b.now.Add(900 * time.Second)
	before := b.server.Count("POST /token")
	var all sync.WaitGroup
	for range 3 {
		l := b.logins()
		for range 3 {
			all.Go(func() {
				token, err := (tokens{l, b.entry}).Token()
				if err != nil || token == nil {
					t.Errorf("%v, %v", token, err)
				}
			})
		}
	}
	all.Wait()
	if n := b.server.Count("POST /token") - before; n != 1 {
		t.Errorf("%d renewals", n)
	}
}

func TestAnotherProgramThatRenewsIsWaitedFor(t *testing.T) {
	b := newBench(t, oauthtest.Behaviour{Life: 1000})
	l := b.logins()
	b.signIn(l)
	release, err := safefile.LockPath(l.store.path)
	if err != nil {
		t.Fatal(err)
	}
	b.now = b.now.Add(900 * time.Second)
	got := make(chan error, 1)
	go func() {
		_, err := (tokens{l, b.entry}).Token()
		got <- err
	}()
	all, err := l.store.read()
	if err != nil {
		t.Fatal(err)
	}
	have := all[keyOf(b.entry)]
	have.Access, have.Expires = "theirs", b.now.Add(time.Hour).UnixMilli()
	data, _ := json.Marshal(map[string]login{keyOf(b.entry): have})
	if err := safefile.Replace(l.store.path, data, false); err != nil {
		t.Fatal(err)
	}
	release()
	if err := <-got; err != nil {
		t.Error(err)
	}
	if have, _, _ := l.store.find(b.entry); have.Access != "theirs" {
		t.Errorf("the login of the other program is lost")
	}
}

func TestMoreIsAskedForAndWhatWasGrantedIsKept(t *testing.T) {
	b := newBench(t, oauthtest.Behaviour{Scopes: []string{"read"}})
	l := b.logins()
	_, _ = b.call(l, "whoami")
	b.signIn(l)
	b.server.Change(func(is *oauthtest.Behaviour) { is.Scopes = []string{"write"} })
	_, err := b.call(l, "whoami")
	var wants *SignInError
	if !errors.As(err, &wants) || len(wants.Scopes) != 1 || wants.Scopes[0] != "write" || !strings.Contains(err.Error(), "this needs write: pi mcp login docs") {
		t.Fatalf("%v", err)
	}
	if scopes, wants := l.Wants(b.entry); !wants || len(scopes) != 1 || scopes[0] != "write" {
		t.Errorf("%v, %v", scopes, wants)
	}
	b.signIn(l)
	if _, wants := l.Wants(b.entry); wants {
		t.Error("what it wanted is not forgotten")
	}
	if text, err := b.call(l, "whoami"); err != nil || text != "you have read write" {
		t.Errorf("%q, %v", text, err)
	}
}

func TestWhatEndsASignIn(t *testing.T) {
	bad := func(path string, do http.HandlerFunc) func(http.ResponseWriter, *http.Request) bool {
		return func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path == path {
				do(w, r)
			}
			return r.URL.Path == path
		}
	}
	const token, meta = "/token", "/.well-known/oauth-authorization-server"
	for _, tt := range []struct {
		name      string
		behaviour oauthtest.Behaviour
		want      string
	}{
		{"the user says no", oauthtest.Behaviour{Denies: true}, "access_denied: you said no"},
		{"an error of the token address", oauthtest.Behaviour{Instead: bad(token, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(400)
			fmt.Fprint(w, `{"error": "invalid_grant", "error_description": "\u001b[31mgone\u202e", "access_token": "sk-secret"}`)
		})}, "says invalid_grant: gone"},
		{"a page instead of a token", oauthtest.Behaviour{Instead: bad(token, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(502)
			fmt.Fprint(w, "sk-secret")
		})}, "says 502 Bad Gateway"},
		{"a token address that redirects", oauthtest.Behaviour{Instead: bad(token, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
		})}, "redirects what is for it alone"},
		{"an answer without end", oauthtest.Behaviour{Instead: bad(token, func(w http.ResponseWriter, _ *http.Request) {
			for range 3 << 10 {
				if _, err := w.Write(make([]byte, 1<<10)); err != nil {
					return
				}
			}
		})}, "answers with more than 1 MiB"},
		{"a registration that cannot be read", oauthtest.Behaviour{Instead: bad("/register", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(201)
			fmt.Fprint(w, `{"client_secret": "sk-secret"`)
		})}, "does not register programs"},
		{"a registration that is refused", oauthtest.Behaviour{Instead: bad("/register", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(400)
			fmt.Fprint(w, `{"error": "invalid_client_metadata", "error_description": "not \u001b[1myou"}`)
		})}, "says invalid_client_metadata: not you"},
		{"a page to sign in at that is not https", oauthtest.Behaviour{Instead: bad(meta, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"issuer": "http://%[1]s", "authorization_endpoint": "http://login.example/", "token_endpoint": "http://%[1]s/token", "registration_endpoint": "http://%[1]s/register", "code_challenge_methods_supported": ["S256"]}`, r.Host)
		})}, "does not use HTTPS"},
		{"another issuer than that of the address", oauthtest.Behaviour{Instead: bad(meta, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"issuer": "https://evil.example", "code_challenge_methods_supported": ["S256"]}`)
		})}, "does not match issuer"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t, tt.behaviour)
			l := b.logins()
			err := l.SignIn(t.Context(), b.entry, b.user())
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.ContainsAny(err.Error(), "\x1b\u202e") || strings.Contains(err.Error(), "sk-secret") {
				t.Errorf("%v, want %q", err, tt.want)
			}
			if _, found, _ := l.store.find(b.entry); found {
				t.Error("there is a login all the same")
			}
		})
	}
}

func TestASecretStaysWithItsIssuer(t *testing.T) {
	b, other := newBench(t, oauthtest.Behaviour{Secrets: true}), oauthtest.New(oauthtest.Behaviour{Secrets: true})
	defer other.Close()
	l := b.logins()
	b.signIn(l)
	all, _ := l.store.read()
	secret := all[keyOf(b.entry)].ClientSecret
	if secret == "" {
		t.Fatal("there is no secret")
	}
	var seen strings.Builder
	other.Change(func(is *oauthtest.Behaviour) {
		is.Instead = func(_ http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path == "/token" { // which is asked with a form
				_ = r.ParseForm()
				seen.WriteString(r.Form.Encode())
			}
			return false
		}
	})
	// The server points to another authorization server from now on.
	b.server.Change(func(is *oauthtest.Behaviour) {
		is.Instead = func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path != "/.well-known/oauth-protected-resource/mcp" {
				return false
			}
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"resource": %q, "authorization_servers": [%q]}`, b.server.MCP(), other.URL)
			return true
		}
	})
	b.signIn(l)
	if strings.Contains(seen.String(), secret) || !strings.Contains(seen.String(), "client_secret") || other.Count("POST /register") != 1 {
		t.Errorf("the other server was sent %s", &seen)
	}
	if now, _, _ := l.store.find(b.entry); now.Issuer != other.URL || now.TokenURL != other.URL+"/token" {
		t.Errorf("%s, %s", now.Issuer, now.TokenURL)
	}
}

func TestAFileOfLoginsThatCannotBeRead(t *testing.T) {
	b := newBench(t, oauthtest.Behaviour{})
	if err := os.WriteFile(filepath.Join(b.dir, FileName), []byte(`{"docs": "sk-secret`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{b.logins().SignIn(t.Context(), b.entry, b.user()), func() error { _, err := b.call(b.logins(), "whoami"); return err }()} {
		if err == nil || !strings.Contains(err.Error(), "not what pi wrote") || strings.Contains(err.Error(), "sk-secret") {
			t.Errorf("%v", err)
		}
	}
}

func TestOnlyAPrivateServerMayPointToPrivateAddresses(t *testing.T) {
	for ip, want := range map[string]bool{"127.0.0.1": true, "10.1.2.3": true, "192.168.0.1": true, "169.254.169.254": true, "100.64.0.1": true, "::1": true, "fe80::1": true, "fd00::1": true,
		"::ffff:10.0.0.1": true, "0.0.0.0": true, "224.0.0.1": true, "8.8.8.8": false, "2606:4700::1": false, "100.128.0.1": false} {
		if got := isPrivate(netip.MustParseAddr(ip)); got != want {
			t.Errorf("%s: %v", ip, got)
		}
	}
	if err := checkPublic("tcp", "127.0.0.1:80", nil); err == nil {
		t.Error("a private address is asked")
	}
	l := New(Options{AgentDir: t.TempDir(), HTTP: http.DefaultTransport.(*http.Transport).Clone()})
	public := l.newAsker(t.Context(), mcp.Entry{URL: "https://8.8.8.8/mcp"})
	server := oauthtest.New(oauthtest.Behaviour{})
	defer server.Close()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/token", nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := public.RoundTrip(r)
	if err == nil {
		answer.Body.Close()
	}
	if err == nil || !strings.Contains(err.Error(), "private network") || server.Count("GET /token") != 0 {
		t.Errorf("%v", err)
	}
}
