package agent

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"

	"pi/agent/llm"
)

// ErrFewModels is returned where there is no other model to go to.
var ErrFewModels = errors.New("fewer than two models to go through")

// cycling is what CycleModel goes through.
type cycling struct {
	patterns  []string               // see [llm.Models.Scope]
	cycleTold atomic.Pointer[string] // what was said of those that mean no model
}

// CycleModel goes on to the next model of those that the settings name (see
// [llm.Models.Scope]), from the last one to the first; one that is none of them goes
// to the first. It changes nothing, with an error, while a prompt runs
// (ErrNotIdle), or where there are fewer than two (ErrFewModels). What the
// settings name in vain is told once.
func (a *Agent) CycleModel(ctx context.Context) error {
	if !a.IsIdle() {
		return ErrNotIdle
	}
	choices, problems := a.models.Scope(a.patterns)
	a.tellCycle(ctx, problems)
	if len(choices) < 2 {
		return ErrFewModels
	}
	next := choices[(a.position(choices)+1)%len(choices)]
	return a.Select(ctx, next.Model, next.Level, "cycle")
}

// position is where the present model is among choices, -1 if it is not.
func (c *choice) position(choices []llm.Choice) int {
	now := c.chosen()
	is := func(c llm.Choice) bool { return c.Model.Ref() == now.model.Ref() }
	exactly := func(c llm.Choice) bool { return is(c) && (c.Level == "" || c.Level == now.wish) }
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
	if told := a.cycleTold.Swap(&text); told == nil || *told != text {
		a.Notify(ctx, LevelWarning, text)
	}
}

// CycleThinking goes on to the next level that the model offers, from the highest
// to the lowest. It reports false for a model that offers only one.
func (a *Agent) CycleThinking(ctx context.Context) (bool, error) {
	levels := llm.OfferedLevels(a.Model())
	if len(levels) < 2 {
		return false, nil
	}
	next := levels[(slices.Index(levels, a.Thinking())+1)%len(levels)]
	return true, a.SetThinking(ctx, next)
}
