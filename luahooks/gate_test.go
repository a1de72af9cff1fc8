package luahooks

import (
	"context"
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	"pi/agent"
)

func TestTheGate(t *testing.T) {
	const rewrite = `pi.on("tool_call", function(e) return { input = { command = "safe" } } end)`
	const block = `pi.on("tool_call", function(e) return { block = true, reason = "no: " .. e.input.command, terminate = true } end)`
	const blockSafe = `pi.on("tool_call", function(e) if e.input.command == "safe" then return { block = true, reason = "not even safe" } end end)`
	cases := []struct {
		name   string
		files  map[string]string
		input  string
		reason string // "" passes
		by     string
	}{
		{"nobody minds", map[string]string{"a.lua": `pi.on("tool_call", function() end)`}, "rm", "", ""},
		{"an empty table is no opinion", map[string]string{"a.lua": `pi.on("tool_call", function() return {} end)`}, "rm", "", ""},
		{"block", map[string]string{"a.lua": block}, "rm", "no: rm", "a"},
		{"rewrite", map[string]string{"a.lua": rewrite}, "safe", "", ""},
		{"a later gate sees the rewrite", map[string]string{"a.lua": rewrite, "b.lua": block}, "safe", "no: safe", "b"},
		{"an earlier gate is asked again", map[string]string{"a.lua": blockSafe, "b.lua": rewrite}, "safe", "not even safe", "a"},
		{"an earlier gate in the same file too", map[string]string{"a.lua": blockSafe + "\n" + rewrite}, "safe", "not even safe", "a"},
		{"who rewrites is not asked again", map[string]string{"a.lua": `pi.on("tool_call", function(e)
			if e.input.command == "safe" then error("asked again") end
			return { input = { command = "safe" } } end)`}, "safe", "", ""},
		{"of a second answer only a block counts", map[string]string{
			"a.lua": `local n = 0
				pi.on("tool_call", function(e) n = n + 1; return { input = { command = e.input.command .. n } , additional_context = "n" .. n } end)`,
			"b.lua": `pi.on("tool_call", function(e) return { input = { command = "b" } } end)`}, "b", "", ""},
		{"an error blocks", map[string]string{"a.lua": `pi.on("tool_call", function(e) local x = e.nothing.here end)`}, "rm", "hook a.lua failed: ", "a"},
		{"an unknown key blocks", map[string]string{"a.lua": `pi.on("tool_call", function(e) return { blok = true } end)`}, "rm", `did you mean "block"?`, "a"},
		{"a wrong type blocks", map[string]string{"a.lua": `pi.on("tool_call", function(e) return { block = "yes" } end)`}, "rm", "block: expected a boolean", "a"},
		{"a reason alone blocks", map[string]string{"a.lua": `pi.on("tool_call", function(e) return { reason = "no" } end)`}, "rm", "a.lua:1: reason says why a call is blocked: return block = true with it", "a"},
		{"a reason with block = false does not", map[string]string{"a.lua": `pi.on("tool_call", function(e) return { block = false, reason = "no" } end)`}, "rm", "", ""},
		{"nor one that ends the run if it blocks", map[string]string{"a.lua": `pi.on("tool_call", function(e) return { block = e.input.command == "ls", reason = "no", terminate = true } end)`}, "rm", "", ""},
		{"true is no result", map[string]string{"a.lua": `pi.on("tool_call", function(e) return true end)`}, "rm", "returns nil or a table", "a"},
		{"an inherited key blocks", map[string]string{"a.lua": `pi.on("tool_call", function(e) return setmetatable({ reason = "no" }, { __index = { block = true } }) end)`}, "rm", "has __index", "a"},
		{"a decoded result is one", map[string]string{"a.lua": `pi.on("tool_call", function(e) return require("pi.json").decode('{"block": true}') end)`}, "rm", "", "a"},
		{"a bad input blocks", map[string]string{"a.lua": `pi.on("tool_call", function(e) return { input = { f = print } } end)`}, "rm", "at .f: a function", "a"},
		{"an error in another event does not", map[string]string{"a.lua": `pi.on("input", function() error("x") end)`, "b.lua": `pi.on("tool_call", function() end)`}, "rm", "", ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, c.files)
			e := r.bash("rm")
			if e.Block != (c.by != "") || !strings.Contains(e.Reason, c.reason) || e.BlockedBy != c.by {
				t.Errorf("block %v by %q: %s", e.Block, e.BlockedBy, e.Reason)
			}
			if !e.Block && string(e.Input) != `{"command":"`+c.input+`"}` {
				t.Errorf("runs %s", e.Input)
			}
		})
	}
}

