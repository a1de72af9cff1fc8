package luahooks

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pi/agent"
	"pi/agent/llm"
	"pi/session"
)

// Modes are those of an agent of which nothing else is there.
func (h *fakeHost) Modes() *agent.Modes {
	h.modesOnce.Do(func() {
		h.modes = agent.NewModes(agent.ModeOptions{Tools: noTools{}, Thinking: noThinking{},
			Session: func() *session.Session { return h.session }, IsIdle: h.IsIdle,
			Emit: func(context.Context, string, string, string) {}, Warn: func(ctx context.Context, text string) { h.Notify(ctx, agent.LevelWarning, text) }})
	})
	return h.modes
}

type noTools struct{}

func (noTools) Restrict([]agent.Tool) {}
func (noTools) Lift()                 {}

type noThinking struct{}

func (noThinking) Wish() string                     { return "off" }
func (noThinking) InForce(level string) string      { return level }
func (noThinking) Use(string) func(context.Context) { return func(context.Context) {} }

// toolNamed is a tool of the program that looks if its annotations say so.
type toolNamed struct {
	name  string
	looks bool
}

func (t *toolNamed) Spec() llm.ToolSpec {
	return llm.ToolSpec{Name: t.name, Description: t.name, Parameters: json.RawMessage(`{"type":"object"}`)}
}
func (t *toolNamed) Annotations() agent.Annotations { return agent.Annotations{ReadOnly: t.looks} }
func (t *toolNamed) Run(context.Context, json.RawMessage, agent.Update) (agent.Result, error) {
	return agent.TextResult(t.name + " ran"), nil
}

func ownTools() []agent.Tool {
	return []agent.Tool{&toolNamed{"read", true}, &toolNamed{"bash", false}, &toolNamed{"grep", true}}
}

func activeTools(a *agent.Agent) string {
	var names []string
	for _, t := range a.Tools() {
		names = append(names, t.Spec().Name)
	}
	return strings.Join(names, " ")
}

// scriptedModel is a model of a hook, which programs need.
const scriptedModel = `pi.provider("s", { models = { { id = "m", reasoning = true } }, stream = function(request, emit) emit{ type = "text", text = "ok" } end })`

func mustSelect(t *testing.T, a *agent.Agent, name string) {
	t.Helper()
	if err := a.Modes().Select(t.Context(), name, agent.ModeByCommand); err != nil {
		t.Fatal(err)
	}
}

func TestTheGateOfTheModeIsAskedFirst(t *testing.T) {
	// Each asker says its name, so that the order is seen.
	says := func(name, result string) string {
		return fmt.Sprintf(`function(e, ctx) print(%q, e.input.command, ctx.work_mode) return %s end`, name, result)
	}
	plan := func(result string) string { return `pi.mode{ name = "plan", gate = ` + says("mode", result) + " }\n" }
	on := func(name, result string) string { return `pi.on("tool_call", ` + says(name, result) + ")\n" }
	const nothing, block, rewrite = "nil", `{ block = true, reason = "no" }`, `{ input = { command = "safe" } }`
	for _, c := range []struct {
		name   string
		files  map[string]string
		asked  string // who, with which command
		reason string
	}{
		{"a mode of the last hook", map[string]string{"a.lua": on("a", nothing), "z.lua": plan(nothing) + on("z", nothing)}, "mode rm, a rm, z rm", ""},
		{"it blocks, and nobody else is asked", map[string]string{"a.lua": on("a", nothing), "z.lua": plan(block) + on("z", nothing)}, "mode rm", "no"},
		{"it rewrites, and is not asked again", map[string]string{"a.lua": on("a", nothing), "z.lua": plan(rewrite) + on("z", nothing)}, "mode rm, a safe, z safe", ""},
		{"another hook rewrites", map[string]string{"a.lua": on("a", rewrite), "z.lua": plan(nothing)}, "mode rm, a rm, mode safe", ""},
		{"its own hook rewrites", map[string]string{"a.lua": on("a", nothing), "z.lua": plan(nothing) + on("z", rewrite)}, "mode rm, a rm, z rm, mode safe, a safe", ""},
		{"its own hook is the first and rewrites", map[string]string{"a.lua": plan(nothing) + on("a", nothing) + on("a2", rewrite), "z.lua": on("z", nothing)},
			"mode rm, a rm, a2 rm, z safe, mode safe, a safe", ""},
		{"an error of it blocks", map[string]string{"a.lua": plan(`error("broken")`)}, "mode rm", "hook a.lua failed: "},
		{"a key that results do not have blocks", map[string]string{"a.lua": plan(`{ blok = true }`)}, "mode rm", `did you mean "block"?`},
		{"a mode without a gate", map[string]string{"a.lua": `pi.mode{ name = "plan" }` + "\n" + on("a", nothing)}, "a rm", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, c.files)
			mustDo(t, r.host.Modes().Set(t.Context(), "plan"))
			if !r.chain.Wants(agent.KindToolCall) {
				t.Error("calls are not passed to the hooks")
			}
			e := r.bash("rm")
			if e.Block != (c.reason != "") || !strings.Contains(e.Reason, c.reason) {
				t.Errorf("block %v: %s", e.Block, e.Reason)
			}
			var asked []string
			for _, n := range r.host.notices() {
				if who, ok := strings.CutPrefix(n, "info: "); ok && strings.HasSuffix(n, "\tplan") {
					f := strings.Fields(who)
					asked = append(asked, f[1]+" "+f[2])
				}
			}
			if got := strings.Join(asked, ", "); got != c.asked {
				t.Errorf("asked %s\nwant  %s", got, c.asked)
			}
		})
	}
}

