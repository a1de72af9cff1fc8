package agent

import (
	"context"
	"fmt"
)

// childUI is the UI of an agent that another one uses: see [ChildUI].
type childUI struct {
	NoUI
	parent UI
	name   string
}

// ChildUI is the UI of the child called name, of an agent whose UI is parent. Its questions go to the
// user of the parent, and say who asks, as its notices do. All else that it shows reaches nobody:
// there is one screen, and it is the parent's.
func ChildUI(parent UI, name string) UI { return &childUI{parent: parent, name: name} }

// titled is a text that says which agent it is of.
func (c *childUI) titled(text string) string { return fmt.Sprintf("[%s] %s", c.name, text) }

// HasUI reports whether the parent has somebody to ask.
func (c *childUI) HasUI() bool { return c.parent.HasUI() }

// IsClient reports whether a program answers there.
func (c *childUI) IsClient() bool { return !HasUser(c.parent) }

// SeveralDialogs reports whether several questions can be open there at a time.
func (c *childUI) SeveralDialogs() bool {
	several, ok := c.parent.(interface{ SeveralDialogs() bool })
	return ok && several.SeveralDialogs()
}

// Can reports that it can do nothing but ask and tell.
func (c *childUI) Can(Ability) bool { return false }

func (c *childUI) Select(ctx context.Context, title string, choices []Choice, o DialogOptions) ([]string, bool, error) {
	return c.parent.Select(ctx, c.titled(title), choices, o)
}

func (c *childUI) Confirm(ctx context.Context, title, message string, o DialogOptions) (Answer, error) {
	return c.parent.Confirm(ctx, c.titled(title), message, o)
}

func (c *childUI) Input(ctx context.Context, title, placeholder string, o DialogOptions) (string, bool, error) {
	return c.parent.Input(ctx, c.titled(title), placeholder, o)
}

func (c *childUI) Editor(ctx context.Context, title, prefill string, o DialogOptions) (string, bool, error) {
	return c.parent.Editor(ctx, c.titled(title), prefill, o)
}

func (c *childUI) Notify(text string, level Level) { c.parent.Notify(c.titled(text), level) }

// Theme is that of the parent: what a hook paints may be part of a question.
func (c *childUI) Theme() Theme { return c.parent.Theme() }
