// Package anthropic speaks Anthropic's Messages API ("anthropic-messages"), to
// Anthropic itself and to services that copy it.
//
// Thinking blocks come with a signature that only the model that made them can
// read. They go back unchanged to that model, in their place; to another model
// the thought goes as text, and a withheld one not at all. Newer models bind the
// signature to all that stands before it, and the server is asked to leave out what
// does not fit (binding.go).
//
// The newest user block, the one that was newest a request ago, and the system
// prompt carry markers for the prompt cache. Nothing else of a request changes
// when the conversation grows, so the cache stays valid.
//
// Switches, whose values depend on the server and the model as one table in
// package provider has it, and which Model.Compat overrides:
//
//	adaptive_thinking   the model decides how much it thinks, by an effort
//	reasoning_efforts   table of thinking level → effort; "" sends none
//	thinking_display    "summarized" or "omitted", for adaptive thinking; "" leaves it to the model
//	thinking_off        what adaptive thinking is when it is off: "disabled", "low" where the model always thinks, or "between_tools"
//	interleaved         thinking between tool calls (a beta header)
//	block_binding       "drop_block": the server leaves out thoughts that do not fit what stands before them (a beta header); "" asks for nothing
//	tools               false: never send tools
//	cache               markers for the prompt cache
//	cache_ttl           how long the cache holds: "5m" or "1h"; "" says nothing, which is five minutes
//	cache_retention     "long": as long as the server can, see long_cache; that is the key cache of a provider
//	long_cache          the longest that the server can: "1h", or "" if it is not known
//	eager_input_streaming  send "eager_input_streaming": true with each tool: its arguments come as they are written
//	session_header      names of headers for the session id, set apart by blanks
//	auth                how the key is sent: "x-api-key", "bearer", "api-key", "both" or "none"; "" is by the key
//	vertex              the address names the place on Google Cloud, and the model goes into it
//	version             the anthropic-version header
//	beta                further values of the anthropic-beta header, separated by commas
package anthropic

import (
	"net/http"
	"strings"

	"pi/agent/llm"
	"pi/agent/provider"
)

// New returns the client. It may be shared; nil is a client of its own, see
// [provider.NewClient].
func New(client *http.Client) llm.Provider {
	a := new(api)
	return provider.New(client, a.encode, a.newDecoder)
}

// Listing is how servers of this API are asked for their models.
func Listing() provider.Listing {
	return provider.Listing{
		Header: http.Header{"Anthropic-Version": {usualVersion}},
		Scheme: new(compat).keyScheme,
		Address: func(base string) string {
			base = strings.TrimSuffix(strings.TrimRight(base, "/"), "/v1")
			return provider.WithQuery(provider.Join(base, "/v1/models"), "limit=1000")
		},
	}
}

// api has what the requests of a client have in common.
type api struct {
	switches provider.ByModel[*compat]
	drafts   provider.Drafts[*conversation, wireMessage]
}

// CheckCompat reports the first key of a compat table that is not a switch of
// this API, or whose value has the wrong type.
func CheckCompat(values map[string]any) error { return new(compat).switches().Check(values) }
