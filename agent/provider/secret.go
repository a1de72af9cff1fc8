package provider

import (
	"net/http"
	"net/url"
	"strings"
	"unicode"
)

const (
	hidden       = "[key]"
	smallestKey  = 4
	longestShown = 15   // so much of the beginning or end of a key tells nothing new
	longestSaid  = 2000 // bytes of a server's message
)

// secrets are the strings that no error text may hold.
type secrets []string

// collectSecrets takes the key and whatever the request's headers carry under a
// name that speaks of keys.
func collectSecrets(key string, headers ...http.Header) secrets {
	var s secrets
	s.add(key)
	for _, h := range headers {
		for name, values := range h {
			if !isSecretHeader(name) {
				continue
			}
			for _, v := range values {
				s.add(v)
				if _, token, found := strings.Cut(v, " "); found {
					s.add(token)
				}
			}
		}
	}
	return s
}

func (s *secrets) add(v string) {
	if v = strings.TrimSpace(v); len(v) >= smallestKey {
		*s = append(*s, v)
		if q := url.QueryEscape(v); q != v {
			*s = append(*s, q)
		}
	}
}

func isSecretHeader(name string) bool {
	name = strings.ToLower(name)
	for _, word := range []string{"auth", "key", "token", "secret", "cookie", "password"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}

// hide replaces every secret in text, also a long piece of one.
func (s secrets) hide(text string) string {
	for _, v := range s {
		text = strings.ReplaceAll(text, v, hidden)
		for n := len(v) - 1; n > longestShown; n-- {
			text = strings.ReplaceAll(text, v[:n], hidden)
			text = strings.ReplaceAll(text, v[len(v)-n:], hidden)
		}
	}
	return text
}

// said makes a server's words fit to be shown: without keys and control
// characters, and not endless.
func (s secrets) said(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, CleanText(text))
	text = strings.TrimSpace(s.hide(text))
	if len(text) > longestSaid {
		text = CleanText(text[:longestSaid]) + " …"
	}
	return text
}