// What rewrites a call may also take the hook of the mode away, whose gate has not seen the
// final arguments then.
func TestTheGateOfAModeThatIsLostWhileACallIsAskedAboutIsShut(t *testing.T) {
	var r *rig
	r = newRig(t, map[string]string{
		"m.lua": `pi.mode{ name = "plan", gate = function(e) if e.input.command == "rm" then return { block = true } end end }`,
		"z.lua": `pi.on("tool_call", function() pi.emit("z:rewrites") return { input = { command = "rm" } } end)`,
	}, func(o *Options) {
		o.Emitted = func(ctx context.Context, _ string, _ json.RawMessage) { mustDo(t, r.chain.SetEnabled(ctx, "m", false)) }
	})
	mustDo(t, r.host.Modes().Set(t.Context(), "plan"))
	if e := r.bash("ls"); !e.Block || !strings.Contains(e.Reason, "does not have the mode plan any more") {
		t.Errorf("blocked %v with %s: %s", e.Block, e.Input, e.Reason)
	}
}

func TestTheGateOfAModeThatIsOffIsNotAsked(t *testing.T) {
	r := newRig(t, map[string]string{"a.lua": `pi.mode{ name = "plan", gate = function() return { block = true } end }`})
	if r.chain.Wants(agent.KindToolCall) || r.bash("rm").Block {
		t.Error("it is asked before the mode is on")
	}
	mustDo(t, r.host.Modes().Set(t.Context(), "plan"))
	if !r.bash("rm").Block {
		t.Error("it is not asked")
	}
	mustDo(t, r.host.Modes().Set(t.Context(), ""))
	if r.chain.Wants(agent.KindToolCall) || r.bash("rm").Block {
		t.Error("it is asked after the mode was turned off")
	}
}

func TestWhatAModeMustBe(t *testing.T) {
	for _, c := range []struct{ code, want string }{
		{`pi.mode{}`, `option "name" is missing`},
		{`pi.mode{ name = "default" }`, `how people say that no mode is on`},
		{`pi.mode{ name = "OFF" }`, `how people say that no mode is on`},
		{`pi.mode{ name = "a b" }`, `"a b" is no name of a mode`},
		{`pi.mode{ name = "plan", tool = {} }`, `did you mean "tools"?`},
		{`pi.mode{ name = "plan", tools = { 1, {} } }`, `"tools" must be a list of strings`},
		{`pi.mode{ name = "plan", thinking = "hihg" }`, `did you mean "high"?`},
		{`pi.mode{ name = "plan", gate = "no" }`, `"gate" must be a function`},
	} {
		r := newRig(t, map[string]string{"a.lua": c.code})
		r.mustSay("a.lua:1:", c.want)
	}
}

