package provider

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
)

// CheckProxies reads the proxies of the environment as requests will. The error says which
// variable has no address of one; the value is not quoted, it may have a password.
func CheckProxies(getenv func(name string) string) error {
	for _, name := range []string{"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"} {
		value := getenv(name)
		if value == "" {
			continue
		}
		if !strings.Contains(value, "://") {
			value = "http://" + value
		}
		if u, err := url.Parse(value); err != nil || u.Host == "" {
			return fmt.Errorf("%s is no address of a proxy: it is such as http://127.0.0.1:3128, and a / or %% in a password is written as %%2F or %%25", name)
		}
	}
	return nil
}

// proxyOf returns the proxy that a client asks for an address; nil: none, or it is not known.
func proxyOf(client *http.Client, u *url.URL) *url.URL {
	t, ok := client.Transport.(*http.Transport)
	if !ok || t.Proxy == nil {
		return nil
	}
	proxy, err := t.Proxy(&http.Request{URL: u})
	if err != nil {
		return nil
	}
	return proxy
}

// proxyRefusal is the answer of a proxy that does not lead to the server.
type proxyRefusal struct {
	status int
	text   string
}

func (e *proxyRefusal) Error() string { return "the proxy refused the connection: " + e.text }

// isProxyTrouble reports that the proxy, not the server, could not be reached or
// refused.
func isProxyTrouble(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "proxyconnect" || errors.As(err, new(*proxyRefusal))
}

// proxyHint returns what the user can do about trouble with the proxy, and whether
// another attempt may help.
func (f *faults) proxyHint(err error) (hint string, retryable bool) {
	var refusal *proxyRefusal
	if errors.As(err, &refusal) && (refusal.status == http.StatusProxyAuthRequired || refusal.status == http.StatusUnauthorized) {
		return f.proxyLoginHint(), false // tinyproxy refuses a wrong password with a 401
	}
	if f.proxy != nil && f.proxy.Scheme == "https" && isNoTLS(err) {
		return f.proxyName() + " does not speak TLS: use http:// in " + f.proxyVariable(), errors.Is(err, io.EOF) // it may just be starting
	}
	return f.proxyName() + " cannot be used: check it, or list the host in NO_PROXY", !isRefusedHere(err)
}

// isNoTLS reports whether a handshake failed as it does with a proxy that waits for a line
// of HTTP: it answers with one, hangs up, or waits on.
func isNoTLS(err error) bool {
	var record tls.RecordHeaderError
	return errors.As(err, &record) || errors.Is(err, io.EOF) || strings.Contains(err.Error(), "TLS handshake timeout")
}

// proxyLoginHint returns what the user can do about a 407, which comes in answer to
// CONNECT or to the request itself.
func (f *faults) proxyLoginHint() string {
	switch {
	case f.proxy == nil:
		return f.setting("base_url") + ": a proxy answers there, and it wants a name and a password"
	case f.proxy.User != nil:
		return f.proxyName() + " refuses the name and the password: check them in " + f.proxyVariable()
	}
	return fmt.Sprintf("%s wants a name and a password: %s=%s://NAME:PASSWORD@%s", f.proxyName(), f.proxyVariable(), f.proxy.Scheme, f.proxy.Host)
}

// proxyName names the proxy of the request by the variable that it is from, and its
// address without the password.
func (f *faults) proxyName() string {
	name := "the proxy of " + f.proxyVariable()
	if f.proxy != nil {
		name += " (" + f.proxy.Host + ")"
	}
	return name
}

// proxyVariable is the variable that holds the proxy for the server.
func (f *faults) proxyVariable() string {
	switch {
	case strings.HasPrefix(f.model.BaseURL, "https:"):
		return "HTTPS_PROXY"
	case strings.HasPrefix(f.model.BaseURL, "http:"):
		return "HTTP_PROXY"
	}
	return "HTTPS_PROXY or HTTP_PROXY"
}

// throughProxy adds to a hint about an answer that a proxy was on the way; "" if none was.
func (f *faults) throughProxy() string {
	if f.proxy == nil {
		return ""
	}
	return " (the request went through " + f.proxyName() + ")"
}

// network is what to check where a server cannot be reached: the network, and the proxy if
// there is one on the way.
func (f *faults) network() string {
	if f.proxy == nil {
		return "the network" + f.uncounted()
	}
	return "the network and " + f.proxyName()
}

// uncounted adds to a hint that the only proxy of the environment is in a variable that is
// not read; "" if that is not so, or the server is on this machine.
func (f *faults) uncounted() string {
	for _, name := range []string{"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"} {
		if os.Getenv(name) != "" {
			return ""
		}
	}
	if os.Getenv("ALL_PROXY") == "" && os.Getenv("all_proxy") == "" {
		return ""
	}
	if u, err := url.Parse(f.model.BaseURL); err == nil && (u.Hostname() == "localhost" || net.ParseIP(u.Hostname()).IsLoopback()) {
		return ""
	}
	return "; ALL_PROXY does not count, " + f.proxyVariable() + " does"
}