func TestContextsOfAllHandlersAreAddedInOrder(t *testing.T) {
	add := `pi.on("tool_call", function(e) return { additional_context = pi.hook.name } end)`
	r := newRig(t, map[string]string{"a.lua": add, "b.lua": add, "c.lua": `pi.on("tool_call", function(e) return { input = { command = "x" } } end)`})
	if e := r.bash("rm"); strings.Join(e.AdditionalContext, " ") != "a b" || e.RewrittenBy != "c" {
		t.Errorf("context %q, rewritten by %q", e.AdditionalContext, e.RewrittenBy)
	}
}

func TestABlockedCallEndsTheChain(t *testing.T) {
	r := newRig(t, map[string]string{"a.lua": `pi.on("tool_call", function() return { block = true } end)`,
		"b.lua": `pi.on("tool_call", function() error("asked") end)`})
	if e := r.bash("x"); !e.Block || e.Reason != "" {
		t.Errorf("reason is %q", e.Reason)
	}
	r.mustBeQuiet()
}

func TestAnErrorIsShownWithItsLineAndTheChainGoesOn(t *testing.T) {
	r := newRig(t, map[string]string{
		"a.lua": "pi.on('input', function(e)\n  error('broken 100%s')\nend)",
		"b.lua": "\n\npi.on('input', function(e)\n  return { txt = 1 }\nend)",
		"c.lua": "pi.on('input', function(e)\n  error({ code = 7, message = 'a table' })\nend)",
		"d.lua": "pi.on('input', function(e) return { text = e.text .. '!' } end)",
		"e.lua": "pi.on('input', function(e)\n  pi.exec({})\nend)",
	})
	if got := r.input("x"); got != "x!" {
		t.Errorf("got %q", got)
	}
	r.mustSay("hook a: input:", "a.lua:2: broken 100%s")
	r.mustSay("hook b: input:", "b.lua:4: unknown key \"txt\"", "did you mean \"text\"?")
	r.mustSay("hook c: input:", "c.lua:2:", "a table")
	r.mustSay("hook e: input:", "e.lua:2:")
	if h := r.chain.Hooks(); !strings.Contains(h[0].LastError, "a.lua:2") {
		t.Errorf("last error is %q", h[0].LastError)
	}
}

func TestAHandlerThatRunsTooLongIsStoppedAndWhatItDoesLaterIsLost(t *testing.T) {
	r := newRig(t, map[string]string{
		"a.lua": `pi.on("input", function(e) local ok = pcall(function() while true do end end); return { text = "late" } end)`,
		"g.lua": `pi.on("tool_call", function(e) while true do end end)`,
	}, func(o *Options) { o.Timeout = 50 * time.Millisecond })
	if got := r.input("x"); got != "x" {
		t.Errorf("got %q", got)
	}
	r.mustSay("hook a: input:", "ran longer than 50ms")
	if e := r.bash("x"); !e.Block || !strings.Contains(e.Reason, "hook g.lua failed:") {
		t.Errorf("blocked %v: %s", e.Block, e.Reason)
	}
}