func TestAModeHasItsToolsSectionAndLevelWhileItIsOn(t *testing.T) {
	a, r := program(t, map[string]string{"a.lua": scriptedModel + `
		pi.mode{ name = "plan", description = "looks only", tools = { "grep", "read", "later" }, section = "Plan, do not change.", thinking = "high" }
		pi.mode{ name = "bare", tools = {} }
		pi.mode{ name = "same" }
		pi.on("mode_select", function(e, ctx) print("mode", e.previous_mode or "none", e.mode or "none", e.source, ctx.work_mode or "none") end)
		pi.on("before_agent_start", function(e) for name in pairs(e.sections) do assert(name ~= "mode") end end)`}, ownTools()...)
	if list := a.Modes().List(); len(list) != 3 || list[0].Name != "plan" || list[0].Description != "looks only" || list[0].By != "a" {
		t.Fatalf("%+v", list)
	}
	mustSelect(t, a, "plan")
	r.mustSay("mode", "none", "plan", "command")
	if got := activeTools(a); got != "read grep" {
		t.Errorf("tools %s", got)
	}
	if s := a.SystemPrompt(); !strings.HasSuffix(s, "\n\nPlan, do not change.") || strings.Contains(s, "- bash") {
		t.Errorf("system prompt %s", s)
	}
	if a.Thinking() != "high" {
		t.Errorf("thinking %s", a.Thinking())
	}
	a.SetTools(nil, "") // what is chosen meanwhile counts later
	if got := activeTools(a); got != "read grep" {
		t.Errorf("tools %s", got)
	}
	a.SetTools(ownTools(), "")
	mustSelect(t, a, "bare")
	if got := activeTools(a); got != "" || a.Thinking() != "off" {
		t.Errorf("bare: tools %q, thinking %s", got, a.Thinking())
	}
	mustSelect(t, a, "same")
	if got := activeTools(a); got != "read bash grep" {
		t.Errorf("same: %s", got)
	}
	mustSelect(t, a, "plan")
	if err := a.SetThinking(t.Context(), "low"); err != nil {
		t.Fatal(err)
	}
	mustSelect(t, a, "off")
	if a.Thinking() != "low" || a.Modes().Current() != "" || strings.Contains(a.SystemPrompt(), "Plan,") {
		t.Errorf("thinking %s in %q", a.Thinking(), a.Modes().Current())
	}
	if err := a.Modes().Set(t.Context(), "plna"); err == nil || !strings.Contains(err.Error(), `no mode "plna", did you mean "plan"?`) {
		t.Errorf("%v", err)
	}
}

func TestTheSectionCountsFromTheNextRequestOfARun(t *testing.T) {
	a, r := program(t, map[string]string{"a.lua": `
		local n = 0
		pi.provider("s", { models = { { id = "m" } }, stream = function(request, emit)
			n = n + 1
			print("request", n, request.system:match("Plan first") or "no plan", #request.tools)
			if n == 1 then emit{ type = "tool_call", id = "1", name = "accept", arguments = {} } else emit{ type = "text", text = "ok" } end
		end })
		pi.mode{ name = "plan", tools = { "read", "accept" }, section = "Plan first" }
		pi.tool{ name = "accept", description = "x", execute = function(_, ctx) assert(ctx.set_mode(nil)) return "accepted" end }`}, ownTools()...)
	mustSelect(t, a, "plan")
	if err := a.Prompt(t.Context(), agent.Prompt{Text: "go"}); err != nil {
		t.Fatal(err)
	}
	r.mustSay("request", "1", "Plan first", "2")
	r.mustSay("request", "2", "no plan", "4")
	if b := a.Meter().PrefixBreak(); b != nil {
		t.Errorf("a mode is no hook's break: %v", b)
	}
}

func TestOfTwoHooksTheFirstKeepsTheNameOfAMode(t *testing.T) {
	r := newRig(t, map[string]string{
		"a.lua": `pi.mode{ name = "plan", description = "of a", gate = function() return { block = true, reason = "a says no" } end }`,
		"b.lua": `pi.mode{ name = "plan", description = "of b" }` + "\n" + `pi.mode{ name = "own" }`})
	r.mustSay("warning", "the mode plan is in hook a.lua and in hook b.lua; the one of a.lua counts")
	names := []string{}
	for _, m := range r.host.Modes().List() {
		names = append(names, m.Name+" "+m.By)
	}
	if !slices.Equal(names, []string{"plan a", "own b"}) {
		t.Errorf("%q", names)
	}
	mustDo(t, r.host.Modes().Set(t.Context(), "plan"))
	if e := r.bash("x"); e.Reason != "a says no" {
		t.Errorf("%+v", e)
	}
	if others := r.chain.Hooks()[1].Others; !slices.Equal(others, []string{"mode plan", "mode own"}) {
		t.Errorf("of b is listed %q", others)
	}
}

