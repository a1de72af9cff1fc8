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

// ProviderSpec registers one provider of models under a name.
type ProviderSpec struct {
	Name string
	// Aliases are other names that it is found by; its models have Name.
	Aliases []string
	// Models lists the models, the same ones each time; nil: none. It is asked
	// when somebody needs the list, and may take a moment the first time.
	Models func() []*Model
	// Default is the id of the model to begin with; "" for none.
	Default string
	// Key returns the key to send, "" if none is needed. It is asked before
	// every request, so a key that changes is picked up. nil: no key.
	Key func(context.Context) (string, error)
	// HasKey tells without asking anybody whether Key would find one.
	HasKey func() bool
	// KeyHint is what a person does to give it a key, such as "export NAME". It is
	// asked when there is none. nil: nothing is known.
	KeyHint func() string
	// Open makes a model for an id that Models does not list; nil: no such model.
	Open func(id string) *Model
	// Discover asks the provider itself what it has; nil: it cannot be asked. It is
	// called when a person looks for a model, and never at start.
	Discover func(context.Context) ([]*Model, error)
	// Partial says that it may have others than Models lists, as a server at an
	// address of the person's own.
	Partial bool
	// Aside keeps its models from being cycled through; they are chosen by name.
	Aside bool
	// Stream answers for the models of this provider itself, instead of the
	// client of their wire API.
	Stream Provider
}

// Models is the registry of models, filled by the program's wiring and by
// hooks. All methods are safe for concurrent use.
type Models struct {
	mu    sync.RWMutex
	apis  map[string]Provider
	specs []*ProviderSpec
	found map[string][]*Model // by Discover, of each provider
	given map[string]string   // keys, by GiveKey
}

// NewModels returns a registry that speaks the given wire APIs.
func NewModels(apis map[string]Provider) *Models { return &Models{apis: apis} }

// Listed is the Models of a provider whose models are known beforehand.
func Listed(models ...*Model) func() []*Model { return func() []*Model { return models } }

func (s *ProviderSpec) list() []*Model {
	if s.Models == nil {
		return nil
	}
	return s.Models()
}

// list is what a provider lists, and what it was found to have besides.
func (m *Models) list(s *ProviderSpec) []*Model {
	listed := s.list()
	m.mu.RLock()
	defer m.mu.RUnlock()
	for _, found := range m.found[s.Name] {
		if !slices.ContainsFunc(listed, func(l *Model) bool { return l.ID == found.ID }) {
			listed = append(slices.Clip(listed), found)
		}
	}
	return listed
}

// Register adds a provider, or replaces the one of the same name in its place.
func (m *Models) Register(spec ProviderSpec) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.found, spec.Name)
	m.handOver(&spec)
	if i := m.index(spec.Name); i >= 0 {
		m.specs[i] = &spec
		return
	}
	m.specs = append(m.specs, &spec)
}

// GiveKey makes key that of a provider in place of its own, also when it is
// registered anew.
func (m *Models) GiveKey(provider, key string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.given == nil {
		m.given = map[string]string{}
	}
	m.given[provider] = key
	if i := m.index(provider); i >= 0 {
		spec := *m.specs[i]
		m.handOver(&spec)
		m.specs[i] = &spec
	}
}

func (m *Models) handOver(spec *ProviderSpec) {
	if key, ok := m.given[spec.Name]; ok {
		spec.Key = func(context.Context) (string, error) { return key, nil }
		spec.HasKey = func() bool { return true }
	}
}

// Unregister removes a provider; it reports whether there was one.
func (m *Models) Unregister(name string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	i := m.index(name)
	if i >= 0 {
		m.specs = slices.Delete(m.specs, i, i+1)
		delete(m.found, name)
	}
	return i >= 0
}

func (m *Models) index(name string) int {
	return slices.IndexFunc(m.specs, func(s *ProviderSpec) bool { return s.Name == name })
}

// spec returns the provider of a name, or else of an alias.
func (m *Models) spec(name string) *ProviderSpec {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if i := m.index(name); i >= 0 {
		return m.specs[i]
	}
	for _, s := range m.specs {
		if slices.Contains(s.Aliases, name) {
			return s
		}
	}
	return nil
}

// Lookup returns the provider registered under name, which may be an alias.
func (m *Models) Lookup(name string) (ProviderSpec, bool) {
	if s := m.spec(name); s != nil {
		return *s, true
	}
	return ProviderSpec{}, false
}

// Providers lists the providers in order of registration.
func (m *Models) Providers() []ProviderSpec {
	var all []ProviderSpec
	for _, s := range m.providers() {
		all = append(all, *s)
	}
	return all
}

// providers returns the list as it is now, so that no callback of a provider is
// called while the registry is locked.
func (m *Models) providers() []*ProviderSpec {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return slices.Clone(m.specs)
}

