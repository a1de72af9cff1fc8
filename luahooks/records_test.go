package luahooks

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"pi/agent"
	"pi/session"
	"pi/session/message"
)

const assistantJSON = `{"role":"assistant","content":[{"type":"thinking","thinking":"hm","thinkingSignature":"s","odd":1},{"type":"text","text":"hi","cache":{"x":12345678901234567890}},{"type":"toolCall","id":"c1","name":"edit","arguments":{"path":"a","oldText":"x","n":12345678901234567890,"empty":[],"newText":"y"}},{"type":"novel","z":[]}],"api":"a","provider":"p","model":"m","usage":{"input":1,"output":2,"cacheRead":0,"cacheWrite":0,"totalTokens":3,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}},"stopReason":"toolUse","timestamp":5,"unknown":{"k":1e400}}`

func decoded(t testing.TB, text string) *message.Message {
	t.Helper()
	m := new(message.Message)
	mustDo(t, json.Unmarshal([]byte(text), m))
	return m
}

// conversation fills the session of a rig with one message of each role.
func conversation(t testing.TB, r *rig) {
	t.Helper()
	code := 3
	for _, m := range []*message.Message{
		{Role: message.RoleUser, Content: []message.Block{message.TextBlock("question")}, Plain: true, Timestamp: 1},
		decoded(t, assistantJSON),
		{Role: message.RoleToolResult, ToolCallID: "c1", ToolName: "edit", Content: []message.Block{message.TextBlock("done")}, Details: json.RawMessage(`{"diff":"d","list":[],"n":12345678901234567890}`)},
		{Role: message.RoleBashExecution, Command: "ls", Output: "a", ExitCode: &code, Truncated: true, FullOutputPath: "/f"},
	} {
		_, err := r.host.session.AppendMessage(m)
		mustDo(t, err)
	}
	_, err := r.host.session.Append(session.TypeCustomMessage, json.RawMessage(`{"customType":"note","content":[{"type":"text","text":"n"}],"display":true,"details":{"a":[]}}`))
	mustDo(t, err)
}

func asJSON(t testing.TB, m *message.Message) string {
	t.Helper()
	b, err := m.MarshalJSON()
	mustDo(t, err)
	return string(b)
}

func TestMessagesThatLuaOnlyReadsAreTheSameGoValues(t *testing.T) {
	readers := map[string]string{
		"untouched":    `pi.on("context", function(e) return { messages = e.messages } end)`,
		"wrapped":      `pi.on("context", function(e) local l = {} for i, m in ipairs(e.messages) do l[i] = { message = m, entry_index = m.entry_index } end return { messages = l } end)`,
		"another list": `pi.on("context", function(e) local l = {} for _, m in ipairs(e.messages) do table.insert(l, m) end return { messages = l } end)`,
		"all read": `
			local function walk(v) if type(v) == "table" then for k, x in pairs(v) do walk(x) end end end
			pi.on("context", function(e) walk(e) return { messages = e.messages } end)`,
		"assigned as they were": `pi.on("context", function(e)
			for _, m in ipairs(e.messages) do
				m.content = m.content
				if type(m.content) == "table" then for _, b in ipairs(m.content) do b.text = b.text end end
			end
			return { messages = e.messages } end)`,
	}
	for name, code := range readers {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, map[string]string{"a.lua": code})
			conversation(t, r)
			before := r.host.session.Context()
			after := r.host.Context(context.Background())
			r.mustBeQuiet()
			if len(after) != len(before) {
				t.Fatalf("%d messages became %d", len(before), len(after))
			}
			for i := range before {
				if after[i] != before[i] {
					t.Errorf("message %d (%s) is another", i, before[i].Message.Role)
				}
			}
		})
	}
}

