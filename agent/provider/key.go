package provider

import (
	"net/http"
	"strings"
)

// KeySchemes are the ways to send a key that [SetKey] knows.
func KeySchemes() []string {
	return []string{"bearer", "api-key", "x-api-key", "x-goog-api-key", "both", "none"}
}

// SetKey puts a key into the header that a scheme says: "bearer" is
// Authorization, "both" is that and Api-Key, "none" sends nothing, the others
// are names of headers. An empty key is not sent.
func SetKey(h http.Header, scheme, key string) {
	if key = strings.TrimSpace(key); key == "" || scheme == "none" {
		return
	}
	bearer := scheme == "bearer" || scheme == "both"
	if bearer {
		h.Set("Authorization", "Bearer "+key)
	}
	if scheme == "both" {
		scheme = "api-key"
	}
	if scheme != "bearer" {
		h.Set(scheme, key)
	}
}

// KeyHeader is a header with the key alone, put there as [SetKey] does.
func KeyHeader(scheme, key string) http.Header {
	h := http.Header{}
	SetKey(h, scheme, key)
	return h
}