func TestAHookThatDoesNotStopGetsAFreshVMAndThenItsGateStaysShut(t *testing.T) {
	files := map[string]string{"g.lua": `
		pi.on("session_start", function(e) pi.log(e.reason) end)
		pi.on("tool_call", function(e) if e.input.command == "hang" then print("hang") end end)`}
	r := newRig(t, files, func(o *Options) { o.Timeout = 300 * time.Millisecond })
	release := make(chan struct{})
	r.host.hang = release // print holds the VM and looks at no clock
	defer close(release)
	if e := r.bash("hang"); !e.Block {
		t.Fatal("a gate that hangs is open")
	}
	r.mustSay("a fresh copy of it goes on")
	if e := r.bash("ls"); e.Block {
		t.Fatalf("the fresh copy blocks: %s", e.Reason)
	}
	if e := r.bash("hang"); !e.Block {
		t.Fatal("a gate that hangs again is open")
	}
	r.mustSay("hook g is disabled for this session")
	for range 2 {
		if e := r.bash("ls"); !e.Block || !strings.Contains(e.Reason, "its gate stays shut") || e.BlockedBy != "g" {
			t.Fatalf("the gate of a disabled hook: block %v, %q", e.Block, e.Reason)
		}
	}
	if !r.chain.Wants(agent.KindToolCall) {
		t.Fatal("the agent would not even ask")
	}
	if reason := r.userBash("ls"); reason != "" {
		t.Errorf("a gate that the hook did not have is shut: %s", reason)
	}
	r.write("g.lua", "syntax error")
	r.chain.Reload(context.Background(), false)
	if e := r.bash("ls"); !e.Block {
		t.Fatal("a file that does not load opened the gate")
	}
	r.mustSay("did not load, its gate stays shut")
	r.write("g.lua", `pi.on("tool_call", function() end)`)
	r.chain.Reload(context.Background(), false)
	if e := r.bash("ls"); e.Block || r.chain.Hooks()[0].State != "active" {
		t.Fatalf("the new file still blocks: %s", e.Reason)
	}
}

func TestAfterCloseGatesBlock(t *testing.T) {
	r := newRig(t, map[string]string{"g.lua": `pi.on("tool_call", function() end) pi.on("input", function() return { text = "x" } end)`})
	r.chain.Close(context.Background())
	if e := r.bash("ls"); !r.chain.Wants(agent.KindToolCall) || !e.Block || !strings.Contains(e.Reason, "the hooks have ended") {
		t.Errorf("block %v: %s", e.Block, e.Reason)
	}
	if got := r.input("same"); got != "same" {
		t.Errorf("a closed chain rewrites to %q", got)
	}
	r.mustBeQuiet()
}

func TestAnInterruptEndsHandlersQuietly(t *testing.T) {
	r := newRig(t, map[string]string{"g.lua": `pi.on("tool_call", function(e, ctx) ctx.ui.confirm("go?") end)`})
	ctx, cancel := context.WithCancel(context.Background())
	r.ui.ask = func(ctx context.Context, _, _ string) (string, bool, error) {
		cancel()
		<-ctx.Done()
		return "", false, ctx.Err()
	}
	e := &agent.ToolCall{Name: "bash", Input: []byte(`{}`)}
	if err := r.chain.Handle(ctx, e); !errors.Is(err, context.Canceled) || !e.Block {
		t.Errorf("err %v, block %v", err, e.Block)
	}
	r.mustBeQuiet()
}

func TestTheClockStandsStillInADialog(t *testing.T) {
	r := newRig(t, map[string]string{"g.lua": `pi.on("input", function(e, ctx) return { text = tostring(ctx.ui.confirm("go?")) } end)`},
		func(o *Options) { o.Timeout = 30 * time.Millisecond })
	r.ui.ask = func(ctx context.Context, _, _ string) (string, bool, error) {
		select {
		case <-time.After(100 * time.Millisecond):
			return "", true, nil
		case <-ctx.Done():
			return "", false, ctx.Err()
		}
	}
	if got := r.input("x"); got != "true" {
		t.Errorf("got %q", got)
	}
	r.mustBeQuiet()
}

