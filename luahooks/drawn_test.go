package luahooks

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"pi/agent"
)

// drawnCall is a call that is over.
func drawnCall(tool string, input json.RawMessage) agent.DrawnCall {
	return agent.DrawnCall{ID: "c1", Name: tool, Input: input, Redraw: func() {}, Kept: new(sync.Map)}
}

// Renderers see whether a call runs, and one table for all drawings of it.
func TestRenderersKnowTheCallThatTheyDraw(t *testing.T) {
	r := newRig(t, map[string]string{
		"a.lua": `local first
			pi.tool{ name = "own", description = "D", execute = function() end,
				render_call = function(args, opts)
					opts.call.state.n = (opts.call.state.n or 0) + 1
					first = first or opts.call
					return table.concat({ opts.call.id, opts.call.name, opts.call.args.a, tostring(opts.partial), opts.call.state.n, tostring(first == opts.call) }, " ")
				end,
				render_result = function(r, opts)
					if opts.partial then opts.redraw() end
					return table.concat({ r.content[1].text, tostring(opts.partial), opts.call.state.n, opts.call.started, opts.call.duration_ms, tostring(opts.call.is_error) }, " ")
				end }`,
		"b.lua": `pi.renderer{ tool = "edit", call = function(input, opts) return input.edits[1].old_text .. opts.call.args.edits[1].new_text .. tostring(opts.call.state.n) .. tostring(opts.partial) end }`,
	})
	again := 0
	c := drawnCall("own", json.RawMessage(`{"a":"A"}`))
	c.Running, c.Started, c.Took, c.Redraw = true, time.UnixMilli(7000), 1500*time.Millisecond, func() { again++ }
	draw := func(c agent.DrawnCall, result string) string {
		var lines []string
		var ok bool
		if result == "" {
			lines, ok = r.chain.RenderToolCall(context.Background(), c, false, 40)
		} else {
			lines, ok = r.chain.RenderToolResult(context.Background(), c, agent.TextResult(result), false, 40)
		}
		if !ok {
			return "none"
		}
		return strings.Join(lines, "|")
	}
	over := c
	over.Running, over.Failed, over.Took = false, true, 2*time.Second
	other := drawnCall("own", json.RawMessage(`{"a":"B"}`))
	edit := drawnCall("edit", json.RawMessage(`{"path":"x","edits":[{"oldText":"o","newText":"n"}]}`))
	for _, x := range []struct{ what, got, want string }{
		{"as it begins", draw(c, ""), "c1 own A true 1 true"},
		{"as it goes on", draw(c, "half"), "half true 1 7000 1500 false"},
		{"the call again", draw(c, ""), "c1 own A true 2 true"},
		{"at its end", draw(over, "all"), "all nil 2 7000 2000 true"},
		{"the call at its end", draw(over, ""), "c1 own A nil 3 true"},
		{"another call", draw(other, ""), "c1 own B nil 1 false"},
		{"of a built-in tool, with the names of Lua", draw(edit, ""), "onnilnil"},
	} {
		if x.got != x.want {
			t.Errorf("%s: %q, want %q", x.what, x.got, x.want)
		}
	}
	if again != 1 {
		t.Errorf("it was to be drawn again %d times", again)
	}
	r.mustBeQuiet()
	if !r.chain.DrawsTool("own") || !r.chain.DrawsTool("edit") || r.chain.DrawsTool("bash") {
		t.Error("who draws what is not known")
	}
}
