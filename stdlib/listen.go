package stdlib

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

const (
	bodyLimit    = 1 << 20          // of a request, unless max_body says otherwise
	requestTime  = 30 * time.Second // for a client to send its request
	maxServed    = 64               // requests at a time
	portPatience = time.Second      // for the hook's version before to free the port
)

// server is one http.listen.
type server struct {
	m     *module
	name  string // of the function that has made it
	fn    *lua.LFunction
	port  int
	path  string
	token string
	limit int

	slots chan struct{}

	mu      sync.Mutex
	closed  bool
	serving sync.WaitGroup
}

// listen is http.listen: it opens the port, starts the server as a goroutine of the
// hook, and returns the table with port, url and close.
func (m *module) listen(L *lua.LState, opts *lua.LTable, fn *lua.LFunction) (lua.LValue, error) {
	s := &server{m: m, name: "http.listen", fn: fn, limit: bodyLimit, slots: make(chan struct{}, maxServed)}
	host := "127.0.0.1"
	luavm.UnpackTable(L, opts, "http.listen", luavm.Opt("port", &s.port), luavm.Opt("path", &s.path), luavm.Opt("token", &s.token),
		luavm.Opt("max_body", &s.limit), luavm.Opt("host", &host))
	switch {
	case host != "127.0.0.1" && host != "localhost":
		return nil, luavm.Misusef("only 127.0.0.1 is listened on, not %s", host)
	case s.port < 0 || s.port > 65535:
		return nil, luavm.Misusef("%d is no port", s.port)
	case s.path != "" && !strings.HasPrefix(s.path, "/"):
		return nil, luavm.Misusef("path %q must begin with /", s.path)
	case s.limit < 0 || s.limit > maxText:
		return nil, luavm.Misusef("option \"max_body\" is at most %d", maxText)
	}
	if m.env.Unheard != nil {
		return nil, fmt.Errorf("listen: %w", m.env.Unheard)
	}
	return s.open(L)
}

// Serve is http.listen at any free port for another module, whose function is called so: fn answers
// what is asked there.
func Serve(vm *luavm.VM, L *lua.LState, env *Env, function string, fn *lua.LFunction) (lua.LValue, error) {
	m := newModule(vm, env, "http")
	return (&server{m: m, name: function, fn: fn, limit: bodyLimit, slots: make(chan struct{}, maxServed)}).open(L)
}

// open opens the port and begins to serve. It returns what Lua gets of the server.
func (s *server) open(L *lua.LState) (lua.LValue, error) {
	m := s.m
	var l net.Listener
	err := m.wait(L, "listen", func(ctx context.Context) (err error) {
		l, err = listenPatiently(ctx, net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)))
		return err
	})
	if err != nil {
		return nil, err
	}
	s.port = l.Addr().(*net.TCPAddr).Port
	quit := make(chan struct{})
	if !m.env.Spawn(func(life context.Context) { s.serve(life, l, quit) }) {
		_ = l.Close()
		return nil, errors.New("listen: the hook is gone")
	}
	return record(L, "port", lua.LNumber(s.port), "url", lua.LString(fmt.Sprintf("http://127.0.0.1:%d%s", s.port, s.path)),
		"close", m.vm.Func("close", sync.OnceFunc(func() { close(quit) }))), nil
}

// listenPatiently listens on an address, and tries again for a second while it is taken:
// after a reload the server of the hook's version before is about to end.
func listenPatiently(ctx context.Context, address string) (net.Listener, error) {
	ctx, cancel := context.WithTimeout(ctx, portPatience)
	defer cancel()
	for {
		l, err := new(net.ListenConfig).Listen(ctx, "tcp4", address)
		if err == nil {
			return l, nil
		}
		if !errors.Is(err, syscall.EADDRINUSE) || !(MachineClock{}).Sleep(ctx, 20*time.Millisecond) {
			return nil, fmt.Errorf("listen on %s: %w", address, innermost(err))
		}
	}
}

// innermost returns the error at the end of the chain, without the addresses that those
// around it add.
func innermost(err error) error {
	for next := errors.Unwrap(err); next != nil; next = errors.Unwrap(err) {
		err = next
	}
	return err
}

// serve answers requests until life ends or quit is closed; then it closes the port and
// returns when no request is being answered any more.
func (s *server) serve(life context.Context, l net.Listener, quit <-chan struct{}) {
	ctx, cancel := context.WithCancel(life)
	defer s.serving.Wait()
	defer cancel()
	srv := &http.Server{
		Handler:           http.HandlerFunc(s.handle),
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ReadHeaderTimeout: requestTime, ReadTimeout: requestTime, IdleTimeout: requestTime,
		MaxHeaderBytes: 64 << 10, ErrorLog: log.New(io.Discard, "", 0),
	}
	s.serving.Go(func() { _ = srv.Serve(l) })
	select {
	case <-ctx.Done():
	case <-quit:
	}
	_ = srv.Close()
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
}

// enter counts a request as being answered. It returns false if the server has been
// closed.
func (s *server) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.serving.Add(1)
	}
	return !s.closed
}