func TestTheGateCountsOnlyTheTimeThatLuaRuns(t *testing.T) {
	r := newRig(t, map[string]string{
		"a.lua": `pi.on("tool_call", function() pi.exec("sleep", {"0.15"}) return { block = true, reason = "asked" } end)`,
		"b.lua": `pi.on("input", function() pi.exec("sleep", {"5"}) return { text = "late" } end)`,
	}, func(o *Options) { o.Timeout = 60 * time.Millisecond })
	if e := r.bash("x"); e.Reason != "asked" {
		t.Errorf("reason is %q", e.Reason)
	}
	if got := r.input("x"); got != "x" || !r.said("hook b: input:", "ran longer than 60ms") {
		t.Errorf("got %q, said %q", got, r.host.notices())
	}
}

// A gate is asked again after a rewrite, also when its file was saved meanwhile and
// its handlers stand in another order.
func TestASaveBetweenTheRoundsOfAGateLeavesNobodyOut(t *testing.T) {
	const gate = `pi.on("tool_call", function(e) if e.input.command == "rm" then return { block = true, reason = "no rm" } end end)`
	const rewrite = `pi.on("tool_call", function(e) if e.input.command == "ls" then return { input = { command = "rm" } } end end)`
	r := newRig(t, map[string]string{"g.lua": gate + "\n" + rewrite})
	spec, e := r.chain.roster.events[agent.KindToolCall], &agent.ToolCall{Name: "bash", Input: []byte(`{"command":"ls"}`)}
	first := r.chain.dispatcher.newGateDispatch(t.Context(), spec, e, position{}, position{})
	first.run()
	if e.Block || string(e.Input) != `{"command":"rm"}` {
		t.Fatalf("after the first round: %+v", e)
	}
	r.write("g.lua", rewrite+"\n"+gate)
	r.chain.Reload(t.Context(), false)
	r.chain.dispatcher.newGateDispatch(t.Context(), spec, e, position{}, first.asking.rewriter).run()
	if !e.Block || e.Reason != "no rm" {
		t.Errorf("the gate was not asked about what runs: %+v", e)
	}
}

func TestTheGateOfCommandsSeesWhatRuns(t *testing.T) {
	const rewrite = `pi.on("user_bash", function(e) return { command = "safe" } end)`
	const answer = `pi.on("user_bash", function(e) if e.command == "safe" then return { result = { output = "no" } } end end)`
	for _, c := range []struct {
		name, a, b           string
		runs, output, blocks string
	}{
		{"nobody minds", `pi.on("user_bash", function() return {} end)`, "", "rm", "", ""},
		{"a rewrite", rewrite, "", "safe", "", ""},
		{"rewrites chain", rewrite, `pi.on("user_bash", function(e) return { command = e.command .. "r" } end)`, "safer", "", ""},
		{"a later handler sees the rewrite", rewrite, answer, "safe", "no", ""},
		{"an earlier handler is asked again", answer, rewrite, "safe", "no", ""},
		{"an earlier handler fails the second time", `pi.on("user_bash", function(e) assert(e.command == "rm", "not " .. e.command) end)`, rewrite, "safe", "", "not safe"},
		{"a second rewrite does not count", `pi.on("user_bash", function(e) return { command = e.command .. "!" } end)`, rewrite, "safe", "", ""},
		{"a result needs no command", `pi.on("user_bash", function(e) return { command = "x", result = { output = "no" } } end)`, rewrite, "rm", "no", ""},
		{"an empty command", `pi.on("user_bash", function(e) return { command = " " } end)`, "", "rm", "", "command: it is empty"},
		{"no text", `pi.on("user_bash", function(e) return { command = {} } end)`, "", "rm", "", "command: expected a string"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, map[string]string{"a.lua": c.a, "b.lua": c.b})
			e := &agent.UserBash{Command: "rm"}
			r.emit(e)
			output := ""
			if e.Result != nil {
				output = e.Result.Output
			}
			if e.Command != c.runs || output != c.output || (e.Blocked != "") != (c.blocks != "") || !strings.Contains(e.Blocked, c.blocks) {
				t.Errorf("runs %q, answer %q, blocked %q", e.Command, output, e.Blocked)
			}
		})
	}
}

