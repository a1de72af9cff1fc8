// Package wire is the list of the wire APIs that the program speaks. Whoever needs a
// client, or wants to know what holds for an API, looks here and names none itself.
package wire

import (
	"net/http"

	"pi/agent/llm"
	"pi/agent/provider"
	"pi/agent/provider/anthropic"
	"pi/agent/provider/google"
	"pi/agent/provider/openai"
	"pi/agent/provider/responses"
)

// API is one wire API.
type API struct {
	Name        string                            // as [llm.Model] has it
	New         func(*http.Client) llm.Provider   // its client
	CheckCompat func(values map[string]any) error // what of a compat table is no switch of it
	Listing     provider.Listing                  // how its servers are asked for their models
	Maker       string                            // the provider of the catalogue that made it, whose models are known best

	// MayKeepCache says that a server of which no model is named may have some whose cache it
	// keeps for long where that is wanted, as Claude's.
	MayKeepCache bool
}

// APIs returns all wire APIs, in the order of the documentation.
func APIs() []API {
	return []API{
		{Name: llm.AnthropicMessages, New: anthropic.New, CheckCompat: anthropic.CheckCompat, Listing: anthropic.Listing(), Maker: "anthropic", MayKeepCache: true},
		{Name: llm.OpenAICompletions, New: openai.New, CheckCompat: openai.CheckCompat, Listing: openai.Listing(), Maker: "openai"},
		{Name: llm.OpenAIResponses, New: responses.New, CheckCompat: responses.CheckCompat, Maker: "openai"},
		{Name: llm.GoogleGenerativeAI, New: google.New, CheckCompat: google.CheckCompat, Listing: google.Listing(), Maker: "google"},
	}
}

// Find returns the API of that name. ok is false if there is none, as for the models that
// hooks play.
func Find(name string) (api API, ok bool) {
	for _, api := range APIs() {
		if api.Name == name {
			return api, true
		}
	}
	return API{}, false
}
