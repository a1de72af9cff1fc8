package main

import (
	"cmp"
	"fmt"
	"net/http"
	"sort"
	"strings"

	"pi/agent"
	"pi/agent/provider"
	"pi/agent/provider/anthropic"
	"pi/agent/provider/google"
	"pi/agent/provider/openai"
	"pi/agent/provider/responses"
)

// knownProvider is a provider that needs no [providers.NAME] section: its key in
// the environment is enough.
type knownProvider struct {
	name, api, baseURL, keyVar string
	standard                   string // the model to start with; "" for none
}

func knownProviders() []knownProvider {
	const chat = "openai-completions"
	return []knownProvider{
		{"anthropic", "anthropic-messages", "https://api.anthropic.com", "ANTHROPIC_API_KEY", "claude-sonnet-4-6"},
		{"openai", chat, "https://api.openai.com/v1", "OPENAI_API_KEY", "gpt-5.4"},
		{"openrouter", chat, "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY", ""},
		{"groq", chat, "https://api.groq.com/openai/v1", "GROQ_API_KEY", ""},
		{"xai", chat, "https://api.x.ai/v1", "XAI_API_KEY", ""},
		{"deepseek", chat, "https://api.deepseek.com/v1", "DEEPSEEK_API_KEY", ""},
		{"mistral", chat, "https://api.mistral.ai/v1", "MISTRAL_API_KEY", ""},
		{"ollama", chat, "http://127.0.0.1:11434/v1", "", ""},
	}
}

// newModels fills the registry: the well-known providers, then what the
// configuration adds to them or beside them.
func newModels(cfg Config, ring *keyring) *agent.Models {
	models := agent.NewModels(clients(provider.NewClient(), ring))
	for _, known := range knownProviders() {
		if _, ok := cfg.Providers[known.name]; !ok {
			models.Register(providerSpec(known, ProviderConfig{}, ring))
		}
	}
	for _, name := range sortedNames(cfg.Providers) {
		if known := knownAs(name); unusable(known, cfg.Providers[name]) == "" {
			models.Register(providerSpec(known, cfg.Providers[name], ring))
		}
	}
	return models
}

// clients speak the wire APIs.
func clients(client *http.Client, ring *keyring) map[string]agent.Provider {
	apis := map[string]agent.Provider{
		"anthropic-messages":   anthropic.New(client),
		"openai-completions":   openai.New(client),
		"openai-responses":     responses.New(client),
		"google-generative-ai": google.New(client),
	}
	for name, api := range apis {
		apis[name] = refusals{api, ring.commands}
	}
	return apis
}

// knownAs is what is known of the provider of a name; of most, only the name.
func knownAs(name string) knownProvider {
	for _, k := range knownProviders() {
		if k.name == name {
			return k
		}
	}
	return knownProvider{name: name}
}

// unusable says why nobody could be asked at a provider; empty: it can be used.
func unusable(known knownProvider, c ProviderConfig) string {
	api, base := cmp.Or(c.API, known.api), cmp.Or(c.BaseURL, known.baseURL)
	switch {
	case api == "":
		return "it has no usable api"
	case base == "":
		return "it has no usable base_url"
	case compatChecks()[api] == nil:
		return "this version does not speak " + api
	}
	return ""
}

