package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/oauth2"

	"pi/internal/testing/mcptest"
)

// served is a good server over HTTP, with what is asked first of each request.
func served(t *testing.T, first func(w http.ResponseWriter, r *http.Request, body string) (answered bool)) string {
	t.Helper()
	server := mcptest.Server("good")
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil)
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		if first == nil || !first(w, r, string(body)) {
			handler.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(func() {
		h.CloseClientConnections()
		h.Close()
		for session := range server.Sessions() { // that nobody has ended
			session.Close()
		}
	})
	return h.URL
}

// overHTTP are servers of which one answers at an address. The requests have connections of
// their own, of which none is left.
func overHTTP(t *testing.T, e Entry, o Options) *lab {
	t.Helper()
	o.HTTP = &http.Transport{}
	e.Name = "s"
	o.Entries = []Entry{e}
	return open(t, o)
}

func TestAServerOverHTTPIsLikeAnother(t *testing.T) {
	var mu sync.Mutex
	methods := map[string]int{}
	url := served(t, func(_ http.ResponseWriter, r *http.Request, body string) bool {
		var m struct{ Method string }
		_ = json.Unmarshal([]byte(body), &m)
		mu.Lock()
		defer mu.Unlock()
		methods[r.Method+" "+m.Method]++
		return false
	})
	l := overHTTP(t, Entry{URL: url}, Options{})
	if got := l.ask("echo", `{"text":"hello"}`); got != "hello" {
		t.Fatalf("got %q", got)
	}
	var calls sync.WaitGroup
	for i := range 50 {
		calls.Go(func() {
			want := fmt.Sprintf("text %d", i)
			if got := l.ask("echo", fmt.Sprintf(`{"text":%q}`, want)); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
	calls.Wait()
	l.Close()
	mu.Lock()
	defer mu.Unlock()
	if methods["POST tools/call"] != 51 || methods["POST server/discover"] != 1 {
		t.Errorf("%v", methods)
	}
}

func TestAnOldServerOverHTTPIsReachedToo(t *testing.T) {
	for name, first := range map[string]func(w http.ResponseWriter, r *http.Request){
		"refuses": func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "what?", http.StatusBadRequest) },
		"hangs":   func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
	} {
		t.Run(name, func(t *testing.T) {
			url := served(t, func(w http.ResponseWriter, r *http.Request, body string) bool {
				if !strings.Contains(body, "server/discover") {
					return false
				}
				first(w, r)
				return true
			})
			dir := t.TempDir()
			l := overHTTP(t, Entry{URL: url}, Options{Dir: dir, testOnlyDiscoverPatience: 50 * time.Millisecond})
			if got := l.ask("echo", `{"text":"hello"}`); got != "hello" {
				t.Errorf("got %q", got)
			}
			if st := l.List()[0]; st.Version != older {
				t.Errorf("version %s", st.Version)
			}
			// The next session does not try it again.
			again := overHTTP(t, Entry{URL: url}, Options{Dir: dir, testOnlyDiscoverPatience: time.Hour})
			if got := again.ask("echo", `{"text":"hello"}`); got != "hello" {
				t.Errorf("the second time: %q", got)
			}
		})
	}
}

func TestAKeyNeverGoesToAnotherOrigin(t *testing.T) {
	var stolen atomic.Int64
	thief := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { stolen.Add(1) }))
	defer thief.Close()
	for _, status := range []int{http.StatusFound, http.StatusTemporaryRedirect, http.StatusPermanentRedirect} {
		url := served(t, func(w http.ResponseWriter, r *http.Request, _ string) bool {
			http.Redirect(w, r, thief.URL, status)
			return true
		})
		l := overHTTP(t, Entry{URL: url, Headers: map[string]string{"Authorization": "Bearer secret", "X-Key": "secret"}}, Options{})
		got := l.ask("echo", `{"text":"a"}`)
		if !strings.Contains(got, "it redirects to another origin, "+thief.URL) || strings.Contains(got, "secret") {
			t.Errorf("%d: %q", status, got)
		}
	}
	if stolen.Load() != 0 {
		t.Error("a request went to the other origin")
	}
}

func TestARedirectWithinTheOriginIsFollowed(t *testing.T) {
	url := served(t, func(w http.ResponseWriter, r *http.Request, _ string) bool {
		if r.URL.Path == "/old" {
			http.Redirect(w, r, "/new", http.StatusTemporaryRedirect)
			return true
		}
		return r.Header.Get("Authorization") != "Bearer secret"
	})
	l := overHTTP(t, Entry{URL: url + "/old", Headers: map[string]string{"authorization": "Bearer secret"}}, Options{})
	if got := l.ask("echo", `{"text":"a"}`); got != "a" {
		t.Errorf("got %q", got)
	}
}

