package llm

import (
	"context"
	"errors"
	"iter"
	"reflect"
	"strings"
	"testing"
)

func registry() *Models {
	m := NewModels(nil)
	add := func(provider string, key bool, open bool, ids ...string) {
		spec := ProviderSpec{Name: provider, HasKey: func() bool { return key }}
		var models []*Model
		for _, id := range ids {
			models = append(models, &Model{Provider: provider, ID: id})
		}
		spec.Models = Listed(models...)
		if open {
			spec.Open = func(id string) *Model { return &Model{Provider: provider, ID: id, Name: "opened"} }
		}
		m.Register(spec)
	}
	add("anthropic", false, true, "claude-opus-4", "claude-sonnet-4", "claude-sonnet-4-5")
	add("openai", true, false, "gpt-5", "gpt-5-mini", "o3:high")
	add("router", true, true, "anthropic/claude-haiku", "claude-sonnet-4-5", "GPT-5")
	add("ollama", true, true)
	return m
}

func TestFindWantsTheExactName(t *testing.T) {
	m := registry()
	for _, c := range []struct {
		provider, id string
		found        bool
	}{{"openai", "gpt-5", true}, {"openai", "gpt", false}, {"ollama", "any", true}, {"ollama", "", false}, {"nobody", "x", false}} {
		if got := m.Find(c.provider, c.id); (got != nil) != c.found || got != nil && got.ID != c.id {
			t.Errorf("%s/%s: %v", c.provider, c.id, got)
		}
	}
}

func TestRegistryKeepsItsOrderAndReplacesInPlace(t *testing.T) {
	m := registry()
	refs := func(models []*Model) (refs []string) {
		for _, model := range models {
			refs = append(refs, model.Ref())
		}
		return refs
	}
	m.Register(ProviderSpec{Name: "openai", Models: Listed(&Model{Provider: "openai", ID: "new"})})
	if !m.Unregister("anthropic") || m.Unregister("anthropic") {
		t.Error("unregister does not say whether there was one")
	}
	if got := strings.Join(refs(m.All()), " "); got != "openai/new router/anthropic/claude-haiku router/claude-sonnet-4-5 router/GPT-5" {
		t.Error(got)
	}
	m.Register(ProviderSpec{Name: "router", HasKey: func() bool { m.Register(ProviderSpec{Name: "late"}); return false }})
	if got := refs(m.Available()); !reflect.DeepEqual(got, []string{"openai/new"}) {
		t.Errorf("available: %q", got)
	}
	if _, ok := m.Lookup("late"); !ok {
		t.Error("a provider that was registered while keys were asked for is not there")
	}
}

// speaker is a Provider that says its name.
type speaker struct{ name string }

func (s *speaker) Stream(context.Context, *Request) iter.Seq2[Delta, error] {
	return func(yield func(Delta, error) bool) { yield(Delta{Kind: DeltaText, Text: s.name}, nil) }
}

func TestModelAnswersThroughItsProviderElseThroughItsAPI(t *testing.T) {
	own, api := &speaker{"own"}, &speaker{"api"}
	m := NewModels(map[string]Provider{"wire": api})
	m.Register(ProviderSpec{Name: "other"})
	m.Register(ProviderSpec{Name: "own", Stream: own, Key: func(context.Context) (string, error) { return "k", nil }})
	for _, c := range []struct {
		model Model
		want  Provider
		key   string
	}{{Model{Provider: "own", API: "wire"}, own, "k"}, {Model{Provider: "other", API: "wire"}, api, ""}} {
		got, err := m.Client(&c.model)
		key, keyErr := m.Key(t.Context(), &c.model)
		if got != c.want || err != nil || key != c.key || keyErr != nil {
			t.Errorf("%s: %v %v, key %q %v", c.model.Provider, got, err, key, keyErr)
		}
	}
}

func TestOneProviderMayAnswerForAllThatHaveNoneOfTheirOwn(t *testing.T) {
	own, api, all := &speaker{"own"}, &speaker{"api"}, &speaker{"all"}
	m := NewModels(map[string]Provider{"wire": api})
	m.Register(ProviderSpec{Name: "other", Key: func(context.Context) (string, error) { return "", errors.New("no key") }})
	m.Register(ProviderSpec{Name: "own", Stream: own})
	m.AnswerWith(all)
	for provider, want := range map[string]Provider{"own": own, "other": all} {
		model := &Model{Provider: provider, API: "wire", NeedsKey: true}
		got, err := m.Client(model)
		key, keyErr := m.Key(t.Context(), model)
		if got != want || err != nil || key != "" || keyErr != nil {
			t.Errorf("%s: %v %v, key %q %v", provider, got, err, key, keyErr)
		}
	}
}

func TestAGivenKeyStaysWhoeverRegistersTheProviderAnew(t *testing.T) {
	m := NewModels(nil)
	model := &Model{Provider: "acme", ID: "m", NeedsKey: true}
	without := ProviderSpec{Name: "acme", Models: Listed(model), HasKey: func() bool { return false },
		Key: func(context.Context) (string, error) { return "", errors.New("none") }}
	m.Register(without)
	m.GiveKey("acme", "given")
	m.GiveKey("later", "too")
	m.Register(ProviderSpec{Name: "later", HasKey: func() bool { return false }})
	for range 2 {
		if key, err := m.Key(t.Context(), model); key != "given" || err != nil {
			t.Errorf("%q, %v", key, err)
		}
		if len(m.Available()) != 1 {
			t.Error("a provider with a given key can be used")
		}
		m.Register(without)
	}
	if key, _ := m.Key(t.Context(), &Model{Provider: "later"}); key != "too" {
		t.Errorf("%q", key)
	}
}
