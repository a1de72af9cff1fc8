package luahooks

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pi/agent"
	"pi/session/message"
	"pi/stdlib/compat"
)

// portedEvents are the events of each module for hooks of another program, with the fields
// that its handlers get and their types in Lua.
func portedEvents() map[string]map[string]string {
	return map[string]map[string]string{
		"pi.compat.pi_v2": {
			"session_start": "", "session_new": "", "session_shutdown": "", "agent_start": "", "session_before_new": "",
			"session_before_switch":  "target_session_file string",
			"session_switch":         "previous_session_file string",
			"session_before_branch":  "entry_index number, entry_id string",
			"session_branch":         "previous_session_file string",
			"session_before_compact": "preparation table, branch_entries table, custom_instructions string, signal table",
			"session_compact":        "compaction_entry table, from_hook boolean, from_extension boolean",
			"session_before_tree":    "preparation table, signal table",
			"session_tree":           "new_leaf_id string, old_leaf_id string, summary_entry table, from_hook boolean, from_extension boolean",
			"before_agent_start":     "prompt string, images table",
			"agent_end":              "messages table",
			"turn_start":             "turn_index number, timestamp number",
			"turn_end":               "turn_index number, message table, tool_results table",
			"context":                "entries table, messages table",
			"tool_call":              "tool_name string, tool_call_id string, input table",
			"tool_result":            "tool_name string, tool_call_id string, input table, content table, details table, is_error boolean",
			"input":                  "text string, images table, source string",
			"user_bash":              "command string, exclude_from_context boolean, cwd string",
		},
		"pi.compat.omp": {
			"session_start": "", "session_shutdown": "", "agent_start": "",
			"session_before_switch":  "reason string, target_session_file string",
			"session_switch":         "reason string, previous_session_file string",
			"session_before_branch":  "entry_id string",
			"session_branch":         "previous_session_file string",
			"session_before_compact": "preparation table, branch_entries table, custom_instructions string, signal table",
			"session.compacting":     "session_id string, messages table",
			"session_compact":        "compaction_entry table, from_hook boolean, from_extension boolean",
			"session_before_tree":    "preparation table, signal table",
			"session_tree":           "new_leaf_id string, old_leaf_id string, summary_entry table, from_hook boolean, from_extension boolean",
			"context":                "messages table, entries table",
			"before_agent_start":     "prompt string, images table",
			"agent_end":              "messages table, will_continue boolean",
			"turn_start":             "turn_index number, timestamp number",
			"turn_end":               "turn_index number, message table, tool_results table",
			"auto_compaction_start":  "reason string",
			"auto_compaction_end":    "result table, aborted boolean, will_retry boolean, error_message string",
			"auto_retry_start":       "attempt number, max_attempts number, delay_ms number, error_message string",
			"auto_retry_end":         "success boolean, attempt number, final_error string",
			"ttsr_triggered":         "rules table",
			"todo_reminder":          "todos table, attempt number, max_attempts number",
			"tool_call":              "tool_name string, tool_call_id string, input table",
			"tool_result":            "tool_name string, tool_call_id string, input table, content table, details table, is_error boolean",
			"input":                  "text string, images table, source string",
			"user_bash":              "command string, exclude_from_context boolean, cwd string",
		},
		"pi.compat.marvin": {
			"app.start":               "",
			"session.start":           "session_id string",
			"session.resume":          "session_id string",
			"session.before_clear":    "session_id string",
			"session.clear":           "session_id nil",
			"agent.start":             "session_id string",
			"agent.end":               "session_id string, messages table, total_tokens table, context_limit number",
			"turn.start":              "session_id string, turn_index number",
			"turn.end":                "session_id string, turn_index number, message table, tool_results table, tokens table, context_limit number, usage table",
			"tool.execute.before":     "session_id string, tool_name string, tool_call_id string, input table",
			"tool.execute.after":      "session_id string, tool_name string, tool_call_id string, input table, content table, details table, is_error boolean",
			"model.change":            "previous_provider string, previous_model_id string, new_provider string, new_model_id string, thinking_level string",
			"compact.before":          "messages table, custom_instructions string, model table",
			"compact.after":           "summary string, from_hook boolean",
			"session.before_compact":  "input table, output table",
			"session.compact":         "session_id string, summary string",
			"session.shutdown":        "session_id string",
			"agent.before_start":      "prompt string, images table",
			"chat.message":            "input table, output table",
			"chat.messages.transform": "messages table",
			"chat.system.transform":   "input table, output table",
		},
	}
}

// portedListener is a hook that says the fields of each event that it gets.
func portedListener(module string, events []compat.Event) string {
	var b strings.Builder
	fmt.Fprintf(&b, "local other = require %q\n", module)
	for _, e := range events {
		fmt.Fprintf(&b, `other.on(%q, function(event, ctx)
			local said = {}
			for _, field in ipairs { %s } do said[#said + 1] = field .. " " .. type(event[field]) end
			print(event.type .. ": " .. table.concat(said, ", "))
		end)`+"\n", e.Name, quotedList(e.Fields))
	}
	return b.String()
}

func quotedList(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = fmt.Sprintf("%q", w)
	}
	return strings.Join(quoted, ", ")
}

