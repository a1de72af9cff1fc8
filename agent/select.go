package agent

import (
	"context"
	"fmt"
	"strings"
)

// SetModel makes the next request go to model. It fires model_select if that is
// another model than before; source is set, cycle or restore.
func (a *Agent) SetModel(ctx context.Context, model *Model, source string) {
	a.mu.Lock()
	previous := a.model
	a.model = model
	thinking := a.thinking
	a.mu.Unlock()
	if previous.Ref() != model.Ref() {
		a.emitIf(ctx, KindModelSelect, func() Event {
			return &ModelSelect{Model: model, Previous: previous, ThinkingLevel: thinking, Source: source}
		})
	}
}

// SetThinking sets the thinking level of the next request.
func (a *Agent) SetThinking(ctx context.Context, level string) error {
	if !ValidThinking(level) {
		return fmt.Errorf("unknown thinking level %q; levels are %s", level, strings.Join(thinkingLevels, ", "))
	}
	a.mu.Lock()
	previous := a.thinking
	a.thinking = level
	a.mu.Unlock()
	if previous != level {
		a.emitIf(ctx, KindThinkingLevelSelect, func() Event { return &ThinkingLevelSelect{level, previous} })
	}
	return nil
}
