package luahooks

import (
	"encoding/json"
	"strings"
	"testing"

	"pi/agent"
	"pi/agent/llm"
	"pi/session/message"
)

// seenAs is what a handler finds in the sample of each event, as Lua that must be
// true.
func seenAs() map[string]string {
	const usage = `.usage.input == 1`
	return map[string]string{
		"project_trust":           `e.cwd == "/c" and #e.files == 1 and e.files[1].path == "/c/a.lua" and e.files[1].sha256 == "aa" and e.files[1].size == 7 and e.files[1].kind == "servers" and e.files[1].servers[1] == "s  x"`,
		"app_start":               `e.type == "app_start"`,
		"session_directory":       `e.cwd == "/c"`,
		"session_start":           `e.reason == "new" and e.session_id == "i" and e.session_file == "f" and e.previous_session_file == "p"`,
		"session_before_switch":   `e.reason == "resume" and e.target_session_file == "t"`,
		"session_switch":          `e.reason == "new" and e.previous_session_file == "p"`,
		"session_before_new":      `e.session_id == "id"`,
		"session_new":             `e.session_id == "i"`,
		"session_before_branch":   `e.entry_id == "e" and e.entry_index == 3`,
		"session_branch":          `e.previous_session_file == "p"`,
		"session_before_compact":  preparationSeen,
		"session_compacting":      `e.session_id == "i" and e.messages[1].role == "assistant"`,
		"session_compact":         `e.compaction_entry.type == "message" and e.summary == "s" and e.from_hook and e.reason == "manual" and e.will_retry`,
		"session_compact_failed":  `e.reason == "overflow" and e.error_message == "e" and e.aborted and e.will_retry and e.from_hook`,
		"session_info_changed":    `e.name == "n"`,
		"session_before_tree":     `e.preparation.target_id == "t" and e.preparation.old_leaf_id == "o" and e.preparation.common_ancestor_id == "c" and e.preparation.entries_to_summarize[1].type == "message" and e.preparation.user_wants_summary and e.signal.cancelled() == false`,
		"session_tree":            `e.new_leaf_id == "n" and e.old_leaf_id == "o" and e.summary_entry.message.content[1].text == "x" and e.from_hook`,
		"session_shutdown":        `e.reason == "new" and e.target_session_file == "t"`,
		"line":                    `e.text == "t" and e.attachments[1].text == "x" and e.source == "rpc" and e.streaming_behavior == "steer"`,
		"input":                   `e.text == "t" and e.attachments[1].text == "x" and e.source == "rpc" and e.streaming_behavior == "steer"`,
		"before_agent_start":      `e.prompt == "p" and e.attachments[1].text == "x" and e.system_prompt == "s" and e.sections.role == "new" and e.sections.tools == nil`,
		"agent_start":             `e.type == "agent_start"`,
		"agent_end":               `e.messages[1].content[1].text == "x" and e.usage.input == 3 and e.will_retry`,
		"agent_before_settle":     `e.outcome == "completed" and #e.messages == 1`,
		"agent_settled":           `e.type == "agent_settled"`,
		"turn_start":              `e.turn_index == 1 and e.timestamp == 2`,
		"turn_end":                `e.turn_index == 1 and e.message.role == "assistant" and #e.tool_results == 1 and e.entry_ids[1] == "e" and e.usage.input == 3 and e.usage.output == 0 and e.usage.cache_read == 0 and e.usage.cache_write == 0 and e.usage.total == 4 and e.usage.context_tokens == 50 and e.usage.context_window == 200 and e.usage.percent == 25`,
		"context":                 `#e.entries == 1 and e.messages[1].content[1].text == "x" and e.messages[1].entry_index == nil`,
		"continuation_limit":      `e.hook == "h" and e.used == 8 and e.limit == 8 and e.answer == "more"`,
		"before_provider_request": `e.payload.model == "x" and e.provider == "p" and e.model == "m"`,
		"before_provider_headers": `e.headers["x-api-key"] == "…" and e.headers["x-a"] == "1" and e.headers["x-b"] == "new" and e.provider == "p" and e.model == "m"`,
		"after_provider_response": `e.provider == "p" and e.model == "m" and e.status == 429 and e.headers["retry-after"] == "2" and e.headers["x-many"] == "a, b"`,
		"message_start":           `e.message.content[1].text == "x"`,
		"message_update":          `e.message.content[1].text == "x" and e.delta.type == "text" and e.delta.index == 1 and e.delta.text == "d"`,
		"message_end":             `e.message.role == "assistant"`,
		"model_select":            `e.model.id == "m" and e.previous_model.provider == "q" and e.provider == "p" and e.model_id == "m" and e.previous_provider == "q" and e.previous_model_id == "n" and e.thinking_level == "off" and e.source == "set"`,
		"thinking_level_select":   `e.level == "high" and e.previous_level == "off"`,
		"mode_select":             `e.mode == "plan" and e.previous_mode == "ask" and e.source == "key"`,
		"ui_prompt_start":         `e.kind == "confirm" and e.title == "t"`,
		"hook_error":              `e.hook == "h" and e.path == "/h.lua" and e.event == "input" and e.error == "m" and e.traceback == "t" and e.count == 2`,
		"ui_prompt_end":           `e.kind == "confirm" and e.title == "t"`,
		"focus":                   `e.focused`,
		"ui_prompt":               `e.id == "1" and e.kind == "select" and e.title == "t" and e.message == "m" and e.choices[1].label == "a" and e.choices[1].description == "d" and e.multi and e.hook == "h"`,
		"compaction_start":        `e.reason == "manual"`,
		"compaction_end":          `e.result.type == "message" and e.aborted and e.will_retry and e.error_message == "e"`,
		"auto_compaction_start":   `e.reason == "threshold"`,
		"auto_compaction_end":     `e.result.id ~= nil and e.aborted and e.will_retry and e.error_message == "e"`,
		"auto_retry_start":        `e.attempt == 1 and e.max_attempts == 3 and e.delay_ms == 100 and e.error_message == "e"`,
		"auto_retry_end":          `e.success and e.attempt == 2 and e.final_error == "f"`,
		"tool_call":               `e.tool_name == "edit" and e.tool_call_id == "c" and e.input.old_text == "o" and not e.annotations.read_only and e.annotations.destructive and not e.annotations.open_world and e.annotations.kind == "edit"`,
		"tool_result":             `e.tool_name == "bash" and e.tool_call_id == "c" and next(e.input) == nil and e.content[1].text == "x" and e.details.n == 1 and e.is_error and e` + usage,
		"tool_execution_start":    `e.tool_call_id == "c" and e.tool_name == "edit" and e.args.old_text == "o"`,
		"tool_execution_update":   `e.tool_call_id == "c" and e.tool_name == "edit" and e.args.old_text == "o" and e.partial_result.content[1].text == "x" and e.partial_result.details.n == 1`,
		"tool_execution_end":      `e.tool_call_id == "c" and e.tool_name == "edit" and e.args.old_text == "o" and e.is_error and e.result.is_error and e.result` + usage,
		"shell":                   `e.command == "ls" and e.cwd == "/c" and e.source == "tool"`,
		"child_start":             `e.name == "reviewer" and e.depth == 1 and e.prompt == "p"`,
		"child_end":               `e.name == "reviewer" and e.stop_reason == "completed" and e.usage.input == 1 and e.text == "t"`,
		"mcp_server":              `e.server == "s" and e.state == "failed" and e.tools == 3 and e.error == "e"`,
		"mcp_change":              `e.server == "s" and e.tool == "t" and e.before.tool_name == "mcp__s__t" and e.before.description == "d" and e.before.parameters.type == "object" and e.before.annotations.read_only and e.before.annotations.claimed and e.before.definition == "h" and e.after.description == "other"`,
		"user_bash":               `e.command == "ls" and e.exclude_from_context == true and e.cwd == "/c"`,
	}
}

