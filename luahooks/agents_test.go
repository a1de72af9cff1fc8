package luahooks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"pi/agent"
	"pi/luahooks/api"
	"pi/session"
	"pi/session/message"
)

// agentsOfTest are agents that do what the first word of their prompt says:
//
//	say TEXT     answers that, and what it was asked for where the text is "request"
//	turns N      begins N turns, each an event, and then answers how many
//	wait         until it is steered, which is its answer, or ended
//	refuse TEXT  does not start
type agentsOfTest struct {
	mu     sync.Mutex
	begins int
	waits  int      // that began
	counts []string // what each prompt and message counts as
	ends   []string // of those that were ended, their names
}

func (a *agentsOfTest) began() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.begins
}

func (a *agentsOfTest) ended() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return strings.Join(a.ends, " ")
}

// note notes what a text counts as.
func (a *agentsOfTest) note(text string, o agent.Origin) {
	a.mu.Lock()
	defer a.mu.Unlock()
	kind := map[agent.OriginKind]string{agent.FromUser: "user", agent.FromHook: "hook", agent.FromOutside: "outside"}[o.Kind]
	a.counts = append(a.counts, text+": "+kind)
}

func (a *agentsOfTest) origins() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.counts)
}

func (a *agentsOfTest) waited() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.waits
}

// childOfTest is one of them.
type childOfTest struct {
	of     *agentsOfTest
	name   string
	ctx    context.Context
	abort  context.CancelFunc
	steers chan string
	over   chan struct{}
	result api.AgentResult // once over is closed
}

func (a *agentsOfTest) Start(ctx context.Context, r api.AgentRequest) (api.Child, error) {
	do, words, _ := strings.Cut(r.Prompt, " ")
	a.note(r.Prompt, r.Origin)
	if do == "refuse" {
		return nil, errors.New(words)
	}
	c := &childOfTest{of: a, name: r.Name, steers: make(chan string), over: make(chan struct{})}
	if c.name == "" {
		c.name = "agent"
	}
	c.ctx, c.abort = context.WithCancel(ctx)
	a.mu.Lock()
	a.begins++
	a.mu.Unlock()
	go func() {
		defer close(c.over)
		c.result = c.work(r, do, words)
		c.result.Messages = []message.Message{{Role: message.RoleUser, Content: []message.Block{message.TextBlock(r.Prompt)}}}
		c.result.Usage.Input = 7
		if c.result.StopReason == "aborted" {
			a.mu.Lock()
			a.ends = append(a.ends, c.name)
			a.mu.Unlock()
		}
		c.abort()
	}()
	return c, nil
}

func (c *childOfTest) work(r api.AgentRequest, do, words string) api.AgentResult {
	switch do {
	case "say":
		if words == "request" {
			schema := string(r.Schema)
			r.Schema, r.OnEvent = nil, nil
			words = fmt.Sprintf("%+v %s", r, schema)
		}
		return api.AgentResult{Text: words, StopReason: "completed", Value: json.RawMessage(`{"n":1}`), SessionFile: "s.jsonl"}
	case "turns":
		n := 0
		_, _ = fmt.Sscan(words, &n)
		for i := range n {
			if c.ctx.Err() != nil {
				return api.AgentResult{StopReason: "aborted", Error: fmt.Sprintf("ended after %d", i)}
			}
			r.OnEvent(c.ctx, &agent.TurnStart{TurnIndex: i})
			r.OnEvent(c.ctx, &agent.Notice{Text: "hooks cannot listen to it"})
		}
		return api.AgentResult{Text: words, StopReason: "completed"}
	}
	select {
	case text := <-c.steers:
		return api.AgentResult{Text: text, StopReason: "completed"}
	case <-c.ctx.Done():
		return api.AgentResult{StopReason: "aborted", Error: "ended"}
	}
}

func (c *childOfTest) Name() string { return c.name }

func (c *childOfTest) Ended() <-chan struct{} { return c.over }

func (c *childOfTest) Wait(ctx context.Context) (api.AgentResult, error) {
	c.of.mu.Lock()
	c.of.waits++
	c.of.mu.Unlock()
	select {
	case <-c.over:
		return c.result, nil
	case <-ctx.Done():
		return api.AgentResult{}, ctx.Err()
	}
}

func (c *childOfTest) Steer(ctx context.Context, text string) error {
	o, _ := agent.OriginOf(ctx)
	c.of.note(text, o)
	select {
	case c.steers <- text:
		return nil
	case <-c.over:
		return errors.New("ended")
	}
}

func (c *childOfTest) Abort() { c.abort() }