func TestEditedMessagesKeepWhatNobodyKnows(t *testing.T) {
	r := newRig(t, map[string]string{"a.lua": `pi.on("context", function(e)
		local a, res, sh, note = e.messages[2], e.messages[3], e.messages[4], e.messages[5]
		a.content[2].text = "changed"
		a.content[3].arguments.old_text = "other"
		res.content = "short"
		res.details.list = nil
		sh.exit_code, sh.truncated, sh.full_output_path, sh.exclude_from_context = nil, nil, nil, true
		note.display, note.details = false, nil
		return { messages = e.messages }
	end)`})
	conversation(t, r)
	before := r.host.session.Context()
	unchanged := asJSON(t, before[1].Message)
	after := r.host.Context(context.Background())
	r.mustBeQuiet()
	want := strings.NewReplacer(`"text":"hi"`, `"text":"changed"`, `"oldText":"x"`, `"oldText":"other"`).Replace(assistantJSON)
	if got := asJSON(t, after[1].Message); got != want {
		t.Errorf("assistant message is\n%s, want\n%s", got, want)
	}
	if got := asJSON(t, before[1].Message); got != unchanged {
		t.Errorf("the session's message changed: %s", got)
	}
	if m := after[2].Message; m.Text() != "short" || string(m.Details) != `{"diff":"d","n":12345678901234567890}` || m.ToolCallID != "c1" {
		t.Errorf("tool result is %s", asJSON(t, m))
	}
	if m := after[3].Message; m.ExitCode != nil || m.Truncated || m.FullOutputPath != "" || !m.ExcludeFromContext || m.Command != "ls" {
		t.Errorf("command is %s", asJSON(t, m))
	}
	if m := after[4].Message; m.Display || m.Details != nil || m.CustomType != "note" || after[4].Entry != before[4].Entry {
		t.Errorf("note is %s", asJSON(t, m))
	}
	if after[0] != before[0] || after[1].Entry != before[1].Entry || after[1].Index != 1 {
		t.Error("places are lost")
	}
}

func TestNewMessagesAndWrappers(t *testing.T) {
	r := newRig(t, map[string]string{"a.lua": `pi.on("context", function(e)
		return { messages = {
			{ role = "user", content = "plain" },
			{ role = "user", content = { { type = "text", text = "block" }, { type = "image", data = "AA==", mime_type = "image/png" } } },
			{ message = e.messages[1], entry_index = 2 },
			{ message = e.messages[1] },
			{ role = "user", content = "stands for", entry_index = 3 },
			e.entries[1],
			{ role = "assistant", content = { { type = "toolCall", id = "x", name = "grep", arguments = { pattern = "a", ignore_case = true } } }, provider = "p" },
			{ role = "toolResult", tool_call_id = "x", tool_name = "grep", content = {}, is_error = true },
		} }
	end)`})
	conversation(t, r)
	entries := r.host.session.Branch()
	items := r.host.Context(context.Background())
	r.mustBeQuiet()
	if len(items) != 8 {
		t.Fatalf("%d items", len(items))
	}
	if m := items[0].Message; !m.Plain || m.Text() != "plain" || items[0].Entry != nil || items[0].Index != -1 {
		t.Errorf("plain: %+v", items[0])
	}
	if m := items[1].Message; m.Plain || len(m.Content) != 2 || m.Content[1].MimeType != "image/png" {
		t.Errorf("blocks: %+v", m)
	}
	if items[2].Entry != entries[1] || items[2].Index != 1 || items[2].Message != entries[0].Message() {
		t.Errorf("wrapped with another entry: %+v", items[2])
	}
	if items[3].Entry != nil || items[3].Index != -1 || items[3].Message != entries[0].Message() {
		t.Errorf("wrapped without an entry: %+v", items[3])
	}
	if items[4].Entry != entries[2] || items[4].Index != 2 {
		t.Errorf("new one for an entry: %+v", items[4])
	}
	if items[5].Message != entries[0].Message() {
		t.Errorf("an entry as a message: %+v", items[5])
	}
	if m := items[6].Message; string(m.Content[0].Arguments) != `{"pattern":"a","ignoreCase":true}` || m.StopReason != message.StopEnd {
		t.Errorf("call: %s", asJSON(t, m))
	}
	if m := items[7].Message; !m.IsError || m.ToolCallID != "x" {
		t.Errorf("result: %s", asJSON(t, m))
	}
}