// handle answers one request: with a status if it is refused, too large or one too many
// at a time, and else with what fn returns for it.
func (s *server) handle(w http.ResponseWriter, r *http.Request) {
	if !s.enter() {
		return
	}
	defer s.serving.Done()
	if status := s.refuse(r); status != 0 {
		http.Error(w, http.StatusText(status), status)
		return
	}
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	default:
		http.Error(w, http.StatusText(http.StatusServiceUnavailable), http.StatusServiceUnavailable)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, int64(s.limit)))
	if err != nil {
		http.Error(w, http.StatusText(http.StatusRequestEntityTooLarge), http.StatusRequestEntityTooLarge)
		return
	}
	a := s.ask(r, string(body))
	for name, value := range a.headers {
		w.Header().Set(name, value)
	}
	w.WriteHeader(a.status)
	_, _ = io.WriteString(w, a.body)
}

// refuse returns the status for a request that fn must not see, 0 for any other. A page
// in a browser may send requests here, and may have a name of its own lead to this
// machine; the headers Host and Origin show both.
func (s *server) refuse(r *http.Request) int {
	switch {
	case !s.isOurs(r.Host), !s.isOwnOrigin(r):
		return http.StatusForbidden
	case s.token != "" && !s.hasToken(r):
		return http.StatusUnauthorized
	case s.path != "" && r.URL.Path != s.path:
		return http.StatusNotFound
	}
	return 0
}

// isOurs reports whether a host with its port is this server.
func (s *server) isOurs(host string) bool {
	name, port, err := net.SplitHostPort(host)
	if err != nil {
		name, port = host, "80"
	}
	return (name == "127.0.0.1" || strings.EqualFold(name, "localhost")) && port == strconv.Itoa(s.port)
}

// isOwnOrigin reports whether the request comes from no page in a browser, or from one
// of this server.
func (s *server) isOwnOrigin(r *http.Request) bool {
	if site := r.Header.Get("Sec-Fetch-Site"); site == "cross-site" || site == "same-site" {
		return false
	}
	origin := r.Header.Get("Origin")
	if origin == "" {
		return true
	}
	u, err := url.Parse(origin)
	return err == nil && u.Scheme == "http" && s.isOurs(u.Host)
}

func (s *server) hasToken(r *http.Request) bool {
	kind, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	got, want := sha256.Sum256([]byte(strings.TrimSpace(token))), sha256.Sum256([]byte(s.token))
	return strings.EqualFold(kind, "Bearer") && subtle.ConstantTimeCompare(got[:], want[:]) == 1
}

// reply is what goes back.
type reply struct {
	status  int
	headers map[string]string
	body    string
}

// ask calls fn with the request, as a job of the hook, and returns its reply. If that
// fails, the error is reported as the hook's and the client gets status 500.
func (s *server) ask(r *http.Request, body string) reply {
	var a reply
	err := s.m.env.Call(s.m.env.Outside(r.Context(), fmt.Sprintf("%s on port %d", s.name, s.port)), s.name, func(L *lua.LState) (err error) {
		a, err = s.readReply(L, call(L, s.fn, requestTable(L, r, body)))
		return err
	})
	if err != nil {
		return reply{status: http.StatusInternalServerError, body: "the hook failed\n"}
	}
	return a
}

// requestTable makes the table that fn gets.
func requestTable(L *lua.LState, r *http.Request, body string) *lua.LTable {
	t := record(L, "method", lua.LString(r.Method), "path", lua.LString(r.URL.Path), "query", formTable(L, r.URL.Query()),
		"headers", headerTable(L, r.Header), "body", lua.LString(body))
	kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	if fields, err := url.ParseQuery(body); err == nil && strings.EqualFold(strings.TrimSpace(kind), "application/x-www-form-urlencoded") {
		luavm.Set(t, "form", formTable(L, fields))
	}
	return t
}

// formTable has the fields of a query or a form. Of one that comes several times it has the last
// value.
func formTable(L *lua.LState, fields url.Values) *lua.LTable {
	t := L.NewTable()
	for name, values := range fields {
		luavm.Set(t, name, lua.LString(values[len(values)-1]))
	}
	return t
}

// readReply makes a reply of what fn returned: nil is an empty one (204), a string a
// text (200), a table has the fields of a reply.
func (s *server) readReply(L *lua.LState, v lua.LValue) (reply, error) {
	const text = "text/plain; charset=utf-8"
	switch v := v.(type) {
	case *lua.LNilType:
		return reply{status: http.StatusNoContent}, nil
	case lua.LString:
		return reply{http.StatusOK, map[string]string{"Content-Type": text}, string(v)}, nil
	case *lua.LTable:
		return s.readReplyTable(L, v, text)
	}
	return reply{}, fmt.Errorf("%s: the function must return a text, a table or nil, not a %s", s.name, v.Type())
}

// readReplyTable makes a reply of the table that fn returned. contentType is the type of
// a body for which the headers name none.
func (s *server) readReplyTable(L *lua.LState, t *lua.LTable, contentType string) (reply, error) {
	a := reply{status: http.StatusOK}
	var value lua.LValue
	luavm.UnpackTable(L, t, s.name, luavm.Opt("status", &a.status), luavm.Opt("headers", &a.headers), luavm.Opt("body", &a.body), luavm.Opt("json", &value))
	if a.status < 200 || a.status > 599 {
		return a, fmt.Errorf("%s: %d is no status of an answer", s.name, a.status)
	}
	if value != nil {
		raw, err := luavm.EncodeJSON(L, value, luavm.JSON{})
		if err != nil {
			return a, fmt.Errorf("%s: json: %w", s.name, err)
		}
		a.body = string(raw)
		a.headers = withDefault(a.headers, "Content-Type", "application/json")
	}
	a.headers = withDefault(a.headers, "Content-Type", contentType)
	return a, nil
}
