//go:build unix

package e2e

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"pi/internal/testing/screentest"
	"pi/internal/testing/slowmodel"
)

// planAndAsk is a hook with two modes.
const planAndAsk = `pi.mode{ name = "plan", description = "looks only", tools = { "read", "grep" }, section = "PLAN FIRST",
  gate = function(event) if event.input.path == "secret" then return { block = true, reason = "not in plan" } end end }
pi.mode{ name = "ask", description = "asks" }
`

// toolNames are the tools of a request.
func toolNames(t *testing.T, r slowmodel.Request) (names []string) {
	t.Helper()
	var body struct {
		Tools []struct{ Function struct{ Name string } }
	}
	if err := json.Unmarshal(r.Body, &body); err != nil {
		t.Fatal(err)
	}
	for _, tool := range body.Tools {
		names = append(names, tool.Function.Name)
	}
	return names
}

func TestAKeyTurnsModesOnAndTheStatusLineSaysWhich(t *testing.T) {
	t.Parallel()
	s := newDesk(t, scenery{hook: planAndAsk})
	s.rests("")
	if s.Screen().Shows("mode ·") {
		t.Errorf("a mode is on at the start:\n%s", s.Screen())
	}
	s.Type("half a line")
	s.Press("shift+tab")
	s.See("mode: default [plan] ask")
	s.matches(`^plan mode · `)
	s.rests("half a line")
	s.Press("ctrl+c")
	turn := s.ask("look around")
	if got := toolNames(t, turn.Request); !slices.Equal(got, []string{"read", "grep"}) || !strings.Contains(string(turn.Request.Body), "PLAN FIRST") {
		t.Errorf("in the mode the model has %q", got)
	}
	s.Press("shift+tab") // while the agent works
	s.See("mode: default plan [ask]")
	turn.Call("c1", "read", "path", "secret")
	turn.End()
	turn = s.turn()
	if body := string(turn.Request.Body); strings.Contains(body, "not in plan") || strings.Contains(body, "PLAN FIRST") {
		t.Errorf("the mode that was left has a say in %s", body)
	}
	if got := toolNames(t, turn.Request); !slices.Contains(got, "bash") {
		t.Errorf("in a mode without tools of its own the model has %q", got)
	}
	turn.Answer("Done.")
	s.matches(`^ask mode · `)
	s.rests("")
	s.Type("/mode\r")
	s.See("looks only")
	s.Type("plan\r")
	s.matches(`^plan mode · `)
	s.rests("")
	turn = s.ask("read secret")
	turn.Call("c1", "read", "path", "secret")
	turn.End()
	turn = s.turn()
	if !strings.Contains(string(turn.Request.Body), "not in plan") {
		t.Errorf("the gate of the mode was not asked: %s", turn.Request.Body)
	}
	turn.Answer("Well.")
	s.rests("")
	s.Type("/mode off\r")
	s.Until("no mode is on", func(now screentest.Screen) bool {
		return now.Shows("mode: [default] plan ask") && !now.Shows("mode · ")
	})
	s.quits()
}

func TestAModeWhoseHookIsRemovedLeavesToolsThatLook(t *testing.T) {
	t.Parallel()
	s := newDesk(t, scenery{hook: planAndAsk, args: []string{"--thinking", "low"}})
	s.rests("")
	s.Press("alt+t") // thinking has a key of its own, also while there are modes
	s.See("thinking: ")
	s.rests("")
	s.Type("/mode ask\r")
	s.matches(`^ask mode · `)
	if err := os.Remove(s.world.agentFile("hooks/scene.lua")); err != nil {
		t.Fatal(err)
	}
	s.SeeAnywhere(`the session is in the mode "ask", which no hook has here`)
	turn := s.ask("work")
	got := toolNames(t, turn.Request)
	if slices.Sort(got); !slices.Equal(got, []string{"find", "grep", "ls", "read"}) {
		t.Errorf("the model has %q", got)
	}
	turn.Answer("Done.")
	s.matches(`^ask mode \(not here\) · `)
	s.rests("")
	s.Press("shift+tab")
	s.Until("no mode is on", func(now screentest.Screen) bool { return now.Shows("mode: [default]") && !now.Shows("mode (not") })
	turn = s.ask("work")
	if got := toolNames(t, turn.Request); !slices.Contains(got, "bash") {
		t.Errorf("after the person has chosen, the model has %q", got)
	}
	turn.Answer("Done.")
	s.quits()
}

func TestAPlanShowsWhatIsOpen(t *testing.T) {
	t.Parallel()
	s := newDesk(t, scenery{hook: commandHook("plan", `
  if ctx.args[1] == "end" then ctx.ui.set_plan{} return end
  ctx.ui.set_plan{ { content = "read it", status = "completed" }, { content = "write\27[2J it\nwell", status = "in_progress", priority = "high" }, { content = "test it" } }`)})
	s.rests("")
	s.Type("/plan\r")
	now := s.around("a plan", "plan 1/3", "▸ write it well", "○ test it", ">")
	if now.Shows("read it") {
		t.Errorf("what is done is shown:\n%s", now)
	}
	s.rests("")
	s.Type("/plan end\r")
	s.Until("it is gone", func(now screentest.Screen) bool { return !now.Shows("test it") })
	s.quits()
}
