package luahooks

import (
	"context"
	"strings"
	"testing"
	"time"

	"pi/agent"
	"pi/session/message"
)

func TestTheGateOfCommandsBlocksWhenItFails(t *testing.T) {
	for name, c := range map[string]struct{ code, blocked string }{
		"raises":     {`error("broken")`, "hook g.lua failed: "},
		"is late":    {`while true do end`, "ran longer than 60ms"},
		"says what?": {`return { reslt = {} }`, `did you mean "result"?`},
		"says yes":   {`return true`, "returns nil or a table"},
	} {
		r := newRig(t, map[string]string{"g.lua": `pi.on("user_bash", function(e) ` + c.code + ` end)`, "h.lua": `pi.on("user_bash", function(e) return { result = { output = "" } } end)`},
			func(o *Options) { o.Timeout = 60 * time.Millisecond })
		e := &agent.UserBash{Command: "rm"}
		r.emit(e)
		if !strings.Contains(e.Blocked, c.blocked) || e.Result != nil {
			t.Errorf("a gate that %s: blocked %q, result %v", name, e.Blocked, e.Result)
		}
	}
}

func TestTheGateOfCommandsStaysShutWhenItsHookIsGivenUp(t *testing.T) {
	r := newRig(t, map[string]string{"g.lua": `pi.on("user_bash", function(e) if e.command == "hang" then print("hang") end end)`},
		func(o *Options) { o.Timeout = 20 * time.Millisecond })
	hang(t, r)
	for _, command := range []string{"hang", "hang", "ls"} {
		e := &agent.UserBash{Command: command}
		if r.emit(e); e.Blocked == "" {
			t.Fatalf("%s runs", command)
		}
	}
	if e := r.bash("ls"); e.Block || r.chain.Wants(agent.KindToolCall) {
		t.Error("a gate of commands blocks tools")
	}
	r.write("g.lua", ``)
	r.chain.Reload(t.Context(), false)
	if e := (&agent.UserBash{Command: "ls"}); r.chain.Wants(agent.KindUserBash) {
		r.emit(e)
		t.Errorf("somebody is still asked: %q", e.Blocked)
	}
}

// A hook whose VM had to be given up and whose fresh copy does not load is a gate
// that cannot be asked any more.
func TestAGateWhoseFreshCopyDoesNotLoadStaysShut(t *testing.T) {
	r := newRig(t, map[string]string{"g.lua": `
		pi.on("tool_call", function(e) print("hang") end)
		if os.getenv("FRESH_COPY") then error("it does not load") end`},
		func(o *Options) { o.Timeout = 20 * time.Millisecond })
	hang(t, r)
	t.Setenv("FRESH_COPY", "1")
	if e := r.bash("ls"); !e.Block {
		t.Fatal("a gate that hangs is open")
	}
	if e := r.bash("ls"); !e.Block || !strings.Contains(e.Reason, "its gate stays shut") {
		t.Errorf("block %v: %s", e.Block, e.Reason)
	}
}

func TestAfterCloseCommandsBlock(t *testing.T) {
	r := newRig(t, map[string]string{"g.lua": `pi.on("user_bash", function() end)`})
	r.chain.Close(context.Background())
	e := &agent.UserBash{Command: "ls"}
	if r.emit(e); !strings.Contains(e.Blocked, "the hooks have ended") {
		t.Errorf("blocked %q", e.Blocked)
	}
}

// counted are the events where only the time that Lua runs counts.
func counted() []agent.Event {
	return []agent.Event{&agent.ToolCall{Name: "bash", Input: []byte(`{}`)}, &agent.UserBash{}, &agent.ShellCommand{}, &agent.SessionBeforeCompact{}, &agent.SessionBeforeTree{},
		&agent.TurnEnd{Message: &message.Message{Role: message.RoleAssistant}}, &agent.AgentBeforeSettle{Outcome: "completed"}}
}

func TestWhatMayTakeItsTimeMayWaitLongerThanTheTimeoutAndALoopStops(t *testing.T) {
	for _, e := range counted() {
		name := e.Kind().String()
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, map[string]string{
				"a.lua": `pi.on("` + name + `", function() pi.exec("sleep", {"0.2"}) pi.send("waited") end)`,
				"b.lua": `pi.on("` + name + `", function() while true do pcall(function() while true do end end) end end)`,
			}, func(o *Options) { o.Timeout = 80 * time.Millisecond })
			r.emit(e)
			if got := r.host.texts(); got != "waited" || r.said("hook a:", "ran longer") {
				t.Errorf("heard %q, notices %q", got, r.host.notices())
			}
			r.mustSay("hook b: "+name+":", "ran longer than 80ms")
			r.mustSay("info: hook a: " + name + " still waits for exec")
		})
	}
}

