package luahooks

import (
	"context"
	"slices"
	"strings"
	"testing"

	"pi/agent"
	"pi/session"
	"pi/session/message"
)

func imageBlock(data string) message.Block {
	return message.Block{Type: message.BlockImage, Data: data, MimeType: "image/png"}
}

func TestAPortedInputIsRewrittenWithItsImages(t *testing.T) {
	r := newRig(t, map[string]string{"a.lua": ported + `
		pi.on("input", function(event)
			if event.text == "plain" then assert(event.images == nil) return { action = "continue" } end
			assert(#event.images == 1 and event.images[1].data == "aGk=")
			if event.text == "text" then return { action = "transform", text = "new" } end
			return { action = "transform", images = { { type = "image", data = "eW8=", mime_type = "image/png" } } }
		end)
		pi.on("before_agent_start", function(event)
			print(event.prompt .. " " .. (event.images and #event.images or 0))
		end)`})
	file := message.NamedText("a.txt", "x")
	for _, c := range []struct {
		text, want string
		images     []string
	}{{"plain", "plain", nil}, {"text", "new", []string{"aGk="}}, {"images", "images", []string{"eW8="}}} {
		e := &agent.Input{Text: c.text, Attachments: []message.Block{file}}
		if c.text != "plain" {
			e.Attachments = append(e.Attachments, imageBlock("aGk="))
		}
		r.emit(e)
		var images []string
		for _, b := range e.Attachments[1:] {
			images = append(images, b.Data)
		}
		if e.Text != c.want || !slices.Equal(images, c.images) || e.Attachments[0].Text != file.Text {
			t.Errorf("%s: %q with %+v", c.text, e.Text, e.Attachments)
		}
	}
	r.emit(&agent.BeforeAgentStart{Prompt: "p", Attachments: []message.Block{file, imageBlock("aGk=")}})
	r.emit(&agent.BeforeAgentStart{Prompt: "q"})
	if said := strings.Join(r.host.notices(), ", "); said != "info: a: p 1, info: a: q 0" {
		t.Errorf("said %s", said)
	}
}

func TestEventsOfThisProgramPassToAPortedHook(t *testing.T) {
	r := newRig(t, map[string]string{"a.lua": ported + `
		pi.on("model_select", function(event, ctx) print(event.type .. " " .. event.source .. " " .. tostring(ctx.session_manager ~= nil)) end)
		pi.on("message_end", function(event) return { mesage = 1 } end)
		pi.on("mine:done", function(event) print(event.type .. " " .. event.data.n) end)`,
		"b.lua": `pi.on("input", function() pi.emit("mine:done", { n = 4 }) end)`}, patient)
	r.emit(&agent.ModelSelect{Model: r.host.model, Source: "cycle", ThinkingLevel: "off"})
	r.mustSay("model_select cycle true")
	r.emit(&agent.MessageEnd{Message: &message.Message{Role: message.RoleUser}})
	r.mustSay(`a.lua:4: unknown key "mesage" in the result of message_end, did you mean "message"?`)
	r.input("x")
	r.mustSay("mine:done 4")
}

func TestABusOfPortedHooksReachesTheOwnFileAndOthers(t *testing.T) {
	r := newRig(t, map[string]string{
		"a.lua": ported + `
			pi.events.on("news", function(data) error("not for me") end)
			local off = pi.events.on("news", function(data) print("own " .. data.n) end)
			pi.on("input", function(event) pi.events.emit("news", { n = event.text }) if event.text == "1" then off() end end)`,
		"b.lua": ported + `pi.events.on("news", function(data) print("other " .. data.n) end)`,
		"c.lua": `pi.on("bus:news", function(event) print("native " .. event.data.n) end)`,
	})
	r.input("1")
	r.input("2")
	want := "info: a: own 1, info: b: other 1, info: c: native 1, info: b: other 2, info: c: native 2"
	if said := strings.Join(r.host.notices(), ", "); said != want {
		t.Errorf("said %s", said)
	}
}

