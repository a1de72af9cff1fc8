package mcplogin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"syscall"
	"time"

	"pi/agent/mcp"
	"pi/cli/keyring/oauth"
	"pi/internal/printable"
)

// Bounds of one answer of an authorization server.
const (
	maxAnswer  = 1 << 20
	answerTime = 30 * time.Second
)

// asker makes the requests of one sign-in or renewal to authorization servers. It reads along
// what they say of themselves, since the SDK does not tell: which server it is, and whether it
// names itself in answers. Where pi is registered already, it answers the request to register
// with what was answered then.
type asker struct {
	open     http.RoundTripper // asks any address
	guarded  http.RoundTripper // asks no private one
	private  bool              // the MCP server itself is on a private network
	resource string            // that tokens are renewed for; "": it is not said

	mu         sync.Mutex // guards what follows
	server     metadata
	kept       login // with a registration that holds for one issuer and redirect
	registered json.RawMessage
}

// metadata is what an authorization server says of itself, as far as it is needed here.
type metadata struct {
	Issuer      string `json:"issuer"`
	Register    string `json:"registration_endpoint"`
	NamesItself bool   `json:"authorization_response_iss_parameter_supported"`
}

// newAsker returns what makes the requests for one server.
func (l *Logins) newAsker(ctx context.Context, e mcp.Entry) *asker {
	a := &asker{open: l.base, guarded: l.base}
	if u, err := url.Parse(e.URL); err == nil {
		a.private = isPrivateHost(ctx, u.Hostname())
	}
	if t, ok := l.base.(*http.Transport); ok {
		guarded := t.Clone()
		guarded.DialContext = (&net.Dialer{Timeout: answerTime, Control: checkPublic}).DialContext
		a.guarded = guarded
	}
	return a
}

// close lets go of connections that only this asker has.
func (a *asker) close() {
	if t, ok := a.guarded.(*http.Transport); ok && a.guarded != a.open {
		t.CloseIdleConnections()
	}
}

// RoundTrip is that of [http.RoundTripper].
func (a *asker) RoundTrip(request *http.Request) (*http.Response, error) {
	if err := oauth.CheckAddress(request.URL); err != nil {
		return nil, &flowError{err}
	}
	if answer := a.answerKept(request); answer != nil {
		return answer, nil
	}
	if err := a.nameResource(request); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(request.Context(), answerTime)
	response, err := a.via(request).RoundTrip(request.WithContext(ctx))
	if err != nil {
		cancel()
		return nil, err
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	response.Body.Close()
	cancel()
	if err == nil && len(body) > maxAnswer {
		err = &flowError{fmt.Errorf("%s answers with more than %s", printable.URL(request.URL.String()), printable.Bytes(maxAnswer))}
	}
	if err != nil {
		return nil, err
	}
	response.Body = io.NopCloser(bytes.NewReader(body))
	a.note(request, response.StatusCode, body)
	return response, nil
}

// via chooses how an address is reached: one of a private network only where the MCP server
// itself is on one. What goes through a proxy is the business of that.
func (a *asker) via(request *http.Request) http.RoundTripper {
	if t, ok := a.guarded.(*http.Transport); ok && t.Proxy != nil {
		if proxy, err := t.Proxy(request); err == nil && proxy != nil {
			return a.open
		}
	}
	if a.private {
		return a.open
	}
	return a.guarded
}

// note reads along.
func (a *asker) note(request *http.Request, status int, body []byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case request.Method == http.MethodGet && status == http.StatusOK && isMetadata(request.URL.Path):
		var said metadata
		if json.Unmarshal(body, &said) == nil {
			a.server = said
		}
	case isRegistration(request) && status < 300:
		a.registered = body
	}
}

// isMetadata reports whether a path is one at which an authorization server describes itself.
func isMetadata(path string) bool {
	return strings.Contains(path, "/.well-known/oauth-authorization-server") || strings.Contains(path, "/.well-known/openid-configuration")
}

// isRegistration reports whether a request asks for a client: nothing else is sent as JSON.
func isRegistration(request *http.Request) bool {
	kind, _, _ := mime.ParseMediaType(request.Header.Get("Content-Type"))
	return request.Method == http.MethodPost && kind == "application/json"
}

// answerKept answers a request to register with the registration that is kept, if that is of
// this server; nil: there is none.
func (a *asker) answerKept(request *http.Request) *http.Response {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !isRegistration(request) || len(a.kept.Registration) == 0 || a.kept.Issuer != a.issuerAt(request.URL) {
		return nil
	}
	a.registered = a.kept.Registration
	return &http.Response{Status: "201 Created", StatusCode: http.StatusCreated, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewReader(a.kept.Registration)), Request: request}
}

// issuerAt is who answers at an address: the server that described itself, else the host.
func (a *asker) issuerAt(u *url.URL) string {
	if a.server.Issuer != "" {
		return a.server.Issuer
	}
	return u.Scheme + "://" + u.Host
}

// nameResource says in the renewal of a token what it is for, as in the first request: the
// library does not.
func (a *asker) nameResource(request *http.Request) error {
	if a.resource == "" || request.Method != http.MethodPost || request.Body == nil {
		return nil
	}
	body, err := io.ReadAll(io.LimitReader(request.Body, maxAnswer))
	request.Body.Close()
	if err != nil {
		return err
	}
	form, err := url.ParseQuery(string(body))
	if err != nil || form.Get("resource") != "" {
		return errors.Join(err)
	}
	form.Set("resource", a.resource)
	text := form.Encode()
	request.Body, request.ContentLength = io.NopCloser(strings.NewReader(text)), int64(len(text))
	request.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }
	return nil
}

// checkRedirect follows redirects of questions only: what is sent to a token address has codes
// and secrets in it.
func (a *asker) checkRedirect(next *http.Request, via []*http.Request) error {
	const most = 5
	switch {
	case via[0].Method != http.MethodGet:
		return &flowError{fmt.Errorf("%s redirects what is for it alone; nothing was sent there", printable.URL(via[0].URL.String()))}
	case len(via) > most:
		return &flowError{errors.New("the authorization server redirects again and again")}
	}
	return nil // where it leads is checked when it is asked
}

// checkPublic refuses to connect to a private network: an address there comes from a server, and
// would have this program ask what only it can reach.
func checkPublic(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	if isPrivate(at.Addr()) {
		return &flowError{fmt.Errorf("%s is an address of a private network, and the MCP server is not on one", at.Addr())}
	}
	return nil
}

// isPrivate reports whether an address is not one of the public network.
func isPrivate(ip netip.Addr) bool {
	ip = ip.Unmap()
	shared := netip.PrefixFrom(netip.AddrFrom4([4]byte{100, 64}), 10) // of providers, between their customers
	return !ip.IsGlobalUnicast() || ip.IsPrivate() || shared.Contains(ip)
}

// isPrivateHost reports whether a host is on a private network, by its number or where its name
// leads.
func isPrivateHost(ctx context.Context, host string) bool {
	if ip, err := netip.ParseAddr(host); err == nil {
		return isPrivate(ip)
	}
	if oauth.IsLoopback(host) {
		return true
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	ips, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	for _, ip := range ips {
		if isPrivate(ip) {
			return err == nil
		}
	}
	return false
}
