package stdlib

import (
	"cmp"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

const maxRedirects = 10

// follow is called before each request of a redirection; via are those before it. What a hook
// gave for one server may be a key of it, and an address may hold one. So once another origin was
// reached, only headers go along that say nothing secret, also back to the first.
func follow(r *http.Request, via []*http.Request) error {
	if len(via) >= maxRedirects {
		return errors.New("stopped after 10 redirects")
	}
	first := via[0].URL
	stays := func(r *http.Request) bool { return isSameOrigin(first, r.URL) }
	if stays(r) && !slices.ContainsFunc(via, func(r *http.Request) bool { return !stays(r) }) {
		return nil
	}
	maps.DeleteFunc(r.Header, func(name string, _ []string) bool { return !mayLeave(name) })
	return nil
}

// mayLeave reports whether a header says nothing secret: what is wanted, of what is sent, and who
// asks.
func mayLeave(name string) bool {
	switch http.CanonicalHeaderKey(name) {
	case "Accept", "Accept-Charset", "Accept-Encoding", "Accept-Language", "Cache-Control", "Content-Encoding", "Content-Language",
		"Content-Type", "Range", "User-Agent":
		return true
	}
	return false
}

// isSameOrigin reports whether two addresses of http or https have the same scheme, host and port.
func isSameOrigin(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && strings.EqualFold(a.Hostname(), b.Hostname()) && portOf(a) == portOf(b)
}

// portOf is the port of an address of http or https.
func portOf(u *url.URL) string {
	standard := map[string]string{"http": "80", "https": "443"}
	return cmp.Or(u.Port(), standard[u.Scheme])
}
