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

// Watched is a client that stands in for those of all wire APIs, with what goes along with a login, and
// with another try where a server refuses that.
func Watched(client llm.Provider, ring *keyring.Ring) llm.Provider { return keyWatcher{client, ring} }

// Stream streams from the client. If the server refuses the key, the ring is told, so that
// it asks for another one next time, and the error says where the key came from. A login is renewed
// then, once, and the request is made again.
func (p keyWatcher) Stream(ctx context.Context, r *llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		refused, goesOn := p.stream(ctx, withAlong(r, p.ring.Along(r.Model.Provider, r.APIKey)), yield)
		if refused == nil || !goesOn {
			return
		}
		auth, again, err := p.ring.Again(ctx, r.Model.Provider, r.APIKey)
		switch {
		case again:
			renewed := withAlong(r, auth)
			renewed.APIKey = auth.Key
			if refused, goesOn = p.stream(ctx, renewed, yield); refused != nil && goesOn {
				yield(llm.Delta{}, p.withAdvice(refused, r.Model.Provider, renewed.APIKey))
			}
			return
		case err != nil:
			yield(llm.Delta{}, p.withReason(refused, r, err))
		default:
			yield(llm.Delta{}, p.withAdvice(refused, r.Model.Provider, r.APIKey))
		}
	}
}

// stream makes the request once. refused is the error of a server that does not take the key and has
// answered nothing, which is not yielded.
func (p keyWatcher) stream(ctx context.Context, r *llm.Request, yield func(llm.Delta, error) bool) (refused error, goesOn bool) {
	begun := false
	for d, err := range p.client.Stream(ctx, r) {
		if err != nil && provider.RefusesKey(err) {
			p.ring.Refused(r.APIKey)
			if !begun {
				return err, true
			}
		}
		if err != nil {
			err = p.withAdvice(err, r.Model.Provider, r.APIKey)
		}
		begun = begun || err == nil && d.Kind != llm.DeltaPing
		if !yield(d, err) {
			return nil, false
		}
	}
	return nil, true
}

// withAlong returns a request with what goes along with its key.
func withAlong(r *llm.Request, auth llm.Auth) *llm.Request {
	if auth.BaseURL == "" && len(auth.Headers) == 0 {
		return r
	}
	changed, model := *r, *r.Model
	if auth.BaseURL != "" {
		model.BaseURL = auth.BaseURL
	}
	changed.Model, changed.Secret = &model, auth.Headers
	return &changed
}

// withReason is the refusal of a key whose login could not be renewed.
func (p keyWatcher) withReason(refused error, r *llm.Request, why error) error {
	refused = p.withAdvice(refused, r.Model.Provider, r.APIKey)
	if e, ok := errors.AsType[*llm.ProviderError](refused); ok {
		known := *e
		known.Message += "; " + why.Error()
		return &known
	}
	return refused
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
