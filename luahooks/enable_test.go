package luahooks

import (
	"os"
	"strings"
	"testing"
	"time"

	"pi/agent"
)

func (r *rig) info(name string) Info {
	r.t.Helper()
	for _, i := range r.chain.Hooks() {
		if i.Name == name {
			return i
		}
	}
	r.t.Fatalf("no hook %s", name)
	return Info{}
}

func TestAHookThatIsTurnedOffIsOutOfForceAtOnce(t *testing.T) {
	r := newRig(t, map[string]string{"g.lua": `
		pi.on("session_start", function(e) pi.send(e.reason) end)
		pi.on("tool_call", function() return { block = true, reason = "no" } end)
		pi.tool{ name = "mine", description = "d", execute = function() end }
		pi.command("mine", { handler = function() end })`})
	if e := r.bash("ls"); !e.Block {
		t.Fatal("the gate is open")
	}
	mustDo(t, r.chain.SetEnabled(t.Context(), "g", false))
	if e := r.bash("ls"); e.Block || r.chain.Wants(agent.KindToolCall) {
		t.Errorf("a gate that the person turned off blocks: %s", e.Reason)
	}
	if i := r.info("g"); i.State != "disabled" || len(r.host.tools) != 0 || len(r.chain.Commands()) != 0 {
		t.Errorf("it is %s, tools %d, commands %d", i.State, len(r.host.tools), len(r.chain.Commands()))
	}
	r.write("g.lua", `pi.on("tool_call", function() return { block = true, reason = "changed" } end)
		pi.on("session_start", function(e) pi.send(e.reason) end)`)
	r.chain.Reload(t.Context(), true)
	if e := r.bash("ls"); e.Block {
		t.Error("a reload turned it on")
	}
	mustDo(t, r.chain.SetEnabled(t.Context(), "g", true))
	if e := r.bash("ls"); e.Reason != "changed" || r.info("g").State != "active" {
		t.Errorf("reason %q, state %s", e.Reason, r.info("g").State)
	}
	if got := r.host.texts(); got != "reload" {
		t.Errorf("it was greeted with %q", got)
	}
}

func TestAHookThatCannotBeTurnedOnSaysWhy(t *testing.T) {
	r := newRig(t, map[string]string{"gate.lua": ``})
	mustDo(t, r.chain.SetEnabled(t.Context(), "gate", false))
	r.write("gate.lua", `error("broken")`)
	if err := r.chain.SetEnabled(t.Context(), "gate", true); err == nil || !strings.Contains(err.Error(), "gate.lua:1: broken") {
		t.Errorf("err is %v", err)
	}
	for name, want := range map[string]string{"gato": `no hook "gato"; did you mean "gate"?`, "other": `no hook "other"`} {
		if err := r.chain.SetEnabled(t.Context(), name, false); err == nil || err.Error() != want {
			t.Errorf("err is %v, want %s", err, want)
		}
		if err := r.chain.Trace(name, true); err == nil || err.Error() != want {
			t.Errorf("err is %v, want %s", err, want)
		}
	}
}

func TestATraceTellsWhatHandlersDo(t *testing.T) {
	r := newRig(t, map[string]string{"a.lua": `
		pi.on("input", function(e) if e.text == "bad" then error("broken") end if e.text ~= "none" then return { text = "x", handled = false } end end)
		pi.on("turn_start", function() end)`, "b.lua": `pi.on("input", function() end)`})
	mustDo(t, r.chain.Trace("a", true))
	r.input("none")
	r.input("some")
	r.input("bad")
	r.emit(&agent.TurnStart{})
	r.mustSay("info: hook a: input: no opinion in ")
	r.mustSay("info: hook a: input: {handled, text} in ")
	r.mustSay("info: hook a: input: error: ", "a.lua:2: broken in ")
	r.mustSay("info: hook a: turn_start: no opinion in ")
	if r.said("hook b:") {
		t.Error("another hook is traced")
	}
	log, err := os.ReadFile(r.chain.opts.LogPath)
	if mustDo(t, err); strings.Count(string(log), "trace: ") != 4 {
		t.Errorf("the log is %s", log)
	}
	mustDo(t, r.chain.Trace("a", false))
	r.host.forget()
	r.input("some")
	r.mustBeQuiet()
}

func TestWhatHandlersDidIsCounted(t *testing.T) {
	r := newRig(t, map[string]string{"a.lua": `
		pi.on("input", function(e) if e.text == "bad" then error("broken") end end)
		pi.on("tool_call", function() end)
		pi.on("x:y", function() end)`, "b.lua": `pi.on("turn_start", function() pi.emit("x:y") end)`})
	for _, text := range []string{"a", "b", "bad"} {
		r.input(text)
	}
	r.bash("ls")
	r.emit(&agent.TurnStart{})
	i := r.info("a")
	if i.Calls != 5 || i.Errors != 1 || i.P50 <= 0 || i.P99 < i.P50 || len(i.Stats) != 3 {
		t.Errorf("counted %+v", i)
	}
	if s := i.Stats[0]; s.Event != "input" || s.Calls != 3 || s.Errors != 1 || s.P99 < s.P50 {
		t.Errorf("input: %+v", s)
	}
	r.chain.Reload(t.Context(), true)
	if r.info("a").Calls != 5 {
		t.Error("a reload forgets what was counted")
	}
}

func TestTimesAreExactToAnEighth(t *testing.T) {
	for _, d := range []time.Duration{4, 5, 100, time.Microsecond, 3 * time.Microsecond, 999 * time.Microsecond, 7 * time.Millisecond, time.Second, 29 * time.Second, 20 * time.Minute} {
		var h histogram
		h.add(d)
		if got := h.at(50, 1); got < d-d/8-1 || got > d+d/8+1 {
			t.Errorf("%v is counted as %v", d, got)
		}
	}
	var h histogram
	for range 98 {
		h.add(time.Millisecond)
	}
	h.add(time.Second)
	h.add(time.Hour * 24 * 365)
	h.add(-1)
	if p50, p99 := h.at(50, 101), h.at(99, 101); p50 > 2*time.Millisecond || p99 < 900*time.Millisecond || p99 > 1200*time.Millisecond {
		t.Errorf("p50 %v, p99 %v", p50, p99)
	}
	if (&histogram{}).at(50, 0) != 0 {
		t.Error("nothing took time")
	}
}

func TestCountingAllocatesNothing(t *testing.T) {
	var s stats
	s.add("input", time.Millisecond, false)
	if n := testing.AllocsPerRun(100, func() { s.add("input", time.Millisecond, true) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