func TestA401SaysWhatToDo(t *testing.T) {
	for _, test := range []struct {
		challenge string
		headers   map[string]string
		want      string
		state     State
	}{
		{`Bearer resource_metadata="https://example.com/x"`, nil, "error: server s: it wants you to sign in: /mcp login s", StateSignIn},
		{"", nil, "error: server s: it wants you to sign in: /mcp login s", StateSignIn},
		{"Bearer", map[string]string{"Authorization": "Bearer wrong"}, "error: server s: it refuses the Authorization header of its entry (401)", StateFailed},
		{"Basic realm=x", nil, "error: server s: it wants a header that the entry has not (401, Basic)", StateFailed},
	} {
		var open atomic.Bool
		url := served(t, func(w http.ResponseWriter, _ *http.Request, _ string) bool {
			if open.Load() {
				return false
			}
			w.Header().Set("WWW-Authenticate", test.challenge)
			http.Error(w, "no", http.StatusUnauthorized)
			return true
		})
		l := overHTTP(t, Entry{URL: url, Headers: test.headers}, Options{})
		if got := l.ask("echo", `{"text":"a"}`); !strings.HasPrefix(got, test.want) || strings.Contains(got, "wrong") {
			t.Errorf("%q: %q", test.challenge, got)
		}
		if st := l.List()[0]; st.State != test.state {
			t.Errorf("%q: state %s", test.challenge, st.State)
		}
		open.Store(true)
		if err := l.SignedIn("s"); err != nil {
			t.Fatal(err)
		}
		if got := l.ask("echo", `{"text":"a"}`); got != "a" {
			t.Errorf("%q: after signing in: %q", test.challenge, got)
		}
	}
}

func TestABodyThatDoesNotEndIsCut(t *testing.T) {
	for kind, begin := range map[string]string{
		"application/json":  `{"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"`,
		"text/event-stream": "event: message\ndata: ",
		"text/plain":        "no",
	} {
		t.Run(kind, func(t *testing.T) {
			ended := make(chan int, 1)
			url := served(t, func(w http.ResponseWriter, r *http.Request, body string) bool {
				if !strings.Contains(body, `"tools/call"`) {
					return false
				}
				w.Header().Set("Content-Type", kind)
				if kind == "text/plain" {
					w.WriteHeader(http.StatusTeapot)
				}
				n, chunk := 0, strings.Repeat("x", 1<<16)
				_, err := io.WriteString(w, begin)
				for err == nil && n < 1<<30 {
					var m int
					m, err = io.WriteString(w, chunk)
					n += m
				}
				ended <- n
				return true
			})
			l := overHTTP(t, Entry{URL: url}, Options{})
			got := l.ask("echo", `{"text":"a"}`)
			if !strings.HasPrefix(got, "error: ") {
				t.Errorf("got %q", got)
			}
			if n := <-ended; n > 64<<20 {
				t.Errorf("%d bytes were read", n)
			}
			if kind == "text/event-stream" && !strings.Contains(got, fmt.Sprintf("exceeded %d bytes", maxEvent)) {
				t.Errorf("got %q", got)
			}
		})
	}
}

func TestAStreamThatGoesOnBehindItsAnswerIsNoMatter(t *testing.T) {
	url := served(t, func(w http.ResponseWriter, r *http.Request, body string) bool {
		var m struct {
			ID     json.RawMessage
			Method string
		}
		if json.Unmarshal([]byte(body), &m) != nil || m.Method != "tools/call" {
			return false
		}
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"here\"}]}}\n\n", m.ID)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		return true
	})
	l := overHTTP(t, Entry{URL: url}, Options{})
	if got := l.ask("echo", `{"text":"a"}`); got != "here" {
		t.Errorf("got %q", got)
	}
}

func TestAServerThatDoesNotSayGoodbyeIsLeft(t *testing.T) {
	url := served(t, func(_ http.ResponseWriter, r *http.Request, _ string) bool {
		if r.Method != http.MethodDelete {
			return false
		}
		<-r.Context().Done()
		return true
	})
	l := overHTTP(t, Entry{URL: url}, Options{})
	if got := l.ask("echo", `{"text":"a"}`); got != "a" {
		t.Fatalf("got %q", got)
	}
	done := make(chan struct{})
	go func() { defer close(done); l.Close() }()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatal("the session does not end")
	}
}

