package stdlib

import (
	"bufio"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
)

// FuzzWhichRequestsAreServed compares what a server of a hook refuses with the
// rules for it, for requests as they come over the wire.
func FuzzWhichRequestsAreServed(f *testing.F) {
	for _, seed := range []string{"127.0.0.1:7777", "localhost:7777", "LOCALHOST:7777", "evil.example:7777", "127.0.0.1", "127.0.0.1:80", "127.0.0.1:7777.evil.example", "[::1]:7777", "", "a b"} {
		f.Add(seed, "", "", "Bearer secret", "/hook")
		f.Add("127.0.0.1:7777", "http://"+seed, "same-origin", "bearer  secret", "/hook?x=1")
	}
	for _, seed := range []string{"null", "https://127.0.0.1:7777", "http://localhost:7777/x", "http://a@127.0.0.1:7777", "%zz"} {
		f.Add("localhost:7777", seed, "none", "Bearer secret", "/hook")
	}
	f.Add("localhost:7777", "", "cross-site", "Bearer secret", "/hook")
	f.Add("localhost:7777", "", "", "Basic secret", "/hook")
	f.Add("localhost:7777", "", "", "Bearer secret2", "/hook/")
	f.Fuzz(func(t *testing.T, host, origin, site, authorization, target string) {
		text := "POST " + target + " HTTP/1.1\r\nHost: " + host + "\r\nOrigin: " + origin + "\r\nSec-Fetch-Site: " + site +
			"\r\nAuthorization: " + authorization + "\r\nContent-Length: 0\r\n\r\n"
		r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(text)))
		if err != nil {
			return
		}
		_, _ = io.Copy(io.Discard, r.Body)
		for _, s := range []*server{{port: 7777}, {port: 80, path: "/hook"}, {port: 7777, path: "/hook", token: "secret"}} {
			if got, want := s.refuse(r), expected(s, r); got != want {
				t.Errorf("port %d, path %q, token %q: %q is refused with %d, want %d", s.port, s.path, s.token, text, got, want)
			}
		}
	})
}

// expected is the reference: a list of what is let through, nothing else is.
func expected(s *server, r *http.Request) int {
	var ours []string
	for _, name := range []string{"127.0.0.1", "localhost"} {
		ours = append(ours, name+":"+strconv.Itoa(s.port))
		if s.port == 80 {
			ours = append(ours, name)
		}
	}
	among := func(host string) bool {
		for _, our := range ours {
			if strings.EqualFold(host, our) {
				return true
			}
		}
		return false
	}
	origin := r.Header.Get("Origin")
	authority, plain := strings.CutPrefix(origin, "http://")
	if i := strings.IndexAny(authority, "/?#"); i >= 0 {
		authority = authority[:i]
	}
	authority = authority[strings.LastIndexByte(authority, '@')+1:]
	site := r.Header.Get("Sec-Fetch-Site")
	words := strings.Fields(r.Header.Get("Authorization"))
	switch {
	case !among(r.Host), site == "cross-site", site == "same-site", origin != "" && !(plain && among(authority)):
		return http.StatusForbidden
	case s.token != "" && !(len(words) == 2 && strings.EqualFold(words[0], "Bearer") && words[1] == s.token):
		return http.StatusUnauthorized
	case s.path != "" && r.URL.Path != s.path:
		return http.StatusNotFound
	}
	return 0
}
