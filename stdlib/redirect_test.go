package stdlib

import (
	"context"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
)

// What a hook gave for one server may be a key of it. Another origin that it redirects to gets
// only what says nothing secret, and so does each one behind it.
func TestHeadersStayWithTheirOrigin(t *testing.T) {
	got := map[string]http.Header{}
	serve := func(name, to string) *httptest.Server {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			got[name+r.URL.Path] = r.Header
			if r.URL.Path == "/here" || to != "" && r.URL.Path != "/there" {
				where := to
				if r.URL.Path == "/here" {
					where = "/there"
				}
				http.Redirect(w, r, where, http.StatusTemporaryRedirect)
			}
		}))
		t.Cleanup(server.Close)
		return server
	}
	home := serve("home", "")
	abroad := serve("abroad", home.URL+"/back")
	leaving := serve("leaving", abroad.URL+"/x")
	given := map[string]string{
		"X-Subscription-Token": "secret", "Authorization": "secret", "Cookie": "secret", "X-Accept": "secret", "Referer": "secret",
		"Accept": "text/html", "accept-language": "de", "User-Agent": "me", "Content-Type": "text/plain",
	}
	plain := []string{"Accept", "Accept-Language", "Content-Type", "User-Agent"}
	for _, c := range []struct {
		to      string
		answers string
		keeps   bool
	}{
		{home.URL + "/here", "home/there", true},
		{leaving.URL + "/x?key=secret", "abroad/x", false},
		{leaving.URL + "/x?key=secret", "home/back", false},
		{strings.Replace(leaving.URL, "127.0.0.1", "localhost", 1) + "/here", "leaving/there", true},
	} {
		clear(got)
		body := "hello"
		r := exchange{url: c.to, headers: given, body: &body, timeout: time.Minute, limit: 100, redirect: true}
		if _, err := r.do(context.Background()); err != nil {
			t.Fatal(err)
		}
		headers := got[c.answers]
		for name := range given {
			want := c.keeps || slices.Contains(plain, http.CanonicalHeaderKey(name))
			if has := headers.Get(name) != ""; has != want {
				t.Errorf("%s, asked for %s: has %s: %v", c.answers, c.to, name, has)
			}
		}
		if !c.keeps && strings.Contains(strings.Join(slices.Concat(slices.Collect(maps.Values(headers))...), " "), "secret") {
			t.Errorf("%s got %v", c.answers, headers)
		}
	}
	endless := httptest.NewServer(http.RedirectHandler("/again", http.StatusFound))
	defer endless.Close()
	r := exchange{url: endless.URL, timeout: time.Minute, limit: 100, redirect: true}
	if _, err := r.do(t.Context()); err == nil || !strings.Contains(err.Error(), "stopped after 10 redirects") {
		t.Error(err)
	}
}

func TestOriginIsSchemeHostAndPort(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"http://a/x", "http://a/y?z", true},
		{"http://a", "http://A:80", true},
		{"https://a", "https://a:443/", true},
		{"http://a", "https://a", false},
		{"http://a:443", "https://a", false},
		{"http://a", "http://a:8080", false},
		{"http://a", "http://b.a", false},
		{"http://[::1]:80", "http://[::1]", true},
	} {
		a, errA := url.Parse(c.a)
		b, errB := url.Parse(c.b)
		if errA != nil || errB != nil || isSameOrigin(a, b) != c.same || isSameOrigin(b, a) != c.same {
			t.Errorf("%s and %s: want %v", c.a, c.b, c.same)
		}
	}
}
