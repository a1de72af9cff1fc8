package luahooks

import (
	"encoding/json"
	"strings"
	"testing"

	"pi/agent"
	"pi/agent/llm"
	"pi/session"
	"pi/session/message"
)

// What hooks of two files that use the same module do together, with a hook between them that
// uses none.

const ofOMP, ofMarvin = `local pi = require "pi.compat.omp"; `, `local marvin = require "pi.compat.marvin"; `

func TestPortedHooksOfTwoFilesFollowTheRuleOfTheirSystem(t *testing.T) {
	branch := branchOfCalls(t)
	items := []session.Item{{Message: &message.Message{Role: message.RoleUser, Content: []message.Block{message.TextBlock("0")}}, Index: -1}}
	result := func() agent.Event {
		return &agent.ToolResult{Name: "x", Input: json.RawMessage(`{}`), Result: agent.TextResult("0")}
	}
	add := func(s string) string {
		return `function(e) local all = {} for i, m in ipairs(e.messages) do all[i] = m end all[#all + 1] = { role = "user", content = "` + s + `" .. #all } return { messages = all } end)`
	}
	for _, c := range []struct {
		name     string
		event    agent.Event
		a, b, c  string // b is the native hook
		want     []string
		not      []string
		sent     string // by the handlers
		failures int
	}{
		{name: "context chains", event: &agent.Context{Items: items},
			a: ofOMP + `pi.on("context", ` + add("a"), b: `pi.on("context", ` + add("b"), c: ofOMP + `pi.on("context", ` + add("c") + ` pi.on("context", function() return "dropped" end)`,
			want: []string{`"a1"`, `"b2"`, `"c3"`}},
		{name: "results are edited field by field", event: result(),
			a:    ofOMP + `pi.on("tool_result", function() return { content = { { type = "text", text = "a" } } } end)`,
			b:    `pi.on("tool_result", function(e) return { details = { by = e.content[1].text } } end)`,
			c:    ofOMP + `pi.on("tool_result", function(e) return { is_error = e.details.by == "a" } end) pi.on("tool_result", function() end)`,
			want: []string{`"text":"a"`, `{"by":"a"}`, `"IsError":true`}},
		{name: "the last cancel or answer of a compaction", event: &agent.SessionBeforeCompact{BranchEntries: branch},
			a: ofOMP + `pi.on("session_before_compact", function() return { compaction = { summary = "a" } } end) pi.on("session_before_compact", function() return {} end)`,
			c: ofOMP + `pi.on("session_before_compact", function() return { compaction = { summary = "c" } } end)`, want: []string{`"Summary":"c"`}},
		{name: "a cancel ends it", event: &agent.SessionBeforeSwitch{Reason: "new"},
			a: ofOMP + `pi.on("session_before_switch", function(e) pi.send(e.reason) return { cancel = true } end)`,
			c: ofOMP + `pi.on("session_before_switch", function() pi.send("c") end)`, want: []string{`"Cancel":true`}, sent: "new"},
		{name: "the first summary of marvin's hooks, and a native hook behind it", event: &agent.SessionBeforeCompact{BranchEntries: branch},
			a: ofMarvin + `marvin.on("compact.before", function() marvin.send("1") return { summary = "" } end) marvin.on("compact.before", function() return { summary = "a" } end)`,
			b: `pi.on("session_before_compact", function() pi.send("2") return { summary = "native" } end)`,
			c: ofMarvin + `marvin.on("compact.before", function() marvin.send("3") return { summary = "c" } end)`, want: []string{`"Summary":"native"`}, sent: "1 2"},
		{name: "a raise is reported and the next is asked", event: &agent.SessionBeforeCompact{BranchEntries: branch},
			a: ofMarvin + `marvin.on("compact.before", function() error("oh") end)`,
			c: ofMarvin + `marvin.on("compact.before", function() return { summary = "c" } end)`, want: []string{`"Summary":"c"`}, failures: 1},
		{name: "marvin's hooks change what a tool said", event: result(),
			a:    ofMarvin + `marvin.on("tool.execute.after", function(e) return { content = { { type = "text", text = e.tool_name } }, details = { n = 1 }, is_error = true } end)`,
			c:    ofMarvin + `marvin.on("tool.execute.after", function(e) return { details = { n = e.details.n + 1, error = e.is_error } } end)`,
			want: []string{`"text":"x"`, `{"n":2,"error":true}`, `"IsError":true`}},
		{name: "the first message of all that begin", event: &agent.BeforeAgentStart{Prompt: "p"},
			a:    ofMarvin + `marvin.on("agent.before_start", function() end) marvin.on("agent.before_start", function(e) return { message = { custom_type = "a", content = "first " .. e.prompt } } end)`,
			b:    `pi.on("before_agent_start", function() return { message = { custom_type = "b", content = "native" } } end)`,
			c:    ofMarvin + `marvin.on("agent.before_start", function() return { message = { custom_type = "c", content = "second" } } end)`,
			want: []string{"first p", "native"}, not: []string{"second"}},
		{name: "modules do not share their rules", event: &agent.BeforeAgentStart{Prompt: "p"},
			a: ofMarvin + `marvin.on("agent.before_start", function() return { message = { custom_type = "a", content = "marvin" } } end)`,
			c: ofOMP + `pi.on("before_agent_start", function() return { message = { custom_type = "c", content = "omp" } } end)`, want: []string{"marvin", "omp"}},
		{name: "a session brings its model: no change", event: &agent.ModelSelect{Model: &llm.Model{Provider: "p", ID: "m"}, Previous: &llm.Model{Provider: "p", ID: "n"}, Source: "restore"},
			a: ofMarvin + `marvin.on("model.change", function() marvin.send("changed") end)`},
		{name: "a model is chosen", event: &agent.ModelSelect{Model: &llm.Model{Provider: "p", ID: "m"}, Previous: &llm.Model{Provider: "p", ID: "n"}, Source: "cycle", ThinkingLevel: "low"},
			a:    ofMarvin + `marvin.on("model.change", function(e) marvin.send(e.previous_provider .. e.previous_model_id .. e.new_provider .. e.new_model_id .. e.thinking_level) return true end)`,
			sent: "pnpmlow"},
	} {
		r := newRig(t, map[string]string{"a.lua": c.a, "b.lua": c.b, "c.lua": c.c})
		r.emit(c.event)
		raw, err := json.Marshal(c.event)
		mustDo(t, err)
		for _, want := range c.want {
			if !strings.Contains(string(raw), want) {
				t.Errorf("%s: %s, want %s in it", c.name, raw, want)
			}
		}
		for _, not := range c.not {
			if strings.Contains(string(raw), not) {
				t.Errorf("%s: %s, with %s in it", c.name, raw, not)
			}
		}
		if sent := r.host.texts(); sent != c.sent {
			t.Errorf("%s: sent were %q, want %q", c.name, sent, c.sent)
		}
		if n := len(r.host.notices()); n != c.failures {
			t.Errorf("%s: said %q", c.name, r.host.notices())
		}
	}
}

