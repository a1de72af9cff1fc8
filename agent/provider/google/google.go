// Package google speaks Gemini's generateContent ("google-generative-ai"), to
// the Gemini API and to Vertex AI.
//
// A Gemini model signs parts of its answers: a call, a text, a thought, or a part
// that holds nothing else. The signatures stand for what it thought, and only the
// model that made them can read them. Each is kept with its part and goes back on
// that part, to that model: a signed piece of text is therefore a block of its
// own, be it empty. Signed parts of kinds that pi does not know are kept whole,
// as the signature of a thought without text.
//
// Calls have no ids on most of these models, so ids are made up here; they begin
// with "call_pi_" and are never sent. An id that the service gave is sent back to
// it. In any case results stand in the order of the calls and repeat their names.
//
// Tools are described in a part of JSON Schema only; see schema.go for what
// becomes of the rest.
//
// Switches in Model.Compat:
//
//	auth                   "x-goog-api-key" or "bearer"; default by the key, and bearer on Vertex AI
//	thinking_format        "budget" (tokens), "level" (a word), or "none"; default by the model's id
//	schema                 "subset" of JSON Schema in parameters, or "json": all of it in parametersJsonSchema
//	tool_images            where images of tool results go: "response" (into the result), or "turn" (behind
//	                       the results); default by the model's id
//	placeholder_signature  calls that another model made get a signature that is not checked; default by the
//	                       model's id
//	tool_mode              functionCallingConfig.mode: "AUTO", "VALIDATED", "ANY" or "NONE"; default none is sent
package google

import (
	"context"
	"iter"
	"net/http"

	"pi/agent"
	"pi/agent/provider"
)

// New returns the client. It may be shared; nil is a client of its own, see
// [provider.NewClient].
func New(client *http.Client) agent.Provider {
	if client == nil {
		client = provider.NewClient()
	}
	return &generateAPI{client}
}

type generateAPI struct{ client *http.Client }

func (a *generateAPI) Stream(ctx context.Context, r *agent.Request) iter.Seq2[agent.Delta, error] {
	return func(yield func(agent.Delta, error) bool) {
		provider.Stream(ctx, a.client, r, encode, &decoder{price: r.Model.Cost})(yield)
	}
}

// CheckCompat reports the first key of a compat table that is not a switch of
// this API, or whose value has the wrong type.
func CheckCompat(values map[string]any) error { return new(compat).switches().Check(values) }
