package oauth

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"
)

// Loopback is the server of this machine that a browser is sent back to. It takes one answer.
type Loopback struct {
	redirect string
	host     string // as the browser names it
	path     string
	server   *http.Server
	served   chan struct{} // closed when the server has ended
	answers  chan Answer   // holds one

	mu       sync.Mutex // guards what is expected and whether it came
	expected bool
	state    string // of what is expected; "": its path alone tells it
	taken    bool
}

// DefaultPath is where a browser is sent back to if nothing else is said.
const DefaultPath = "/callback"

// Listen opens the server on 127.0.0.1: at a port, of which 0 is any that is free, and a path, of which
// "" is [DefaultPath]. The caller closes it.
func Listen(port int, path string) (*Loopback, error) { return openLoopback("127.0.0.1", port, path) }

// ListenAt opens the server for an address that is registered with an authorization server, such as
// http://127.0.0.1:0/callback, whose port 0 is any that is free; "" is just that. The browser is sent back
// to the host as it is written there. The caller closes it.
func ListenAt(redirect string) (*Loopback, error) {
	if redirect == "" {
		return Listen(0, "")
	}
	u, port, err := parseRedirect(redirect)
	if err != nil {
		return nil, err
	}
	return openLoopback(u.Hostname(), port, u.Path)
}

// CheckRedirectURL returns an error for an address that a browser cannot be sent back to here.
func CheckRedirectURL(redirect string) error {
	_, _, err := parseRedirect(redirect)
	return err
}

// errRedirect says what an address to come back to is.
var errRedirect = errors.New("it is http://127.0.0.1:PORT/PATH, or with localhost; port 0 is any that is free")

func parseRedirect(redirect string) (*url.URL, int, error) {
	u, err := url.Parse(redirect)
	if err != nil || u.Scheme != "http" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || u.Hostname() != "127.0.0.1" && u.Hostname() != "localhost" {
		return nil, 0, errRedirect
	}
	port, err := strconv.ParseUint(u.Port(), 10, 16)
	if err != nil {
		return nil, 0, errRedirect
	}
	return u, int(port), nil
}

// openLoopback opens the server; name is what the browser calls this machine.
func openLoopback(name string, port int, path string) (*Loopback, error) {
	if path == "" {
		path = DefaultPath
	}
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		if port != 0 {
			return nil, fmt.Errorf("listen for the browser at port %d: %w; another program may have it", port, reasonOf(err))
		}
		return nil, fmt.Errorf("listen for the browser: %w", reasonOf(err))
	}
	_, chosen, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		listener.Close()
		return nil, err
	}
	host := net.JoinHostPort(name, chosen)
	l := &Loopback{redirect: "http://" + host + path, host: host, path: path, served: make(chan struct{}), answers: make(chan Answer, 1)}
	l.server = &http.Server{Handler: l, ReadHeaderTimeout: 5 * time.Second, WriteTimeout: 5 * time.Second, IdleTimeout: time.Second, MaxHeaderBytes: 32 << 10}
	go func() {
		defer close(l.served)
		_ = l.server.Serve(listener) // it ends with Close, or with the listener
	}()
	return l, nil
}

// reasonOf is why the system refused a port, without the words around it.
func reasonOf(err error) error {
	if op, ok := errors.AsType[*net.OpError](err); ok {
		return op.Err
	}
	return err
}

// RedirectURL is the address that the browser is to be sent back to.
func (l *Loopback) RedirectURL() string { return l.redirect }

// Close ends the server, when the page of an answer that was taken is sent.
func (l *Loopback) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if l.server.Shutdown(ctx) != nil {
		_ = l.server.Close()
	}
	<-l.served
}

// expect says which answer is to come.
func (l *Loopback) expect(state string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.expected, l.state = true, state
}

// ServeHTTP takes the answer that is expected, and refuses everything else: another path, a
// host that is not this one (a page of somebody else that leads here by a name of its own), an
// answer with another state, a second one.
func (l *Loopback) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.URL.Path != l.path || r.Host != l.host:
		http.Error(w, "nothing is here", http.StatusNotFound)
		return
	case r.Method != http.MethodGet:
		http.Error(w, "a browser comes here by GET", http.StatusMethodNotAllowed)
		return
	}
	query := r.URL.Query()
	answer, ok := answerOf(query, query.Get("state"))
	if !ok || !l.take(answer) {
		http.Error(w, "this is not the answer that pi waits for", http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", "default-src 'none'")
	w.Header().Set("Referrer-Policy", "no-referrer") // the code stands in the address
	w.Header().Set("Connection", "close")
	page := signedIn
	if answer.failure != "" {
		page = refused
	}
	_, _ = w.Write([]byte(page))
	l.answers <- answer
}

const (
	signedIn = "<!doctype html><title>pi</title><p>The answer has arrived. You can close this page and go back to pi.</p>\n"
	refused  = "<!doctype html><title>pi</title><p>You are not signed in. You can close this page; pi says why.</p>\n"
)

// take reports whether an answer is the one that is expected; the next one is not.
func (l *Loopback) take(a Answer) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.expected || l.taken || subtle.ConstantTimeCompare([]byte(a.State), []byte(l.state)) != 1 {
		return false
	}
	l.taken = true
	return true
}