// withAgents is a rig whose hooks have agents.
func withAgents(t *testing.T, files map[string]string) (*rig, *agentsOfTest) {
	t.Helper()
	all := &agentsOfTest{}
	return newRig(t, files, func(o *Options) { o.Agents = func() api.Agents { return all } }), all
}

// agentBodies are bodies of handlers that have the module.
func agentBodies(cases [][2]string) (bodies [][2]string) {
	for _, c := range cases {
		bodies = append(bodies, [2]string{`local agent = require "pi.agent" local function said(v, err) return { text = tostring(v) .. (err and " " .. err or "") } end ` + c[0], c[1]})
	}
	return bodies
}

func TestAHookHasAnAgentWorkAndGetsWhatCameOfIt(t *testing.T) {
	r, _ := withAgents(t, nil)
	r.bodies(agentBodies([][2]string{
		{`return said(assert(agent.run{ prompt = "say hello" }).text)`, "hello"},
		{`local r = agent.run{ prompt = "say hello" } return said(r.stop_reason .. r.value.n .. r.usage.input .. #r.messages .. r.messages[1].content[1].text .. r.session_file .. tostring(r.error))`, "completed17" + "1say hellos.jsonlnil"},
		{`local r = agent.run{ prompt = "turns 0" } return said(tostring(r.value) .. tostring(r.session_file))`, "nilnil"},
		{`return said(agent.run{ prompt = "say a" }.tekst)`, `what came of the agent has no field "tekst"; it has text, value`},
		{`return said(agent.run{ prompt = "refuse no such agent" })`, "nil no such agent"},
		{`return said(agent.start{ prompt = "refuse too deep" })`, "nil too deep"},
		{`local h = agent.start{ prompt = "say hello", name = "first" } return said(h.name .. ": " .. h.wait().text .. h.wait().text)`, "first: hellohello"},
		{`return said(agent.start{ prompt = "wait" }.wait{ timeout = 5 })`, "nil timeout"},
		{`return said(agent.start{ prompt = "wait" }.wait{ signal = pi.signal{ timeout = 5 } })`, "nil cancelled"},
		{`local h = agent.start{ prompt = "wait" } assert(h.steer("turn left")) return said(h.wait{ timeout = 5000 }.text .. tostring(h.steer("x")) .. select(2, h.steer("x")))`, "turn leftnilended"},
		{`local h = agent.start{ prompt = "wait" } h.abort() h.abort() local r = h.wait() return said(r.stop_reason .. ": " .. r.error)`, "aborted: ended"},
		{`local h = agent.start{ prompt = "wait", signal = pi.signal{ timeout = 5 } } return said(h.wait().stop_reason)`, "aborted"},
		{`return said(agent.run{ prompt = "wait", signal = pi.signal{ timeout = 5 } }.stop_reason)`, "aborted"},
		{`local s = pi.signal() s.cancel() return said(agent.run{ prompt = "say a", signal = s })`, "nil cancelled"},
		{`local s = pi.signal() s.cancel() return said(agent.start{ prompt = "say a", signal = s })`, "nil cancelled"},
	}))
}

func TestAgentsWorkBesideEachOther(t *testing.T) {
	r, _ := withAgents(t, nil)
	r.bodies(agentBodies([][2]string{
		{`local h local a, b = pi.all{ function() h = agent.start{ prompt = "wait" } return h.wait().text end, function()
			while not h do require("pi.timer").sleep(1) end h.steer("by the other") return "steered" end } return said(a .. " " .. b)`, "by the other steered"},
		{`local p = pi.async(function() return agent.run{ prompt = "say later" }.text end) return said(p.wait())`, "later"},
		{`local v, at = pi.any{ agent.start{ prompt = "wait" }, agent.start{ prompt = "say first" } } return said(v.text .. at)`, "first2"},
		{`local p = pi.promise() pi.async(function() p.resolve(agent.run{ prompt = "say a" }) end) return said(p.wait().text)`, "a"},
	}))
}

// Who waits for an agent is not at work meanwhile, and who has started one is.
func TestAnAgentThatWasStartedIsWaitedForByWaitAlone(t *testing.T) {
	r, all := withAgents(t, nil)
	r.bodies(agentBodies([][2]string{{`local h = agent.start{ prompt = "wait" } require("pi.timer").sleep(5) h.steer("x") return said("goes on")`, "goes on"}}))
	if n := all.waited(); n != 0 {
		t.Errorf("%d waits", n)
	}
	r.bodies(agentBodies([][2]string{{`local h = agent.start{ prompt = "say a" } return said(h.wait().text)`, "a"}}))
	if n := all.waited(); n != 1 {
		t.Errorf("%d waits, want one", n)
	}
}