func TestTheLastWrapCountsAndAnErrorBlocks(t *testing.T) {
	on := func(code string) string { return `pi.on("shell", function(e) ` + code + ` end)` }
	for _, c := range []struct {
		name, a, b   string
		wrap, blocks string
	}{
		{"nobody minds", on(""), on("return {}"), "", ""},
		{"one", on(`return { wrap = { "ssh", "host", "bash", "-c" } }`), on(""), "ssh host bash -c", ""},
		{"the last", on(`return { wrap = { "a" } }`), on(`return { wrap = { "b" } }`), "b", ""},
		{"an error", on(`error("broken")`), on(`return { wrap = { "b" } }`), "", "hook a.lua failed: "},
		{"late", on(`while true do end`), "", "", "ran longer than 60ms"},
		{"a misspelled key", on(`return { warp = {} }`), "", "", `did you mean "wrap"?`},
		{"no program", on(`return { wrap = {} }`), "", "", "wrap: it names no program"},
		{"an empty one", on(`return { wrap = { "" } }`), "", "", "wrap: it names no program"},
		{"a text", on(`return { wrap = "ssh" }`), "", "", "wrap: expected a list"},
		{"a hole", on(`return { wrap = { "a", nil, "b" } }`), "", "", "wrap[2]: expected a string"},
		{"a NUL byte", on(`return { wrap = { "a\0" } }`), "", "", "wrap: a word holds a NUL byte"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, map[string]string{"a.lua": c.a, "b.lua": c.b}, func(o *Options) { o.Timeout = 60 * time.Millisecond })
			e := &agent.ShellCommand{Command: "rm", Source: "tool"}
			r.emit(e)
			if strings.Join(e.Wrap, " ") != c.wrap || (e.Blocked != "") != (c.blocks != "") || !strings.Contains(e.Blocked, c.blocks) {
				t.Errorf("wrap %q, blocked %q", e.Wrap, e.Blocked)
			}
		})
	}
}

func TestAfterCloseNoShellRuns(t *testing.T) {
	r := newRig(t, map[string]string{"g.lua": `pi.on("shell", function() end)`})
	r.chain.Close(context.Background())
	e := &agent.ShellCommand{Command: "ls"}
	if r.emit(e); !strings.Contains(e.Blocked, "the hooks have ended") {
		t.Errorf("blocked %q", e.Blocked)
	}
}

// Front ends know which dialogs are those of a gate, also those of what a gate waits for.
func TestDialogsOfGatesAreKnown(t *testing.T) {
	r := newRig(t, map[string]string{"a.lua": `
for _, name in ipairs{ "tool_call", "user_bash", "shell", "tool_result", "agent_start" } do
  pi.on(name, function(_, ctx) ctx.ui.select(name, { "a" }) end)
end
pi.on("tool_call", function() pi.emit("a:asks") end)`, "b.lua": `
pi.on("a:asks", function(_, ctx) ctx.ui.select("a:asks", { "a" }) end)`})
	known := map[string]bool{}
	r.ui.ask = func(ctx context.Context, _, title string) (string, bool, error) {
		known[title] = agent.IsAtGate(ctx)
		return "a", true, nil
	}
	for _, e := range []agent.Event{&agent.AgentStart{}, &agent.ToolCall{Name: "bash", Input: []byte(`{}`)}, &agent.UserBash{Command: "ls"}, &agent.ShellCommand{Command: "ls"}, &agent.ToolResult{Name: "bash"}} {
		r.emit(e)
	}
	want := map[string]bool{"tool_call": true, "user_bash": true, "shell": true, "tool_result": false, "agent_start": false, "a:asks": true}
	if !maps.Equal(known, want) {
		t.Errorf("%v", known)
	}
}