func TestAModeThatNobodyHasAnyMoreLeavesToolsThatLook(t *testing.T) {
	const plan = scriptedModel + "\n" + `pi.mode{ name = "plan", tools = { "bash" }, gate = function() return { block = true } end }`
	a, r := program(t, map[string]string{"a.lua": plan, "b.lua": `
		pi.command("leave", { handler = function(ctx) return { status = tostring(ctx.set_mode(nil)) } end })
		pi.on("input", function(_, ctx) print(tostring(select(2, ctx.set_mode(nil)))) end)`}, ownTools()...)
	mustSelect(t, a, "plan")
	r.write("a.lua", scriptedModel)
	r.chain.Reload(t.Context(), false)
	r.mustSay("warning", `the session is in the mode "plan", which no hook has here`)
	if got := activeTools(a); got != "read grep" || !a.Modes().IsMissing() {
		t.Errorf("tools %s", got)
	}
	if e := r.bash("x"); !e.Block || !strings.Contains(e.Reason, `in the mode "plan", which no hook has here`) || !r.chain.Wants(agent.KindToolCall) {
		t.Errorf("a call that has its tool from before: %v, %q", e.Block, e.Reason)
	}
	if e := (&agent.ToolCall{ID: "c2", Name: "read", Input: []byte("{}"), Annotations: agent.Annotations{ReadOnly: true}}); r.chain.Handle(t.Context(), e) != nil || e.Block {
		t.Errorf("a tool that looks: %q", e.Reason)
	}
	r.input("x")
	r.mustSay("b: the session is in a mode that no hook has here, and a person has to choose another: /mode")
	if a.Modes().Current() != "plan" {
		t.Error("a hook has left it")
	}
	r.write("a.lua", plan) // it comes back, and with it the mode
	r.chain.Reload(t.Context(), false)
	if got := activeTools(a); got != "bash" || !r.bash("x").Block {
		t.Errorf("tools %s", got)
	}
	r.write("a.lua", scriptedModel)
	r.chain.Reload(t.Context(), false)
	for _, c := range r.chain.Commands() {
		if out, err := c.Run(t.Context(), ""); err != nil || out.Status != "true" {
			t.Errorf("a person with /%s: %q, %v", c.Name, out.Status, err)
		}
	}
	if got := activeTools(a); got != "read bash grep" || a.Modes().Current() != "" {
		t.Errorf("tools %s in %q", got, a.Modes().Current())
	}
}

func TestAReloadOfItsHookLeavesTheModeOn(t *testing.T) {
	version := func(n string) string {
		return scriptedModel + "\n" + `pi.mode{ name = "plan", tools = { "read" }, section = "version ` + n + `", gate = function() return { block = true, reason = "version ` + n + `" } end }`
	}
	a, r := program(t, map[string]string{"a.lua": version("1")}, ownTools()...)
	mustSelect(t, a, "plan")
	r.write("a.lua", version("2"))
	r.chain.Reload(t.Context(), false)
	if e := r.bash("x"); e.Reason != "version 2" || !strings.Contains(a.SystemPrompt(), "version 2") || a.Modes().Current() != "plan" {
		t.Errorf("%s", e.Reason)
	}
	r.write("a.lua", "this is no Lua")
	r.chain.Reload(t.Context(), false)
	if e := r.bash("x"); e.Reason != "version 2" || a.Modes().Current() != "plan" || activeTools(a) != "read" {
		t.Errorf("after a version that does not load: %s", e.Reason)
	}
}

