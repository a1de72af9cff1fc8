package provider

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"syscall"

	"pi/agent/llm"
	"pi/internal/printable"
	"pi/session/message"
)

// hintFor returns what the user can do about an answer that is an error: the API's
// own hint if it has one, else one by the kind of error, else one by its status; "" if
// nothing is known.
func (f *faults) hintFor(e *llm.ProviderError, html bool) string {
	if e.NoLevel && f.off {
		return filled(noOff, f.model)
	}
	if f.hint != nil && !e.Overflow {
		if h := f.hint(e.Status, e.Message); h != "" {
			return h
		}
	}
	message := strings.ToLower(e.Message)
	switch {
	case e.Unfit: // what is done about it is no business of the user's
		return ""
	case e.Overflow && e.Status == http.StatusRequestEntityTooLarge:
		return "the request is too large; remove images or shorten the conversation with /compact"
	case e.Overflow:
		return "the conversation does not fit the model's context window; /compact shortens it"
	case e.Status == http.StatusRequestEntityTooLarge && !isTooLargeForRate(e):
		return f.sizeHint()
	case isOutOfQuota(e):
		return "the account has no credit left or its plan does not allow this; lower max_tokens, or check billing with the provider"
	case isKeyTrouble(e, message):
		return f.keyHint() + f.orGateway(html)
	case isTooLargeForRate(e):
		return "this request alone is more than the account may send in a minute; /compact shortens it, or use another model"
	case isPlainToTLS(message) && strings.HasPrefix(f.model.BaseURL, "http:"):
		return f.base() + ": the server speaks TLS there; use https://"
	}
	return f.statusHint(e, html)
}

// isPlainToTLS reports whether a server says, in lower case, that it was not spoken to in
// TLS: nginx by the title of a page, programs in Go by a line.
func isPlainToTLS(message string) bool {
	return hasAny(message, []string{"plain http request was sent to https port", "client sent an http request to an https server"})
}

// base says what base_url of the provider is.
func (f *faults) base() string {
	return fmt.Sprintf("base_url of [providers.%s] is %s", f.model.Provider, f.secrets.hide(printable.URL(f.model.BaseURL)))
}

// orGateway adds to a hint about the key that something before the server may have refused
// the request, which a page speaks for; "" without one.
func (f *faults) orGateway(html bool) string {
	if !html {
		return ""
	}
	return "; or a gateway before the server has a login of its own, for a web page came back" + f.throughProxy()
}

// statusHint returns what the user can do about an answer with this status; "" if
// nothing is known. A page counts less than the status: gateways answer with their own
// where the server behind them does not.
func (f *faults) statusHint(e *llm.ProviderError, html bool) string {
	switch {
	case e.Status == http.StatusForbidden:
		return fmt.Sprintf("the key may not use %s; %s", f.model.ID, f.keyHint()) + f.orGateway(html)
	case e.Status == http.StatusProxyAuthRequired:
		return f.proxyLoginHint()
	case html && isGatewayAlone(e.Status):
		return "a web page came back from what stands before the server: the server behind it does not answer; ask again" + f.throughProxy()
	case html && (e.Status < http.StatusBadRequest || !e.Retryable && e.Status < http.StatusInternalServerError):
		return f.setting("base_url") + ": a web page came back, so another server answered" + f.throughProxy()
	case e.Status == http.StatusNotFound || e.Status == http.StatusMethodNotAllowed:
		return fmt.Sprintf("check the model id %q, and base_url of [providers.%s] (%s)", f.model.ID, f.model.Provider, f.secrets.hide(printable.URL(f.model.BaseURL)))
	case e.Status == http.StatusTooManyRequests:
		return "too many requests or tokens for now; wait a little, or use another model"
	case html && e.Status >= 500:
		return "the server is overloaded or has a fault; ask again" + f.throughProxy()
	case e.Status >= 500:
		return "the server is overloaded or has a fault; ask again"
	case e.Code == "tool_use_failed":
		return "the model made a call that its server refused; ask again"
	case e.Retryable:
		return "ask again"
	}
	return ""
}

// isGatewayAlone reports whether a status is that of a gateway without an answer of the
// server behind it. Cloudflare has its own from 520 on.
func isGatewayAlone(status int) bool {
	return status >= http.StatusBadGateway && status <= http.StatusGatewayTimeout || status >= 520 && status <= 524
}

// sizeHint returns what the user can do about a request that has too many bytes.
func (f *faults) sizeHint() string {
	remedy := "shorten the conversation (/compact), or raise its limit"
	if f.imagesWeigh() || f.request != nil && endsWithImage(f.request) {
		remedy = "leave out the image (/undo), or raise its limit"
	}
	return "the server or a proxy takes no request of " + printable.Size(int64(f.sent)) + ": " + remedy
}

// endsWithImage reports whether an image is sent that belongs to the last prompt, or came
// after it.
func endsWithImage(r *llm.Request) bool {
	if !r.Model.TakesImages() {
		return false
	}
	isImage := func(b message.Block) bool { return b.Type == message.BlockImage }
	for _, m := range slices.Backward(r.Messages) {
		if slices.ContainsFunc(m.Content, isImage) {
			return true
		}
		if m.Role == message.RoleUser {
			return false
		}
	}
	return false
}

