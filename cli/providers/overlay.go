package providers

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"

	"pi/agent/llm"
	"pi/agent/provider/catalogue"
	"pi/cli/keyring"
)

// Overlay returns the provider below with what a hook says of it on top: how it is
// reached, and, if the hook lists models, these and no others. A nil below is a
// provider that only the hook has: of it is known what would be of one that
// config.toml describes so. below is not changed, and is asked for its models only
// when somebody asks for those of the result. decode is that of [New].
func Overlay(ring *keyring.Ring, decode func(provider string) []*llm.Model, below *llm.ProviderSpec, set llm.ProviderSettings) llm.ProviderSpec {
	p := &source{Provider: catalogue.Provider{Name: set.Name}, set: set, ring: ring, decode: decode}
	p.set.Models = nil // they replace those below, and do not join them
	switch {
	case below == nil && set.Stream != nil:
		below = &llm.ProviderSpec{Open: func(id string) *llm.Model { return &llm.Model{ID: id, Name: id, Input: []string{"text"}} }}
	case below == nil:
		added := p.spec()
		below = &added
	}
	spec, key := *below, p.key()
	spec.Name = set.Name
	switch {
	case set.APIKey != "":
		spec.Key, spec.HasKey, spec.KeyHint = key.Resolve, key.Present, key.Hint
	case set.Login != nil && (below.HasKey != nil || set.Stream == nil):
		spec.Key, spec.HasKey, spec.KeyHint = p.loginOver(below)
	case set.Stream != nil: // a script needs no key unless it says so
		spec.Key, spec.HasKey, spec.KeyHint = nil, nil, nil
	}
	if below.Models != nil {
		spec.Models = sync.OnceValue(func() []*llm.Model { return p.overlaid(below.Models()) })
	}
	if below.Open != nil {
		spec.Open = func(id string) *llm.Model {
			if m := below.Open(id); m != nil {
				return p.overlaid([]*llm.Model{m})[0]
			}
			return nil
		}
	}
	if set.Stream != nil {
		spec.Stream = set.Stream
	}
	spec.Discover = p.discoverOver(below)
	if set.Models != nil {
		p.replaceModels(&spec, below, set.Models)
	}
	return spec
}

// loginOver returns where the key comes from where a hook says how one signs in: a login that this
// hook has kept goes to its functions, all else is as below.
func (p *source) loginOver(below *llm.ProviderSpec) (func(context.Context) (string, error), func() bool, func() string) {
	key := p.key()
	resolve := func(ctx context.Context) (string, error) {
		if below.Key == nil || key.IsOfScript() {
			return key.Resolve(ctx)
		}
		return below.Key(ctx)
	}
	present := func() bool {
		if below.HasKey == nil || key.IsOfScript() {
			return key.Present()
		}
		return below.HasKey()
	}
	hint := func() string {
		return "/login " + p.Name + " signs in, as the hook " + p.set.Hook + " says (outside of a session: pi login " + p.Name + ")"
	}
	return resolve, present, hint
}

// discoverOver returns a function that asks the server for its models, where the hook says
// that it is; nil if the hook answers itself or it is not known how to ask there.
func (p *source) discoverOver(below *llm.ProviderSpec) func(context.Context) ([]*llm.Model, error) {
	discover := below.Discover
	switch {
	case p.set.Stream != nil:
		return nil
	case p.set.BaseURL != "" && p.set.API == "": // what is spoken there is not known
		return nil
	case p.set.BaseURL != "": // the provider below would ask elsewhere
		discover = p.discover
	case discover == nil:
		return nil
	}
	return func(ctx context.Context) ([]*llm.Model, error) {
		found, err := discover(ctx)
		return p.overlaid(found), err
	}
}

// replaceModels makes models the only ones of spec. What is known of them is copied from
// below, but only when somebody asks for the list, which may take time.
func (p *source) replaceModels(spec, below *llm.ProviderSpec, models []llm.ModelSettings) {
	spec.Open, spec.Discover = nil, nil
	spec.Models = sync.OnceValue(func() []*llm.Model {
		var known, listed []*llm.Model
		if below.Models != nil {
			known = below.Models()
		}
		for _, set := range models {
			m := modelBelow(below, known, set.ID)
			override(&m, set)
			m.ID, m.Name = set.ID, cmp.Or(m.Name, set.ID)
			if len(m.Input) == 0 {
				m.Input = []string{"text"}
			}
			listed = append(listed, &m)
		}
		return p.overlaid(listed)
	})
	if !slices.ContainsFunc(models, func(m llm.ModelSettings) bool { return m.ID == spec.Default }) {
		spec.Default = ""
		if len(models) > 0 {
			spec.Default = models[0].ID
		}
	}
}

// modelBelow returns what is known of the model id: the model of that id, or, if there is
// none, one with only the address, the API and the like of another model of the provider.
func modelBelow(below *llm.ProviderSpec, known []*llm.Model, id string) llm.Model {
	m := byID(known, id)
	if m == nil && below.Open != nil {
		m = below.Open(id)
	}
	switch {
	case m != nil:
		return *m
	case len(known) == 0:
		return llm.Model{}
	}
	like := known[0]
	return llm.Model{API: like.API, BaseURL: like.BaseURL, Headers: like.Headers, Compat: like.Compat, NeedsKey: like.NeedsKey}
}

// overlaid returns copies of models that are reached as the hook says.
func (p *source) overlaid(models []*llm.Model) []*llm.Model {
	all := make([]*llm.Model, len(models))
	for i, m := range models {
		c := *m
		c.Provider = p.Name
		p.applySettings(&c, c.NeedsKey && p.set.Stream == nil || p.set.APIKey != "")
		all[i] = &c
	}
	return all
}

// CheckSwitches returns an error about the first compat switch of a hook's provider that
// is wrong. With api empty, a switch that any API knows is right.
func CheckSwitches(api string, switches map[string]any) error {
	p := source{set: llm.ProviderSettings{API: api}}
	if api == "" {
		p.API = llm.OpenAICompletions
	}
	for _, name := range slices.Sorted(maps.Keys(switches)) {
		if err := p.checkSwitch(map[string]any{name: switches[name]}); err != nil {
			return err
		}
	}
	return nil
}
