package providers

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"pi/agent/llm"
	"pi/agent/provider"
	"pi/agent/provider/catalogue"
	"pi/cli/config"
	"pi/cli/keyring"
)

// OfHook is what is known of a provider that a hook adds: the same as of one that
// the settings describe so.
func OfHook(ring *keyring.Ring, name string, set config.Provider) llm.ProviderSpec {
	p := source{Provider: catalogue.Provider{Name: name}, set: set, ring: ring, decode: catalogue.Models}
	ring.Sent(name, keyring.AnyKey, fmt.Sprintf("check api_key of pi.provider(%q) in its hook", name))
	spec := p.spec()
	spec.Partial = true
	spec.Discover = func(ctx context.Context) ([]*llm.Model, error) {
		asking := p
		asking.client = provider.NewClient()
		return asking.discover(ctx)
	}
	return spec
}

// CheckSwitches says what is wrong with the switches of a provider of a hook. One
// that leaves the API as it is may name those of any.
func CheckSwitches(api string, switches map[string]any) error {
	p := source{set: config.Provider{API: api}}
	if api == "" {
		p.API = "openai-completions"
	}
	for _, name := range slices.Sorted(maps.Keys(switches)) {
		if err := p.checkSwitch(map[string]any{name: switches[name]}); err != nil {
			return err
		}
	}
	return nil
}
