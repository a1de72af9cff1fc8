package llm

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// Choice is a model with a thinking level; "" for the level that is in force.
type Choice struct {
	Model *Model
	Level string
}

// Scope lists what patterns mean: names as of [Models.Match], or globs of
// provider/id or id alone in which * also stands for a slash, each optionally
// with :level. Only models that can be used count, each with the level it came
// with first. No patterns mean all of them, but for those of providers whose
// models are chosen by name only. The errors name the patterns that mean nothing.
func (m *Models) Scope(patterns []string) (choices []Choice, problems []error) {
	all := m.now()
	if len(patterns) == 0 {
		for _, model := range all.models(func(s *ProviderSpec) bool { return s.isUsable() && !s.ByNameOnly }) {
			choices = append(choices, Choice{Model: model})
		}
		return choices, nil
	}
	for _, pattern := range patterns {
		found, err := all.findPattern(pattern)
		if err != nil {
			problems = append(problems, err)
		}
		for _, c := range found {
			if !slices.ContainsFunc(choices, func(o Choice) bool { return o.Model.Ref() == c.Model.Ref() && o.Level == c.Level }) {
				choices = append(choices, c)
			}
		}
	}
	return choices, problems
}

// findPattern returns the models that one pattern means. For a pattern without wildcards
// it is one model; the error says that there is none, or that it cannot be used.
func (p providers) findPattern(pattern string) ([]Choice, error) {
	if strings.ContainsAny(pattern, "*?[") {
		return p.findGlob(pattern)
	}
	model, level, err := p.match(pattern)
	if err != nil {
		return nil, err
	}
	if s := p.find(model.Provider); s != nil && s.isUnusable() {
		return nil, fmt.Errorf("%q: %s", pattern, s.keyMissing())
	}
	return []Choice{{model, level}}, nil
}

// findGlob returns the usable models whose name or id the pattern fits, with the thinking
// level that the pattern ends in. A pattern that fits as it stands is not read as one with
// a level.
func (p providers) findGlob(pattern string) (found []Choice, err error) {
	for _, r := range readingsOf(pattern) {
		like := flat(r.name)
		if _, err := path.Match(like, ""); err != nil {
			return nil, fmt.Errorf("%q is no pattern: %w", pattern, err)
		}
		full := like
		if s, id := p.qualified(r.name); s != nil { // it may be named by an alias
			full = flat(s.Name + "/" + id)
		}
		for _, model := range p.models((*ProviderSpec).isUsable) {
			if globs(like, model.Ref()) || globs(like, model.ID) || globs(full, model.Ref()) {
				found = append(found, Choice{model, r.level})
			}
		}
		if len(found) > 0 {
			return found, nil
		}
	}
	return nil, fmt.Errorf("%q fits no model that can be used", pattern)
}

func globs(pattern, name string) bool {
	ok, err := path.Match(strings.ToLower(pattern), strings.ToLower(flat(name)))
	return ok && err == nil
}

// flat makes slashes ordinary characters for path.Match, so that * also matches them.
func flat(s string) string { return strings.ReplaceAll(s, "/", "\x00") }
