package llm

import (
	"context"
	"fmt"
	"slices"
	"strings"
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
	// IsSignedIn tells likewise whether that is what a user has signed in with. nil: it is not.
	IsSignedIn func() bool
	// KeyHint says how a user gives it a key, such as "export NAME". It is called
	// when there is none. nil: nobody knows.
	KeyHint func() string
	// Open makes a model for an id that Models does not list; nil: no such model. Where
	// Models lists some, a hook gets no other.
	Open func(id string) *Model
	// Discover asks the provider itself what it has; nil: it cannot be asked. It is
	// called when a user looks for a model, and never at start. With a *LongList as
	// the error it returns some of them.
	Discover func(context.Context) ([]*Model, error)
	// ByNameOnly keeps its models from being cycled through; they are chosen by name.
	ByNameOnly bool
	// Stream answers for the models of this provider itself, instead of the
	// client of their wire API.
	Stream Provider

	found []*Model // by Discover; nil before
	more  bool     // there are others that Discover did not read
}

// Listed returns a function for the field Models of a provider whose models are always
// these.
func Listed(models ...*Model) func() []*Model { return func() []*Model { return models } }

// providers are the providers of a registry at one moment, in order of registration. The
// list never changes, so that no lock is needed to read it.
type providers []*ProviderSpec

// index returns the position of the provider with exactly this name; -1 if there is none.
func (p providers) index(name string) int {
	return slices.IndexFunc(p, func(s *ProviderSpec) bool { return s.Name == name })
}

// find returns the provider with this name or, if there is none, this alias; nil if there
// is none either.
func (p providers) find(name string) *ProviderSpec {
	if i := p.index(name); i >= 0 {
		return p[i]
	}
	for _, s := range p {
		if slices.Contains(s.Aliases, name) {
			return s
		}
	}
	return nil
}

// findFold is find, but if there is no exact match it ignores case.
func (p providers) findFold(name string) *ProviderSpec {
	if s := p.find(name); s != nil {
		return s
	}
	for _, s := range p {
		if slices.ContainsFunc(append([]string{s.Name}, s.Aliases...), func(n string) bool { return strings.EqualFold(n, name) }) {
			return s
		}
	}
	return nil
}

// models lists the models of the providers for which wanted is true. The others are not
// asked, because making a list may take time.
func (p providers) models(wanted func(*ProviderSpec) bool) (all []*Model) {
	for _, s := range p {
		if wanted(s) {
			all = append(all, s.list()...)
		}
	}
	return all
}

func anyProvider(*ProviderSpec) bool { return true }

// isUsable reports whether a provider has a key or needs none.
func (s *ProviderSpec) isUsable() bool { return s.HasKey == nil || s.HasKey() }

func (s *ProviderSpec) isUnusable() bool { return !s.isUsable() }

// list returns the models that the provider lists, and those that Discover found in
// addition.
func (s *ProviderSpec) list() (all []*Model) {
	if s.Models != nil {
		all = slices.Clip(s.Models())
	}
	listed := map[string]bool{}
	for _, m := range all {
		listed[m.ID] = true
	}
	for _, found := range s.found {
		if !listed[found.ID] {
			all = append(all, found)
		}
	}
	return all
}

// isComplete reports whether a provider has no other models than those listed.
func (s *ProviderSpec) isComplete(listed []*Model) bool { return len(listed) > 0 && !s.more }

// model returns the model with this id: a listed one, or what the provider's Open makes of
// it; nil if there is none.
func (s *ProviderSpec) model(id string) *Model {
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

// keyMissing tells a user how to give the provider a key; "" if it can be used.
func (s *ProviderSpec) keyMissing() string {
	if s.isUsable() {
		return ""
	}
	hint := fmt.Sprintf("set api_key of [providers.%s] in config.toml, or its environment variable", s.Name)
	if s.KeyHint != nil {
		hint = s.KeyHint()
	}
	return fmt.Sprintf("no key for %s yet: %s", s.Name, hint)
}
