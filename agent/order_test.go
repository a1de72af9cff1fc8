package agent

import (
	"strings"
	"testing"
)

// golden is the log of a program, one stretch per step of it.
type golden struct {
	t   *testing.T
	log *log
}

func (g golden) step(name, want string) {
	g.t.Helper()
	g.log.mu.Lock()
	defer g.log.mu.Unlock()
	if got, want := strings.Join(g.log.kinds, " "), strings.Join(strings.Fields(want), " "); got != want {
		g.t.Errorf("%s: events\n%s\nwant\n%s", name, got, want)
	}
	g.log.kinds = nil
}

func TestEventsComeInTheirOrder(t *testing.T) {
	l := &log{}
	g := golden{t, l}
	r := newHarness(t, Options{Tools: []Tool{echo("look")}, Listeners: []Listener{l}},
		use(call{"a", "look", `{}`}), say("done"), say("again"))
	r.Start(t.Context())
	g.step("start", "session_start context")
	r.prompt("go")
	const update = "message_update " // one per delta, and one when the stream is over
	g.step("prompt", `input before_agent_start agent_start
		turn_start context message_start `+update+update+update+` message_end
		tool_execution_start tool_call tool_clock tool_clock tool_ran tool_result tool_execution_end turn_end
		turn_start context message_start `+update+update+` message_end turn_end
		agent_before_settle agent_end agent_settled`)
	first := r.Session().File()
	if err := r.NewSession(t.Context(), NewSessionOptions{}); err != nil {
		t.Fatal(err)
	}
	g.step("/new", "session_before_switch session_before_new session_shutdown session_switch session_new session_start context")
	if err := r.SwitchSession(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	g.step("/resume", "session_before_switch session_shutdown session_switch session_start context")
	if err := r.SwitchSession(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	g.step("/resume of the same", "")
	if err := r.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	g.step("exit", "session_shutdown")
}

func TestProviderEventsStandBetweenContextAndAnswer(t *testing.T) {
	l := &log{}
	g := golden{t, l}
	r := newHarness(t, Options{Listeners: []Listener{l}}, onTheWire(say("hi")))
	r.prompt("go")
	g.step("prompt", `input before_agent_start agent_start turn_start context
		before_provider_request before_provider_headers after_provider_response
		message_start message_update message_update message_end turn_end agent_before_settle agent_end agent_settled`)
}
