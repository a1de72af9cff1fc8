// Package providers registers whom a run may ask: the providers of the catalogue
// and those that the settings or hooks describe. A section of the settings with the
// name of one of the catalogue overrides it, field by field. Nothing of the
// catalogue's models is decoded before somebody asks for the models of that
// provider.
//
//	registry.go  [New] fills the registry; where a provider is asked, and with which key
//	models.go    its models: the catalogue's, those of the settings, and unheard-of ones
//	overlay.go   [Overlay]: a provider with what a hook says of it on top
//	check.go     what of the settings has no effect, and who cannot be used
//	states.go    what else is asked about the settings of a provider
//	refused.go   what happens when a server refuses a key
//
// A wire API is added where the clients are listed ([New]) and where its switches
// are checked; a provider that speaks one of them, in the catalogue.
package providers

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"pi/agent/llm"
	"pi/agent/provider"
	"pi/agent/provider/anthropic"
	"pi/agent/provider/catalogue"
	"pi/agent/provider/google"
	"pi/agent/provider/openai"
	"pi/agent/provider/responses"
	"pi/cli/config"
	"pi/cli/keyring"
)

// source is one provider before it is registered: what is known of it, and
// what the settings say.
type source struct {
	catalogue.Provider                      // of a provider that nobody knows, only the name
	set                llm.ProviderSettings // as config.toml or a hook has it
	section            string               // its name in config.toml; "" if it is not there
	ring               *keyring.Ring
	client             *http.Client                   // that asks for its models; nil: a new one
	decode             func(name string) []*llm.Model // the catalogue's models
}

// New makes the registry and fills it. decode gives the models that the catalogue has of
// a provider, new each time.
func New(cfg config.Config, ring *keyring.Ring, decode func(provider string) []*llm.Model) *llm.Models {
	client := provider.NewClient()
	models := llm.NewModels(clients(client, ring))
	all := sources(cfg, ring)
	for i := range all {
		p := &all[i]
		p.client, p.decode = client, decode
		if why := p.unusable(); why == "" {
			models.Register(p.spec())
		} else if p.Hint != "" {
			models.Register(p.unusableSpec(why))
		}
	}
	return models
}

// clients speak the wire APIs.
func clients(client *http.Client, ring *keyring.Ring) map[string]llm.Provider {
	apis := map[string]llm.Provider{
		"anthropic-messages":   anthropic.New(client),
		"google-generative-ai": google.New(client),
		"openai-completions":   openai.New(client),
		"openai-responses":     responses.New(client),
	}
	for name, api := range apis {
		apis[name] = keyWatcher{api, ring}
	}
	return apis
}

// sources lists the providers of the catalogue, then the others of the
// settings by name.
func sources(cfg config.Config, ring *keyring.Ring) []source {
	listed := catalogue.Providers()
	all := make([]source, 0, len(listed)+len(cfg.Providers))
	used := map[string]bool{}
	for _, known := range listed {
		p := source{Provider: known, ring: ring}
		for _, name := range append([]string{known.Name}, known.Aliases...) {
			if set, ok := cfg.Providers[name]; ok && p.section == "" {
				p.set, p.section = settingsOf(set), name
				used[name] = true
			}
		}
		all = append(all, p)
	}
	for _, name := range slices.Sorted(maps.Keys(cfg.Providers)) {
		if !used[name] {
			all = append(all, source{Provider: catalogue.Provider{Name: name}, set: settingsOf(cfg.Providers[name]), section: name, ring: ring})
		}
	}
	return all
}

// settingsOf are those of a section of config.toml, where 0 and empty is not said.
func settingsOf(section config.Provider) llm.ProviderSettings {
	set := llm.ProviderSettings{BaseURL: section.BaseURL, API: section.API, APIKey: section.APIKey, Headers: section.Headers, Compat: section.Compat}
	for _, m := range section.Models {
		model := llm.ModelSettings{ID: m.ID, Name: m.Name, Reasoning: m.Reasoning, Levels: m.Levels, Input: m.Input, Headers: m.Headers, Compat: m.Compat}
		if m.ContextWindow > 0 {
			model.ContextWindow = &m.ContextWindow
		}
		if m.MaxTokens > 0 {
			model.MaxTokens = &m.MaxTokens
		}
		if c := m.Cost; c != nil {
			model.Cost = llm.NewPrice(c.Input, c.Output, c.CacheRead, c.CacheWrite)
		}
		set.Models = append(set.Models, model)
	}
	return set
}