// All lists the models in order of registration.
func (m *Models) All() []*Model {
	var all []*Model
	for _, s := range m.providers() {
		all = append(all, m.list(s)...)
	}
	return all
}

// Available lists the models whose provider has a key or needs none.
func (m *Models) Available() []*Model {
	return m.listed((*ProviderSpec).usable)
}

// listed lists the models of the providers that are wanted, and asks no other.
func (m *Models) listed(wanted func(*ProviderSpec) bool) []*Model {
	var found []*Model
	for _, s := range m.providers() {
		if wanted(s) {
			found = append(found, m.list(s)...)
		}
	}
	return found
}

func (s *ProviderSpec) usable() bool { return s.HasKey == nil || s.HasKey() }

// Find returns the model with exactly this provider and id, or nil. The provider
// may be named by an alias. An id that is not listed is asked of the provider's
// Open. No other provider is asked for anything.
func (m *Models) Find(provider, id string) *Model {
	s := m.spec(provider)
	if s == nil || id == "" {
		return nil
	}
	for _, model := range m.list(s) {
		if model.ID == id {
			return model
		}
	}
	if s.Open != nil {
		return s.Open(id)
	}
	return nil
}

// closed reports whether only what is listed of a provider can be there: all its
// models are known, or it was asked for them.
func (m *Models) closed(s *ProviderSpec, listed []*Model) bool {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return len(listed) > 0 && (!s.Partial || m.found[s.Name] != nil)
}

// NotThere says why there can be no model of this provider and id, and which one
// may have been meant; "" if there may be one: it is listed, by this name or the same
// with a date, or only the provider knows what it has.
func (m *Models) NotThere(provider, id string) string {
	why := fmt.Sprintf("there is no provider %q", provider)
	if s := m.spec(provider); s != nil {
		listed := m.list(s)
		if !m.closed(s, listed) && s.Open != nil || len(withID(listed, id)) > 0 {
			return ""
		}
		why = s.Name + " does not list it"
	}
	if near := m.nearest(provider + "/" + id); near != "" {
		why += fmt.Sprintf("; did you mean %s?", near)
	}
	return why
}

// Unlisted tells a person that the provider of model has a list of all its models,
// and this is not on it; "" if it is, or if there is no list.
func (m *Models) Unlisted(model *Model) string {
	s := m.spec(model.Provider)
	if s == nil {
		return ""
	}
	listed := m.list(s)
	if !m.closed(s, listed) || slices.ContainsFunc(listed, func(l *Model) bool { return l.ID == model.ID }) {
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

// Key returns the key to send for model, "" when it needs none.
func (m *Models) Key(ctx context.Context, model *Model) (string, error) {
	s := m.spec(model.Provider)
	switch {
	case s == nil && model.NeedsKey:
		return "", providerGone(model)
	case s == nil || s.Key == nil:
		return "", nil
	}
	return s.Key(ctx)
}

// KeyMissing tells a person what to do about a provider that has no key; "" if it
// can be used.
func (m *Models) KeyMissing(provider string) string {
	s := m.spec(provider)
	if s == nil || s.usable() {
		return ""
	}
	hint := fmt.Sprintf("set api_key of [providers.%s] in config.toml, or its environment variable", s.Name)
	if s.KeyHint != nil {
		hint = s.KeyHint()
	}
	return fmt.Sprintf("no key for %s yet: %s", s.Name, hint)
}

// APIs lists the wire APIs that there are clients for.
func (m *Models) APIs() []string { return slices.Sorted(maps.Keys(m.apis)) }

// providerGone is the failure of a model whose provider is not registered.
func providerGone(model *Model) error {
	return &ProviderError{Provider: model.Provider, Message: fmt.Sprintf("model %s: there is no provider %q (any more)", model.Ref(), model.Provider),
		NextStep: "/model or --model chooses another"}
}

// Client returns who streams the answers of model.
func (m *Models) Client(model *Model) (Provider, error) {
	s := m.spec(model.Provider)
	switch {
	case s == nil:
		return nil, providerGone(model)
	case s.Stream != nil:
		return s.Stream, nil
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	if p := m.apis[model.API]; p != nil {
		return p, nil
	}
	known := ""
	if apis := m.APIs(); len(apis) > 0 {
		known = "; there are " + strings.Join(apis, ", ")
	}
	return nil, fmt.Errorf("model %s/%s: no client for api %q%s", model.Provider, model.ID, model.API, known)
}

// Ref is the name a person uses: provider/id.
func (m *Model) Ref() string { return m.Provider + "/" + m.ID }

// TakesImages reports whether the model accepts images.
func (m *Model) TakesImages() bool { return slices.Contains(m.Input, "image") }
