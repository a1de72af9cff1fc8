package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// ProviderSpec registers one provider of models under a name.
type ProviderSpec struct {
	Name string
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
	// Open makes a model for an id that Models does not list; nil: no such model.
	Open func(id string) *Model
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

// Register adds a provider, or replaces the one of the same name in its place.
func (m *Models) Register(spec ProviderSpec) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if i := m.index(spec.Name); i >= 0 {
		m.specs[i] = &spec
		return
	}
	m.specs = append(m.specs, &spec)
}

// Unregister removes a provider; it reports whether there was one.
func (m *Models) Unregister(name string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	i := m.index(name)
	if i >= 0 {
		m.specs = slices.Delete(m.specs, i, i+1)
	}
	return i >= 0
}

func (m *Models) index(name string) int {
	return slices.IndexFunc(m.specs, func(s *ProviderSpec) bool { return s.Name == name })
}

func (m *Models) spec(name string) *ProviderSpec {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if i := m.index(name); i >= 0 {
		return m.specs[i]
	}
	return nil
}

// Lookup returns the provider registered under name.
func (m *Models) Lookup(name string) (ProviderSpec, bool) {
	if s := m.spec(name); s != nil {
		return *s, true
	}
	return ProviderSpec{}, false
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
		all = append(all, s.list()...)
	}
	return all
}

// Available lists the models whose provider has a key or needs none.
func (m *Models) Available() []*Model {
	var found []*Model
	for _, s := range m.providers() {
		if s.usable() {
			found = append(found, s.list()...)
		}
	}
	return found
}

func (s *ProviderSpec) usable() bool { return s.HasKey == nil || s.HasKey() }

// Find returns the model with exactly this provider and id, or nil. An id that
// is not listed is asked of the provider's Open.
func (m *Models) Find(provider, id string) *Model {
	s := m.spec(provider)
	if s == nil || id == "" {
		return nil
	}
	for _, model := range s.list() {
		if model.ID == id {
			return model
		}
	}
	if s.Open != nil {
		return s.Open(id)
	}
	return nil
}

// Key returns the key to send for model, "" when it needs none.
func (m *Models) Key(ctx context.Context, model *Model) (string, error) {
	s := m.spec(model.Provider)
	if s == nil || s.Key == nil {
		return "", nil
	}
	return s.Key(ctx)
}

// APIs lists the wire APIs that there are clients for.
func (m *Models) APIs() []string { return slices.Sorted(maps.Keys(m.apis)) }

// Client returns who streams the answers of model.
func (m *Models) Client(model *Model) (Provider, error) {
	if s := m.spec(model.Provider); s != nil && s.Stream != nil {
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

// ErrNoModel is wrapped by the errors of [Models.Match].
var ErrNoModel = errors.New("no such model")

// Match finds the model that ref means: provider/id, a bare id, a prefix or a
// part of one, each optionally followed by :level for thinking. level is ""
// when ref names none. Exact matches win, then models that can be used, then
// prefixes, then the shortest id. If ref begins with the name of a registered
// provider and a slash, that provider's models come first, with an id that it
// does not list as the last of them.
func (m *Models) Match(ref string) (model *Model, level string, err error) {
	if found := m.match(ref, false); found != nil {
		return found, "", nil
	}
	if i := strings.LastIndexByte(ref, ':'); i > 0 && ValidThinking(ref[i+1:]) {
		if found := m.match(ref[:i], true); found != nil {
			return found, ref[i+1:], nil
		}
	}
	return nil, "", fmt.Errorf("%w: %q (/model or `pi models` lists them)", ErrNoModel, ref)
}

// match finds the model for a name without level. A provider is not asked for an
// unlisted id that may have a level at its end, unless the level is cut off.
func (m *Models) match(ref string, cut bool) *Model {
	all := m.All()
	provider, id, _ := strings.Cut(ref, "/")
	s := m.spec(provider)
	if s == nil || id == "" {
		return m.best(all, ref)
	}
	if found := m.best(s.list(), id); found != nil {
		return found
	}
	if i := slices.IndexFunc(all, func(model *Model) bool { return model.ID == ref }); i >= 0 {
		return all[i]
	}
	if s.Open != nil && (cut || !endsInLevel(id)) {
		if opened := s.Open(id); opened != nil {
			return opened
		}
	}
	return m.best(all, ref)
}

func endsInLevel(id string) bool {
	i := strings.LastIndexByte(id, ':')
	return i >= 0 && ValidThinking(id[i+1:])
}

// best returns the candidate that ref fits best, in whatever case; nil if none
// contains it.
func (m *Models) best(candidates []*Model, ref string) *Model {
	if ref = strings.ToLower(ref); ref == "" {
		return nil
	}
	usable := map[*Model]bool{}
	for _, model := range m.Available() {
		usable[model] = true
	}
	var best *Model
	var grade int
	for _, model := range candidates {
		if !strings.Contains(strings.ToLower(model.Ref()), ref) {
			continue
		}
		g := fit(model, ref, usable[model])
		if best == nil || cmp.Or(cmp.Compare(g, grade), cmp.Compare(len(model.ID), len(best.ID)), cmp.Compare(model.Ref(), best.Ref())) < 0 {
			best, grade = model, g
		}
	}
	return best
}

// fit grades how well ref, in lower case, names a model; 0 is best.
func fit(model *Model, ref string, usable bool) int {
	id, full := strings.ToLower(model.ID), strings.ToLower(model.Ref())
	prefix := strings.HasPrefix(id, ref) || strings.HasPrefix(full, ref)
	switch {
	case full == ref:
		return 0
	case id == ref && usable:
		return 1
	case id == ref:
		return 2
	case prefix && usable:
		return 3
	case usable:
		return 4
	case prefix:
		return 5
	}
	return 6
}

// Ref is the name a person uses: provider/id.
func (m *Model) Ref() string { return m.Provider + "/" + m.ID }

// TakesImages reports whether the model accepts images.
func (m *Model) TakesImages() bool { return slices.Contains(m.Input, "image") }