// RefusesKey reports whether err is a server's word that the key is not good.
func RefusesKey(err error) bool {
	var e *llm.ProviderError
	return errors.As(err, &e) && e.Status != 0 && isKeyTrouble(e, strings.ToLower(e.Message))
}

// isKeyTrouble reports whether a server refuses the key; message is in lower case.
func isKeyTrouble(e *llm.ProviderError, message string) bool {
	if e.Status == http.StatusUnauthorized || e.Type == "authentication_error" || e.Code == "invalid_api_key" || e.Type == "invalid_api_key" {
		return true
	}
	if e.Status != http.StatusBadRequest && e.Status != http.StatusForbidden {
		return false
	}
	return strings.Contains(message, "api key") || strings.Contains(message, "api_key") || strings.Contains(message, "x-api-key")
}

func (f *faults) keyHint() string { return KeyHint(f.model.Provider, f.keyless) }

// KeyHint is the part of a hint about the key of a provider, where all that is known is
// whether one was sent. A caller that knows where the key comes from may replace it.
func KeyHint(provider string, keyless bool) string {
	where := fmt.Sprintf("api_key of [providers.%s] in config.toml, or its environment variable", provider)
	if keyless {
		return "no key was sent: set " + where
	}
	return "check " + where
}

// connection is the error for a call that got no answer: that of ctx, or one without
// the address and without keys.
func (f *faults) connection(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return canceled(ctx)
	}
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err // without method and address
	}
	e := &llm.ProviderError{Provider: f.model.Provider, Message: f.secrets.shown(err.Error()), Err: f.clean(err)}
	e.NextStep, e.Retryable = f.connectionHint(err)
	return e
}

// connectionHint returns what the user can do about a call without an answer, and
// whether another attempt may help.
func (f *faults) connectionHint(err error) (hint string, retryable bool) {
	base := f.base()
	var dns *net.DNSError
	var record tls.RecordHeaderError
	var timeout net.Error
	switch {
	case isProxyTrouble(err):
		return f.proxyHint(err)
	case errors.Is(err, syscall.ECONNREFUSED):
		return base + ": is the server running?" + f.uncounted(), !isRefusedHere(err)
	case errors.As(err, &dns):
		if dns.IsNotFound {
			return base + ": no host of that name is known; check it, and " + f.network(), false
		}
		return "the name service does not answer; check " + f.network(), true
	case errors.As(err, new(x509.HostnameError)):
		return base + ": the certificate there is for another name; check the host in base_url", false
	case isCertificateTrouble(err):
		return certificateHint() + " (" + base + ")", false
	case errors.As(err, &record), strings.Contains(err.Error(), "server gave HTTP response to HTTPS client"):
		return base + ": the server does not speak TLS there; use http://", false
	case strings.Contains(err.Error(), `malformed HTTP response "\x15\x03`): // an alert of TLS
		return base + ": the server speaks TLS there; use https://", false
	case errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.EHOSTUNREACH):
		return base + ": there is no way to that host; check " + f.network(), true
	case errors.As(err, &timeout) && timeout.Timeout():
		return base + ": no answer in time; check " + f.network(), true
	case strings.Contains(err.Error(), "unsupported protocol scheme"), strings.Contains(err.Error(), "no Host in request URL"):
		return base + ": it must begin with http:// or https:// and name a host", false
	case strings.Contains(err.Error(), "invalid header field"):
		return "a header or the key holds a character that cannot be sent; " + f.keyHint(), false
	}
	return "the connection was lost; ask again" + f.uncounted(), true
}

// certificateHint returns what the user can do about a certificate that is not trusted.
// A file of authorities that cannot be used is passed over without a word by whoever reads
// it.
func certificateHint() string {
	if path := os.Getenv("SSL_CERT_FILE"); path != "" {
		authorities, err := os.ReadFile(path)
		if err != nil {
			return "the server's certificate is not trusted, and SSL_CERT_FILE cannot be read: " + err.Error()
		}
		if !x509.NewCertPool().AppendCertsFromPEM(authorities) {
			return "the server's certificate is not trusted, and SSL_CERT_FILE names a file without a certificate (PEM): " + path
		}
	}
	return "the server's certificate is not trusted; SSL_CERT_FILE names a file with further authorities"
}

// isRefusedHere reports whether this machine, or a proxy for good, refused the
// connection: nothing listens, and nothing will until somebody starts it. A remote
// service may be restarting, so asking it again may help.
func isRefusedHere(err error) bool {
	if !errors.Is(err, syscall.ECONNREFUSED) {
		var refusal *proxyRefusal
		return errors.As(err, &refusal) && refusal.status < http.StatusInternalServerError
	}
	var op *net.OpError
	if !errors.As(err, &op) {
		return true
	}
	addr, ok := op.Addr.(*net.TCPAddr)
	return !ok || addr.IP.IsLoopback() || addr.IP.IsUnspecified()
}

// isCertificateTrouble reports whether the certificate of the server is not trusted.
func isCertificateTrouble(err error) bool {
	var verification *tls.CertificateVerificationError
	var authority x509.UnknownAuthorityError
	return errors.As(err, &verification) || errors.As(err, &authority)
}