// emitsOfExamples is a hook that emits what some of the examples do.
const emitsOfExamples = `pi.on("input", function()
	pi.emit("omp:ttsr_triggered", { rules = { { name = "r" } } })
	pi.emit("omp:todo_reminder", { items = { { text = "x" } }, attempt = 1, max_attempts = 2 })
end)`

// portedSamples are events for all handlers of such hooks, each with every field set.
func portedSamples(t *testing.T, r *rig) []agent.Event {
	image := []message.Block{{Type: message.BlockImage, Data: "aGk=", MimeType: "image/png"}}
	id := r.host.user("x").ID
	events := []agent.Event{&agent.SessionStart{Reason: "startup", SessionID: "i"}, &agent.SessionStart{Reason: "new", SessionID: "i"}, &agent.SessionSwitch{Reason: "resume", PreviousSessionFile: "p"},
		&agent.SessionShutdown{Reason: "quit"}, &agent.SessionBeforeBranch{EntryID: id, EntryIndex: 0},
		&agent.BeforeAgentStart{Prompt: "p", Attachments: image}, &agent.Input{Text: "t", Attachments: image, Source: "rpc"}}
	other := slices.DeleteFunc(samples(t), func(e agent.Event) bool {
		return slices.ContainsFunc(events, func(have agent.Event) bool { return have.Kind() == e.Kind() })
	})
	return append(events, other...)
}

func TestEveryEventOfAnotherProgramComesOnceWithItsFields(t *testing.T) {
	for module, want := range portedEvents() {
		about, err := compat.Describe(module)
		mustDo(t, err)
		var listed []string
		for _, e := range about.Events {
			listed = append(listed, e.Name)
			if _, ok := want[e.Name]; !ok {
				t.Errorf("%s: %s is not expected", module, e.Name)
			}
		}
		r := newRig(t, map[string]string{"a.lua": portedListener(module, about.Events), "b.lua": emitsOfExamples}, patient)
		r.emitAll(portedSamples(t, r)...)
		said := r.host.notices()
		for name, fields := range want {
			line := "info: a: " + name + ": " + fields
			if n := len(slices.DeleteFunc(slices.Clone(said), func(s string) bool { return s != line })); n != 1 {
				t.Errorf("%s: %d times %q; said\n%s", module, n, line, strings.Join(said, "\n"))
			}
		}
		if len(listed) != len(want) || len(said) != len(want) {
			t.Errorf("%s: %d events, %d said, want %d: %q", module, len(listed), len(said), len(want), said)
		}
	}
}

// Each name of the object, of ctx and of ctx.ui is there, and each name without a counterpart
// raises with what to use instead.
func TestEveryNameOfAnotherProgramIsThereOrSaysWhatToUse(t *testing.T) {
	for _, module := range compat.Names() {
		about, err := compat.Describe(module)
		mustDo(t, err)
		if len(about.Events) == 0 || len(about.Members) == 0 || len(about.Context) == 0 || len(about.NoEvents) == 0 {
			t.Errorf("%s has %+v", module, about)
		}
		var b strings.Builder
		fmt.Fprintf(&b, "local other = require %q\n", module)
		fmt.Fprintf(&b, "for _, name in ipairs { %s } do assert(other[name] ~= nil, name) end\n", quotedList(about.Members))
		b.WriteString(`local function absent(t, name, sentence)
			local ok, message = pcall(function() return t[name] end)
			assert(not ok and message:find(name, 1, true) and message:find(sentence, 1, true), name .. ": " .. tostring(message))
		end
		local function no_event(name, sentence)
			local ok, message = pcall(other.on, name, function() end)
			assert(not ok and message:find(name, 1, true) and message:find(sentence, 1, true), name .. ": " .. tostring(message))
		end
		`)
		for name, sentence := range about.NoEvents {
			fmt.Fprintf(&b, "no_event(%q, %q)\n", name, sentence)
		}
		for name, sentence := range about.NoMembers {
			fmt.Fprintf(&b, "absent(other, %q, %q)\n", name, sentence)
		}
		fmt.Fprintf(&b, "other.on(%q, function(event, ctx)\n", about.Events[len(about.Events)-1].Name)
		fmt.Fprintf(&b, "for _, name in ipairs { %s } do assert(ctx[name] ~= nil, name) end\n", quotedList(about.Context))
		for name, sentence := range about.NoContext {
			fmt.Fprintf(&b, "absent(ctx, %q, %q)\n", name, sentence)
		}
		if len(about.UI) > 0 {
			fmt.Fprintf(&b, "for _, name in ipairs { %s } do assert(ctx.ui[name] ~= nil, name) end\n", quotedList(about.UI))
			for name, sentence := range about.NoUI {
				fmt.Fprintf(&b, "absent(ctx.ui, %q, %q)\n", name, sentence)
			}
		}
		b.WriteString("print('read') end)\n")
		r := newRig(t, map[string]string{"a.lua": b.String()}, patient)
		if failed := r.info("a").LastError; failed != "" {
			t.Errorf("%s: %s", module, failed)
		}
		r.emitAll(portedSamples(t, r)...)
		if said := r.host.notices(); !slices.Equal(said, []string{"info: a: read"}) {
			t.Errorf("%s: said %q", module, said)
		}
	}
}
