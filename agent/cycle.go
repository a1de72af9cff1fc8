package agent

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
)

// Choice is a model and the thinking level that goes with it, "" for the one at
// hand.
type Choice struct {
	Model *Model
	Level string
}

// ErrFewModels is returned where there is no other model to go to.
var ErrFewModels = errors.New("fewer than two models to go through")

// Scope lists what patterns mean: names as of [Models.Match], or globs of
// provider/id or id alone in which * also stands for a slash, each optionally
// with :level. Only models that can be used count, each with the level it came
// with first. No patterns mean all of them, but for those of providers that stand
// aside. The errors name the patterns that mean nothing.
func (m *Models) Scope(patterns []string) (choices []Choice, problems []error) {
	if len(patterns) == 0 {
		for _, model := range m.listed(func(s *ProviderSpec) bool { return s.usable() && !s.Aside }) {
			choices = append(choices, Choice{Model: model})
		}
		return choices, nil
	}
	for _, pattern := range patterns {
		found, err := m.pattern(pattern)
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

func (m *Models) pattern(pattern string) ([]Choice, error) {
	if strings.ContainsAny(pattern, "*?[") {
		return m.glob(pattern)
	}
	model, level, err := m.Match(pattern)
	if err != nil {
		return nil, err
	}
	if missing := m.KeyMissing(model.Provider); missing != "" {
		return nil, fmt.Errorf("%q: %s", pattern, missing)
	}
	return []Choice{{model, level}}, nil
}

func (m *Models) glob(pattern string) (found []Choice, err error) {
	for _, r := range readingsOf(pattern) {
		like := flat(r.name)
		if _, err := path.Match(like, ""); err != nil {
			return nil, fmt.Errorf("%q is no pattern: %w", pattern, err)
		}
		for _, model := range m.Available() {
			if globs(like, model.Ref()) || globs(like, model.ID) || globs(flat(m.unaliased(r.name)), model.Ref()) {
				found = append(found, Choice{model, r.level})
			}
		}
		if len(found) > 0 {
			return found, nil
		}
	}
	return nil, fmt.Errorf("%q fits no model that can be used", pattern)
}

// unaliased is a name that begins with the own name of its provider.
func (m *Models) unaliased(name string) string {
	if s, id := m.qualified(name); s != nil {
		return s.Name + "/" + id
	}
	return name
}

func globs(pattern, name string) bool {
	ok, err := path.Match(strings.ToLower(pattern), strings.ToLower(flat(name)))
	return ok && err == nil
}

// flat makes slashes ordinary characters, for ids of one model have more of them
// than those of another.
func flat(s string) string { return strings.ReplaceAll(s, "/", "\x00") }

// CycleModel goes on to the next model of those that the settings name (see
// [Models.Scope]), from the last one to the first; one that is none of them goes
// to the first. It changes nothing, with an error, while a prompt runs
// (ErrNotIdle), or where there are fewer than two (ErrFewModels). What the
// settings name in vain is told once.
func (a *Agent) CycleModel(ctx context.Context) error {
	if !a.IsIdle() {
		return ErrNotIdle
	}
	choices, problems := a.models.Scope(a.cycle)
	a.tellCycle(ctx, problems)
	if len(choices) < 2 {
		return ErrFewModels
	}
	next := choices[(a.position(choices)+1)%len(choices)]
	return a.Select(ctx, next.Model, next.Level, "cycle")
}

// position is where the present model is among choices, -1 if it is not.
func (a *Agent) position(choices []Choice) int {
	now := a.chosen()
	is := func(c Choice) bool { return c.Model.Ref() == now.model.Ref() }
	exactly := func(c Choice) bool { return is(c) && (c.Level == "" || c.Level == now.wish) }
	if i := slices.IndexFunc(choices, exactly); i >= 0 {
		return i
	}
	return slices.IndexFunc(choices, is)
}

func (a *Agent) tellCycle(ctx context.Context, problems []error) {
	if len(problems) == 0 {
		return
	}
	text := "models in the settings: " + strings.ReplaceAll(errors.Join(problems...).Error(), "\n", "; ")
	a.mu.Lock()
	told := a.cycleTold == text
	a.cycleTold = text
	a.mu.Unlock()
	if !told {
		a.Notify(ctx, LevelWarning, text)
	}
}

// CycleThinking goes on to the next level that the model offers, from the highest
// to the lowest. It reports false for a model that offers only one.
func (a *Agent) CycleThinking(ctx context.Context) (bool, error) {
	levels := OfferedLevels(a.Model())
	if len(levels) < 2 {
		return false, nil
	}
	next := levels[(slices.Index(levels, a.Thinking())+1)%len(levels)]
	return true, a.SetThinking(ctx, next)
}
