package mcplogin

import (
	"bytes"
	"context"
	"encoding/json"
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
)

// dialTime is how long connecting to an authorization server may take.
const dialTime = 30 * time.Second

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
		guarded.DialContext = (&net.Dialer{Timeout: dialTime, Control: checkPublic}).DialContext
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
	if answer := a.answerKept(request); answer != nil {
		return answer, nil
	}
	named, err := oauth.WithFields(request, a.fields())
	if err != nil {
		return nil, err
	}
	response, err := oauth.Transport{Base: a.via(named)}.RoundTrip(named)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(response.Body) // of what was read already
	if err != nil {
		return nil, err
	}
	response.Body = io.NopCloser(bytes.NewReader(body))
	a.note(request, response.StatusCode, body)
	return response, nil
}

// fields say in the renewal of a token what it is for, as in the first request: the library does not.
func (a *asker) fields() map[string]string {
	if a.resource == "" {
		return nil
	}
	return map[string]string{"resource": a.resource}
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

// checkPublic refuses to connect to a private network: an address there comes from a server, and
// would have this program ask what only it can reach.
func checkPublic(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	if isPrivate(at.Addr()) {
		return &oauth.OwnError{Err: fmt.Errorf("%s is an address of a private network, and the MCP server is not on one", at.Addr())}
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
