package main

import (
	"fmt"
	"strings"

	"pi/agent"
	"pi/session"
)

// chooseModel picks the model to begin with: that of the command line, of the
// session, of the settings, of the first provider that has a key, or the demo.
func (a *app) chooseModel(s *session.Session) (*agent.Model, string, error) {
	thinking := a.cfg.Thinking
	left := s.ThinkingLevel()
	model, level, by, err := a.pickModel(s)
	if err != nil {
		return nil, "", err
	}
	a.begun = begun{model, by}
	provider, id := s.Model()
	used := a.models.Find(provider, id)
	if id != "" && a.model == "" && used == nil {
		a.warnings = append(a.warnings, agent.ModelGone(provider, id, model))
	}
	if agent.ValidThinking(left) {
		thinking = left
		if used != nil {
			thinking = agent.WishLeft(used, left, a.cfg.Thinking)
		}
	}
	if level != "" {
		thinking = level
	}
	if a.thinking != "" {
		thinking = a.thinking
		if !agent.ValidThinking(thinking) {
			return nil, "", usageError{fmt.Errorf("--thinking %q: levels are %s", thinking, strings.Join(agent.ThinkingLevels(), ", "))}
		}
	}
	if note := agent.Clamped(model, thinking); note != "" && (level != "" || a.thinking != "") {
		a.notices = append(a.notices, note)
	}
	if left != "" && !agent.ValidThinking(left) && a.thinking == "" {
		a.warnings = append(a.warnings, agent.LevelGone(left, thinking))
	}
	a.giveKey(model)
	return model, thinking, nil
}

// giveKey makes the key of the command line that of the provider of model.
func (a *app) giveKey(model *agent.Model) {
	switch {
	case a.apiKey == "":
	case !model.NeedsKey && model.BaseURL == "":
		a.warnings = append(a.warnings, fmt.Sprintf("--api-key has no effect: %s needs none; --model says which model it is for", model.Ref()))
	default:
		a.models.GiveKey(model.Provider, a.apiKey)
		a.keys.sent(model.Provider, a.apiKey, "the key is that of --api-key; check it")
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

func (a *app) pickModel(s *session.Session) (*agent.Model, string, picked, error) {
	if a.model != "" {
		m, level, err := a.models.Match(a.model)
		if err == nil {
			a.warnUnlisted(m)
		}
		return m, level, byFlag, err
	}
	if provider, id := s.Model(); id != "" {
		if m := a.models.Find(provider, id); m != nil {
			return m, "", bySession, nil
		}
	}
	if a.cfg.Model != "" {
		m, level, err := a.models.Match(a.cfg.Model)
		if err == nil {
			a.warnUnlisted(m)
			return m, level, bySetting, nil
		}
		a.warnings = append(a.warnings, fmt.Sprintf("model in config.toml: %v", err))
	}
	if m := a.firstModel(); m != nil {
		return m, "", byKey, nil
	}
	a.warnings = append(a.warnings, a.keys.ranOut()...)
	a.warnings = append(a.warnings, unusedServers(a.cfg, a.keys)...)
	return tourModel(), "", byNothing, nil
}

// warnUnlisted says that a model which a person named may not be there.
func (a *app) warnUnlisted(m *agent.Model) {
	if note := a.models.Unlisted(m); note != "" {
		a.warnings = append(a.warnings, note)
	}
}

// firstModel is that of the first provider that has a key, else of the first at
// an address of one's own; nil if there is neither.
func (a *app) firstModel() *agent.Model {
	defer a.keys.auth.hold()()
	var addressed *agent.Model
	for _, p := range a.models.Providers() {
		if p.HasKey != nil && !p.HasKey() {
			continue
		}
		m := a.firstOf(p)
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

func (a *app) firstOf(p agent.ProviderSpec) *agent.Model {
	if p.Default != "" {
		return a.models.Find(p.Name, p.Default)
	}
	if p.Models != nil {
		for _, m := range p.Models() {
			return m
		}
	}
	return nil
}

func tourModel() *agent.Model {
	return &agent.Model{Provider: "demo", ID: "tour", Name: "Demo tour (a script)", API: "lua", ContextWindow: 200000, MaxTokens: 8192, Input: []string{"text"}}
}
