package command

import (
	"context"
	"slices"
	"strings"
	"testing"

	"pi/agent"
)

// offerModes gives an agent the modes of a hook.
func offerModes(a *agent.Agent) {
	a.Modes().Offer(context.Background(), []agent.Mode{{Name: "plan", Description: "looks only", Tools: []agent.Tool{}}, {Name: "ask"}}, nil)
}

func TestModesAreListedAndChosen(t *testing.T) {
	a := newAgent(t)
	set := NewSet(Core(Options{Agent: a}), nil)
	run := func(line, want string) {
		t.Helper()
		out, err := set.Run(t.Context(), line)
		if err != nil {
			out.Status = err.Error()
		}
		if out.Status != want {
			t.Errorf("%s says %q, want %q", line, out.Status, want)
		}
	}
	run("/mode", "there are no modes; hooks bring them (pi.mode)")
	run("/mode plan", `no mode "plan"; no hook has a mode`)
	offerModes(a)
	run("/mode", "[default]   no mode\nplan        looks only\nask")
	run("/mode plan", "mode: default [plan] ask")
	run("/mode plna", `no mode "plna", did you mean "plan"?`)
	run("/mode off", "mode: [default] plan ask")
	run("/mode Default", "mode: [default] plan ask")
	run("/mode ask", "mode: default plan [ask]")
	a.Modes().Offer(t.Context(), nil, nil)
	run("/mode", "default     no mode\n[ask]       no hook has it here; only tools that look work")
	c, _ := set.Lookup("mode")
	offerModes(a)
	if got := c.Complete(""); !slices.Equal(got, []string{"plan", "ask", "off"}) || c.Describe("plan") != "looks only" {
		t.Errorf("completed %q", got)
	}
}

func TestTheKeyGoesThroughModesOrLevels(t *testing.T) {
	a := newAgent(t)
	cycle := func(want string) {
		t.Helper()
		if out, err := CycleMode(t.Context(), a); err != nil || !strings.Contains(out.Status, want) {
			t.Errorf("%q, %v; want %q", out.Status, err, want)
		}
	}
	cycle("thinking: ")
	offerModes(a)
	cycle("mode: default [plan] ask")
	cycle("mode: default plan [ask]")
	cycle("mode: [default] plan ask")
	cycle("mode: default [plan] ask")
	a.Modes().Offer(t.Context(), nil, nil) // it is gone, and the user leaves it
	cycle("mode: [default]")
	cycle("thinking: ")
}
