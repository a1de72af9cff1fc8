package app

import (
	"fmt"
	"strings"

	"pi/agent"
	"pi/agent/llm"
	"pi/cli/providers"
	"pi/session"
)

// chooseModel picks the model to begin with: that of the command line, of the
// session, of the settings, of the first provider that has a key, or the demo.
func (r *run) chooseModel(s *session.Session) (*llm.Model, string, error) {
	thinking := r.Config.Thinking
	left := s.ThinkingLevel()
	model, level, by, err := r.pickModel(s)
	if err != nil {
		return nil, "", err
	}
	r.begun = begun{model, by}
	provider, id := s.Model()
	used := r.models.Find(provider, id)
	if id != "" && r.Model == "" && used == nil {
		r.warnings = append(r.warnings, agent.ModelGone(provider, id, model))
	}
	if llm.ValidThinking(left) {
		thinking = left
		if used != nil {
			thinking = llm.WishLeft(used, left, r.Config.Thinking)
		}
	}
	if level != "" {
		thinking = level
	}
	if r.Thinking != "" {
		thinking = r.Thinking
		if !llm.ValidThinking(thinking) {
			return nil, "", UsageError{Err: fmt.Errorf("--thinking %q: levels are %s", thinking, strings.Join(llm.ThinkingLevels(), ", "))}
		}
	}
	if note := llm.Clamped(model, thinking); note != "" && (level != "" || r.Thinking != "") {
		r.notices = append(r.notices, note)
	}
	if left != "" && !llm.ValidThinking(left) && r.Thinking == "" {
		r.warnings = append(r.warnings, agent.LevelGone(left, thinking))
	}
	r.giveKey(model)
	return model, thinking, nil
}

// giveKey makes the key of the command line that of the provider of model.
func (r *run) giveKey(model *llm.Model) {
	switch {
	case r.APIKey == "":
	case !model.NeedsKey && model.BaseURL == "":
		r.warnings = append(r.warnings, fmt.Sprintf("--api-key has no effect: %s needs none; --model says which model it is for", model.Ref()))
	default:
		r.models.GiveKey(model.Provider, r.APIKey)
		r.Keys.Sent(model.Provider, r.APIKey, "the key is that of --api-key; check it")
	}
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

func (r *run) pickModel(s *session.Session) (*llm.Model, string, picked, error) {
	if r.Model != "" {
		m, level, err := r.models.Match(r.Model)
		if err == nil {
			r.warnUnlisted(m)
		}
		return m, level, byFlag, err
	}
	if provider, id := s.Model(); id != "" {
		if m := r.models.Find(provider, id); m != nil {
			return m, "", bySession, nil
		}
	}
	if r.Config.Model != "" {
		m, level, err := r.models.Match(r.Config.Model)
		if err == nil {
			r.warnUnlisted(m)
			return m, level, bySetting, nil
		}
		r.warnings = append(r.warnings, fmt.Sprintf("model in config.toml: %v", err))
	}
	if m := r.firstModel(); m != nil {
		return m, "", byKey, nil
	}
	r.warnings = append(r.warnings, r.Keys.Expired()...)
	r.warnings = append(r.warnings, providers.Unused(r.Config, r.Keys)...)
	return TourModel(), "", byNothing, nil
}

// warnUnlisted says that a model which a person named may not be there.
func (r *run) warnUnlisted(m *llm.Model) {
	if note := r.models.Unlisted(m); note != "" {
		r.warnings = append(r.warnings, note)
	}
}

// firstModel is that of the first provider that has a key, else of the first at
// an address of one's own; nil if there is neither.
func (r *run) firstModel() *llm.Model {
	defer r.Keys.Freeze()()
	var addressed *llm.Model
	for _, p := range r.models.Providers() {
		if p.HasKey != nil && !p.HasKey() {
			continue
		}
		m := r.firstOf(p)
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

func (r *run) firstOf(p llm.ProviderSpec) *llm.Model {
	if p.Default != "" {
		return r.models.Find(p.Name, p.Default)
	}
	if p.Models != nil {
		for _, m := range p.Models() {
			return m
		}
	}
	return nil
}

// TourModel is the model that needs no key and asks nobody: a script inside pi.
func TourModel() *llm.Model {
	return &llm.Model{Provider: "demo", ID: "tour", Name: "Demo tour (a script)", API: "lua", ContextWindow: 200000, MaxTokens: 8192, Input: []string{"text"}}
}