// api is the wire API of models that name none themselves.
func (p *source) api() string { return cmp.Or(p.set.API, p.API) }

// address is where the provider is asked.
func (p *source) address() string { return cmp.Or(p.ownAddress(), p.BaseURL) }

// ownAddress is the address that the person gave, "" for none.
func (p *source) ownAddress() string {
	if p.set.BaseURL != "" {
		return p.set.BaseURL
	}
	base, _ := p.addressOfVariable()
	return base
}

// addressOfVariable is the address in the provider's variable, "" for none; not ok: what
// is there is no address.
func (p *source) addressOfVariable() (base string, ok bool) {
	if p.BaseVar == "" {
		return "", true
	}
	base, problem := config.CleanURL(p.BaseVar, p.ring.Getenv(p.BaseVar))
	return base, problem == ""
}

// unusable says why nobody could be asked there; empty: it can be used.
func (p *source) unusable() string {
	if known, ok := catalogue.Find(p.Name); p.Title == "" && ok {
		return fmt.Sprintf("%s is another name of %s, and [providers.%s] is there", p.Name, known.Name, known.Name)
	}
	switch {
	case p.api() == "":
		return "it has no usable api; set api to " + strings.Join(slices.Sorted(maps.Keys(compatChecks())), ", ") + " or the like"
	case p.address() == "" && p.Hint != "":
		return fmt.Sprintf("set base_url of [providers.%s] in config.toml; %s", cmp.Or(p.section, p.Name), p.Hint)
	case p.address() == "":
		return "it has no usable base_url; set it to the address of the server"
	}
	return ""
}

// spec is what is registered. It is made for every provider at every start, so
// what is not asked of each of them is put together later.
func (p *source) spec() llm.ProviderSpec {
	spec := llm.ProviderSpec{
		Name: p.Name, Aliases: p.Aliases, Default: p.defaultModel(), Models: sync.OnceValue(p.models), Open: p.unlisted,
		Key:     func(ctx context.Context) (string, error) { return p.key().Resolve(ctx) },
		HasKey:  func() bool { return p.key().Present() },
		KeyHint: func() string { return p.key().Hint() },
	}
	if p.Local || p.ownAddress() != "" { // of the others the catalogue knows
		spec.Discover, spec.Partial = p.discover, true
	}
	return spec
}

// unusableSpec is that of a provider which cannot be asked before the person says
// more than a key. Its models are listed with what to do.
func (p *source) unusableSpec(why string) llm.ProviderSpec {
	return llm.ProviderSpec{
		Name: p.Name, Aliases: p.Aliases, Default: p.Default, Models: sync.OnceValue(p.models), KeyHint: func() string { return why },
		Open: p.unlisted, HasKey: func() bool { return false },
		Key: func(context.Context) (string, error) {
			return "", &llm.ProviderError{Provider: p.Name, Message: "where to ask is not known", NextStep: why}
		},
	}
}

func (p *source) key() keyring.Key {
	return keyring.Key{
		Ring: p.ring, Provider: p.Name, Configured: p.set.APIKey, Hook: p.set.Hook, Logins: append([]string{p.Name}, p.Aliases...),
		Variables: p.KeyVars, Optional: p.ownAddress() != "" && p.BaseURL != "",
	}
}

// defaultModel is the id of the model to begin with, "" if none is known. At an
// address of the person's own the models listed for it come before the catalogue's.
func (p *source) defaultModel() string {
	if len(p.set.Models) > 0 && (p.Default == "" || p.ownAddress() != "") {
		return p.set.Models[0].ID
	}
	return p.Default
}
