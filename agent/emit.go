package agent

import (
	"context"
	"fmt"
)

// wants reports whether anybody listens to k; events nobody wants are not built.
func (a *Agent) wants(k Kind) bool {
	for _, l := range a.listeners {
		if l.Wants(k) {
			return true
		}
	}
	return false
}

// emit hands e to the listeners in order. A listener's error stops nobody; it is
// told to all as a notice. Events whose error decides something are emitted by
// [Agent.ask].
func (a *Agent) emit(ctx context.Context, e Event) {
	if err := a.ask(ctx, e); err != nil {
		a.Notify(ctx, LevelError, err.Error())
	}
}

// ask hands e to the listeners in order up to the first error.
func (a *Agent) ask(ctx context.Context, e Event) error {
	for _, l := range a.listeners {
		if !l.Wants(e.Kind()) {
			continue
		}
		if err := l.Handle(ctx, e); err != nil {
			return err
		}
	}
	return nil
}

// Notify shows the person a line that is no part of the conversation.
func (a *Agent) Notify(ctx context.Context, level Level, text string) {
	if a.wants(KindNotice) {
		e := &Notice{Text: text, Level: level}
		for _, l := range a.listeners {
			if l.Wants(KindNotice) {
				_ = l.Handle(ctx, e) // a front end that cannot show a notice has no better place to say so
			}
		}
	}
}

func (a *Agent) notifyf(ctx context.Context, level Level, format string, args ...any) {
	a.Notify(ctx, level, fmt.Sprintf(format, args...))
}