func TestASessionThatTheServerForgotIsBegunAgain(t *testing.T) {
	var forget atomic.Bool
	url := served(t, func(w http.ResponseWriter, _ *http.Request, body string) bool {
		if strings.Contains(body, "server/discover") { // sessions are of the older era
			http.Error(w, "no", http.StatusBadRequest)
			return true
		}
		if forget.CompareAndSwap(true, false) {
			http.Error(w, "no session", http.StatusNotFound)
			return true
		}
		return false
	})
	l := overHTTP(t, Entry{URL: url}, Options{})
	if got := l.ask("echo", `{"text":"a"}`); got != "a" {
		t.Fatalf("got %q", got)
	}
	forget.Store(true)
	if got := l.ask("echo", `{"text":"b"}`); !strings.HasPrefix(got, "error: ") { // it is not sent twice
		t.Errorf("got %q", got)
	}
	eventually(t, "a new session", func() bool { return l.ask("echo", `{"text":"c"}`) == "c" })
}

func TestWhatIsNoAddressIsSaid(t *testing.T) {
	for _, address := range []string{"ftp://example.com", "example.com/mcp", "http://", "http://[", "http://u:secret@"} {
		_, err := newCarrier(context.Background(), nil, address, nil)
		if err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", address, err)
		}
	}
}

func TestAFloodOverHTTPDoesNotFillTheMemory(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector makes the heap another one; .ci/run has it without")
	}
	url := served(t, func(w http.ResponseWriter, r *http.Request, body string) bool {
		var m struct {
			ID     json.RawMessage
			Method string
		}
		if json.Unmarshal([]byte(body), &m) != nil || m.Method != "tools/call" {
			return false
		}
		w.Header().Set("Content-Type", "text/event-stream")
		row := "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":\"info\",\"data\":\"" + strings.Repeat("log ", 2500) + "\"}}\n\n"
		for range 10_000 {
			if _, err := io.WriteString(w, row); err != nil {
				return true
			}
		}
		fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"flooded\"}]}}\n\n", m.ID)
		return true
	})
	l := overHTTP(t, Entry{URL: url, Timeout: usualMaxTimeout}, Options{})
	if got := l.ask("echo", `{}`); !strings.Contains(got, "required property") { // it is connected now
		t.Fatal(got)
	}
	got := ""
	grew := peak(func() { got = l.ask("echo", `{"text":"a"}`) })
	if got != "flooded" || grew > 64 {
		t.Errorf("%q, and the memory grew by %d MiB", got, grew)
	}
	t.Logf("%d MiB", grew)
	l.Close()
	if info, err := os.Stat(l.log.path); err == nil && info.Size() > logSize {
		t.Errorf("mcp.log has %d bytes", info.Size())
	}
}

func TestAConnectionThatIsLostUnusedIsNoFailure(t *testing.T) {
	lost := make(chan struct{})
	url := served(t, func(w http.ResponseWriter, r *http.Request, body string) bool {
		switch {
		case strings.Contains(body, "server/discover"): // streams without a request are of the older era
			http.Error(w, "no", http.StatusBadRequest)
			return true
		case r.Method == http.MethodGet:
			w.Header().Set("Content-Type", "text/event-stream")
			w.WriteHeader(http.StatusOK)
			w.(http.Flusher).Flush()
			select {
			case <-lost:
				fmt.Fprint(w, "data: {broken\n\n")
			case <-r.Context().Done():
			}
			return true
		}
		return false
	})
	l := overHTTP(t, Entry{URL: url}, Options{})
	if got := l.ask("echo", `{"text":"a"}`); got != "a" {
		t.Fatalf("got %q", got)
	}
	close(lost)
	eventually(t, "it is idle", func() bool { return l.List()[0].State == StateIdle })
	if err := l.List()[0].Err; err != nil {
		t.Errorf("%v", err)
	}
	if slices.Contains(l.states(), StateFailed) {
		t.Errorf("states %v", l.states())
	}
}

func TestTheQueryOfAnAddressIsInNoError(t *testing.T) {
	keys := make(chan string, 100)
	url := served(t, func(_ http.ResponseWriter, r *http.Request, _ string) bool {
		keys <- r.URL.Query().Get("api_key")
		return false
	})
	l := overHTTP(t, Entry{URL: url + "/mcp?api_key=hunter2"}, Options{})
	if got := l.ask("echo", `{"text":"hello"}`); got != "hello" {
		t.Fatal(got)
	}
	l.Close()
	for range len(keys) {
		if key := <-keys; key != "hunter2" {
			t.Errorf("a request with the key %q", key)
		}
	}
	gone := httptest.NewServer(nil)
	gone.Close()
	l = overHTTP(t, Entry{URL: gone.URL + "/mcp?api_key=hunter2"}, Options{})
	got := l.ask("echo", `{}`)
	s, _ := l.Server("s")
	if told := got + s.Err.Error() + l.logged(); strings.Contains(told, "hunter2") || !strings.Contains(told, gone.URL) {
		t.Errorf("%s", told)
	}
}