func TestWhatIsAskedOfAnAgentReachesItWhole(t *testing.T) {
	r, _ := withAgents(t, nil)
	for options, want := range map[string]string{
		`agent = "reviewer", name = "second", system_prompt = "be brief", model = "m:high", thinking = "low"`: `Agent:reviewer Name:second SystemPrompt:be brief Model:m:high Thinking:low`,
		`tools = { "read", "grep" }`:                             `Tools:[read grep] HasTools:true`,
		`tools = {}`:                                             `Tools:[] HasTools:true`,
		`cwd = "sub"`:                                            `Cwd:` + r.cwd + `/sub `,
		`cwd = "/elsewhere"`:                                     `Cwd:/elsewhere `,
		`context = "parent", session = "keep"`:                   `FromParent:true Keep:true`,
		`max_turns = 3, max_cost = 0.5, timeout = 1500`:          `MaxTurns:3 MaxCost:0.5 Timeout:1.5s`,
		`schema = { properties = { n = { type = "integer" } } }`: `{"properties":{"n":{"type":"integer"}}}`,
		`model = { provider = "p", id = "x/y" }`:                 `Model:p/x/y `,
		`model = ctx.model`:                                      `Model:p/m `,
		``:                                                       `Agent: Name: SystemPrompt: Model: Thinking: Tools:[] HasTools:false Cwd: Schema:[] FromParent:false Keep:false MaxTurns:0 MaxCost:0 Timeout:0s`,
	} {
		body := agentBodies([][2]string{{`return said(agent.run{ prompt = "say request", ` + options + ` }.text)`, ""}})[0][0]
		if got := r.lua(body); !strings.Contains(got, want) || !strings.Contains(got, `Hook:{Name:lua Path:`) {
			t.Errorf("%s reaches it as\n%s\nwant\n%s", options, got, want)
		}
	}
}

func TestAWrongErrandRaisesWhereItIsWritten(t *testing.T) {
	r, _ := withAgents(t, nil)
	r.bodies(agentBodies([][2]string{
		{`agent.run("look around")`, "table expected, got string"},
		{`agent.run({ prompt = "a" }, { model = "m" })`, "takes at most 1 argument"},
		{`agent.run{}`, `agent.run: option "prompt" is missing`},
		{`agent.run{ prompt = " \n" }`, `option "prompt" is empty`},
		{`agent.run{ promt = "a" }`, `agent.run: unknown option "promt", did you mean "prompt"?`},
		{`agent.start{ prompt = "a", max_turn = 1 }`, `agent.start: unknown option "max_turn", did you mean "max_turns"?`},
		{`agent.run{ prompt = "a", tools = "read" }`, `option "tools" must be a`},
		{`agent.run{ prompt = "a", tools = { {} } }`, `option "tools" must be a`},
		{`agent.run{ prompt = "a", thinking = "hihg" }`, `unknown thinking level "hihg", did you mean "high"?`},
		{`agent.run{ prompt = "a", model = true }`, `option "model" must be a model such as ctx.model or "provider/id", not a boolean`},
		{`agent.run{ prompt = "a", context = "parents" }`, `"parents"`},
		{`agent.run{ prompt = "a", session = "kept" }`, `"kept"`},
		{`agent.run{ prompt = "a", schema = { type = "array" } }`, "a JSON Schema of the type object, not array"},
		{`agent.run{ prompt = "a", max_turns = 0 }`, `option "max_turns" must be a whole number of at least 1, not 0`},
		{`agent.run{ prompt = "a", max_turns = 1.5 }`, `option "max_turns" must be a whole number of at least 1, not 1.5`},
		{`agent.run{ prompt = "a", max_cost = 0 }`, `option "max_cost" must be a number of dollars above 0, not 0`},
		{`agent.run{ prompt = "a", max_cost = 0/0 }`, `option "max_cost" must be a number of dollars above 0`},
		{`agent.run{ prompt = "a", timeout = 0 }`, `option "timeout" must be positive`},
		{`agent.run{ prompt = "a", timeout = -1 }`, `option "timeout" must be a number of milliseconds`},
		{`agent.run{ prompt = "a", signal = {} }`, `option "signal" must be a signal such as ctx.signal, not a table`},
		{`agent.run{ prompt = "a", on_event = "x" }`, `option "on_event" must be a function`},
		{`agent.run{ prompt = "a", context = "parent", agent = "x" }`, `option "agent" cannot stand beside context = "parent"`},
		{`agent.run{ prompt = "a", context = "parent", tools = {} }`, `option "tools" cannot stand beside`},
		{`agent.run{ prompt = "a", context = "parent", system_prompt = "x" }`, `option "system_prompt" cannot stand beside`},
		{`agent.run{ prompt = "a", context = "parent", model = "x" }`, `option "model" cannot stand beside`},
		{`agent.run{ prompt = "a", context = "parent", thinking = "low" }`, `option "thinking" cannot stand beside`},
		{`agent.start{ prompt = "wait" }.steer("")`, "steer: the text is empty"},
		{`agent.start{ prompt = "wait" }.steer()`, "string expected"},
		{`agent.start{ prompt = "wait" }.wait{ timout = 1 }`, `did you mean "timeout"`},
		{`agent.start{ prompt = "wait" }.wiat()`, `did you mean "wait"`},
	}))
}

