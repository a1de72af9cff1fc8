package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"

	"pi/agent"
	"pi/agent/provider"
)

// refusals is a client that minds when a server refuses a key: a command that
// printed it is asked anew at the next request, and the error says where the key
// is from.
type refusals struct {
	agent.Provider
	ring *keyring
}

func (p refusals) Stream(ctx context.Context, r *agent.Request) iter.Seq2[agent.Delta, error] {
	return func(yield func(agent.Delta, error) bool) {
		for d, err := range p.Provider.Stream(ctx, r) {
			if err != nil && provider.RefusesKey(err) {
				p.ring.commands.refused(r.APIKey)
				err = p.ring.explained(err, r.APIKey)
			}
			if !yield(d, err) {
				return
			}
		}
	}
}

// sent notes what to do if a key is refused.
func (r *keyring) sent(key, advice string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.from == nil {
		r.from = map[string]string{}
	}
	r.from[key] = advice
}

// explained is a refusal whose hint speaks of the place that the key is from, if
// that is known, in place of all the places where keys may be.
func (r *keyring) explained(err error, key string) error {
	r.mu.Lock()
	advice := r.from[key]
	r.mu.Unlock()
	var e *agent.ProviderError
	if advice == "" || key == "" || !errors.As(err, &e) || !strings.HasPrefix(e.Hint, "check api_key of ") {
		return err
	}
	known := *e
	known.Hint = advice
	return &known
}

// refused says what to do if the server refuses the key of a place.
func (k providerKey) refused(p keyPlace) string {
	setting := fmt.Sprintf("api_key of [providers.%s] in config.toml", k.provider)
	switch {
	case k.configured != "" && strings.HasPrefix(k.configured, "!"):
		return fmt.Sprintf("the key is what the command in %s prints; it is run again for the next request", setting)
	case k.configured != "":
		return "the key is from " + setting + "; check it"
	case p.name == "auth.json":
		return fmt.Sprintf("the key is from %s; log in again with the program that wrote it, or set %s", k.ring.auth.path, setting)
	}
	return fmt.Sprintf("the key is from the variable %s; check it, or set %s", p.name, setting)
}
