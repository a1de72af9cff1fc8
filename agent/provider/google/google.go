// Package google speaks Gemini's generateContent ("google-generative-ai"), to
// the Gemini API and to Vertex AI.
//
// A Gemini model signs parts of its answers: a call, a text, a thought, or an empty
// part. A signature encodes the model's thoughts, and only the model that made it can
// read it. Each is kept with its part and sent back on that part, to that model: a
// signed piece of text is therefore a block of its own, even if it is empty. Signed
// parts of kinds that pi does not know are kept whole, as the signature of a thought
// without text.
//
// Calls have no ids on most of these models, so ids are made up here; they begin
// with "call_pi_" and are never sent. An id that the service gave is sent back to
// it. In any case results are in the order of the calls and repeat their names.
//
// Tools are described in a part of JSON Schema only; see schema.go for what
// becomes of the rest.
//
// The differences of models and servers are in a table (see package provider), and
// Model.Compat overrides it:
//
//	auth                   how the key goes: "x-goog-api-key", "bearer", …; default by the form of the key, and bearer on Vertex AI
//	thinking_format        how thinking is asked for: "budget" (in tokens), "level" (by a word), or "none"
//	thinking_budgets       table of thinking level → tokens; -1 leaves it to the model, "" sends nothing
//	thinking_levels        table of thinking level → word of the service
//	schema                 tools are described in a "subset" of JSON Schema, or in all of it: "json"
//	tool_images            images of tool results go into the "response", or as further parts of the "turn"
//	placeholder_signature  a call that another model made is sent with a signature that is not checked
//	tool_mode              functionCallingConfig.mode: "AUTO", "VALIDATED", "ANY" or "NONE"; default none is sent
package google

import (
	"net/http"

	"pi/agent/llm"
	"pi/agent/provider"
)

// New returns the client. It may be shared; nil is a client of its own, see
// [provider.NewClient].
func New(client *http.Client) llm.Provider {
	return provider.New(client, new(api).encode, func(r *llm.Request) provider.Decoder { return &decoder{price: r.Model.Cost, tools: r.Tools} })
}

// Listing is how servers of this API are asked for their models.
func Listing() provider.Listing {
	return provider.Listing{
		Scheme:  func(string) string { return "x-goog-api-key" },
		Address: func(base string) string { return provider.WithQuery(provider.Join(base, "/models"), "pageSize=1000") },
	}
}

// api has what the requests of a client have in common.
type api struct {
	switches provider.ByModel[*compat]
	drafts   provider.Drafts[*conversation, content]
}

// CheckCompat reports the first key of a compat table that is not a switch of
// this API, or whose value has the wrong type.
func CheckCompat(values map[string]any) error { return new(compat).switches().Check(values) }
