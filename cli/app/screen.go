package app

import (
	"context"
	"encoding/json"

	"pi/agent"
	"pi/luahooks"
	"pi/session/message"
)

// drawnByHooks draws for the terminal what hooks have an idea of.
type drawnByHooks struct{ chain func() *luahooks.Chain } // it is not there yet

func (d drawnByHooks) Message(ctx context.Context, m *message.Message, expanded bool, width int) ([]string, bool) {
	return d.chain().RenderMessage(ctx, m, expanded, width)
}

func (d drawnByHooks) ToolCall(name string, args json.RawMessage, width int) ([]string, bool) {
	return d.chain().RenderToolCall(name, args, width)
}

func (d drawnByHooks) ToolResult(name string, r agent.Result, expanded bool, width int) ([]string, bool) {
	return d.chain().RenderToolResult(name, r, expanded, width)
}