const preparationSeen = `(function(p)
	return p.first_kept_entry_index == 1 and e.branch_entries[p.first_kept_entry_index].id == p.first_kept_entry_id
		and #p.messages_to_summarize == 1 and #p.turn_prefix_messages == 1 and p.is_split_turn and p.tokens_before == 9
		and p.previous_summary == "ps" and p.file_ops.read[1] == "r" and p.file_ops.written[1] == "w" and #p.file_ops.edited == 2
		and p.settings.enabled and p.settings.reserve_tokens == 5 and p.settings.keep_recent_tokens == 6
		and #e.messages == 1 and e.custom_instructions == "ci" and e.model.provider == "p" and e.model.id == "m"
		and e.reason == "manual" and e.will_retry and e.signal.cancelled() == false
end)(e.preparation)`

func TestWhatAHandlerFindsInEachEvent(t *testing.T) {
	seen := seenAs()
	for _, e := range samples(t) {
		name := e.Kind().String()
		t.Run(name, func(t *testing.T) {
			if seen[name] == "" {
				t.Fatal("nobody looks at it")
			}
			r := newRig(t, map[string]string{"a.lua": `pi.on("` + name + `", function(e, ctx)
				assert(e.type == "` + name + `" and ctx.cwd)
				pi.send(tostring(` + seen[name] + `))
			end)`}, patient)
			r.emitAll(e)
			if got := r.host.texts(); got != "true" {
				t.Errorf("not so: %s\n%q", got, r.host.notices())
			}
		})
	}
}

