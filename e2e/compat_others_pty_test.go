//go:build unix

package e2e

import (
	"strings"
	"testing"

	"pi/internal/testing/screentest"
)

// marvinCycle tells of each model.change, and sends something while the agent works.
const marvinCycle = `local marvin = require "pi.compat.marvin"
marvin.on("model.change", function(event)
  print(("changed: %s/%s -> %s/%s %s"):format(event.previous_provider, event.previous_model_id, event.new_provider, event.new_model_id, event.thinking_level))
end)
marvin.register_command("more", { handler = function(args) marvin.send(args) end })
`

func TestAModelThatIsGoneThroughWithAKeyIsToldToHooksOfMarvin(t *testing.T) {
	t.Parallel()
	s := newDesk(t, scenery{hook: marvinCycle, settings: `models = ["slow/small", "slow/large:high"]`})
	s.rests("")
	s.Press("ctrl+p")
	s.See("changed: slow/small -> slow/large high")
	s.Press("ctrl+p")
	s.See("changed: slow/large -> slow/small off")
	turn := s.ask("work")
	s.Press("ctrl+p") // not while the agent works
	s.Type("/more one thing\r")
	s.See("one thing")
	s.Type("/more another\r")
	s.See("another")
	turn.Answer("done")
	for _, want := range []string{"one thing", "another"} {
		turn = s.turn()
		if body := string(turn.Request.Body); !strings.Contains(body, want) || strings.Count(body, "one thing") != 1 || want == "one thing" && strings.Contains(body, "another") {
			t.Errorf("the request for %q is %s", want, body)
		}
		turn.Answer("yes")
	}
	s.rests("")
	if n := strings.Count(s.Screen().Text(), "changed: "); n != 2 {
		t.Errorf("%d changes are told:\n%s", n, s.Screen())
	}
	s.quits()
}

// ompGate asks the user, and draws in the status line.
const ompGate = `local pi = require "pi.compat.omp"
pi.on("session_start", function(_, ctx)
  ctx.ui.set_status("gate", "on\tguard", { color = "error" })
  print("loaded VERSION")
end)
pi.on("tool_call", function(event, ctx)
  if event.tool_name ~= "bash" or not event.input.command:find("rm -rf", 1, true) then return end
  if not ctx.ui.confirm("Dangerous command", "Allow: " .. event.input.command) then return { block = true, reason = "user denied command" } end
end)
`

func TestAUserIsAskedByAHookOfOhMyPiAndASavedOneTakesItsPlace(t *testing.T) {
	t.Parallel()
	s := newDesk(t, scenery{hook: ompGate})
	s.See("loaded VERSION")
	s.See("on guard")
	for _, c := range []struct{ key, want string }{{"n", "user denied command"}, {"y", "never there"}} {
		turn := s.ask("clean up")
		turn.Call("c1", "bash", "command", "rm -rf nothing; echo never there")
		turn.End()
		s.Until("the question has the keys", func(now screentest.Screen) bool { return now.Shows("Allow: rm -rf nothing") && inDialog(now) })
		s.Type(c.key)
		turn = s.turn()
		if body := string(turn.Request.Body); !strings.Contains(body, c.want) {
			t.Errorf("after %q the model reads %s", c.key, body)
		}
		turn.Answer("ok")
		s.rests("")
	}
	saved := strings.Replace(ompGate, "VERSION", "again", 1) + `pi.on("turn_start", function() print("one turn") end)`
	s.world.write(s.world.agentFile("hooks/scene.lua"), saved)
	s.See("loaded again")
	s.ask("more").Answer("fine")
	s.rests("")
	if n := strings.Count(s.Screen().Text(), "one turn"); n != 1 {
		t.Errorf("after the save a turn is told %d times:\n%s", n, s.Screen())
	}
	s.quits()
}