func TestABadListOfMessagesLeavesTheOneBefore(t *testing.T) {
	cases := map[string]string{
		`{ messages = 1 }`:                                                         "messages: expected a list, got number",
		`{ messages = { 1 } }`:                                                     "messages[1]: expected a message, got number",
		`{ messages = { {} } }`:                                                    "messages[1]: role is missing",
		`{ messages = { { role = "robot" } } }`:                                    `messages[1]: unknown role "robot"`,
		`{ messages = { { role = "user" } } }`:                                     "messages[1]: content: expected a string or a list of blocks, got nil",
		`{ messages = { { role = "user", content = { "x" } } } }`:                  "content[1]: expected a block, got string",
		`{ messages = { { role = "user", content = { type = "text" } } } }`:        "got one block; put it into { }",
		`{ messages = { { role = "user", content = { { type = "text" } } } } }`:    "content[1]: text: expected a string, got nil",
		`{ messages = { { role = "user", content = { { text = "x" } } } } }`:       "content[1]: type is missing",
		`{ messages = { { message = e.messages[1], entry_index = 99 } } }`:         "entry_index: 99 is not in 1..5",
		`{ messages = { { message = e.messages[1], entry_index = 1.5 } } }`:        "entry_index: 1.5 is not in",
		`{ messages = { { role = "custom", content = "x", display = "no" } } }`:    "display: expected a boolean, got string",
		`{ messages = { { role = "toolResult", content = "x", details = e.f } } }`: "",
	}
	for code, want := range cases {
		r := newRig(t, map[string]string{
			"a.lua": `pi.on("context", function(e) return { messages = { { role = "user", content = "first" } } } end)`,
			"b.lua": `pi.on("context", function(e) e.messages = e.messages; local e = { messages = e.messages, entries = e.entries }; return ` + code + ` end)`})
		conversation(t, r)
		items := r.host.Context(context.Background())
		if want == "" {
			r.mustBeQuiet()
			continue
		}
		r.mustSay("hook b: context: ", "b.lua:1: ", want)
		if len(items) != 1 || items[0].Message.Text() != "first" {
			t.Errorf("%s: %d items in force", code, len(items))
		}
	}
}

func TestNothingDoneInPlaceLeavesTheHandler(t *testing.T) {
	r := newRig(t, map[string]string{
		"a.lua": `
			pi.on("context", function(e, ctx)
				table.remove(e.messages); table.remove(e.entries, 1); e.entries[1] = "x"
				e.messages[1].content = "spoiled"
				table.remove(ctx.messages)
				pcall(function() ctx.model.id = "x" end)
			end)
			pi.on("context", function(e, ctx)
				assert(#e.messages == 5 and #e.entries == 5, #e.messages .. " messages, " .. #e.entries .. " entries")
				assert(type(e.entries[1]) == "table" and e.entries[1].id == e.messages[1].entry_id)
				assert(e.messages[1].content == "question", e.messages[1].content)
				assert(#ctx.messages == 5 and ctx.model.id == "m")
			end)
			pi.on("tool_call", function(e) e.input.command = "rm" end)`})
	conversation(t, r)
	items := r.host.Context(context.Background())
	if e := r.bash("ls"); string(e.Input) != `{"command":"ls"}` || e.RewrittenBy != "" {
		t.Errorf("input is %s", e.Input)
	}
	r.mustBeQuiet()
	if len(items) != 5 || items[0].Message.Text() != "question" {
		t.Errorf("%d items", len(items))
	}
}

func TestWhatLuaSees(t *testing.T) {
	r := newRig(t, map[string]string{"a.lua": `
		local json = require "pi.json"
		pi.on("input", function(e, ctx)
			local en, m = ctx.entries, ctx.messages
			local a, res, sh = m[2], m[3], m[4]
			local call = a.content[3]
			assert(en[2].message.stop_reason == "toolUse" and en[2].parent_id == en[1].id and en[1].parent_id == nil)
			assert(en[2].timestamp:match("^%d+%-"), en[2].timestamp)
			assert(en[5].type == "custom_message" and en[5].custom_type == "note" and en[5].details.a[1] == nil)
			assert(a.stop_reason == "toolUse" and a.usage.total == 3 and a.usage.cache_read == 0 and a.entry_index == 2)
			assert(call.type == "toolCall" and call.arguments.old_text == "x" and call.arguments.oldText == nil)
			assert(a.content[1].thinking_signature == "s" and a.content[4].z ~= nil)
			assert(res.role == "toolResult" and res.tool_call_id == "c1" and res.is_error == false and res.details.diff == "d")
			assert(sh.exit_code == 3 and sh.truncated and sh.full_output_path == "/f")
			assert(json.encode(res.details) == '{"diff":"d","list":[],"n":12345678901234567890}', json.encode(res.details))
			assert(ctx.cwd ~= nil and ctx.mode == "interactive" and ctx.has_ui == true and ctx.session_file == nil and rawget(ctx, "nothing") == nil)
			assert(ctx.model.provider == "p" and ctx.model.context_window == 0 and ctx.thinking_level == "off")
			assert(not pcall(function() ctx.cwd = 1 end))
			return { text = "ok" }
		end)`})
	conversation(t, r)
	if got := r.input(""); got != "ok" {
		t.Errorf("got %q: %v", got, r.host.notices())
	}
}

