package main

import (
	"context"
	"encoding/json"

	"pi/agent"
	"pi/repl"
	"pi/session"
)

// drawnByHooks draws for the terminal what hooks have an idea of.
type drawnByHooks struct{ *app }

func (d drawnByHooks) Message(ctx context.Context, m *session.Message, expanded bool, width int) ([]string, bool) {
	return d.chain.RenderMessage(ctx, m, expanded, width)
}

func (d drawnByHooks) ToolCall(name string, args json.RawMessage, width int) ([]string, bool) {
	return d.chain.RenderToolCall(name, args, width)
}

func (d drawnByHooks) ToolResult(name string, r agent.Result, expanded bool, width int) ([]string, bool) {
	return d.chain.RenderToolResult(name, r, expanded, width)
}

// shortcuts are the keys that hooks took.
func (a *app) shortcuts() []repl.Shortcut {
	var all []repl.Shortcut
	for _, s := range a.chain.Shortcuts() {
		all = append(all, repl.Shortcut{Key: s.Key, Help: s.Description, Hook: s.Hook, Run: s.Run})
	}
	return all
}
