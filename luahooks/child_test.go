package luahooks

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"pi/agent"
	"pi/agent/llm"
	"pi/luahooks/api"
	"pi/session"
)

// child is a chain of a child of r's, with a program of its own.
func (r *rig) child(change ...func(*ChildOptions)) *rig {
	r.t.Helper()
	o := ChildOptions{Agent: agent.Identity{Name: "reviewer", Depth: 1}, Cwd: r.cwd, Tools: r.chain.opts.Tools, Inactive: r.chain.opts.Inactive}
	for _, f := range change {
		f(&o)
	}
	c := &rig{t: r.t, dir: r.dir, cwd: o.Cwd, ui: r.ui}
	c.chain = r.chain.Child(context.Background(), o)
	c.host = &fakeHost{session: session.New(session.Options{Cwd: r.cwd}), chain: c.chain, model: r.host.model}
	c.chain.Attach(c.host, agent.ChildUI(r.ui, o.Agent.Name))
	r.t.Cleanup(func() { c.chain.Close(context.Background()) })
	return c
}

// gateOf is a gate that blocks what contains a word.
func gateOf(word string) string {
	return `pi.on("tool_call", function(e) if e.input.command:find("` + word + `", 1, true) then return { block = true, reason = "no ` + word + `" } end end)`
}

func TestAChildHasTheHooksOfItsParent(t *testing.T) {
	r := newRig(t, map[string]string{
		"a.lua":   gateOf("rm"),
		"b.lua":   `pi.on("input", function(e) return { text = e.text .. "b" } end)`,
		"c/x.lua": `return "module"`,
		"c/init.lua": `local x = require "x"
			pi.state.n = 0
			pi.on("input", function(e, ctx) pi.state.n = pi.state.n + 1; return { text = e.text .. x .. pi.state.n } end)`,
	})
	if got := r.input(">") + r.input(">"); got != ">bmodule1>bmodule2" {
		t.Errorf("the parent says %q", got)
	}
	c := r.child()
	if e := c.bash("rm x"); !e.Block || e.Reason != "no rm" {
		t.Errorf("the gate is not asked: %+v", e)
	}
	if e := c.bash("ls"); e.Block {
		t.Errorf("the gate blocks everything: %+v", e)
	}
	if got := c.input(">"); got != ">bmodule1" {
		t.Errorf("the child says %q, with the state of another session or in another order", got)
	}
	c.mustBeQuiet()
	r.mustBeQuiet()
}

func TestAHookKnowsInWhichAgentItRuns(t *testing.T) {
	r := newRig(t, map[string]string{"a.lua": `
		local at_load = pi.hook.agent
		local function shown(a) return a and a.name .. a.depth .. tostring(a.parent) or "none" end
		pi.on("input", function(e, ctx) return { text = shown(at_load) .. " " .. shown(e.agent) .. " " .. shown(ctx.agent) } end)
		for _, name in ipairs{ "tool_call", "user_bash", "shell" } do
			pi.on(name, function(e) pi.log(name, shown(e.agent)) end)
		end`})
	c := r.child()
	deeper := c.child(func(o *ChildOptions) { o.Agent = agent.Identity{Name: "inner", Depth: 2, Parent: "reviewer"} })
	for want, in := range map[string]*rig{"none none none": r, "reviewer1nil reviewer1nil reviewer1nil": c, "inner2reviewer inner2reviewer inner2reviewer": deeper} {
		if got := in.input(""); got != want {
			t.Errorf("it says %q, want %q", got, want)
		}
	}
	c.bash("ls")
	c.emit(&agent.UserBash{Command: "ls"})
	c.emit(&agent.ShellCommand{Command: "ls"})
	log, err := os.ReadFile(r.chain.opts.LogPath)
	mustDo(t, err)
	if n := strings.Count(string(log), "reviewer1nil"); n != 3 {
		t.Errorf("%d of three events name the agent:\n%s", n, log)
	}
}

