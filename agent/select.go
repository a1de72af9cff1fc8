package agent

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"pi/agent/llm"
)

// selection is what the person chose to talk to.
type selection struct {
	model *llm.Model
	wish  string // how much the model is to think
}

// level is what the model is asked for.
func (s selection) level() string { return llm.Clamp(s.model, s.wish) }

// choice is the selection of the next request. All methods may be called from any
// goroutine.
type choice struct {
	choosing sync.Mutex // guards what follows, which changes together
	selected selection
	unnoted  bool // it was chosen, and the session does not say so yet
}

// chosen returns the selection of the next request.
func (c *choice) chosen() selection {
	c.choosing.Lock()
	defer c.choosing.Unlock()
	return c.selected
}

// Model returns the model that the next request goes to.
func (c *choice) Model() *llm.Model { return c.chosen().model }

// Thinking returns the thinking level of the next request: what was wished, as
// far as the model offers it.
func (c *choice) Thinking() string { return c.chosen().level() }

// ThinkingWish returns the thinking level that was chosen. It stays when a model
// offers less, and counts again with one that offers more.
func (c *choice) ThinkingWish() string { return c.chosen().wish }

// change changes a part of the selection. The rest stays as somebody else may
// choose it at the same time.
func (c *choice) change(change func(*selection)) (was, is selection) {
	c.choosing.Lock()
	defer c.choosing.Unlock()
	was = c.selected
	change(&c.selected)
	c.unnoted = true
	return was, c.selected
}

// Replace puts now, which is was as it is known by now, in its place if that is
// the model at hand. Nobody is told, because nobody chose.
func (c *choice) Replace(was, now *llm.Model) {
	c.choosing.Lock()
	defer c.choosing.Unlock()
	if c.selected.model == was {
		c.selected.model = now
	}
}

// restore makes is, which a session was left with, the selection.
func (c *choice) restore(is selection) (was selection) {
	c.choosing.Lock()
	defer c.choosing.Unlock()
	was = c.selected
	c.selected, c.unnoted = is, false
	return was
}

// takeForNote returns the selection to whoever writes it into the session.
func (c *choice) takeForNote() selection {
	c.choosing.Lock()
	defer c.choosing.Unlock()
	c.unnoted = false
	return c.selected
}

// isUnnoted reports whether a choice came too late for the run to note it.
func (c *choice) isUnnoted() bool {
	c.choosing.Lock()
	defer c.choosing.Unlock()
	return c.unnoted
}

// SetModel makes the next request go to model, also while a prompt runs. It fires
// model_select if that is another model than before; source is set, cycle or
// restore. If the thinking level in force becomes another one with it, that is
// told as well.
func (a *Agent) SetModel(ctx context.Context, model *llm.Model, source string) {
	a.choose(ctx, func(s *selection) { s.model = model }, source)
}

// SetThinking sets how much the model is to think from the next request on. What
// it does not offer is clamped, see [llm.Clamp].
func (a *Agent) SetThinking(ctx context.Context, level string) error {
	if err := llm.CheckThinking(level); err != nil {
		return err
	}
	a.choose(ctx, func(s *selection) { s.wish = level }, "set")
	return nil
}

// Select is SetModel and SetThinking in one step; a level of "" leaves that as it
// is.
func (a *Agent) Select(ctx context.Context, model *llm.Model, level, source string) error {
	if level == "" {
		a.SetModel(ctx, model, source)
		return nil
	}
	if err := llm.CheckThinking(level); err != nil {
		return err
	}
	a.choose(ctx, func(s *selection) { *s = selection{model, level} }, source)
	return nil
}

// choose changes a part of the choice and tells of it.
func (a *Agent) choose(ctx context.Context, change func(*selection), source string) {
	was, is := a.change(change)
	a.tellSelected(ctx, was, is, source)
	a.noteChoice(ctx)
}

// noteChoice writes what was chosen into a session that has begun, so that who
// goes on with it later finds it as it was left. While a prompt runs, its next
// turn does it; in a session without entries, the next prompt.
func (a *Agent) noteChoice(ctx context.Context) {
	s := a.Session()
	if !a.IsIdle() || s.ReadOnly() || s.Leaf() == "" {
		return
	}
	if err := a.recordModel(); err != nil {
		a.Notify(ctx, LevelWarning, err.Error())
	}
}

// tellSelected tells the listeners what is different from before.
func (a *Agent) tellSelected(ctx context.Context, was, is selection, source string) {
	before, now := was.level(), is.level()
	if was.model.Ref() != is.model.Ref() {
		a.emitIf(ctx, KindModelSelect, func() Event {
			return &ModelSelect{Model: is.model, Previous: was.model, ThinkingLevel: now, Source: source}
		})
	}
	if before != now {
		a.emitIf(ctx, KindThinkingLevelSelect, func() Event { return &ThinkingLevelSelect{now, before} })
	}
}

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
