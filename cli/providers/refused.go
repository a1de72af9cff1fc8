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

// keyWatcher is a client that tells the ring of keys when a server refuses one, and
// adds to the error where the key is from, or how to set one.
type keyWatcher struct {
	client llm.Provider
	ring   *keyring.Ring
}

// Stream streams from the client. If the server refuses the key, the ring is told, so that
// it asks for another one next time, and the error says where the key came from.
func (p keyWatcher) Stream(ctx context.Context, r *llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		for d, err := range p.client.Stream(ctx, r) {
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

// SendsOff is what the client knows of it, see [llm.OffSender]; one that does not know is believed to.
func (p keyWatcher) SendsOff(m *llm.Model) bool {
	c, knows := p.client.(llm.OffSender)
	return !knows || c.SendsOff(m)
}

// withAdvice returns err with advice about the place that this key came from, if that is
// known, in place of the general hint about where keys can be.
func (p keyWatcher) withAdvice(err error, name, key string) error {
	advice := p.ring.Advice(name, key)
	e, ok := errors.AsType[*llm.ProviderError](err)
	if advice == "" || !ok {
		return err
	}
	known := *e
	known.NextStep = strings.Replace(e.NextStep, provider.KeyHint(name, key == ""), advice, 1)
	return &known
}