func TestWhatIsOffOrFailedAboveIsSoInAChild(t *testing.T) {
	r := newRig(t, map[string]string{"gate.lua": gateOf("rm"), "broken.lua": "error('no')", "other.lua": gateOf("dd")})
	mustDo(t, r.chain.SetEnabled(context.Background(), "gate", false))
	c := r.child()
	e := c.bash("rm x") // broken may be a gate: the tools are shut
	if !e.Block || !strings.Contains(e.Reason, "hook broken.lua did not load") {
		t.Errorf("the tools are not shut: %+v", e)
	}
	mustDo(t, r.chain.SetEnabled(context.Background(), "broken", false))
	if e := c.bash("rm x"); e.Block {
		t.Errorf("a hook that is off blocks: %s", e.Reason)
	}
	if e := c.bash("dd"); !e.Block {
		t.Error("a hook that is on does not")
	}
	if again := r.child(); again.bash("rm x").Block || !again.bash("dd").Block {
		t.Error("a child that begins later has other hooks")
	}
	mustDo(t, r.chain.SetEnabled(context.Background(), "gate", true))
	if e := c.bash("rm x"); !e.Block {
		t.Error("a hook that is on again is not asked")
	}
}

func TestWhatBecomesOfHooksAboveCountsFromTheNextEventOn(t *testing.T) {
	r := newRig(t, map[string]string{"b.lua": `pi.on("input", function(e) return { text = e.text .. "1" } end)`})
	c := r.child()
	deeper := c.child()
	want := func(text string) {
		t.Helper()
		for _, in := range []*rig{deeper, c, r} {
			if got := in.input(""); got != text {
				t.Errorf("it says %q, want %q", got, text)
			}
		}
	}
	want("1")
	r.write("b.lua", `pi.on("session_start", function(e) pi.state.reason = e.reason end)
		pi.on("input", function(e) return { text = e.text .. "2" .. tostring(pi.state.reason) } end)`)
	r.look()
	want("2reload")
	r.write("a.lua", `pi.on("input", function() return { text = "a" } end)`)
	r.look()
	want("a2reload")
	mustDo(t, os.Remove(filepath.Join(r.dir, "b.lua")))
	r.look()
	want("a")
	r.write("a.lua", `not lua`)
	r.look()
	want("a") // the last good version goes on
}

func TestAChildRunsTheVersionInForceWhateverIsOnTheDisk(t *testing.T) {
	r := newRig(t, map[string]string{"h/init.lua": `local m = require "m" pi.on("input", function(e) return { text = m } end)`, "h/m.lua": `return "first"`})
	r.write("h/m.lua", `return "second"`)
	r.write("h/init.lua", `not lua`)
	c := r.child() // nobody has looked yet, and what is there now does not load
	if got := c.input(""); got != "first" {
		t.Errorf("it says %q", got)
	}
	r.look()
	if got := c.input("") + r.input(""); got != "firstfirst" {
		t.Errorf("behind a look it says %q", got)
	}
}

func TestAGateThatDoesNotLoadInAChildIsShutThere(t *testing.T) {
	r := newRig(t, map[string]string{"gate.lua": gateOf("rm")})
	c := r.child()
	r.write("gate.lua", `if pi.hook.agent then error("not here") end `+gateOf("dd"))
	r.look()
	if e := c.bash("ls"); !e.Block || !strings.Contains(e.Reason, "not here") {
		t.Errorf("the child goes on without its gate: %+v", e)
	}
	if r.bash("ls").Block || !r.bash("dd").Block {
		t.Error("the gate of the parent is another one")
	}
	r.write("gate.lua", gateOf("dd"))
	r.look()
	if c.bash("ls").Block || !c.bash("dd").Block {
		t.Error("mended, the gate of the child is another one")
	}
}

