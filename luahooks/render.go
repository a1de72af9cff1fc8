package luahooks

import (
	"context"
	"encoding/json"

	"pi/agent"
	"pi/luahooks/api"
	"pi/session/message"
)

// What hooks draw of messages and tool calls.

// RenderMessage asks the hooks for the lines of a custom message. The first
// answer of the chain counts; false means that no hook has one. A renderer that
// fails is reported and has none.
func (r *roster) RenderMessage(ctx context.Context, m *message.Message, expanded bool, width int) ([]string, bool) {
	return r.render(api.EntryRenderer(m.CustomType), func(by api.Renderer) ([]string, bool) { return by.Message(ctx, m, expanded, width) })
}

// RenderToolCall is RenderMessage for a call of a tool. Behind the renderers of all hooks
// comes the tool itself, if a hook brought it and it has render_call.
func (r *roster) RenderToolCall(ctx context.Context, name string, args json.RawMessage, expanded bool, width int) ([]string, bool) {
	lines, ok := r.render(api.ToolRenderer(name), func(by api.Renderer) ([]string, bool) { return by.Call(ctx, args, expanded, width) })
	if t := r.tool(name); !ok && t != nil {
		return t.RenderCall(args, expanded, width)
	}
	return lines, ok
}

// RenderToolResult is the same for a result, and render_result.
func (r *roster) RenderToolResult(ctx context.Context, name string, result agent.Result, expanded bool, width int) ([]string, bool) {
	lines, ok := r.render(api.ToolRenderer(name), func(by api.Renderer) ([]string, bool) { return by.Result(ctx, name, result, expanded, width) })
	if t := r.tool(name); !ok && t != nil {
		return t.RenderResult(result, expanded, width)
	}
	return lines, ok
}

// render asks the renderers of a kind in chain order, until one draws.
func (r *roster) render(kind string, draw func(api.Renderer) ([]string, bool)) ([]string, bool) {
	for _, h := range r.list() {
		if by, ok := h.registered().Renderers.Find(kind); ok {
			if lines, ok := draw(by); ok {
				return lines, true
			}
		}
	}
	return nil, false
}
