package luahooks

import (
	"context"
	"sync"

	"pi/agent"
)

// dialogQueue shows the dialogs of all hooks one at a time. It is a [api.Dialogs].
type dialogQueue struct {
	open   chan struct{}  // holds one token: who has put it there may ask the person
	events agent.Listener // is told when the program waits for the person
}

func newDialogQueue(events agent.Listener) *dialogQueue {
	return &dialogQueue{open: make(chan struct{}, 1), events: events}
}

// IsOpen is that of [api.Dialogs].
func (q *dialogQueue) IsOpen() bool { return len(q.open) > 0 }

// Ask is that of [api.Dialogs].
func (q *dialogQueue) Ask(ctx context.Context, kind, title string, f func(context.Context) error) error {
	select {
	case q.open <- struct{}{}:
		defer func() { <-q.open }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if q.events.Wants(agent.KindUIPromptStart) {
		_ = q.events.Handle(ctx, &agent.UIPromptStart{PromptKind: kind, Title: title})
	}
	if q.events.Wants(agent.KindUIPromptEnd) {
		defer func() {
			_ = q.events.Handle(context.WithoutCancel(ctx), &agent.UIPromptEnd{PromptKind: kind, Title: title})
		}()
	}
	return f(ctx)
}

// answeredAlways has the questions that a person answeredAlways with "always". It is an [api.Memory].
type answeredAlways struct{ questions sync.Map }

// IsKept is that of [api.Memory].
func (a *answeredAlways) IsKept(question string) bool {
	_, ok := a.questions.Load(question)
	return ok
}

// Keep is that of [api.Memory].
func (a *answeredAlways) Keep(question string) { a.questions.Store(question, true) }