func TestAPendingGateRulesAChildInItsOldVersion(t *testing.T) {
	t.Parallel()
	for name, loadedBefore := range map[string]bool{"a child that works": true, "a child that begins later": false} {
		t.Run(name, func(t *testing.T) {
			g := newGuarded(t)
			g.write("agent/hooks/gate.lua", gateOf("rm"))
			r := g.start()
			var c *rig
			if loadedBefore {
				c = r.child()
			}
			r.tool(func() { g.write("agent/hooks/gate.lua", `-- open`) })
			r.look()
			r.wantPending("gate changed")
			if !loadedBefore {
				c = r.child()
			}
			if !c.bash("rm x").Block || c.bash("ls").Block {
				t.Error("the gate is another one than that in force")
			}
			r.chain.Approve(context.Background(), r.chain.Pending()[0])
			if c.bash("rm x").Block {
				t.Error("what a user approved does not count in the child")
			}
		})
	}
}

// What a child's tool changes while the tool of the parent waits for it is that of a tool; what is
// saved while nothing but that wait goes on is the user's.
func TestOneWindowOfToolsForTheTree(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		inTool, besides bool
		pending         string
	}{
		"a child's tool rewrites a gate":                        {true, false, "gate changed"},
		"the user saves it while the tool waits":                {false, false, ""},
		"it is saved while another part of the tool is at work": {false, true, "gate changed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGuarded(t)
			g.write("agent/hooks/gate.lua", gateOf("rm"))
			g.write("agent/hooks/model.lua", caller)
			r := g.start()
			rewrite := func() {
				g.write("agent/hooks/gate.lua", `-- open`)
				r.look()
			}
			var a, b *agent.Agent
			task := toolThat(func(ctx context.Context) {
				if tt.besides {
					r.chain.watch.add(ctx, 1)
					defer r.chain.watch.add(ctx, -1)
				}
				_, err := awaitedChild{childThat(func() {
					if !tt.inTool {
						rewrite()
					}
					mustDo(t, b.Prompt(context.Background(), agent.Prompt{Text: "x"}))
				}), r.chain.watch}.Wait(ctx)
				mustDo(t, err)
			})
			a = r.agent(task)
			c := r.child()
			b = c.agent(toolThat(func(context.Context) {
				if tt.inTool {
					rewrite()
				}
			}))
			mustDo(t, a.Prompt(context.Background(), agent.Prompt{Text: "x"}))
			r.wantPending(tt.pending)
			blocks := tt.pending != ""
			if got := r.bash("rm x").Block; got != blocks {
				t.Errorf("the gate above blocks: %v", got)
			}
			if got := c.bash("rm x").Block; got != blocks {
				t.Errorf("the gate of the child blocks: %v", got)
			}
		})
	}
}

// agent gives the chain an agent with a tool that is called bash.
func (r *rig) agent(tool agent.Tool) *agent.Agent {
	r.t.Helper()
	models := r.chain.opts.Models
	a := agent.New(agent.Options{Session: session.New(session.Options{Cwd: r.cwd}), Models: models, Model: models.Find("s", "m"), Thinking: "off",
		Tools: []agent.Tool{tool}, Cwd: r.cwd})
	r.t.Cleanup(func() { a.Session().Close() })
	r.chain.tools.program = []agent.Tool{tool}
	a.Listen(r.chain.ToolWatch(), r.chain, &ears{host: r.host})
	r.chain.Attach(a, r.ui)
	a.Start(context.Background())
	return a
}

// toolThat is a tool that does something.
type toolThat func(ctx context.Context)

func (toolThat) Spec() llm.ToolSpec { return echoTool{}.Spec() }
func (f toolThat) Run(ctx context.Context, _ json.RawMessage, _ agent.Update) (agent.Result, error) {
	f(ctx)
	return agent.TextResult("done"), nil
}

// childThat is a child that does something while it is waited for.
type childThat func()

func (c childThat) Name() string                        { return "reviewer" }
func (c childThat) Steer(context.Context, string) error { return nil }
func (c childThat) Abort()                              {}
func (c childThat) Ended() <-chan struct{}              { return nil }
func (c childThat) Wait(context.Context) (api.AgentResult, error) {
	c()
	return api.AgentResult{}, nil
}