func TestArgumentsOfCoreToolsHaveLuaNamesBothWays(t *testing.T) {
	r := newRig(t, map[string]string{"a.lua": `pi.on("tool_call", function(e)
		if e.tool_name == "edit" then
			assert(e.input.old_text == "a" and e.input.edits[1].new_text == "b" and e.input.oldText == nil)
			e.input.old_text = "c"
			e.input.replace_all = true
		elseif e.tool_name == "grep" then
			e.input.ignore_case = not e.input.ignore_case
		else
			assert(e.input.oldText == "mine")
			e.input.old_text = "both"
		end
		return { input = e.input }
	end)`})
	cases := []struct{ tool, in, out string }{
		{"edit", `{"path":"p","oldText":"a","edits":[{"oldText":"x","newText":"b"}],"n":12345678901234567890}`,
			`{"path":"p","oldText":"c","edits":[{"oldText":"x","newText":"b"}],"n":12345678901234567890,"replaceAll":true}`},
		{"grep", `{"pattern":"p","ignoreCase":true}`, `{"pattern":"p","ignoreCase":false}`},
		{"mine", `{"oldText":"mine"}`, `{"oldText":"mine","old_text":"both"}`},
	}
	for _, c := range cases {
		e := &agent.ToolCall{Name: c.tool, Input: json.RawMessage(c.in)}
		r.emit(e)
		if string(e.Input) != c.out {
			t.Errorf("%s: %s became %s, want %s (%s)", c.tool, c.in, e.Input, c.out, e.Reason)
		}
	}
}

func TestToolResultsAreEditedFieldByField(t *testing.T) {
	r := newRig(t, map[string]string{
		"a.lua": `pi.on("tool_result", function(e) e.details.extra = 1; return { details = e.details, is_error = true } end)`,
		"b.lua": `pi.on("tool_result", function(e) error("no") end)`,
		"c.lua": `pi.on("tool_result", function(e)
			assert(e.is_error and e.details.extra == 1 and e.usage == nil and e.content[1].text == "out")
			return { content = "short", usage = { input = 1, output = 2 }, terminate = true }
		end)`,
		"d.lua": `pi.on("tool_result", function(e) assert(e.usage.total == 3) table.insert(e.content, { type = "text", text = "more" }) return { content = e.content } end)`,
	})
	e := &agent.ToolResult{Name: "bash", Input: json.RawMessage(`{}`), Result: agent.Result{
		Content: []message.Block{message.TextBlock("out")}, Details: json.RawMessage(`{"list":[],"n":12345678901234567890}`)}}
	r.emit(e)
	res := e.Result
	if len(res.Content) != 2 || res.Content[0].Text != "short" || res.Content[1].Text != "more" || !res.IsError || !res.Terminate ||
		res.Usage.TotalTokens != 3 || string(res.Details) != `{"list":[],"n":12345678901234567890,"extra":1}` {
		t.Errorf("result is %+v, details %s", res, res.Details)
	}
	r.mustSay("hook b: tool_result", "no")
	if len(r.host.notices()) != 1 {
		t.Errorf("notices %q", r.host.notices())
	}
}

func TestInputAndBeforeAgentStartChain(t *testing.T) {
	r := newRig(t, map[string]string{
		"a.lua": `pi.on("before_agent_start", function(e) return { system_prompt = e.system_prompt .. "A", message = { custom_type = "x", content = "one" } } end)
			pi.on("input", function(e) return { attachments = { { type = "text", text = "T" } } } end)`,
		"b.lua": `pi.on("before_agent_start", function(e) return { system_prompt = e.system_prompt .. "B", message = { custom_type = "y", content = { { type = "text", text = "two" } }, display = false, details = { k = 1 } } } end)
			pi.on("input", function(e) assert(#e.attachments == 1 and e.source == "rpc" and e.streaming_behavior == "steer") return { handled = true } end)`,
		"c.lua": `pi.on("input", function(e) error("asked") end)
			pi.on("before_agent_start", function(e) return { message = { content = "no type" } } end)`,
	})
	e := &agent.BeforeAgentStart{Prompt: "p", SystemPrompt: "S"}
	r.emit(e)
	if e.SystemPrompt != "SAB" || len(e.Messages) != 2 || e.Messages[0].Text() != "one" || !e.Messages[0].Display || e.Messages[1].Display ||
		string(e.Messages[1].Details) != `{"k":1}` || e.Messages[1].CustomType != "y" {
		t.Errorf("event is %+v", e)
	}
	r.mustSay("c.lua:2: message.custom_type: it is missing")
	in := &agent.Input{Text: "t", Source: "rpc", StreamingBehavior: "steer"}
	r.emit(in)
	if !in.Handled || len(in.Attachments) != 1 || in.Attachments[0].Text != "T" || r.said("asked") {
		t.Errorf("input is %+v", in)
	}
}
