package stdlib

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"pi/internal/printable"
	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

const (
	httpTime  = 5 * time.Minute // unless timeout says otherwise
	httpBytes = 16 << 20        // unless max_bytes does
)

// openHTTP makes pi.http.
//
//	request{url, method?, headers?, body?, json?, timeout?, max_bytes?, redirect?, public?, signal?} → response
//	get(url, opts?)  post(url, opts?)       request with that method
//	stream{url, on_chunk, …} → response     the body piece by piece
//	events{url, on_event, …} → response     the events of a text/event-stream
//	encode(text) → text                     for an address; of a table, its query
//	resolve(base, link) → address           of a link in a page
//	listen({port, path, token, max_body, host}?, fn) → {port, url, close}
//
// A response has status, headers (names in small letters), body and url, the
// address that answered; any status is one. signal ends it. json is a value that is sent as JSON. timeout is for everything
// (5 minutes), max_bytes for the body (16 MiB); redirect = false gives a
// redirection as it is; public = true goes to public addresses only, see public.go. A request is
// a connection of its own.
//
// listen serves programs on this machine. fn gets {method, path, query, headers,
// body, form?} and returns a text, {status?, headers?, body?, json?}, or nil for an
// empty answer (204). path is the only one that there is; token is wanted as
// "Authorization: Bearer …", and without it every program of this machine may
// call. Pages of other sites in a browser may not. The server ends with the
// hook.
func openHTTP(vm *luavm.VM, L *lua.LState, env *Env) lua.LValue {
	m := newModule(vm, env, "http")
	m.act("request", func(L *lua.LState, opts *lua.LTable) (lua.LValue, error) {
		r := exchange{}
		r.read(L, 1, "http.request", luavm.Opt("url", &r.url).Required(), luavm.Opt("method", &r.method))
		return m.request(L, "request", r)
	})
	for name, method := range map[string]string{"get": "GET", "post": "POST"} {
		m.act(name, func(L *lua.LState, url string, opts lua.LValue) (lua.LValue, error) {
			r := exchange{url: url, method: method}
			r.read(L, 2, "http."+name)
			return m.request(L, name, r)
		})
	}
	m.act("stream", m.httpStream)
	m.act("events", m.httpEvents)
	m.fn("encode", encodeURL)
	m.fn("resolve", resolveURL)
	m.act("listen", m.listen)
	return m.table()
}

// exchange is a request that is to be made.
type exchange struct {
	url, method string
	headers     map[string]string
	body        *string
	timeout     time.Duration
	limit       int // of the bytes of the answer
	most        int // that limit may be
	redirect    bool
	public      bool                    // only to public addresses
	signal      lua.LValue              // ends it, nil: none does
	reach       func(host string) error // that of Env
}

// read sets the fields from the options at argument n; wrong ones raise. more are
// options that only some functions take.
func (r *exchange) read(L *lua.LState, n int, function string, more ...luavm.Option) {
	var value lua.LValue
	if r.timeout, r.redirect = httpTime, true; r.most == 0 {
		r.limit, r.most = httpBytes, maxText
	}
	luavm.Unpack(L, n, function, append(more, luavm.Opt("headers", &r.headers), luavm.Opt("body", &r.body), luavm.Opt("json", &value),
		luavm.Opt("timeout", &r.timeout), luavm.Opt("max_bytes", &r.limit), luavm.Opt("redirect", &r.redirect),
		luavm.Opt("public", &r.public), luavm.Opt("signal", &r.signal))...)
	if r.limit < 0 || r.limit > r.most {
		luavm.Raise(L, "%s: option \"max_bytes\" is at most %d", function, r.most)
	}
	if r.timeout <= 0 {
		luavm.Raise(L, "%s: option \"timeout\" must be positive", function)
	}
	if value == nil {
		return
	}
	if r.body != nil {
		luavm.Raise(L, "%s: body and json exclude each other", function)
	}
	raw, err := luavm.EncodeJSON(L, value, luavm.JSON{})
	if err != nil {
		luavm.Raise(L, "%s: json: %v", function, err)
	}
	text := string(raw)
	r.body = &text
	r.headers = withDefault(r.headers, "Content-Type", "application/json")
}

// withDefault returns headers with this one added to a copy, or as they are if they have
// it.
func withDefault(headers map[string]string, name, value string) map[string]string {
	for have := range headers {
		if strings.EqualFold(have, name) {
			return headers
		}
	}
	headers = maps.Clone(headers)
	if headers == nil {
		headers = map[string]string{}
	}
	headers[name] = value
	return headers
}