func TestTheModeOfAChildIsThatOfItsParent(t *testing.T) {
	r := newRig(t, map[string]string{"m.lua": `
		pi.mode{ name = "plan", gate = function(e) return { block = true, reason = "planning" } end }
		pi.command("leave", { handler = function(ctx) local ok, err = ctx.set_mode(nil); return { status = tostring(ok) .. " " .. tostring(err) } end })`})
	mustDo(t, r.host.Modes().Select(context.Background(), "plan", agent.ModeByKey))
	c := r.child()
	deeper := c.child()
	for _, in := range []*rig{deeper, c} {
		if e := in.bash("ls"); !e.Block || e.Reason != "planning" {
			t.Errorf("the gate of the mode is not asked: %+v", e)
		}
		if in.host.Modes().Current() != "plan" {
			t.Error("it is in another mode")
		}
	}
	if got := c.statusOf("leave"); !strings.Contains(got, "nil in a child: its mode is that of the agent that uses it") {
		t.Errorf("leaving the mode: %s", got)
	}
	mustDo(t, r.host.Modes().Select(context.Background(), "", agent.ModeByKey))
	if deeper.bash("ls").Block || c.bash("ls").Block {
		t.Error("the mode was left above, and not below")
	}
}

// statusOf runs a command of a hook and returns its status.
func (r *rig) statusOf(name string) string {
	r.t.Helper()
	out, err := r.command(name).Run(context.Background(), "")
	mustDo(r.t, err)
	return out.Status
}

func TestAChildNeverHasAToolThatIsNotActiveAbove(t *testing.T) {
	r := newRig(t, map[string]string{"t.lua": `
		pi.tool{ name = "own", description = "d", execute = function() end }
		pi.command("all", { handler = function() pi.set_active_tools{ "read", "bash", "grep", "own" } end })
		pi.command("read", { handler = function() pi.set_active_tools{ "read", "own" } end })
		pi.command("call", { handler = function() local _, err = pcall(pi.call_tool, "bash", {}) return { status = tostring(err) } end })`},
		func(o *Options) {
			o.Tools, o.Inactive = []agent.Tool{namedTool("read"), namedTool("bash")}, []agent.Tool{namedTool("grep")}
		})
	c := r.child(func(o *ChildOptions) { o.MayHave = func(name string) bool { return name != "own" } })
	if got := c.active(); got != "read bash" {
		t.Errorf("active are %s", got)
	}
	c.statusOf("all")
	if got := c.active(); got != "read bash" {
		t.Errorf("a hook of the child has widened its tools to %s", got)
	}
	r.statusOf("read")
	c.input("")
	if got := c.active(); got != "read" {
		t.Errorf("what is turned off above is not: %s", got)
	}
	r.statusOf("all")
	c.input("")
	if got := c.active(); got != "read bash grep" {
		t.Errorf("what is active above is not: %s", got)
	}
}

func TestManyEventsOfAChildWhileHooksChange(t *testing.T) {
	r := newRig(t, map[string]string{"a.lua": gateOf("rm"), "b.lua": ""})
	c := r.child()
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 30 {
				if c.chain.Wants(agent.KindToolCall) {
					e := &agent.ToolCall{ID: "c", Name: "bash", Input: json.RawMessage(`{"command":"rm"}`)}
					if err := c.chain.Handle(context.Background(), e); err != nil || !e.Block {
						t.Errorf("it passed: %v", err)
					}
				} else {
					t.Error("nobody wants to gate")
				}
			}
		})
	}
	for i := range 10 {
		r.write("a.lua", gateOf("rm")+strings.Repeat("\n", i))
		r.write("b.lua", strings.Repeat("\n", i))
		r.look()
	}
	all.Wait()
}

