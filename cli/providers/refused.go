package providers

import (
	"context"
	"errors"
	"iter"
	"strings"

	"pi/agent/llm"
	"pi/agent/provider"
	"pi/cli/keyring"
)

// keyWatcher is a client that minds when a server refuses a key: a command that
// printed it is asked anew at the next request, and the error says where the key
// is from, or how to set one.
type keyWatcher struct {
	llm.Provider
	ring *keyring.Ring
}

func (p keyWatcher) Stream(ctx context.Context, r *llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		for d, err := range p.Provider.Stream(ctx, r) {
			if err != nil && provider.RefusesKey(err) {
				p.ring.Refused(r.APIKey)
			}
			if err != nil {
				err = p.withAdvice(err, r.Model.Provider, r.APIKey)
			}
			if !yield(d, err) {
				return
			}
		}
	}
}

// withAdvice is an error whose hint speaks of the place that the key is from, if
// that is known, in place of all the places where keys may be.
func (p keyWatcher) withAdvice(err error, name, key string) error {
	advice := p.ring.Advice(name, key)
	var e *llm.ProviderError
	if advice == "" || !errors.As(err, &e) {
		return err
	}
	known := *e
	known.Hint = strings.Replace(e.Hint, provider.KeyHint(name, key == ""), advice, 1)
	return &known
}