// What may be nil is nil, and what may be empty is an empty list.
func TestWhatIsAbsentIsNil(t *testing.T) {
	for name, c := range map[string]struct {
		event agent.Event
		seen  string
	}{
		"no file":           {&agent.SessionBeforeSwitch{Reason: "new"}, `e.target_session_file == nil`},
		"no name":           {&agent.SessionInfoChanged{}, `e.name == nil`},
		"no model":          {&agent.SessionBeforeCompact{}, `e.model == nil and e.custom_instructions == nil and e.preparation.previous_summary == nil and #e.branch_entries == 0 and #e.preparation.file_ops.read == 0`},
		"the root":          {&agent.SessionTree{}, `e.new_leaf_id == nil and e.summary_entry == nil`},
		"no result":         {&agent.CompactionEnd{}, `e.result == nil and e.error_message == nil and e.aborted == false`},
		"the first model":   {&agent.ModelSelect{Model: &llm.Model{ID: "m"}}, `e.previous_model == nil and e.previous_provider == nil`},
		"unknown context":   {&agent.TurnEnd{Usage: used(agent.TurnUsage{ContextUsage: agent.ContextUsage{Tokens: -1, Window: 10}})}, `e.usage.context_tokens == nil and e.usage.percent == nil and e.usage.context_window == 10 and #e.entry_ids == 0`},
		"unknown window":    {&agent.TurnEnd{Usage: used(agent.TurnUsage{ContextUsage: agent.ContextUsage{Tokens: 4}})}, `e.usage.context_tokens == 4 and e.usage.context_window == nil and e.usage.percent == nil`},
		"no final error":    {&agent.AutoRetryEnd{}, `e.final_error == nil and e.success == false`},
		"no traceback":      {&agent.HookFailed{Hook: "h", Count: 1}, `e.traceback == nil`},
		"no dialog's title": {&agent.UIPromptStart{PromptKind: "input"}, `e.title == nil`},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, map[string]string{"a.lua": `pi.on("` + c.event.Kind().String() + `", function(e) pi.send(tostring(` + c.seen + `)) end)`}, patient)
			r.emit(c.event)
			if got := r.host.texts(); got != "true" {
				t.Errorf("not so: %s\n%q", got, r.host.notices())
			}
		})
	}
}

// answered dispatches e to a handler that returns result and fails the test if
// that is an error.
func answered(t *testing.T, e agent.Event, result string) {
	t.Helper()
	r := newRig(t, map[string]string{"a.lua": `pi.on("` + e.Kind().String() + `", function(e, ctx) return ` + result + ` end)`})
	r.emit(e)
	r.mustBeQuiet()
}

func TestAReplacedMessageKeepsItsRole(t *testing.T) {
	m := &message.Message{Role: message.RoleAssistant, Content: []message.Block{message.TextBlock("x")}, StopReason: message.StopEnd, Usage: &message.Usage{Input: 5}}
	e := &agent.MessageEnd{Message: m}
	answered(t, e, `(function() e.message.content[1].text = "y"; return { message = e.message } end)()`)
	if e.Message.Text() != "y" || e.Message.Usage.Input != 5 || m.Text() != "x" {
		t.Errorf("became %+v", e.Message)
	}
	same := &agent.MessageEnd{Message: m}
	answered(t, same, `{ message = e.message }`)
	if same.Message != m {
		t.Error("an untouched message is another one")
	}
	r := newRig(t, map[string]string{"a.lua": `pi.on("message_end", function(e) return { message = { role = "user", content = "z" } } end)`})
	r.emit(same)
	if r.mustSay("a.lua:1", `the role must stay "assistant"`); same.Message != m {
		t.Error("the role changed")
	}
}

// The first thing that is wrong is said with its path and the handler's line, and
// the answer has no effect.
func TestAWrongResultIsNamedByItsPath(t *testing.T) {
	for _, c := range []struct {
		event        agent.Event
		result, says string
	}{
		{&agent.SessionBeforeNew{}, `{ cancle = true }`, `unknown key "cancle" in the result of session_before_new, did you mean "cancel"?`},
		{&agent.TurnEnd{}, `{ entries = { 5 } }`, "entries[1]: expected a table, got number"},
		{&agent.UserBash{}, `{ result = { exit_code = 1 } }`, "result.output: it is missing"},
	} {
		r := newRig(t, map[string]string{"a.lua": "\npi.on('" + c.event.Kind().String() + "', function(e) return " + c.result + " end)"})
		before, _ := json.Marshal(c.event)
		r.emit(c.event)
		r.mustSay("hook a: "+c.event.Kind().String(), "a.lua:2: ", c.says)
		if bash, ok := c.event.(*agent.UserBash); ok {
			if !strings.Contains(bash.Blocked, c.says) {
				t.Errorf("%s does not block: %q", c.result, bash.Blocked)
			}
			continue
		}
		if after, _ := json.Marshal(c.event); string(after) != string(before) {
			t.Errorf("%s became %s", before, after)
		}
	}
}

// used is what a turn used, as the event gives it.
func used(u agent.TurnUsage) func() agent.TurnUsage { return func() agent.TurnUsage { return u } }

func TestAnEventThatWasPeekedAtIsStillAWholeTable(t *testing.T) {
	r := newRig(t, map[string]string{"a.lua": `pi.on("tool_call", function(e)
		local name = e.tool_name
		local n = 0
		for _ in pairs(e) do n = n + 1 end
		e.extra = 1
		print(name, e.type, n, e.input.command, e.extra, rawget(e, "tool_call_id"), tostring(rawget(e, "nothing")), tostring(pcall(function() return e.nothing end)))
	end)`})
	r.bash("ls")
	r.mustSay("bash", "tool_call", "5", "ls", "1", "nil", "false")
}