// A call whose parts all wait for agents is not at work; with one that does anything else it is.
func TestACallIsAtWorkAsLongAsOnePartOfItIs(t *testing.T) {
	r, _ := withAgents(t, map[string]string{"p.lua": caller, "t.lua": `
		local agent = require "pi.agent"
		local other, handle = pi.promise(), nil
		pi.tool{ name = "task", description = "d", execute = function()
			pi.all{
				function() handle = agent.start{ prompt = "wait" } handle.wait{} end,
				function() print("the other part works") other.wait() end,
				function() agent.run{ prompt = "say hello" } end,
			}
			return "all done"
		end }
		pi.command("other", { handler = function() other.resolve(1) end })
		pi.command("steer", { handler = function() handle.steer("go on") end })`})
	a := r.agent(echoTool{})
	window := r.chain.tree.window
	atWork := func() bool {
		window.mu.Lock()
		defer window.mu.Unlock()
		return window.isAtWork()
	}
	ended := make(chan agent.Result)
	go func() { ended <- a.CallTool(context.Background(), "task", json.RawMessage(`{}`)) }()
	until(t, func() bool { return r.said("the other part works") })
	if !atWork() {
		t.Error("one part of the call is at work, and the call is not")
	}
	r.statusOf("other")
	until(t, func() bool { return !atWork() })
	select {
	case got := <-ended:
		t.Fatalf("it has ended with %v", got)
	default:
	}
	r.statusOf("steer")
	if got := <-ended; got.Content[0].Text != "all done" {
		t.Errorf("it ended with %+v", got)
	}
	if atWork() || len(r.chain.watch.calls) > 0 {
		t.Error("a call that has ended is at work")
	}
}

// A tool that hears of its agent does more than wait for it.
func TestACallIsAtWorkWhileItHearsOfItsAgent(t *testing.T) {
	for name, call := range map[string]string{"run": `agent.run{%s}`, "start": `agent.start{%s}.wait()`} {
		t.Run(name, func(t *testing.T) {
			r, _ := withAgents(t, map[string]string{"p.lua": caller, "t.lua": `
				local agent = require "pi.agent"
				local other = pi.promise()
				pi.tool{ name = "task", description = "d", execute = function()
					` + fmt.Sprintf(call, `prompt = "turns 1", on_event = function() print("it hears") other.wait() end`) + `
					return "all done"
				end }
				pi.command("other", { handler = function() other.resolve(1) end })`})
			a := r.agent(echoTool{})
			window := r.chain.tree.window
			ended := make(chan agent.Result)
			go func() { ended <- a.CallTool(context.Background(), "task", json.RawMessage(`{}`)) }()
			until(t, func() bool { return r.said("it hears") })
			window.mu.Lock()
			if !window.isAtWork() {
				t.Error("the call is not at work")
			}
			window.mu.Unlock()
			r.statusOf("other")
			if got := <-ended; got.Content[0].Text != "all done" {
				t.Errorf("it ended with %+v", got)
			}
			if window.isAtWork() {
				t.Error("a call that has ended is at work")
			}
		})
	}
}

func TestVMsThatDoNotStopAreCountedOverTheTree(t *testing.T) {
	hang := `pi.on("tool_call", function(e) if e.input.command == "hang" then print("hang") end end)
		pi.on("input", function(e) return { text = e.text .. "!" } end)`
	r := newRig(t, map[string]string{"a.lua": hang}, func(o *Options) { o.Timeout = 100 * time.Millisecond })
	release := make(chan struct{})
	defer close(release)
	hangs := func(in *rig) string {
		in.host.hang = release
		return in.bash("hang").Reason
	}
	c := r.child()
	if got := hangs(r); !strings.Contains(got, "abandoned") {
		t.Fatalf("it did not hang: %s", got)
	}
	if r.input("x") != "x!" {
		t.Error("the hook has no fresh copy")
	}
	if got := hangs(c); !strings.Contains(got, "abandoned") {
		t.Fatalf("it did not hang in the child: %s", got)
	}
	if e := c.bash("ls"); !e.Block || !strings.Contains(e.Reason, "did not stop and is disabled") {
		t.Errorf("the second of the tree is tried again: %+v", e)
	}
	if r.bash("ls").Block || r.input("x") != "x!" {
		t.Error("the hook of the parent does not go on")
	}
	if e := r.child().bash("ls"); !e.Block || !strings.Contains(e.Reason, "did not stop and is disabled") {
		t.Errorf("a child that begins later tries it again: %+v", e)
	}
	r.write("a.lua", hang+"\n")
	r.look()
	if e := r.child().bash("ls"); e.Block {
		t.Errorf("changed, it is not tried again: %s", e.Reason)
	}
}

