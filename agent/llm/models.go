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
	spec.found, spec.more = nil, false
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
// is asked for any more, but what a user has signed in with.
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

// CountUsable is how many providers have a key or need none.
func (m *Models) CountUsable() (n int) {
	for _, s := range m.now() {
		if s.isUsable() {
			n++
		}
	}
	return n
}

// Find returns the model with exactly this provider and id, or nil. The provider
// may be named by an alias. An id that is not listed is asked of the provider's
// Open. No other provider is asked for anything.
func (m *Models) Find(provider, id string) *Model {
	if s := m.now().find(provider); s != nil && id != "" {
		return s.model(id)
	}
	return nil
}

// Match finds the model that ref means: provider/id, a bare id or words of one, in
// whatever case, each optionally followed by :level for thinking; the name of a
// provider alone means the model to begin with there. level is "" when ref names
// none.
//
// The first of these that fits anything decides: exactly provider/id; exactly an
// id, or one but for its date and punctuation; the part of one behind its last slash;
// words of provider/id. Models that can be used come before the others, but for an id
// that is exactly that.
//
// A word fits one that begins with it. Numbers fit whole and next to each other, as the
// version of the model or as its date: 5 is neither in 4-5 nor in 5-5 nor in 5v, and
// opus-5 never means another version. Letters with a number right behind them (k3, gpt6)
// fit that whole word with the number behind it. Of several models that fit, the best are
// those of which only a date is left behind the words, and no number before them; then
// those that begin with them, have them next to each other, in their order, in any order.
// Of a model with dated and undated ids the undated one is meant, else the newest.
// If several are left, the error is an *[AmbiguousError]. If none fits, it names the
// nearest.
//
// If ref begins with the name of a provider and a slash, that provider's models come
// first: those that have the words next to each other; if there are numbers among them,
// only without others behind. An id that it does not list comes next, as it is
// written, and then all else that fits. A provider whose exact name and id are given is
// the only one that is asked for its models.
func (m *Models) Match(ref string) (model *Model, level string, err error) {
	if model, level, err = m.now().match(ref); err != nil {
		return nil, "", err
	}
	return model, level, nil
}

// Completed tells a user which model ref was taken for; "" if ref has all of its id,
// in whatever case and punctuation, with its provider or without.
func (m *Models) Completed(ref string, model *Model) string {
	all, whole, name := m.now(), plainName(model.ID), ""
	for _, r := range readingsOf(strings.TrimSpace(ref)) {
		name = r.name
		if _, id := all.qualified(name); plainName(name) == whole || plainName(id) == whole {
			return ""
		}
	}
	return fmt.Sprintf("%q means %s", name, model.Ref())
}

// NotThere returns why there can be no model of this provider and id, and which one may be
// meant; "" if there may be one: it is listed, perhaps with a date, or the provider lists
// nothing.
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
	near := all.nearest(provider + "/" + id)
	return why + didYouMean(near[:min(1, len(near))])
}

// Unlisted tells a user that a model is not on the list of its provider, if that has one,
// what it is taken for, and what it may have been a slip for; "" if there is nothing to say.
func (m *Models) Unlisted(model *Model) string {
	s := m.now().find(model.Provider)
	if s == nil {
		return ""
	}
	listed := s.list()
	isListed := slices.ContainsFunc(listed, func(l *Model) bool { return l.ID == model.ID })
	switch {
	case isListed, !s.isComplete(listed) && model.Like == "":
		return ""
	case !s.isComplete(listed):
		return fmt.Sprintf("%s is taken to be like %s", model.Ref(), model.Like)
	}
	text := fmt.Sprintf("%s is not among the models that are known of %s; it is asked for as it is written", model.ID, s.Name)
	if model.Like != "" {
		text += ", and taken to be like " + model.Like
	}
	if model.Cost == nil {
		text += "; its price is not known"
	}
	if slip := m.slipOf(model, s.Name, listed); slip != "" {
		text += fmt.Sprintf(" (did you mean %s?)", slip)
	}
	return text
}

// slipOf returns what a model that its provider does not list may have been a slip for: one
// of that provider, as provider/id; "" if nothing is near.
func (m *Models) slipOf(model *Model, provider string, listed []*Model) string {
	if near := spelledAlike(model.ID, listed); near != nil {
		return near.Ref()
	}
	if model.Like != "" { // it is the next version rather
		return ""
	}
	if near := m.now().nearest(model.Ref()); len(near) > 0 && strings.HasPrefix(near[0], provider+"/") {
		return near[0]
	}
	return ""
}

// spelledAlike returns the model whose id is spelt most like one that is not listed, with the same
// numbers; nil if none is.
func spelledAlike(id string, listed []*Model) (nearest *Model) {
	least := 2 + len(id)/8
	for _, l := range listed {
		if d := suggest.Distance(id, l.ID); d < least && digitsOf(l.ID) == digitsOf(id) {
			nearest, least = l, d
		}
	}
	return nearest
}

// digitsOf is an id without anything but its digits.
func digitsOf(id string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, id)
}

// Key returns the key to send for model; "" if it needs none.
func (m *Models) Key(ctx context.Context, model *Model) (string, error) {
	s := m.now().find(model.Provider)
	switch {
	case s == nil && model.NeedsKey:
		return "", providerGone(model)
	case s == nil || s.Key == nil || m.forAll() != nil && (s.IsSignedIn == nil || !s.IsSignedIn()):
		return "", nil
	}
	return s.Key(ctx)
}

// KeyMissing tells a user what to do about a provider that has no key; "" if it
// can be used.
func (m *Models) KeyMissing(provider string) string {
	if s := m.now().find(provider); s != nil {
		return s.keyMissing()
	}
	return ""
}

// OffSender is a [Provider] that knows whether its requests can tell a model not to think.
type OffSender interface{ SendsOff(m *Model) bool }

// NoOff tells a user that nothing tells a model not to think, as far as is known, so that
// it may do so though it was wished off; "" if something does, or if nobody asked (see [AsksOff]).
func (m *Models) NoOff(model *Model) string {
	if !AsksOff(model, "off") {
		return ""
	}
	client, _ := m.Client(model)
	if c, ok := client.(OffSender); !ok || c.SendsOff(model) {
		return ""
	}
	return fmt.Sprintf("thinking: off, but how %s is told so over %s is not known: it may think all the same (reasoning_efforts or thinking_format in compat of [providers.%s] says how)",
		model.Ref(), model.API, model.Provider)
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
