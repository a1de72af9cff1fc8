package llm

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"pi/internal/suggest"
)

// Models is the registry of models, filled by the program's wiring and by
// hooks. All methods are safe for concurrent use.
type Models struct {
	apis map[string]Provider // by the name of the wire API; never changes

	mu    sync.RWMutex      // guards what is registered; never held while a provider is asked for anything
	specs providers         // a list that was handed out is never changed: another one takes its place
	given map[string]string // keys, by GiveKey
	all   Provider          // by AnswerWith
}

// NewModels returns a registry that speaks the given wire APIs.
func NewModels(apis map[string]Provider) *Models {
	return &Models{apis: apis, given: map[string]string{}}
}

// Register adds a provider, or replaces the one of the same name in its place.
func (m *Models) Register(spec ProviderSpec) {
	spec.found = nil
	m.mu.Lock()
	defer m.mu.Unlock()
	m.put(spec)
}

// put adds or replaces a provider. A key that GiveKey gave for its name stays in force.
// The caller has locked mu.
func (m *Models) put(spec ProviderSpec) {
	if key, ok := m.given[spec.Name]; ok {
		spec.Key = func(context.Context) (string, error) { return key, nil }
		spec.HasKey = func() bool { return true }
	}
	if i := m.specs.index(spec.Name); i >= 0 {
		m.specs = slices.Clone(m.specs)
		m.specs[i] = &spec
	} else {
		m.specs = append(slices.Clip(m.specs), &spec)
	}
}

// GiveKey makes key the key of a provider in place of its own. It stays so when the
// provider is registered anew, or for the first time.
func (m *Models) GiveKey(provider, key string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.given[provider] = key
	if i := m.specs.index(provider); i >= 0 {
		m.put(*m.specs[i])
	}
}

// AnswerWith makes p answer for every model whose provider has no Stream of its own. No key
// is asked for any more.
func (m *Models) AnswerWith(p Provider) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.all = p
}

// forAll returns what answers for every model; nil if each has its own client.
func (m *Models) forAll() Provider {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.all
}

// Unregister removes a provider; it reports whether there was one.
func (m *Models) Unregister(name string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	i := m.specs.index(name)
	if i >= 0 {
		m.specs = slices.Delete(slices.Clone(m.specs), i, i+1)
	}
	return i >= 0
}

// now returns the providers that are registered at this moment.
func (m *Models) now() providers {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.specs
}

// Lookup returns the provider registered under name, which may be an alias.
func (m *Models) Lookup(name string) (ProviderSpec, bool) {
	if s := m.now().find(name); s != nil {
		return *s, true
	}
	return ProviderSpec{}, false
}

// Providers lists the providers in order of registration.
func (m *Models) Providers() []ProviderSpec {
	var all []ProviderSpec
	for _, s := range m.now() {
		all = append(all, *s)
	}
	return all
}

// All lists the models in order of registration.
func (m *Models) All() []*Model { return m.now().models(anyProvider) }

// Available lists the models whose provider has a key or needs none.
func (m *Models) Available() []*Model { return m.now().models((*ProviderSpec).isUsable) }

// Find returns the model with exactly this provider and id, or nil. The provider
// may be named by an alias. An id that is not listed is asked of the provider's
// Open. No other provider is asked for anything.
func (m *Models) Find(provider, id string) *Model {
	if s := m.now().find(provider); s != nil && id != "" {
		return s.model(id)
	}
	return nil
}

// Match finds the model that ref means: provider/id, a bare id, a prefix or a
// part of one, or words of it, in whatever case, each optionally followed by
// :level for thinking; the name of a provider alone means the model to begin
// with there. level is "" when ref names none.
//
// The first of these that fits anything decides: exactly provider/id; exactly an
// id, or one but for its date and punctuation; the part of one behind its last slash;
// a prefix; a part, where all punctuation is alike; words in their order; words in any
// order. Models that can be used come before the others,
// but for an id that is exactly that.
// Of a model with dated and undated ids the undated one is meant, else the newest.
// If several are left, the error is an *[AmbiguousError].
//
// If ref begins with the name of a provider and a slash, that provider's models
// come first, with an id that it does not list behind those whose names begin
// with it or contain it. A provider whose exact name and id are given is the
// only one that is asked for its models.
func (m *Models) Match(ref string) (model *Model, level string, err error) {
	if model, level, err = m.now().match(ref); err != nil {
		return nil, "", err
	}
	return model, level, nil
}

// NotThere returns why there can be no model of this provider and id, and which one may be
// meant; "" if there may be one: it is listed, perhaps with a date, or the provider does
// not list all that it has.
func (m *Models) NotThere(provider, id string) string {
	all := m.now()
	why := fmt.Sprintf("there is no provider %q", provider)
	if s := all.find(provider); s != nil {
		listed := s.list()
		if !s.isComplete(listed) && s.Open != nil || len(withID(listed, id)) > 0 {
			return ""
		}
		why = s.Name + " does not list it"
	}
	if near := all.nearest(provider + "/" + id); near != "" {
		why += fmt.Sprintf("; did you mean %s?", near)
	}
	return why
}

// Unlisted tells a person that the provider of model has a list of all its models,
// and this is not on it; "" if it is, or if there is no list.
func (m *Models) Unlisted(model *Model) string {
	s := m.now().find(model.Provider)
	if s == nil {
		return ""
	}
	listed := s.list()
	if !s.isComplete(listed) || hasID(listed, model.ID) {
		return ""
	}
	text := fmt.Sprintf("%s is not among the models that are known of %s; it is asked for as it is written", model.ID, s.Name)
	for _, l := range listed {
		if suggest.Distance(model.ID, l.ID) <= 1+len(l.ID)/8 {
			return text + fmt.Sprintf(" (did you mean %s?)", l.Ref())
		}
	}
	return text
}

// Key returns the key to send for model; "" if it needs none.
func (m *Models) Key(ctx context.Context, model *Model) (string, error) {
	s := m.now().find(model.Provider)
	switch {
	case s == nil && model.NeedsKey:
		return "", providerGone(model)
	case s == nil || s.Key == nil || m.forAll() != nil:
		return "", nil
	}
	return s.Key(ctx)
}

// KeyMissing tells a person what to do about a provider that has no key; "" if it
// can be used.
func (m *Models) KeyMissing(provider string) string {
	if s := m.now().find(provider); s != nil {
		return s.keyMissing()
	}
	return ""
}

// APIs lists the wire APIs that there are clients for.
func (m *Models) APIs() []string { return slices.Sorted(maps.Keys(m.apis)) }

// providerGone is the failure of a model whose provider is not registered.
func providerGone(model *Model) error {
	return &ProviderError{Provider: model.Provider, Message: fmt.Sprintf("model %s: there is no provider %q (any more)", model.Ref(), model.Provider),
		NextStep: "/model or --model chooses another"}
}

// Client returns the provider that streams the answers of model.
func (m *Models) Client(model *Model) (Provider, error) {
	s := m.now().find(model.Provider)
	switch {
	case s == nil:
		return nil, providerGone(model)
	case s.Stream != nil:
		return s.Stream, nil
	}
	if p := m.forAll(); p != nil {
		return p, nil
	}
	if p := m.apis[model.API]; p != nil {
		return p, nil
	}
	known := ""
	if apis := m.APIs(); len(apis) > 0 {
		known = "; there are " + strings.Join(apis, ", ")
	}
	return nil, fmt.Errorf("model %s/%s: no client for api %q%s", model.Provider, model.ID, model.API, known)
}

// Ref is the full name of the model: provider/id.
func (m *Model) Ref() string { return m.Provider + "/" + m.ID }
