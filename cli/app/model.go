package app

import (
	"fmt"
	"strings"

	"pi/agent"
	"pi/agent/llm"
	"pi/cli/providers"
	"pi/internal/suggest"
	"pi/session"
)

// modelChoice is how a run comes to the model that it begins with, and what that was
// chosen by.
type modelChoice struct {
	place  *Place
	models *llm.Models
	later  *messages // what is unusual about the model

	model *llm.Model // what was chosen; nil: nothing yet
	by    picked
}

// choose picks the model to begin with and its thinking level: from the command line, the
// session, the settings, or the first provider that has a key, else the demo. It also
// hands the key of --api-key to the provider of that model, and collects messages about
// what did not fit.
func (c *modelChoice) choose(s *session.Session) (*llm.Model, string, error) {
	p := c.place
	model, level, by, err := c.pick(s)
	if err != nil {
		return nil, "", err
	}
	c.model, c.by = model, by
	if note := c.models.Completed(p.modelRef(), model); note != "" && p.Model != "" {
		c.later.inform("--model: " + note)
	}
	provider, id := s.Model()
	used := c.models.Find(provider, id)
	if id != "" && p.Model == "" && p.Provider == "" && used == nil {
		c.later.warn(agent.ModelGone(provider, id, model))
	}
	thinking, left := p.Config.Thinking, s.ThinkingLevel()
	if llm.ValidThinking(left) {
		thinking = left
		if used != nil {
			thinking = llm.WishLeft(used, left, s.Thinking().Wished, p.Config.Thinking)
		}
	}
	if level != "" {
		thinking = level
	}
	if p.Thinking != "" {
		thinking = p.Thinking
		if !llm.ValidThinking(thinking) {
			return nil, "", UsageError{Err: fmt.Errorf("--thinking %q: levels are %s", thinking, strings.Join(llm.ThinkingLevels(), ", "))}
		}
	}
	if note := agent.ThinkingNote(c.models, s, model, thinking); note != "" && (level != "" || p.Thinking != "") {
		c.later.inform(note)
	}
	if left != "" && !llm.ValidThinking(left) && p.Thinking == "" {
		c.later.warn(agent.LevelGone(left, thinking))
	}
	switch {
	case p.APIKey == "":
	case !model.NeedsKey && model.BaseURL == "":
		c.later.warn(fmt.Sprintf("--api-key has no effect: %s needs none; --model says which model it is for", model.Ref()))
	default: // it is that of the model's provider
		c.models.GiveKey(model.Provider, p.APIKey)
		p.Keys.Sent(model.Provider, p.APIKey, "the key is that of --api-key; check it")
	}
	return model, thinking, nil
}

// picked is what a model was picked by; the later ones count only where the
// earlier ones name none.
type picked int

const (
	byFlag picked = iota
	bySession
	bySetting
	byKey     // of the first provider that can be asked
	byNothing // there is only the demo
)

// pick returns the model to begin with, the thinking level that was named with it, and
// what decided (by). A model of the session or the settings that does not exist is passed
// over.
func (c *modelChoice) pick(s *session.Session) (model *llm.Model, level string, by picked, err error) {
	p := c.place
	if p.Provider != "" {
		model, level, err = c.ofProvider(s)
		return model, level, byFlag, err
	}
	if p.Model != "" {
		model, level, err = c.match(p.Model)
		return model, level, byFlag, err
	}
	if m := c.ofSession(s); m != nil {
		return m, "", bySession, nil
	}
	if p.Config.Model != "" {
		model, level, err = c.match(p.Config.Model)
		if err == nil {
			return model, level, bySetting, nil
		}
		c.later.warn(fmt.Sprintf("model in config.toml: %v", err))
	}
	if m := c.first(); m != nil {
		c.warnOfUnlisted(m) // a fetched list may lack the default
		return m, "", byKey, nil
	}
	if file := p.unreadFile(); file != "" && p.Attended() {
		return nil, "", byNothing, UsageError{Err: &unattendedError{"there is no model to ask without " + file, "mend it; " + tryDemo}}
	}
	c.later.warn(p.Keys.Expired()...)
	c.later.warn(providers.Unused(p.Config, p.Keys)...)
	return TourModel(), "", byNothing, nil
}

// ofSession returns the model that the session s was left with; nil if there is none.
func (c *modelChoice) ofSession(s *session.Session) *llm.Model {
	provider, id := s.Model()
	if id == "" {
		return nil
	}
	return c.models.Find(provider, id)
}

// ofProvider returns the model of --provider: that of --model, else that of the session if it
// is of this provider, else its default one.
func (c *modelChoice) ofProvider(s *session.Session) (*llm.Model, string, error) {
	name := c.place.Provider
	spec, known := c.models.Lookup(name)
	if !known {
		var names []string
		for _, p := range c.models.Providers() {
			names = append(names, p.Name)
		}
		return nil, "", UsageError{Err: fmt.Errorf("--provider: there is no provider %q%s; `pi models --all` lists them", name, suggest.Hint(name, names))}
	}
	if c.place.Model != "" {
		return c.match(c.place.modelRef())
	}
	if m := c.ofSession(s); m != nil && m.Provider == spec.Name {
		return m, "", nil
	}
	if m := defaultOf(c.models, spec); m != nil {
		c.warnOfUnlisted(m)
		return m, "", nil
	}
	return nil, "", UsageError{Err: fmt.Errorf("--provider %s has no default model; --model names one", name)}
}

// modelRef returns the model that the command line names, as a user would write it; "" if it
// names none, or only a provider.
func (o Options) modelRef() string {
	if o.Provider == "" || o.Model == "" || strings.HasPrefix(o.Model, o.Provider+"/") {
		return o.Model
	}
	return o.Provider + "/" + o.Model
}

// match finds the model that a user named, and warns if it may not be there.
func (c *modelChoice) match(ref string) (*llm.Model, string, error) {
	m, level, err := c.models.Match(ref)
	if err == nil {
		c.warnOfUnlisted(m)
	}
	return m, level, err
}

// warnOfUnlisted warns of a model that its provider does not list.
func (c *modelChoice) warnOfUnlisted(m *llm.Model) {
	if note := c.models.Unlisted(m); note != "" {
		c.later.warn(note)
	}
}

// first returns the default model of the first provider that needs a key and has one, else
// of the first that is at an address of its own; nil if there is neither. Keys are not
// read from the disk anew for each provider.
func (c *modelChoice) first() *llm.Model {
	defer c.place.Keys.Freeze()()
	var addressed *llm.Model
	for _, p := range c.models.Providers() {
		if p.HasKey != nil && !p.HasKey() {
			continue
		}
		m := defaultOf(c.models, p)
		switch {
		case m == nil:
		case m.NeedsKey:
			return m
		case addressed == nil && m.BaseURL != "":
			addressed = m
		}
	}
	return addressed
}

// defaultOf returns the default model of a provider, else the first that it lists; nil if there
// is none.
func defaultOf(models *llm.Models, p llm.ProviderSpec) *llm.Model {
	if p.Default != "" {
		return models.Find(p.Name, p.Default)
	}
	if p.Models != nil {
		if listed := p.Models(); len(listed) > 0 {
			return listed[0]
		}
	}
	return nil
}

// TourModel is the model that needs no key and asks nobody: a script inside pi.
func TourModel() *llm.Model {
	return &llm.Model{Provider: "demo", ID: "tour", Name: "Demo tour (a script)", API: "lua", ContextWindow: 200000, MaxTokens: 8192, Input: []string{"text"}, Cost: &llm.Price{}}
}
