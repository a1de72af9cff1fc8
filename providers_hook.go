package main

import (
	"context"

	"pi/agent"
	"pi/agent/provider"
	"pi/agent/provider/catalogue"
	"pi/luahooks"
)

// hookServer is what is known of a provider that a hook adds: the same as of one
// that the settings describe.
func (a *app) hookServer(s luahooks.Server) agent.ProviderSpec {
	p := providerSource{
		Provider: catalogue.Provider{Name: s.Name}, ring: a.keys, decode: catalogue.Models,
		set: ProviderConfig{API: s.API, BaseURL: s.BaseURL, APIKey: s.APIKey, Headers: s.Headers},
	}
	spec := p.spec()
	spec.Discover = func(ctx context.Context) ([]*agent.Model, error) {
		asking := p
		asking.client = provider.NewClient()
		return asking.discover(ctx)
	}
	return spec
}
