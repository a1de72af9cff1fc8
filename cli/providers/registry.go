// Package providers registers whom a run may ask: the providers of the catalogue
// and those that the settings or hooks describe. A section of the settings with the
// name of one of the catalogue overrides it, field by field. Nothing of the
// catalogue's models is decoded before somebody asks for the models of that
// provider.
//
//	registry.go  [New] fills the registry
//	source.go    where a provider is asked, and with which key
//	models.go    its models: the catalogue's, those of the settings, and unheard-of ones
//	overlay.go   [Overlay]: a provider with what a hook says of it on top
//	check.go     what of the settings has no effect, and who cannot be used
//	states.go    what else is asked about the settings of a provider
//	login.go     who may be logged in to, and whether a server takes a key
//	refused.go   what happens when a server refuses a key
//
// A wire API is a row of the table in package wire, and what holds for one is said
// there; a provider that speaks one of them is in the catalogue.
package providers

import (
	"context"
	"net/http"
	"sync"

	"pi/agent/llm"
	"pi/agent/provider"
	"pi/agent/provider/wire"
	"pi/cli/config"
	"pi/cli/keyring"
)

// New returns a registry with all providers of the catalogue and the settings. decode
// returns the models that the catalogue has of a provider, new ones at each call.
func New(cfg config.Config, ring *keyring.Ring, decode func(provider string) []*llm.Model) *llm.Models {
	client := provider.NewClient()
	models := llm.NewModels(clients(client, ring))
	all := sources(cfg, ring)
	for i := range all {
		p := &all[i]
		p.client, p.decode = client, decode
		if why := p.unusable(); why == "" {
			models.Register(p.spec())
		} else if p.Hint != "" {
			models.Register(p.unusableSpec(why))
		}
	}
	return models
}

// clients returns the client of each wire API, by its name.
func clients(client *http.Client, ring *keyring.Ring) map[string]llm.Provider {
	all := map[string]llm.Provider{}
	for _, api := range wire.APIs() {
		all[api.Name] = keyWatcher{api.New(client), ring}
	}
	return all
}

// spec returns the provider as the registry wants it. It is called for every provider at
// every start, so whatever takes time is in functions that are called later.
func (p *source) spec() llm.ProviderSpec {
	spec := llm.ProviderSpec{
		Name: p.Name, Aliases: p.Aliases, Default: p.defaultModel(), Models: sync.OnceValue(p.models), Open: p.unlisted,
		Key:     func(ctx context.Context) (string, error) { return p.key().Resolve(ctx) },
		HasKey:  func() bool { return p.key().Present() },
		KeyHint: func() string { return p.key().Hint() },

		IsSignedIn: func() bool { return p.key().IsLogin() },
	}
	if p.Local || p.ownAddress() != "" { // of the others the catalogue knows
		spec.Discover = p.discover
	}
	return spec
}

// unusableSpec returns a provider that cannot be used before the user sets more than a
// key, such as its address. Its models are listed, and why says what to do.
func (p *source) unusableSpec(why string) llm.ProviderSpec {
	return llm.ProviderSpec{
		Name: p.Name, Aliases: p.Aliases, Default: p.Default, Models: sync.OnceValue(p.models), KeyHint: func() string { return why },
		Open: p.unlisted, HasKey: func() bool { return false },
		Key: func(context.Context) (string, error) {
			return "", &llm.ProviderError{Provider: p.Name, Message: "where to ask is not known", NextStep: why}
		},
	}
}
