package providers

import (
	"cmp"
	"context"
	"maps"
	"path"
	"slices"
	"strings"

	"pi/agent/llm"
	"pi/agent/provider"
	"pi/agent/provider/catalogue"
)

// models lists those of the settings that the catalogue does not have, then the
// catalogue's with what the settings say of them.
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
		m.Reasoning = seemsToThink(set.ID)
		override(m, set)
		added = append(added, m)
	}
	return append(added, listed...)
}

func byID(models []*llm.Model, id string) *llm.Model {
	for _, m := range models {
		if m.ID == id {
			return m
		}
	}
	return nil
}

// applySettings gives a model the address, the API, the headers and the switches
// that the settings name for its provider.
func (p *source) applySettings(m *llm.Model, needsKey bool) {
	if own := p.ownAddress(); own != "" {
		m.BaseURL = rebased(m.BaseURL, p.BaseURL, own)
	}
	m.API = cmp.Or(p.set.API, m.API)
	m.Headers, m.Compat = layered(m.Headers, p.set.Headers), layered(m.Compat, p.set.Compat)
	m.NeedsKey = needsKey
}

// rebased moves an address of a model from the address of its provider to
// another one; the models of one provider may differ in the last parts. A from of
// "" is none, and every model is asked at the other.
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

// unknownModel is a model of which nothing is known but its id.
func (p *source) unknownModel(id string) *llm.Model {
	m := &llm.Model{Provider: p.Name, ID: id, Name: id, API: p.API, BaseURL: p.BaseURL, Input: []string{"text", "image"}}
	if p.Local {
		m.Cost = &llm.Price{} // one's own machine charges nothing
	}
	p.applySettings(m, p.key().Needed())
	return m
}

// unlisted makes a model for an id that nobody lists: another form of the name of one
// that the provider lists, or one that the maker of the API has under that name.
// Facts from the maker are true behind a gateway too, except for prices.
func (p *source) unlisted(id string) *llm.Model {
	if m := catalogue.Like(p.decode(p.Name), id); m != nil {
		p.applySettings(m, p.key().Needed())
		return m
	}
	m := p.unknownModel(id)
	like := catalogue.Like(p.decode(makerOf(m.API)), id)
	if like == nil {
		m.Reasoning = seemsToThink(id)
		return m
	}
	m.ContextWindow, m.MaxTokens, m.Input = like.ContextWindow, like.MaxTokens, like.Input
	m.Reasoning, m.Levels = like.Reasoning, like.Levels
	return m
}

// discover asks the server what it has.
func (p *source) discover(ctx context.Context) ([]*llm.Model, error) {
	key, err := p.key().Resolve(ctx)
	if err != nil {
		return nil, err
	}
	client := p.client
	if client == nil {
		client = provider.NewClient()
	}
	auth, _ := p.set.Compat["auth"].(string)
	found, err := provider.Discover(ctx, client, provider.Server{
		Provider: p.Name, API: p.api(), BaseURL: p.address(), Key: key, Auth: auth, Headers: p.set.Headers,
	})
	var models []*llm.Model
	for i := range found {
		m := p.unknownModel(found[i].ID)
		m.Reasoning = seemsToThink(m.ID)
		found[i].Fill(m)
		models = append(models, m)
	}
	return models, err
}

// makerOf is the provider who made a wire API.
func makerOf(api string) string {
	switch api {
	case "anthropic-messages":
		return "anthropic"
	case "google-generative-ai":
		return "google"
	}
	return "openai"
}

// seemsToThink guesses from its id whether a model that nobody describes can think.
func seemsToThink(id string) bool {
	id = strings.ToLower(path.Base(id))
	for _, family := range []string{"claude-sonnet-", "claude-opus-", "claude-haiku-4", "claude-haiku-5", "gpt-5", "gpt-oss", "o1", "o3", "o4", "gemini-2.5", "gemini-3"} {
		if strings.HasPrefix(id, family) {
			return true
		}
	}
	return false
}

// override lets the settings of a model win.
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
	m.Cost = cmp.Or(set.Cost, m.Cost)
	m.Headers, m.Compat = layered(m.Headers, set.Headers), layered(m.Compat, set.Compat)
}

// layered is a map with what another one says besides or instead. Neither is changed.
func layered[V any](below, above map[string]V) map[string]V {
	if len(above) == 0 {
		return below
	}
	both := map[string]V{}
	maps.Copy(both, below)
	maps.Copy(both, above)
	return both
}
