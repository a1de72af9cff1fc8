package provider

import (
	"net/http"
	"strings"

	"pi/agent/llm"
)

// SetSession puts the id of the session into the headers that a server knows it by, so that
// it is answered by the machine that has the session in its cache. names are set apart by
// blanks; a session without an id sends none.
func SetSession(h http.Header, names string, r *llm.Request) {
	if r.SessionID == "" {
		return
	}
	for name := range strings.FieldsSeq(names) {
		h.Set(name, r.SessionID)
	}
}

// Retention are the words of the switch cache_retention.
func Retention() []string { return []string{"", "short", "long"} }

// LongCache are the fields of the APIs of OpenAI that ask for a longer cache. Which of the two
// is a matter of the model.
type LongCache struct {
	Retention string        `json:"prompt_cache_retention,omitempty"`
	Options   *cacheOptions `json:"prompt_cache_options,omitempty"`
}

type cacheOptions struct {
	TTL string `json:"ttl"`
}

// LongCaches are the times that [KeepFor] knows; "" is none.
func LongCaches() []string { return []string{"", "24h", "30m"} }

// KeepFor returns the fields that ask for a cache of one of the [LongCaches].
func KeepFor(long string) LongCache {
	if long == "30m" {
		return LongCache{Options: &cacheOptions{TTL: long}}
	}
	return LongCache{Retention: long}
}

// KeepsLonger reports whether the server of a model can be asked to keep its prompt cache
// for long, as the switch cache_retention does.
func KeepsLonger(m *llm.Model) bool {
	var long string
	s := Switches{"long_cache": &long}
	return s.Set(m) == nil && long != ""
}
