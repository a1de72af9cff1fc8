package agent

import (
	"context"
	"fmt"
	"strings"
)

// selection is what the person chose to talk to.
type selection struct {
	model    *Model
	thinking string
}

// SetModel makes the next request go to model. It fires model_select if that is
// another model than before; source is set, cycle or restore.
func (a *Agent) SetModel(ctx context.Context, model *Model, source string) {
	a.mu.Lock()
	was := selection{a.model, a.thinking}
	a.model = model
	a.mu.Unlock()
	a.selected(ctx, was, selection{model, was.thinking}, source)
	a.noteChoice(ctx)
}

// SetThinking sets the thinking level of the next request.
func (a *Agent) SetThinking(ctx context.Context, level string) error {
	if !ValidThinking(level) {
		return fmt.Errorf("unknown thinking level %q; levels are %s", level, strings.Join(thinkingLevels, ", "))
	}
	a.mu.Lock()
	was := selection{a.model, a.thinking}
	a.thinking = level
	a.mu.Unlock()
	a.selected(ctx, was, selection{was.model, level}, "set")
	a.noteChoice(ctx)
	return nil
}

// noteChoice writes what was chosen into a session that has begun, so that who
// goes on with it later finds it as it was left. While a prompt runs, and in a
// session without entries, the next prompt does it.
func (a *Agent) noteChoice(ctx context.Context) {
	s := a.Session()
	if !a.IsIdle() || s.ReadOnly() || s.Leaf() == "" {
		return
	}
	if err := a.recordModel(); err != nil {
		a.Notify(ctx, LevelWarning, err.Error())
	}
}

// selected tells the listeners what is different from before.
func (a *Agent) selected(ctx context.Context, was, is selection, source string) {
	if was.model.Ref() != is.model.Ref() {
		a.emitIf(ctx, KindModelSelect, func() Event {
			return &ModelSelect{Model: is.model, Previous: was.model, ThinkingLevel: is.thinking, Source: source}
		})
	}
	if was.thinking != is.thinking {
		a.emitIf(ctx, KindThinkingLevelSelect, func() Event { return &ThinkingLevelSelect{is.thinking, was.thinking} })
	}
}