// renews is an OAuth handler that has another token after the first refusal.
type renews struct{ token atomic.Pointer[string] }

func (r *renews) TokenSource(context.Context) (oauth2.TokenSource, error) {
	return oauth2.StaticTokenSource(&oauth2.Token{AccessToken: *r.token.Load()}), nil
}

func (r *renews) Authorize(_ context.Context, _ *http.Request, response *http.Response) error {
	second := "second"
	r.token.Store(&second)
	return response.Body.Close()
}

func TestARefusalThatIsOverExplainsNothing(t *testing.T) {
	url := served(t, func(w http.ResponseWriter, r *http.Request, body string) bool {
		switch {
		case r.Header.Get("Authorization") != "Bearer second":
			w.Header().Set("WWW-Authenticate", "Bearer")
			w.WriteHeader(http.StatusUnauthorized)
		case strings.Contains(body, `"tools/call"`):
			http.Error(w, "gone", http.StatusNotFound)
		default:
			return false
		}
		return true
	})
	signs, first := &renews{}, "first"
	signs.token.Store(&first)
	l := overHTTP(t, Entry{URL: url}, Options{Authorize: func(Entry) (auth.OAuthHandler, error) { return signs, nil }})
	for range 2 {
		if got := l.ask("echo", `{"text":"a"}`); strings.Contains(got, "sign in") || !strings.Contains(got, "session") {
			t.Errorf("%q", got)
		}
	}
	if s, _ := l.Server("s"); s.State == StateSignIn {
		t.Errorf("%s: %v", s.State, s.Err)
	}
}

// wantsMore is an OAuth handler of a user who is signed in for too little.
type wantsMore struct{ renews }

func (*wantsMore) Authorize(_ context.Context, _ *http.Request, response *http.Response) error {
	return errors.Join(&tooLittle{}, response.Body.Close())
}

// tooLittle says what is missing.
type tooLittle struct{}

func (*tooLittle) Error() string     { return "signed in for too little" }
func (*tooLittle) Missing() []string { return []string{"write"} }

func TestACallAfterASignInIsStillOfTheSameTool(t *testing.T) {
	for _, changes := range []bool{false, true} {
		t.Run(fmt.Sprint("changes ", changes), func(t *testing.T) {
			var signedIn atomic.Bool
			var calls atomic.Int64
			url := served(t, func(w http.ResponseWriter, r *http.Request, body string) bool {
				if !strings.Contains(body, `"tools/call"`) {
					return false
				}
				if signedIn.Load() {
					calls.Add(1)
					return false
				}
				w.Header().Set("WWW-Authenticate", `Bearer error="insufficient_scope", scope="write"`)
				w.WriteHeader(http.StatusForbidden)
				return true
			})
			signs, token := &wantsMore{}, "token"
			signs.token.Store(&token)
			var l *lab
			l = overHTTP(t, Entry{URL: url}, Options{
				Authorize: func(Entry) (auth.OAuthHandler, error) { return signs, nil },
				SignIn: func(context.Context, Entry, []string) bool {
					if s := l.servers()[0]; changes { // it lists echo otherwise while the user signs in
						now := *s.definitions()
						now.Tools = slices.Clone(now.Tools)
						now.tool("echo").Hash = "another"
						s.take(&now)
					}
					signedIn.Store(true)
					return true
				},
			})
			want, most := "a", int64(1)
			if changes {
				want, most = "error: server s: s/echo: "+errChanged.Error(), 0
			}
			if got := l.ask("echo", `{"text":"a"}`); got != want || calls.Load() != most {
				t.Errorf("%q, %d calls", got, calls.Load())
			}
		})
	}
}

// counted counts how often its idle connections were closed.
type counted struct {
	*http.Transport
	closed atomic.Int64
}

func (c *counted) CloseIdleConnections() {
	c.closed.Add(1)
	c.Transport.CloseIdleConnections()
}

func TestNoConnectionOutlivesTheServers(t *testing.T) {
	requests := &counted{Transport: &http.Transport{}}
	l := open(t, Options{Entries: []Entry{{Name: "s", URL: served(t, nil)}}, HTTP: requests})
	if got := l.ask("echo", `{"text":"hello"}`); got != "hello" {
		t.Fatal(got)
	}
	l.Close()
	if requests.closed.Load() == 0 {
		t.Error("its connections stay open")
	}
}
