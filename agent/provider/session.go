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

// KeepsLonger reports whether the server of a model can be asked to keep its prompt cache
// for long, as the switch cache_retention does.
func KeepsLonger(m *llm.Model) bool {
	var long string
	s := Switches{"long_cache": &long}
	return s.Set(m) == nil && long != ""
}