func sortedNames(providers map[string]ProviderConfig) []string {
	var names []string
	for name := range providers {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

// providerSpec joins what is known of a provider with what the configuration
// says; the configuration wins.
func providerSpec(known knownProvider, c ProviderConfig, ring *keyring) agent.ProviderSpec {
	api, base := known.api, known.baseURL
	if c.API != "" {
		api = c.API
	}
	if c.BaseURL != "" {
		base = c.BaseURL
	}
	spec := agent.ProviderSpec{Name: known.name}
	key := providerKey{ring: ring, provider: known.name, configured: c.APIKey, logins: []string{known.name}, optional: c.BaseURL != ""}
	if known.keyVar != "" {
		key.variables = []string{known.keyVar}
	}
	spec.Key, spec.HasKey = key.resolve, key.present
	var models []*agent.Model
	for _, m := range c.Models {
		models = append(models, configured(known.name, api, base, c, m, key.needed()))
	}
	if known.standard != "" && !lists(models, known.standard) {
		models = append(models, open(known.name, api, base, c, known.standard, key.needed()))
	}
	spec.Models, spec.Default = agent.Listed(models...), known.standard
	spec.Open = func(id string) *agent.Model { return open(known.name, api, base, c, id, key.needed()) }
	return spec
}

func lists(models []*agent.Model, id string) bool {
	for _, m := range models {
		if m.ID == id {
			return true
		}
	}
	return false
}

// open makes a model of which nothing is known but its id.
func open(provider, api, base string, c ProviderConfig, id string, needsKey bool) *agent.Model {
	return configured(provider, api, base, c, ModelConfig{ID: id}, needsKey)
}

func configured(provider, api, base string, c ProviderConfig, m ModelConfig, needsKey bool) *agent.Model {
	model := &agent.Model{
		Provider: provider, ID: m.ID, Name: m.Name, API: api, BaseURL: base,
		ContextWindow: m.ContextWindow, MaxTokens: m.MaxTokens, Input: m.Input,
		Headers: headers(c.Headers, m.Headers), Compat: merged(c.Compat, m.Compat), NeedsKey: needsKey,
	}
	if model.Name == "" {
		model.Name = m.ID
	}
	if len(model.Input) == 0 {
		model.Input = []string{"text", "image"}
	}
	model.Reasoning = reasons(m)
	if m.Cost != nil {
		model.Cost = price(m.Cost)
	}
	return model
}

// reasons guesses from the id where the configuration does not say.
func reasons(m ModelConfig) bool {
	if m.Reasoning != nil {
		return *m.Reasoning
	}
	id := m.ID[strings.LastIndexByte(m.ID, '/')+1:]
	for _, family := range []string{"claude-sonnet-4", "claude-opus-4", "claude-haiku-4", "claude-sonnet-5", "claude-opus-5", "gpt-5", "o1", "o3", "o4"} {
		if strings.HasPrefix(id, family) {
			return true
		}
	}
	return false
}

func price(c *CostConfig) *agent.Price {
	p := &agent.Price{Input: c.Input, Output: c.Output, CacheRead: c.Input, CacheWrite: c.Input}
	if c.CacheRead != nil {
		p.CacheRead = *c.CacheRead
	}
	if c.CacheWrite != nil {
		p.CacheWrite = *c.CacheWrite
	}
	return p
}

func headers(all ...map[string]string) map[string]string {
	out := map[string]string{}
	for _, h := range all {
		for name, value := range h {
			out[name] = value
		}
	}
	return out
}

func merged(all ...map[string]any) map[string]any {
	out := map[string]any{}
	for _, m := range all {
		for k, v := range m {
			out[k] = v
		}
	}
	return out
}

// providerProblems says what of the configuration of providers has no effect.
func providerProblems(cfg Config, ring *keyring) []string {
	var problems []string
	for _, p := range ring.auth.troubles() {
		problems = append(problems, p.String())
	}
	for _, name := range sortedNames(cfg.Providers) {
		if why := unusable(knownAs(name), cfg.Providers[name]); why != "" {
			problems = append(problems, fmt.Sprintf("config.toml: [providers.%s] is left out: %s", name, why))
		}
	}
	return append(problems, compatProblems(cfg)...)
}

// compatChecks are what tells wrong switches of each wire API that is spoken.
func compatChecks() map[string]func(map[string]any) error {
	return map[string]func(map[string]any) error{
		"anthropic-messages":   anthropic.CheckCompat,
		"openai-completions":   openai.CheckCompat,
		"openai-responses":     responses.CheckCompat,
		"google-generative-ai": google.CheckCompat,
	}
}

// compatProblems names switches in the configuration that no wire API knows.
func compatProblems(cfg Config) []string {
	checks := compatChecks()
	var problems []string
	for _, name := range sortedNames(cfg.Providers) {
		c := cfg.Providers[name]
		check := checks[c.API]
		if check == nil {
			continue
		}
		if err := check(c.Compat); err != nil {
			problems = append(problems, fmt.Sprintf("config.toml: compat of [providers.%s]: %v", name, err))
		}
		for _, m := range c.Models {
			if err := check(m.Compat); err != nil {
				problems = append(problems, fmt.Sprintf("config.toml: compat of model %s/%s: %v", name, m.ID, err))
			}
		}
	}
	return problems
}
