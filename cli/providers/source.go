package providers

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"

	"pi/agent/llm"
	"pi/agent/provider/catalogue"
	"pi/agent/provider/wire"
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

// sources returns all providers, with what the settings say of them: those of the
// catalogue, then those that only the settings have, by name.
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

// settingsOf converts a section of config.toml, in which 0 and empty mean that nothing is
// said, to provider settings, in which that is nil.
func settingsOf(section config.Provider) llm.ProviderSettings {
	set := llm.ProviderSettings{BaseURL: section.BaseURL, API: section.API, APIKey: section.APIKey, Headers: section.Headers, Compat: section.Compat, Cache: section.Cache}
	if l := section.Login; !reflect.ValueOf(l).IsZero() {
		set.Login = &llm.Login{Kind: llm.LoginKind(cmp.Or(l.Kind, string(llm.LoginKey))), AuthorizeURL: l.AuthorizeURL, DeviceURL: l.DeviceURL, TokenURL: l.TokenURL,
			ClientID: l.ClientID, Scopes: l.Scopes, Redirect: l.Redirect, Extra: l.Extra}
	}
	for _, m := range section.Models {
		model := llm.ModelSettings{ID: m.ID, Name: m.Name, Reasoning: m.Reasoning, Levels: m.Levels, Input: m.Input, Headers: m.Headers, Compat: m.Compat}
		if m.ContextWindow > 0 {
			model.ContextWindow = &m.ContextWindow
		}
		if m.MaxTokens > 0 {
			model.MaxTokens = &m.MaxTokens
		}
		if c := m.Cost; c != nil {
			model.Cost = priceOf(c)
		}
		set.Models = append(set.Models, model)
	}
	return set
}

// priceOf converts a price of config.toml, whose steps are in order.
func priceOf(c *config.Cost) *llm.Price {
	price := llm.NewPrice(c.Input, c.Output, c.CacheRead, c.CacheWrite)
	var steps []llm.Step
	for _, s := range c.Above {
		steps = append(steps, llm.Step{Tokens: s.Tokens, Price: *llm.NewPrice(s.Input, s.Output, s.CacheRead, s.CacheWrite)})
	}
	if priced, err := price.WithSteps(steps); err == nil {
		return priced
	}
	return price
}

// api returns the wire API of the provider's models, unless a model names another.
func (p *source) api() string { return cmp.Or(p.set.API, p.API) }

// address returns the address of the provider's server: the user's own, or that of the
// catalogue; "" if none is known.
func (p *source) address() string { return cmp.Or(p.ownAddress(), p.BaseURL) }

// ownAddress returns the address that the user gave, in the settings or in a variable;
// "" if they gave none.
func (p *source) ownAddress() string {
	if p.set.BaseURL != "" {
		return p.set.BaseURL
	}
	base, _ := p.addressOfVariable()
	return base
}

// addressOfVariable returns the address in the environment variable that the provider has
// for it, such as OPENAI_API_ENDPOINT; "" if there is none. ok is false if the variable is
// set to something that is no address.
func (p *source) addressOfVariable() (base string, ok bool) {
	if p.BaseVar == "" {
		return "", true
	}
	base, problem := config.CleanURL(p.BaseVar, p.ring.Getenv(p.BaseVar))
	return base, problem == ""
}

// unusable returns why the provider cannot be asked, whatever key there is; "" if it can.
func (p *source) unusable() string {
	if known, ok := catalogue.Find(p.Name); p.Title == "" && ok {
		return fmt.Sprintf("%s is another name of %s, and [providers.%s] is there", p.Name, known.Name, known.Name)
	}
	switch {
	case p.api() == "":
		var names []string
		for _, api := range wire.APIs() {
			names = append(names, api.Name)
		}
		slices.Sort(names)
		return "it has no usable api; set api to " + strings.Join(names, ", ") + " or the like"
	case p.address() == "" && p.Hint != "":
		return fmt.Sprintf("set base_url of [providers.%s] in config.toml; %s", cmp.Or(p.section, p.Name), p.Hint)
	case p.address() == "":
		return "it has no usable base_url; set it to the address of the server"
	}
	return ""
}

// key returns where the key of the provider is looked for. It is optional at an address of
// the user's own.
func (p *source) key() keyring.Key {
	k := keyring.Key{
		Ring: p.ring, Provider: p.Name, Configured: p.set.APIKey, Hook: p.set.Hook, Logins: append([]string{p.Name}, p.Aliases...),
		Variables: p.KeyVars, Optional: p.ownAddress() != "" && p.BaseURL != "",
	}
	switch {
	case p.set.Hook == "": // never as a hook says: it would get the tokens of another login
		k.Login = p.login()
	case p.set.Login != nil && p.set.Login.Script != nil:
		k.Script = p.set.Login
	}
	return k
}

// login returns how one signs in to the provider, as config.toml or the program says; nil: with a key.
func (p *source) login() *llm.Login {
	switch l := p.set.Login; {
	case l != nil && keyring.CheckLogin(*l) == nil:
		return l
	case l != nil || p.Name != "openrouter":
		return nil
	}
	page, err := url.Parse(p.address())
	if err != nil {
		return nil
	}
	page.Path = "/auth"
	return &llm.Login{Kind: keyring.LoginOpenRouter, AuthorizeURL: page.String(), TokenURL: p.address() + "/auth/keys"}
}

// defaultModel returns the id of the model to begin with; "" if none is known. At an
// address of the user's own, the models that the settings list come before that of the
// catalogue.
func (p *source) defaultModel() string {
	if len(p.set.Models) > 0 && (p.Default == "" || p.ownAddress() != "") {
		return p.set.Models[0].ID
	}
	return p.Default
}
