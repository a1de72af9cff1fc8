package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"

	"pi/agent/llm"
	"pi/agent/provider"
)

// refusals is a client that minds when a server refuses a key: a command that
// printed it is asked anew at the next request, and the error says where the key
// is from, or how to set one.
type refusals struct {
	llm.Provider
	ring *keyring
}

func (p refusals) Stream(ctx context.Context, r *llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		for d, err := range p.Provider.Stream(ctx, r) {
			if err != nil && provider.RefusesKey(err) {
				p.ring.commands.refused(r.APIKey)
			}
			if err != nil {
				err = p.ring.explained(err, r.Model.Provider, r.APIKey)
			}
			if !yield(d, err) {
				return
			}
		}
	}
}

// sentKey is a key as it was sent, "" where none was.
type sentKey struct{ provider, key string }

// ofHook stands for whatever key a hook gives its provider.
const ofHook = "\x00hook"

// sent notes what to do if a server does not take a key.
func (r *keyring) sent(provider, key, advice string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.from == nil {
		r.from = map[sentKey]string{}
	}
	r.from[sentKey{provider, key}] = advice
}

// explained is an error whose hint speaks of the place that the key is from, if
// that is known, in place of all the places where keys may be.
func (r *keyring) explained(err error, name, key string) error {
	r.mu.Lock()
	advice := r.from[sentKey{name, key}]
	if advice == "" {
		advice = r.from[sentKey{name, ofHook}]
	}
	r.mu.Unlock()
	var e *llm.ProviderError
	if advice == "" || !errors.As(err, &e) {
		return err
	}
	known := *e
	known.Hint = strings.Replace(e.Hint, provider.KeyHint(name, key == ""), advice, 1)
	return &known
}

// refused says what to do if the server refuses the key of a place.
func (k providerKey) refused(p keyPlace) string {
	setting := fmt.Sprintf("api_key of [providers.%s] in config.toml", k.provider)
	switch {
	case p.spec == "" && p.login == nil:
		return "no key was sent: " + k.advice()
	case k.configured != "" && strings.HasPrefix(k.configured, "!"):
		return fmt.Sprintf("the key is what the command in %s prints; it is run again for the next request", setting)
	case k.configured != "":
		return "the key is from " + setting + "; check it"
	case p.name == "auth.json":
		return fmt.Sprintf("the key is from %s; log in again with the program that wrote it, or set %s", k.ring.auth.path, setting)
	}
	return fmt.Sprintf("the key is from the variable %s; check it, or set %s", p.name, setting)
}
