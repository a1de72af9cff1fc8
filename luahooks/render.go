package luahooks

import (
	"context"
	"encoding/json"

	"pi/agent"
	"pi/session/message"
)

// What hooks draw of messages and tool calls.

// RenderMessage asks the hooks for the lines of a custom message. The first
// answer of the chain counts; false means that no hook has one. A renderer that
// fails is reported and has none.
func (c *Chain) RenderMessage(ctx context.Context, m *message.Message, expanded bool, width int) ([]string, bool) {
	for _, h := range c.roster.list() {
		if r, ok := h.registered().Renderers.Find(m.CustomType); ok {
			if lines, ok := r.Render(ctx, m, expanded, width); ok {
				return lines, true
			}
		}
	}
	return nil, false
}

// RenderToolCall asks the tool that the call is for, if a hook brought it and it
// has render_call.
func (c *Chain) RenderToolCall(name string, args json.RawMessage, width int) ([]string, bool) {
	if t := c.roster.tool(name); t != nil {
		return t.RenderCall(args, width)
	}
	return nil, false
}

// RenderToolResult is the same for render_result.
func (c *Chain) RenderToolResult(name string, r agent.Result, expanded bool, width int) ([]string, bool) {
	if t := c.roster.tool(name); t != nil {
		return t.RenderResult(r, expanded, width)
	}
	return nil, false
}