func TestOffRemovesAMode(t *testing.T) {
	a, r := program(t, map[string]string{"a.lua": scriptedModel + `
		local off = pi.mode{ name = "plan" }
		pi.command("forget", { handler = function() off() end })
		pi.command("again", { handler = function() pi.mode{ name = "other" } end })`}, ownTools()...)
	for _, c := range r.chain.Commands() {
		if _, err := c.Run(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
	}
	if list := a.Modes().List(); len(list) != 1 || list[0].Name != "other" {
		t.Errorf("%+v", list)
	}
}

func TestAMisspeltToolOfAModeIsTold(t *testing.T) {
	r := newRig(t, map[string]string{"a.lua": `pi.mode{ name = "plan", tools = { "raed", "mcp_search" } }`}, func(o *Options) { o.Tools = ownTools() })
	r.mustSay("warning", `the mode plan of hook a.lua names the tool "raed", which there is not`, `did you mean "read"?`)
}

func TestToolsSayWhatTheyDo(t *testing.T) {
	r := newRig(t, map[string]string{"a.lua": `
		pi.tool{ name = "look", description = "x", annotations = { read_only = true, kind = "search" }, execute = function() end }
		pi.tool{ name = "bash", description = "x", execute = function() end }
		pi.on("session_start", function()
			for _, t in ipairs(pi.tools()) do
				local a = t.annotations
				print(t.name, a.read_only, a.destructive, a.open_world, a.kind or "none")
			end
		end)`}, func(o *Options) { o.Tools = ownTools() })
	r.emit(&agent.SessionStart{Reason: "startup"})
	r.mustSay("look", "true", "false", "false", "search")
	r.mustSay("bash", "false", "false", "false", "none") // that of the hook, which says nothing
	r.mustSay("read", "true", "false", "false", "none")
	if a := agent.AnnotationsOf(r.host.tool(t, "look")); a != (agent.Annotations{ReadOnly: true, Kind: "search"}) {
		t.Errorf("%+v", a)
	}
	for _, c := range []struct{ annotations, want string }{
		{`{ readonly = true }`, `did you mean "read_only"?`},
		{`{ kind = "serach" }`, `option "kind" must be one of read, edit, delete, move, search, execute, fetch, think, not "serach", did you mean "search"?`},
		{`{ read_only = "yes" }`, `option "read_only" must be a boolean`},
		{`{ read_only = true, destructive = true }`, `a tool that is read_only is not destructive`},
		{`true`, `option "annotations" must be a table`},
	} {
		r := newRig(t, map[string]string{"a.lua": `pi.tool{ name = "x", description = "x", execute = function() end, annotations = ` + c.annotations + ` }`})
		r.mustSay("a.lua:1:", c.want)
	}
}

func TestGatesSeeWhatAToolSays(t *testing.T) {
	a, _ := program(t, map[string]string{"a.lua": scriptedModel + `
		pi.on("tool_call", function(e) if not e.annotations.read_only then return { block = true, reason = "it changes something" } end end)`}, ownTools()...)
	for name, want := range map[string]string{"read": "read ran", "bash": "it changes something"} {
		result := a.CallTool(t.Context(), name, nil)
		if got := result.Content[0].Text; got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestAPlanIsShownAndChecked(t *testing.T) {
	r := newRig(t, map[string]string{
		"a.lua": `pi.on("input", function(e, ctx)
			if e.text == "end" then ctx.ui.set_plan{} elseif e.text == "nil" then ctx.ui.set_plan() else
			ctx.ui.set_plan{ { content = "one", status = "completed", priority = "high" }, { content = "two" } } end end)`,
		"b.lua": `pi.on("input", function(e, ctx) if e.text == "b" then ctx.ui.set_plan{ { content = "of b", status = "in_progress" } } end if e.text == "no b" then ctx.ui.set_plan{} end end)`})
	s := &screen{here: true}
	r.chain.Attach(r.host, s)
	for _, c := range []struct{ text, want string }{
		{"a", "plan [{one completed high} {two pending }]"},
		{"b", "plan [{one completed high} {two pending }]; plan [{of b in_progress }]"},
		{"no b", "plan [{one completed high} {two pending }]"}, // that of a is the newest again
		{"end", "plan []"},
	} {
		r.input(c.text)
		if got := s.said(); got != c.want {
			t.Errorf("%s: %s, want %s", c.text, got, c.want)
		}
	}
	for _, c := range []struct{ plan, want string }{
		{`{ { content = "x", status = "done" } }`, `set_plan: step 1: option "status" must be one of pending, in_progress, completed, not "done"`},
		{`{ { content = "x" }, { contents = "x" } }`, `set_plan: step 2`},
		{`{ { content = " " } }`, `set_plan: step 1: the content is empty`},
		{`{ { content = "x", priority = "hihg" } }`, `did you mean "high"?`},
		{`{ "x" }`, `set_plan: step 1 must be {content, status, priority}, not a string`},
		{`{ content = "x" }`, `list of steps expected`},
		{`"x"`, `list of {content, status, priority} expected`},
		{`(function() local t = {} for i = 1, 201 do t[i] = { content = "x" } end return t end)()`, `at most 200 steps, not 201`},
	} {
		r := newRig(t, map[string]string{"a.lua": `pi.on("input", function(e, ctx) ctx.ui.set_plan(` + c.plan + `) end)`})
		r.input("x")
		r.mustSay("a.lua:1:", c.want)
	}
}
