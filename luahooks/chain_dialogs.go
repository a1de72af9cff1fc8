package luahooks

import (
	"pi/agent"

	"context"
)

// How hooks ask the person.

func (c *Chain) hasUI() bool { return c.audience.person() != nil }

// asking reports whether a dialog is open.
func (c *Chain) asking() bool { return len(c.dialogs) > 0 }

// ask opens a dialog when those before it have ended, and tells hooks that the
// program waits for the person.
func (c *Chain) ask(ctx context.Context, kind, title string, f func(context.Context) error) error {
	select {
	case c.dialogs <- struct{}{}:
		defer func() { <-c.dialogs }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if c.Wants(agent.KindUIPromptStart) {
		_ = c.Handle(ctx, &agent.UIPromptStart{PromptKind: kind, Title: title})
	}
	if c.Wants(agent.KindUIPromptEnd) {
		defer func() {
			_ = c.Handle(context.WithoutCancel(ctx), &agent.UIPromptEnd{PromptKind: kind, Title: title})
		}()
	}
	return f(ctx)
}