// answer is a response that was read to its end.
type answer struct {
	status  int
	headers http.Header
	body    string
	url     string
}

// request sends a request while other jobs may run, and returns the response as a table.
// Errors name the address without what may be secret in it.
func (m *module) request(L *lua.LState, function string, r exchange) (lua.LValue, error) {
	var a answer
	r.reach = m.env.Reach
	until := m.env.until(L, "http."+function, r.signal)
	err := m.wait(L, function, func(ctx context.Context) (err error) {
		ctx, end := until(ctx)
		defer end()
		a, err = r.do(ctx)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", r.verb(), withoutSecrets(r.url), err)
	}
	return record(L, "status", lua.LNumber(a.status), "headers", headerTable(L, a.headers), "body", lua.LString(a.body), "url", lua.LString(a.url)), nil
}

// verb returns the method of the request: without one POST if there is a body, else GET.
func (r *exchange) verb() string {
	switch {
	case r.method != "":
		return strings.ToUpper(r.method)
	case r.body != nil:
		return "POST"
	}
	return "GET"
}

// do sends the request and reads the whole response. The error says so if that takes
// longer than the timeout, or the body is larger than the limit.
func (r *exchange) do(ctx context.Context) (answer, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, r.timeout, fmt.Errorf("no answer within %s", r.timeout))
	defer cancel()
	resp, err := r.send(ctx)
	if err != nil {
		return answer{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(resp.Body, int64(r.limit)+1))
	if err != nil {
		return answer{}, reason(ctx, err)
	}
	if len(body) > r.limit {
		return answer{}, fmt.Errorf("the answer is larger than %s", printable.Bytes(r.limit))
	}
	return answer{resp.StatusCode, resp.Header, string(body), addressOf(resp)}, nil
}

// send sends the request and returns the response, whose body is not read yet and has to be
// closed.
func (r *exchange) send(ctx context.Context) (*http.Response, error) {
	req, err := r.build(ctx)
	if err != nil {
		return nil, err
	}
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true, ForceAttemptHTTP2: true}
	if r.public {
		transport = dialing(checkPublic)
	}
	client := &http.Client{Transport: &within{r.reach, transport}, CheckRedirect: follow}
	if !r.redirect {
		client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, reason(ctx, err)
	}
	return resp, nil
}

// within is a transport for hosts that may be reached, also those of redirections.
type within struct {
	reach func(host string) error // nil: all may
	http.RoundTripper
}

func (w *within) RoundTrip(r *http.Request) (*http.Response, error) {
	if w.reach != nil {
		if err := w.reach(r.URL.Hostname()); err != nil {
			return nil, err
		}
	}
	return w.RoundTripper.RoundTrip(r)
}

// build makes the request; it refuses addresses that are not of http or https.
func (r *exchange) build(ctx context.Context) (*http.Request, error) {
	var body io.Reader
	if r.body != nil {
		body = strings.NewReader(*r.body)
	}
	req, err := http.NewRequestWithContext(ctx, r.verb(), r.url, body)
	if err != nil {
		return nil, reason(ctx, err)
	}
	if req.URL.Scheme != "http" && req.URL.Scheme != "https" || req.URL.Host == "" {
		return nil, errors.New("it is no http or https address")
	}
	for name, value := range r.headers {
		if strings.EqualFold(name, "Host") {
			req.Host = value
		}
		req.Header.Set(name, value)
	}
	return req, nil
}

// reason returns why a request failed: the cause if ctx has ended, and otherwise the
// error without the address, which may hold a key.
func reason(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
			return cause
		}
		return errors.New("cancelled")
	}
	var inner *url.Error
	if errors.As(err, &inner) {
		return inner.Err
	}
	return err
}

// addressOf is the address that answered, behind all redirections. Who asked there, it does not
// say.
func addressOf(r *http.Response) string {
	u := *r.Request.URL
	u.User = nil
	return u.String()
}

// withoutSecrets returns an address without user, query and fragment, for messages.
func withoutSecrets(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "a malformed address"
	}
	u.User, u.RawQuery, u.Fragment, u.RawFragment = nil, "", "", ""
	return u.String()
}

// headerTable makes a table of headers, with names in small letters. Several values of
// one are joined with commas.
func headerTable(L *lua.LState, h http.Header) *lua.LTable {
	t := luavm.NewRecord(L, len(h))
	for _, name := range slices.Sorted(maps.Keys(h)) {
		luavm.Set(t, strings.ToLower(name), lua.LString(strings.Join(h[name], ", ")))
	}
	return t
}
