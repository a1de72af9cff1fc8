package luahooks

import (
	"encoding/json"
	"pi/agent"
	"pi/session/message"

	"context"

	lua "github.com/yuin/gopher-lua"
)

// What hooks draw of messages and tool calls.

// RenderMessage asks the hooks for the lines of a custom message. The first
// answer of the chain counts; false means that no hook has one. A renderer that
// fails is reported and has none.
func (c *Chain) RenderMessage(ctx context.Context, m *message.Message, expanded bool, width int) ([]string, bool) {
	for _, h := range c.roster.list() {
		in := h.current()
		r, ok := h.registered().Renderers.Find(m.CustomType)
		if !ok {
			continue
		}
		lines, ok := in.render(ctx, "renderer of "+m.CustomType, func(L *lua.LState) lua.LValue {
			message := in.records.Message(m)
			return callFunction(L, r.fn, message, drawing(L, &expanded, width), in.theme)
		})
		if ok {
			return lines, true
		}
	}
	return nil, false
}

// RenderToolCall asks the tool that the call is for, if a hook brought it and it
// has render_call.
func (c *Chain) RenderToolCall(name string, args json.RawMessage, width int) ([]string, bool) {
	t := c.roster.tool(name)
	if t == nil || t.renderCall == nil {
		return nil, false
	}
	return t.in.render(context.Background(), "render_call of "+name, func(L *lua.LState) lua.LValue {
		return callFunction(L, t.renderCall, t.in.records.JSON(args), drawing(L, nil, width), t.in.theme)
	})
}

// RenderToolResult is the same for render_result.
func (c *Chain) RenderToolResult(name string, r agent.Result, expanded bool, width int) ([]string, bool) {
	t := c.roster.tool(name)
	if t == nil || t.renderResult == nil {
		return nil, false
	}
	return t.in.render(context.Background(), "render_result of "+name, func(L *lua.LState) lua.LValue {
		return callFunction(L, t.renderResult, t.in.resultValue(L, t.spec.Name, r), drawing(L, &expanded, width), t.in.theme)
	})
}

func (c *Chain) paint(style, text string) string {
	if ui := c.audience.uiNow(); ui != nil {
		return ui.Theme().Paint(style, text)
	}
	return text
}
