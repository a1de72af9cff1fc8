// Package provider is what the clients of all wire APIs share: sending a call
// and reading its event stream, turning failures into errors that say what to
// do, keeping keys out of them, and fitting identifiers and text to what servers
// accept.
//
// A wire API is two functions away from here: it encodes an llm.Request into
// a [Call], and its [Decoder] turns the events of the answer into deltas.
// [New] does the rest:
//
//	callbacks → HTTP → status and content type → events → deltas → end or error
//
// Servers that speak the same API differ, and so do models. Their differences are
// data: the rows of quirktable.go turn the switches of an API for some servers
// and models, and a model's Compat overrides them (see [Switches]). No client asks
// which server it speaks to. [Discover] asks a server for its models, in the way of its
// API ([Listing]), and tells by the list what else a server can be asked.
//
// Nothing here is retried. What a request says of its conversation is kept for the next
// one, see [Drafts].
package provider

import (
	"bytes"
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"pi/agent/llm"
	"pi/session/message"
)

// NewClient returns an HTTP client for streams: the proxies and certificates of
// the environment apply (HTTPS_PROXY, NO_PROXY, SSL_CERT_FILE), there is no
// overall time limit, and answers are not compressed, because a compressed
// stream arrives in lumps. A redirection to another host is not followed: the
// key would go there. A connection is kept while a tool runs that takes its time,
// so that the next request needs no handshake.
func NewClient() *http.Client {
	c := &http.Client{Transport: http.DefaultTransport, CheckRedirect: checkSameHost}
	if t, ok := http.DefaultTransport.(*http.Transport); ok {
		t = t.Clone()
		t.DisableCompression = true
		t.IdleConnTimeout = 5 * time.Minute
		t.OnProxyConnectResponse = func(_ context.Context, _ *url.URL, _ *http.Request, answer *http.Response) error {
			if answer.StatusCode == http.StatusOK {
				return nil
			}
			return &proxyRefusal{answer.StatusCode, answer.Status}
		}
		c.Transport = t
	}
	return c
}

// checkSameHost follows redirections that send the same request to the same host.
func checkSameHost(next *http.Request, via []*http.Request) error {
	first := via[0]
	if next.URL.Host != first.URL.Host || next.URL.Scheme != first.URL.Scheme || next.Method != first.Method || len(via) > 5 {
		return http.ErrUseLastResponse
	}
	return nil
}

// Encode writes v as JSON as it goes on the wire: compact and without HTML
// escapes.
func Encode(v any) ([]byte, error) {
	w := NewWriter()
	if err := w.Value(v); err != nil {
		return nil, err
	}
	return w.Bytes(), nil
}

// AppendElements writes the elements of a list as [Encode] does, each behind a comma, and
// appends them to those that were written before. They are written one by one: an encoder
// that has all of a long conversation before it needs several times its size. What is in
// elements never changes.
func AppendElements[T any](elements [][]byte, list []T) ([][]byte, error) {
	const enough = 1 << 20
	w := NewWriter()
	for i := range list {
		w.WriteByte(',')
		var err error
		if own, ok := any(&list[i]).(WriterTo); ok {
			err = own.WriteJSON(w)
		} else {
			err = w.Value(&list[i])
		}
		if err != nil {
			return nil, err
		}
		if w.Len() > enough || i == len(list)-1 {
			elements = append(elements, bytes.Clone(w.Bytes()))
			w.Reset()
		}
	}
	return elements, nil
}

// JoinList returns a list of elements, see [AppendElements], between the bytes before and
// after it.
func JoinList(before []byte, elements [][]byte, after []byte) []byte {
	pieces := append([][]byte{before, []byte("[")}, elements...)
	if len(elements) > 0 {
		pieces[2] = elements[0][len(","):]
	}
	return bytes.Join(append(pieces, []byte("]"), after), nil)
}

// EncodeFramed writes a request whose last field is a list as [Encode] does: frame is
// the request with an empty list in that field, and elements go there.
func EncodeFramed(frame any, elements [][]byte) ([]byte, error) {
	b, err := Encode(frame)
	if err != nil {
		return nil, err
	}
	const end = "[]}"
	return JoinList(b[:len(b)-len(end)], elements, []byte("}")), nil
}

// SameModel reports whether an assistant message was made by the model that is
// asked now, over the same API. Only then do its signatures mean anything.
func SameModel(m *message.Message, target *llm.Model) bool {
	return m.Provider == target.Provider && m.Model == target.ID && (m.API == "" || m.API == target.API)
}

// WithQuery adds a parameter to an address.
func WithQuery(address, query string) string {
	if strings.Contains(address, "?") {
		return address + "&" + query
	}
	return address + "?" + query
}

// Join appends path to a base URL, in front of its query if it has one. A base
// that already ends in path stays as it is.
func Join(base, path string) string {
	base, query, found := strings.Cut(base, "?")
	base = strings.TrimRight(base, "/")
	if !strings.HasSuffix(base, path) {
		base += path
	}
	if found {
		base += "?" + query
	}
	return base
}