func TestNoAgentWorksWhereThereIsNone(t *testing.T) {
	r := newRig(t, map[string]string{"a.lua": `require("pi.agent").run{ prompt = "a" }`})
	r.mustSay("a.lua:1: agent.run: not available while the hook loads; use session_start")
	r.bodies(agentBodies([][2]string{
		{`return said(agent.run{ prompt = "say a" })`, "nil no other agents can be used here"},
		{`return said(agent.start{ prompt = "say a" })`, "nil no other agents can be used here"},
		{`agent.run{ promt = "a" }`, `did you mean "prompt"`},
	}))
}

func TestOnEventIsToldAndTheAgentWaitsForIt(t *testing.T) {
	r, _ := withAgents(t, nil)
	r.bodies(agentBodies([][2]string{
		{`local seen = "" local r = agent.run{ prompt = "turns 3", on_event = function(e) seen = seen .. e.type .. e.turn_index .. " " end } return said(seen .. r.stop_reason)`, "turn_start0 turn_start1 turn_start2 completed"},
		{`local seen = "" local h = agent.start{ prompt = "turns 3", on_event = function(e) seen = seen .. e.turn_index end } local r = h.wait() return said(seen .. r.stop_reason)`, "012completed"},
		// It does not go on while a function of the hook takes its time.
		{`local busy, most = 0, 0 local function slowly() busy = busy + 1 most = math.max(most, busy) require("pi.timer").sleep(2) busy = busy - 1 end
			agent.run{ prompt = "turns 5", on_event = slowly } agent.start{ prompt = "turns 5", on_event = slowly }.wait() return said(most)`, "1"},
		// True ends the agent.
		{`local n = 0 local r = agent.run{ prompt = "turns 9", on_event = function(e) n = n + 1 return n == 2 end } return said(n .. r.stop_reason .. r.error)`, "2abortedended after 2"},
		{`local n = 0 local r = agent.start{ prompt = "turns 9", on_event = function(e) n = n + 1 return n == 2 end }.wait() return said(n .. r.stop_reason .. r.error)`, "2abortedended after 2"},
		// An error is one of run; the agent has ended by then.
		{`local ok, err = pcall(agent.run, { prompt = "turns 9", on_event = function() error("of mine") end }) return said(tostring(ok) .. tostring(err:find("agent.run: on_event: .*lua.lua:1: of mine") ~= nil))`, "falsetrue"},
		// It may have an agent work itself.
		{`local inner = "" agent.run{ prompt = "turns 2", on_event = function() inner = inner .. agent.run{ prompt = "say x" }.text end } return said(inner)`, "xx"},
		{`agent.run{ prompt = "turns 1", on_event = function(e) return e.turn_idnex end }`, `did you mean "turn_index"`},
	}))
	r.lua(agentBodies([][2]string{{`local h h = agent.start{ prompt = "turns 2", on_event = function(e) while not h do require("pi.timer").sleep(1) end h.wait() end } h.wait()`, ""}})[0][0])
	if !r.said("lua.lua:1: wait: the agent does not end before its on_event returns") {
		t.Errorf("%q", r.host.notices())
	}
}

// An error of on_event beside the hook is told as any of a callback, and the agent goes on.
func TestAnErrorOfOnEventIsTold(t *testing.T) {
	r, _ := withAgents(t, map[string]string{"a.lua": `pi.on("input", function()
		local r = require("pi.agent").start{ prompt = "turns 2", on_event = function() error("oh") end }.wait()
		print("it was " .. r.stop_reason) end)`})
	r.input("")
	r.mustSay("hook a: on_event: ", "a.lua:2: oh")
	r.mustSay("it was completed")
}