// The budget is the sum over the handler's Lua time, across waits and pcalls.
func TestWaitsDoNotFillUpTheBudgetOfAHandler(t *testing.T) {
	r := newRig(t, map[string]string{"a.lua": `pi.on("tool_call", function()
		while true do
			local t = os.clock()
			while os.clock() - t < 0.01 do end
			pcall(pi.exec, "true")
		end
	end)`}, func(o *Options) { o.Timeout = 100 * time.Millisecond })
	if e := r.bash("ls"); !strings.Contains(e.Reason, "ran longer than 100ms") {
		t.Errorf("reason is %q", e.Reason)
	}
}

func TestAtTheEndAllHooksTogetherHaveTwoSeconds(t *testing.T) {
	slow := `pi.on("session_shutdown", function() pi.send(pi.hook.name) pi.exec("sleep", {"30"}) pi.send("late") end)`
	r := newRig(t, map[string]string{"a.lua": slow, "b.lua": slow, "c.lua": slow}, func(o *Options) { o.Grace = 20 * time.Millisecond })
	began := time.Now()
	r.emit(&agent.SessionShutdown{Reason: "quit"})
	if took := time.Since(began); took < shutdownTime-100*time.Millisecond || took > shutdownTime+2*time.Second {
		t.Errorf("the end took %v", took)
	}
	r.chain.Close(context.Background())
	if got := r.host.texts(); got != "a b c" {
		t.Errorf("heard %q", got)
	}
}

func TestALateAnswerHasNoEffect(t *testing.T) {
	for _, c := range []struct {
		event  agent.Event
		result string
	}{
		{&agent.SessionBeforeNew{}, `{ cancel = true }`},
		{&agent.SessionCompacting{}, `{ prompt = "p" }`},
		{&agent.BeforeAgentStart{}, `{ sections = { a = "b" } }`},
		{&agent.BeforeProviderHeaders{}, `{ headers = { a = "b" } }`},
	} {
		name := c.event.Kind().String()
		r := newRig(t, map[string]string{"a.lua": `pi.on("` + name + `", function(e) pi.exec("sleep", {"5"}) return ` + c.result + ` end)`},
			func(o *Options) { o.Timeout = 30 * time.Millisecond })
		before := disagree(t, c.event)
		r.emit(c.event)
		if after := disagree(t, c.event); after != before {
			t.Errorf("%s became %s", before, after)
		}
		r.mustSay("hook a: "+name+":", "ran longer than 30ms")
	}
}

func TestRecursionAndMemoryEndInAnErrorOfTheHandler(t *testing.T) {
	r := newRig(t, map[string]string{
		"a.lua": `pi.on("input", function(e) local function f() return 1 + f() end f() end)`,
		"b.lua": `pi.on("input", function(e) local s = ("x"):rep(1e9) end)`,
		"c.lua": `pi.on("input", function(e) return { text = "went on" } end)`,
	})
	if got := r.input(""); got != "went on" {
		t.Errorf("got %q", got)
	}
	r.mustSay("hook a: input:", "a.lua:1", "stack overflow")
	r.mustSay("hook b: input:", "b.lua:1", "resulting string too long")
}

// However many hooks hang, not more than two VMs that did not stop pile up.
func TestTheThirdHookThatDoesNotStopIsDisabledAtOnce(t *testing.T) {
	code := `pi.on("input", function(e) if e.text == pi.hook.name then print("hang") end return { text = e.text .. "." } end)`
	r := newRig(t, map[string]string{"a.lua": code, "b.lua": code, "c.lua": code}, func(o *Options) { o.Timeout = 20 * time.Millisecond })
	hang(t, r)
	for _, name := range []string{"a", "b", "c"} {
		e := &agent.Input{Text: name}
		r.chain.dispatcher.ask(t.Context(), r.chain.roster.events[agent.KindInput], []*hook{r.chain.roster.list()[name[0]-'a']}, e)
	}
	for name, want := range map[string]string{"a": "active", "b": "active", "c": "disabled"} {
		if got := r.info(name).State; got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	if got := r.input("x"); got != "x.." {
		t.Errorf("the others made %q", got)
	}
}

func TestAPanicInAnAPIFunctionIsAnErrorOfTheHandler(t *testing.T) {
	r := newRig(t, map[string]string{
		"a.lua": `pi.on("user_bash", function(e, ctx)` + "\n" + ` ctx.ui.confirm("x") end)`,
	})
	r.ui.ask = func(context.Context, string, string) (string, bool, error) { panic("the terminal is gone") }
	e := &agent.UserBash{Command: "ls"}
	if r.emit(e); !strings.Contains(e.Blocked, "a.lua:2") || !strings.Contains(e.Blocked, "the terminal is gone") {
		t.Errorf("blocked %q", e.Blocked)
	}
	if i := r.info("a"); i.State != "active" || i.Errors != 1 {
		t.Errorf("%+v", i)
	}
}
