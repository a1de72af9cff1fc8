package providers

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"pi/agent/llm"
	"pi/agent/provider"
	"pi/agent/provider/catalogue"
	"pi/agent/provider/wire"
)

// models returns the models of the provider: first those that only the settings have, then
// those of the catalogue, changed as the settings say.
func (p *source) models() []*llm.Model {
	listed, needsKey := p.decode(p.Name), p.key().Needed()
	for _, m := range listed {
		p.applySettings(m, needsKey)
	}
	var added []*llm.Model
	for _, set := range p.set.Models {
		if m := byID(slices.Concat(listed, added), set.ID); m != nil {
			override(m, set)
			continue
		}
		m := p.unknownModel(set.ID)
		override(m, set)
		added = append(added, m)
	}
	return append(added, listed...)
}

// byID returns the model with this id; nil if there is none.
func byID(models []*llm.Model, id string) *llm.Model {
	for _, m := range models {
		if m.ID == id {
			return m
		}
	}
	return nil
}

// applySettings changes m to be reached as the settings of its provider say: at their
// address, with their API, headers and compat switches.
func (p *source) applySettings(m *llm.Model, needsKey bool) {
	if own := p.ownAddress(); own != "" {
		m.BaseURL = rebased(m.BaseURL, p.BaseURL, own)
	}
	m.API = cmp.Or(p.set.API, m.API)
	if p.set.Cache != "" && hasRetention(m.API) {
		m.Compat = layered(m.Compat, map[string]any{"cache_retention": p.set.Cache})
	}
	m.Headers, m.Compat = layered(m.Headers, p.set.Headers), layered(m.Compat, p.set.Compat)
	m.NeedsKey = needsKey
}

// hasRetention reports whether it can be said over a wire API how long a prompt cache shall
// last. What is no wire API, such as a script, is told.
func hasRetention(name string) bool {
	api, ok := wire.Find(name)
	return !ok || api.CheckCompat(map[string]any{"cache_retention": "long"}) == nil
}

// rebased returns the address of a model when its provider is not at from but at to. The
// models of a provider may have addresses that are longer or shorter than its own; the
// difference is retained. Without a from it is simply to.
func rebased(address, from, to string) string {
	if from == "" {
		return to
	}
	if rest, ok := strings.CutPrefix(address, from); ok {
		return to + rest
	}
	if rest, ok := strings.CutPrefix(from, address); ok {
		return strings.TrimSuffix(to, rest)
	}
	return to
}

// unknownModel returns a model that is not listed, reached as the provider is, with what is
// known of its family and of its nearest relative; but without a price, which others set.
func (p *source) unknownModel(id string) *llm.Model {
	m := &llm.Model{Provider: p.Name, ID: id, Name: id, API: p.API, BaseURL: p.BaseURL, Input: []string{"text", "image"}}
	if p.Local {
		m.Cost = &llm.Price{} // one's own machine charges nothing
	}
	p.applySettings(m, p.key().Needed())
	var own []*llm.Model
	if p.ownAddress() == "" {
		own = p.decode(p.Name)
	}
	catalogue.Describe(m, own, func() []*llm.Model {
		api, _ := wire.Find(m.API)
		return p.decode(cmp.Or(api.Maker, "openai")) // what a script speaks, nobody made
	})
	m.MayThink = m.MayThink && p.set.Stream == nil // a script is told what it is asked for
	return m
}

// unlisted returns a model for an id that is not listed: a listed one whose id is another
// form of the same name, or one of which only its family is known.
func (p *source) unlisted(id string) *llm.Model {
	if m := catalogue.Like(p.decode(p.Name), id); m != nil {
		m.Like = p.Name + "/" + m.Like
		p.applySettings(m, p.key().Needed())
		return m
	}
	return p.unknownModel(id)
}

// discover asks the server of the provider which models it has.
func (p *source) discover(ctx context.Context) ([]*llm.Model, error) {
	key, err := p.key().Resolve(ctx)
	if err != nil {
		return nil, err
	}
	client := p.client
	if client == nil {
		client = provider.NewClient()
	}
	found, err := provider.Discover(ctx, client, p.server(key))
	once := *p
	once.decode = decodedOnce(p.decode)
	var models []*llm.Model
	for i := range found {
		m := once.unknownModel(found[i].ID)
		found[i].Fill(m)
		models = append(models, m)
	}
	return models, err
}

// server returns the server of the provider, to be asked for its models.
func (p *source) server(key string) provider.Server {
	auth, _ := p.set.Compat["auth"].(string)
	api, _ := wire.Find(p.api())
	return provider.Server{Provider: p.Name, Listing: api.Listing, BaseURL: p.address(), Key: key, Auth: auth, Headers: p.set.Headers}
}

// decodedOnce returns decode for those who change nothing of what it returns.
func decodedOnce(decode func(provider string) []*llm.Model) func(string) []*llm.Model {
	decoded := map[string][]*llm.Model{}
	return func(provider string) []*llm.Model {
		models, ok := decoded[provider]
		if !ok {
			models = decode(provider)
			decoded[provider] = models
		}
		return models
	}
}

// override changes m to what the settings of that model say, where they say something.
func override(m *llm.Model, set llm.ModelSettings) {
	m.Name = cmp.Or(set.Name, m.Name)
	if set.ContextWindow != nil {
		m.ContextWindow = *set.ContextWindow
	}
	if set.MaxTokens != nil {
		m.MaxTokens = *set.MaxTokens
	}
	if len(set.Input) > 0 {
		m.Input = set.Input
	}
	if len(set.Levels) > 0 {
		m.Levels = slices.DeleteFunc(llm.ThinkingLevels(), func(l string) bool { return !slices.Contains(set.Levels, l) })
		m.Reasoning = !slices.Equal(m.Levels, []string{"off"})
	}
	if set.Reasoning != nil {
		m.Reasoning = *set.Reasoning
	}
	m.MayThink = m.MayThink && set.Reasoning == nil && len(set.Levels) == 0
	m.Cost = cmp.Or(set.Cost, m.Cost)
	m.Headers, m.Compat = layered(m.Headers, set.Headers), layered(m.Compat, set.Compat)
}

// layered returns the entries of both maps; those of above win. Neither map is changed.
func layered[V any](below, above map[string]V) map[string]V {
	if len(above) == 0 {
		return below
	}
	both := map[string]V{}
	maps.Copy(both, below)
	maps.Copy(both, above)
	return both
}