// The hooks of the session in which the user is are told of a child's question, and whose it is.
func TestAQuestionOfAChildStandsInTheQueueOfTheUser(t *testing.T) {
	r := newRig(t, map[string]string{
		"ask.lua": `pi.on("input", function(e, ctx)
			local ok = ctx.ui.confirm("Sure?", "m", { always = "k" })
			ctx.ui.set_title("t") ctx.ui.set_status("k", "v") ctx.ui.set_widget("w", { "x" }) ctx.ui.set_plan{ { content = "c", status = "pending" } }
			ctx.ui.set_editor_text("e")
			ctx.ui.notify("hello")
			local copied, why = ctx.ui.copy("x")
			local told, whynot = ctx.ui.notify_desktop("x")
			return { text = table.concat({ tostring(ok), tostring(ctx.has_ui), tostring(copied), why, tostring(told), whynot,
				tostring(ctx.ui.custom{ render = function() return {} end }), tostring(ctx.ui.can("custom")) }, " ") }
		end)`,
		"told.lua": `pi.on("ui_prompt", function(e, ctx) print("asked " .. e.title .. " in " .. (ctx.agent and ctx.agent.name or "the session")) end)`,
	})
	shown := &onlyAsks{fakeUI: r.ui}
	r.ui.ask = func(_ context.Context, kind, title string) (string, bool, error) {
		return "", title == "[reviewer] Sure?", nil
	}
	r.chain.Meet(shown)
	c := r.child()
	c.chain.Attach(c.host, agent.ChildUI(shown, "reviewer"))
	if got := c.input(""); got != "true true nil there is no clipboard here nil there is no desktop here nil false" {
		t.Errorf("it says %q", got)
	}
	until(t, func() bool { return r.said("told: asked [reviewer] Sure? in the session") })
	if told := r.ui.told.Load(); told == nil || *told != "[reviewer] hello" {
		t.Errorf("the notice is %v", told)
	}
	c.mustBeQuiet()
	if len(shown.seen) > 0 {
		t.Errorf("the user sees %v of a child", shown.seen)
	}
	r.ui.absent = true
	if got := c.input(""); !strings.HasPrefix(got, "false false") {
		t.Errorf("without a user it says %q", got)
	}
}

// onlyAsks is a user who notes what is shown beside questions.
type onlyAsks struct {
	*fakeUI
	seen []string
}

func (o *onlyAsks) SetTitle(string)                              { o.seen = append(o.seen, "title") }
func (o *onlyAsks) SetStatus(string, string)                     { o.seen = append(o.seen, "status") }
func (o *onlyAsks) SetWidget(agent.Place, string, []string)      { o.seen = append(o.seen, "widget") }
func (o *onlyAsks) SetPlan([]agent.PlanItem)                     { o.seen = append(o.seen, "plan") }
func (o *onlyAsks) SetEditorText(string)                         { o.seen = append(o.seen, "line") }
func (o *onlyAsks) Copy(context.Context, string) (string, error) { return "copied", nil }
func (o *onlyAsks) NotifyDesktop(string, string) error           { return nil }
func (o *onlyAsks) Can(agent.Ability) bool                       { return true }

func (o *onlyAsks) Custom(agent.Component, agent.SurfaceOptions) (agent.Surface, error) {
	o.seen = append(o.seen, "custom")
	return nil, nil
}
