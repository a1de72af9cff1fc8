package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"sync/atomic"

	"pi/internal/printable"
)

// carrier makes the requests to a server that speaks HTTP. The headers of the entry go to its
// origin only, and so does Authorization; no body is longer than maxMessage, but for streams,
// whose events are not.
type carrier struct {
	base    http.RoundTripper
	origin  *url.URL
	headers map[string]string
	ctx     context.Context // ends all requests and bodies

	refused atomic.Pointer[string] // WWW-Authenticate of a 401; nil: the last request was let in
}

// newCarrier returns what makes requests to a server until ctx ends.
func newCarrier(ctx context.Context, base http.RoundTripper, address string, headers map[string]string) (*carrier, error) {
	origin, err := url.Parse(address)
	switch {
	case err != nil:
		return nil, errors.New("its url is no address")
	case origin.Scheme != "http" && origin.Scheme != "https" || origin.Host == "":
		return nil, fmt.Errorf("url %s: it begins with https:// or http://", printable.URL(address))
	}
	if base == nil {
		base = http.DefaultTransport
	}
	return &carrier{base: base, origin: origin, headers: headers, ctx: ctx}, nil
}

// client is an HTTP client whose requests the carrier makes.
func (c *carrier) client() *http.Client {
	return &http.Client{Transport: c, CheckRedirect: c.checkRedirect}
}

// endpoint is the address without its query, which is added to each request: there are keys in some,
// and errors repeat the address.
func (c *carrier) endpoint() string {
	u := *c.origin
	u.RawQuery = ""
	return u.String()
}

func (c *carrier) isOrigin(u *url.URL) bool {
	return u.Scheme == c.origin.Scheme && u.Host == c.origin.Host
}

// checkRedirect refuses to follow what leads to another origin: the request, and what it says
// of the user's work, is for this server.
func (c *carrier) checkRedirect(next *http.Request, via []*http.Request) error {
	const most = 5
	switch {
	case !c.isOrigin(next.URL):
		return fmt.Errorf("it redirects to another origin, %s://%s; if that is right, put the new address into url", next.URL.Scheme, next.URL.Host)
	case len(via) > most:
		return fmt.Errorf("it redirects more than %d times", most)
	}
	return nil
}

// RoundTrip is that of [http.RoundTripper].
func (c *carrier) RoundTrip(request *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(request.Context())
	stop := context.AfterFunc(c.ctx, cancel)
	end := func() { stop(); cancel() }
	request = request.Clone(ctx)
	if c.isOrigin(request.URL) {
		for name, value := range c.headers {
			if http.CanonicalHeaderKey(name) != "Authorization" || request.Header.Get(name) == "" {
				request.Header.Set(name, value)
			}
		}
		if request.URL.Path == c.origin.Path && request.URL.RawQuery == "" {
			request.URL.RawQuery = c.origin.RawQuery
		}
	} else {
		request.Header.Del("Authorization")
	}
	response, err := c.base.RoundTrip(request)
	if err != nil {
		end()
		return nil, err
	}
	switch how := response.Header.Get("WWW-Authenticate"); {
	case response.StatusCode == http.StatusUnauthorized:
		c.refused.Store(&how)
	case response.StatusCode < 300: // another token is let in
		c.refused.Store(nil)
	}
	body := &boundedBody{ReadCloser: response.Body, left: maxMessage, end: end}
	if kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type")); kind == "text/event-stream" {
		body.endless = true
	}
	response.Body = body
	return response, nil
}

// errLongBody is what a body ends with that is too long.
var errLongBody = fmt.Errorf("the server sent more than %s", printable.Bytes(maxMessage))

// boundedBody is the body of an answer.
type boundedBody struct {
	io.ReadCloser
	left    int
	endless bool // it is a stream, of which the SDK bounds each event
	end     func()
}

// Read is that of [io.Reader].
func (b *boundedBody) Read(p []byte) (int, error) {
	if b.endless {
		return b.ReadCloser.Read(p)
	}
	if b.left == 0 {
		return 0, errLongBody
	}
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}

// Close is that of [io.Closer].
func (b *boundedBody) Close() error {
	err := b.ReadCloser.Close()
	b.end()
	return err
}