// A reason without block is nothing to the other programs; with it, it is told.
func TestAReasonAloneIsNothingToPortedHooks(t *testing.T) {
	for name, on := range map[string]string{
		"omp":    `require("pi.compat.omp").on("tool_call", `,
		"pi_v2":  `require("pi.compat.pi_v2").on("tool_call", `,
		"marvin": `require("pi.compat.marvin").on("tool.execute.before", `,
	} {
		r := newRig(t, map[string]string{"a.lua": on + `function(e)
			return { reason = "why", block = e.input.command == "rm" or nil }
		end)`})
		if e := r.bash("ls"); e.Block {
			t.Errorf("%s: blocked: %s", name, e.Reason)
		}
		if e := r.bash("rm"); !e.Block || e.Reason != "why" {
			t.Errorf("%s: block %v, reason %q", name, e.Block, e.Reason)
		}
		r.mustBeQuiet()
	}
}

// A handler that was saved anew is there once, and one of the version before not at all.
func TestAPortedHookThatIsSavedIsThereOnce(t *testing.T) {
	for module, on := range map[string]string{ofOMP: "pi", ofMarvin: "marvin"} {
		r := newRig(t, nil)
		for _, version := range []string{"one", "two"} {
			r.write("a.lua", module+on+`.on("turn_start", function() pi.send("`+version+`") end) `+on+`.register_command("c", { handler = function() end })`)
			r.reload()
		}
		r.emit(&agent.TurnStart{})
		if got := r.host.texts(); got != "two" {
			t.Errorf("%s: heard %q", on, got)
		}
		if n := len(r.chain.Commands()); n != 1 {
			t.Errorf("%s: there are %d commands", on, n)
		}
	}
}

func TestMarvinStartsASessionWithoutMessagesAndResumesAnother(t *testing.T) {
	const tells = ofMarvin + `for _, name in ipairs { "session.start", "session.resume" } do
		marvin.on(name, function(e, ctx) marvin.send(e.type .. (e.session_id == ctx.session_id and "" or "?")) end)
	end`
	for _, c := range []struct{ reason, empty, full string }{
		{"startup", "session.start", "session.resume"}, {"reload", "session.start", "session.resume"},
		{"new", "session.start", "session.start"}, {"resume", "session.resume", "session.resume"}, {"branch", "session.resume", "session.resume"},
	} {
		for _, full := range []bool{false, true} {
			r, want := newRig(t, map[string]string{"a.lua": tells}), c.empty
			if full {
				r.host.user("x")
				want = c.full
			}
			r.emit(&agent.SessionStart{Reason: c.reason, SessionID: r.host.session.ID()})
			if got := r.host.texts(); got != want {
				t.Errorf("%s, with messages %v: %q, want %q", c.reason, full, got, want)
			}
		}
	}
}