// An agent that a call has started, and not ended by itself, goes on beside it; one of an interrupted
// call ends with that, unless it was a command. With the VM all end.
func TestAnInterruptedCallTakesAlongWhatItHasStarted(t *testing.T) {
	for name, c := range map[string]struct {
		execute string
		command bool
		works   int    // agents that have begun before the interrupt
		ends    string // with the call
		later   string // with the VM
	}{
		"run":                       {`agent.run{ prompt = "wait", name = "x" }`, false, 1, "x", ""},
		"run in a command":          {`agent.run{ prompt = "wait", name = "x" }`, true, 1, "x", ""},
		"run with events":           {`agent.run{ prompt = "wait", name = "x", on_event = print }`, false, 1, "x", ""},
		"start":                     {`agent.start{ prompt = "wait", name = "x" }.wait()`, false, 1, "x", ""},
		"start beside":              {`pi.all{ function() agent.start{ prompt = "wait", name = "x" } end } pi.promise().wait()`, false, 1, "x", ""},
		"start in a command":        {`agent.start{ prompt = "wait", name = "x" }.wait()`, true, 1, "", "x"},
		"start beside in a command": {`pi.all{ function() agent.start{ prompt = "wait", name = "x" } end } pi.promise().wait()`, true, 1, "", "x"},
		"run behind start":          {`agent.start{ prompt = "wait", name = "x" } agent.run{ prompt = "wait", name = "y" }`, true, 2, "y", "x"},
		"a call that has ended":     {`agent.start{ prompt = "wait", name = "x" }`, false, 1, "", "x"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, all := withAgents(t, map[string]string{"a.lua": `local agent = require "pi.agent"
				pi.tool{ name = "own", description = "D", execute = function(params, ctx, call) ` + c.execute + ` end }
				pi.command("own", { handler = function(ctx) ` + c.execute + ` end })`})
			ctx, cancel := context.WithCancel(t.Context())
			over := make(chan struct{})
			go func() {
				defer close(over)
				if c.command {
					_, _ = r.command("own").Run(ctx, "")
					return
				}
				_, _ = r.chain.tools.All()[0].Tool.Run(ctx, json.RawMessage(`{}`), nil)
			}()
			until(t, func() bool { return all.began() == c.works })
			if c.ends == "" && !c.command {
				<-over // the call ends by itself
			}
			cancel()
			<-over
			until(t, func() bool { return all.ended() == c.ends })
			r.chain.Close(t.Context())
			if got, want := all.ended(), strings.TrimSpace(c.ends+" "+c.later); got != want {
				t.Errorf("ended are %q, want %q", got, want)
			}
		})
	}
}

// A hook that is saved anew leaves none of its agents behind.
func TestAgentsEndWithTheVersionOfTheHookThatHasStartedThem(t *testing.T) {
	r, all := withAgents(t, map[string]string{"a.lua": `pi.on("input", function() require("pi.agent").start{ prompt = "wait", name = "old" } end)`})
	r.input("")
	r.write("a.lua", ``)
	r.chain.Reload(t.Context(), true)
	until(t, func() bool { return all.ended() == "old" })
}

// What an agent is asked counts as that of who has it asked: of the user, also where the model wants it
// in a tool, or of the hook itself.
func TestWhatAnAgentIsAskedCountsAsOfWhoHasItAsked(t *testing.T) {
	r, all := withAgents(t, map[string]string{"h.lua": `
		local agent = require "pi.agent"
		local function ask(text) return agent.run{ prompt = "say " .. text } end
		pi.command("once", { handler = function() ask("in a command") ask("again in it") end })
		pi.on("turn_start", function() ask("at an event") end)
		pi.tool{ name = "task", description = "d", parameters = {}, execute = function() ask("in a tool") return "done" end }
		local timer = require "pi.timer"
		pi.command("steers", { handler = function()
			local h = agent.start{ prompt = "wait" }
			h.steer("a word")
			h.wait()
		end })
	`})
	run := func(name string) {
		t.Helper()
		if _, err := r.command(name).Run(t.Context(), ""); err != nil {
			t.Error(err)
		}
	}
	run("once")
	r.emit(&agent.TurnStart{})
	a := agent.New(agent.Options{Session: session.New(session.Options{}), Models: r.chain.opts.Models, Model: r.chain.opts.Models.Find("s", "m"), Tools: r.host.Tools()})
	if got := a.CallTool(t.Context(), "task", nil); got.IsError {
		t.Errorf("%+v", got)
	}
	run("steers")
	want := []string{"say in a command: user", "say again in it: user", "say at an event: hook", "say in a tool: user", "wait: user", "a word: user"}
	if got := all.origins(); !slices.Equal(got, want) {
		t.Errorf("%q\nnot %q", got, want)
	}
}
