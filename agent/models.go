package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// ThinkingLevels are the levels a request may ask for, lowest first.
var thinkingLevels = []string{"off", "minimal", "low", "medium", "high", "xhigh", "max"}

// ValidThinking reports whether level is one of the thinking levels.
func ValidThinking(level string) bool { return slices.Contains(thinkingLevels, level) }

// ThinkingLevels returns the thinking levels, lowest first.
func ThinkingLevels() []string { return slices.Clone(thinkingLevels) }

// ProviderSpec registers one provider of models under a name.
type ProviderSpec struct {
	Name   string
	Models []*Model
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

// All lists the models in order of registration.
func (m *Models) All() []*Model {
	m.mu.RLock()
	defer m.mu.RUnlock()
	var all []*Model
	for _, s := range m.specs {
		all = append(all, s.Models...)
	}
	return all
}

// Available lists the models whose provider has a key or needs none.
func (m *Models) Available() []*Model {
	m.mu.RLock()
	defer m.mu.RUnlock()
	var found []*Model
	for _, s := range m.specs {
		if s.usable() {
			found = append(found, s.Models...)
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
	for _, model := range s.Models {
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
	return nil, fmt.Errorf("model %s/%s: no client for api %q", model.Provider, model.ID, model.API)
}

// ErrNoModel is wrapped by the errors of [Models.Match].
var ErrNoModel = errors.New("no such model")

// Match finds the model that ref means: provider/id, a bare id, a prefix or a
// part of one, each optionally followed by :level for thinking. level is ""
// when ref names none. Exact matches win, then models that can be used, then
// the shortest id.
func (m *Models) Match(ref string) (model *Model, level string, err error) {
	if found := m.match(ref); found != nil {
		return found, "", nil
	}
	if i := strings.LastIndexByte(ref, ':'); i > 0 && ValidThinking(ref[i+1:]) {
		if found := m.match(ref[:i]); found != nil {
			return found, ref[i+1:], nil
		}
	}
	return nil, "", fmt.Errorf("%w: %q (/model or `pi models` lists them)", ErrNoModel, ref)
}

func (m *Models) match(ref string) *Model {
	for _, model := range m.All() {
		if model.Ref() == ref || model.ID == ref {
			return model
		}
	}
	if best := m.fuzzy(strings.ToLower(ref)); best != nil {
		return best
	}
	if provider, id, ok := strings.Cut(ref, "/"); ok && !endsInLevel(id) {
		return m.Find(provider, id)
	}
	return nil
}

func endsInLevel(id string) bool {
	i := strings.LastIndexByte(id, ':')
	return i >= 0 && ValidThinking(id[i+1:])
}

func (m *Models) fuzzy(ref string) *Model {
	usable := map[*Model]bool{}
	for _, model := range m.Available() {
		usable[model] = true
	}
	var found []*Model
	for _, model := range m.All() {
		if strings.Contains(strings.ToLower(model.Ref()), ref) {
			found = append(found, model)
		}
	}
	if len(found) == 0 || ref == "" {
		return nil
	}
	rank := func(x *Model) int {
		r := 0
		if !usable[x] {
			r += 2
		}
		if !strings.HasPrefix(strings.ToLower(x.ID), ref) && !strings.HasPrefix(strings.ToLower(x.Ref()), ref) {
			r++
		}
		return r
	}
	return slices.MinFunc(found, func(x, y *Model) int {
		return cmp.Or(cmp.Compare(rank(x), rank(y)), cmp.Compare(len(x.ID), len(y.ID)), cmp.Compare(x.Ref(), y.Ref()))
	})
}

// Ref is the name a person uses: provider/id.
func (m *Model) Ref() string { return m.Provider + "/" + m.ID }

// TakesImages reports whether the model accepts images.
func (m *Model) TakesImages() bool { return slices.Contains(m.Input, "image") }