func TestPortedRenderersDrawComponentsOrLeaveIt(t *testing.T) {
	r := newRig(t, map[string]string{"a.lua": ported + `
		pi.register_message_renderer("text", function(message, options, theme)
			return pi.tui.Text(message.content .. (options.expanded and " in full" or ""), 1, 1)
		end)
		pi.register_message_renderer("lines", function() return { "one", "two" } end)
		pi.register_message_renderer("none", function() return nil end)
		local Box = {}
		function Box:render(width) return { self.word .. width } end
		pi.register_message_renderer("class", function() return setmetatable({ word = "wide " }, { __index = Box }) end)
		pi.register_tool{ name = "t", description = "d", execute = function() end,
			render_call = function(args, theme) return theme.fg("accent", "call") .. tostring(theme.width) end,
			render_result = function(result, options, theme) return pi.tui.Text(theme.bold(result.content[1].text) .. (options.is_partial and " so far" or options.width), 0, 0) end }`,
		"b.lua": `pi.register_message_renderer("none", function() return "the next" end)`})
	for kind, want := range map[string]string{"text": "| hello in| full|", "lines": "one|two", "none": "the next", "class": "wide 10"} {
		m := &message.Message{Role: message.RoleCustom, CustomType: kind, Content: []message.Block{message.TextBlock("hello")}, Plain: true}
		lines, ok := r.chain.RenderMessage(context.Background(), m, true, 10)
		if got := strings.Join(lines, "|"); !ok || got != want {
			t.Errorf("%s: %q, %v, want %q", kind, got, ok, want)
		}
	}
	if lines, ok := r.chain.RenderToolCall(context.Background(), drawnCall("t", []byte(`{}`)), false, 20); !ok || strings.Join(lines, "|") != "call20" {
		t.Errorf("the call is %q", lines)
	}
	result := agent.Result{Content: []message.Block{message.TextBlock("r")}}
	if lines, ok := r.chain.RenderToolResult(context.Background(), drawnCall("t", nil), result, false, 20); !ok || strings.Join(lines, "|") != "r20" {
		t.Errorf("the result is %q", lines)
	}
	running := drawnCall("t", nil)
	running.Running = true
	if lines, ok := r.chain.RenderToolResult(context.Background(), running, result, false, 20); !ok || strings.Join(lines, "|") != "r so far" {
		t.Errorf("what it reports is %q", lines)
	}
	r.mustBeQuiet()
}

func TestPortedCommandsCompleteTheirArguments(t *testing.T) {
	r := newRig(t, map[string]string{"a.lua": ported + `
		pi.register_command("later", { description = "d", handler = function() end,
			get_argument_completions = function(prefix) return { { value = prefix .. "x", label = "X" }, "y" } end })
		pi.command("older", { description = "d", handler = function() end, complete = function(prefix) return { prefix } end })
		pi.register_command("none", { description = "d", handler = function() end })`})
	if got := r.command("later").Complete("p"); !slices.Equal(got, []string{"px", "y"}) {
		t.Errorf("later: %q", got)
	}
	if got := r.command("older").Complete("p"); !slices.Equal(got, []string{"p"}) {
		t.Errorf("older: %q", got)
	}
	if r.command("none").Complete != nil {
		t.Error("a command without completion has one")
	}
}

func TestHandlersOfSeveralProgramsInOneFileKeepTheirOrder(t *testing.T) {
	r := newRig(t, map[string]string{"a.lua": ported + `
		local marvin = require "pi.compat.marvin"
		pi.on("tool_call", function(event) print("one " .. event.tool_name) end)
		marvin.on("tool.execute.before", function(event) print("two " .. event.type) end)
		_G.pi.on("tool_call", function(event) print("three " .. event.type) end)
		pi.on("tool_call", function(event) return { block = true, reason = "four" } end)
		marvin.on("tool.execute.before", function(event) print("never") end)`})
	if e := r.bash("ls"); e.Reason != "four" {
		t.Errorf("blocked with %q", e.Reason)
	}
	if said := strings.Join(r.host.notices(), ", "); said != "info: a: one bash, info: a: two tool.execute.before, info: a: three tool_call" {
		t.Errorf("said %s", said)
	}
}

// A handler that fails, or returns no list, leaves the messages as they were; one that leaves
// a message alone leaves it the same one.
func TestAPortedContextLeavesWhatItDoesNotTouch(t *testing.T) {
	r := newRig(t, map[string]string{"a.lua": ported + `
		pi.on("context", function(event) error("oh") end)
		pi.on("context", function(event) return "no list" end)
		pi.on("context", function(event)
			local messages = {}
			for i, m in ipairs(event.messages) do
				assert(m.message == m and type(m.content) == "string")
				messages[i] = i == 2 and { message = m.message, entry_index = nil } or m
			end
			messages[3].content = messages[3].content:upper()
			return { messages = messages }
		end)`})
	var items []session.Item
	for _, text := range []string{"a", "b", "c", "d"} {
		items = append(items, session.Item{Message: &message.Message{Role: message.RoleUser, Content: []message.Block{message.TextBlock(text)}}, Index: -1})
	}
	e := &agent.Context{Items: items}
	r.emit(e)
	for i, was := range items {
		if same := e.Items[i].Message == was.Message; same != (i != 2) {
			t.Errorf("message %d: the same one: %v", i, same)
		}
	}
	if text := e.Items[2].Message.Text(); text != "C" {
		t.Errorf("the third is %q", text)
	}
	r.mustSay("a.lua:3: oh")
}
