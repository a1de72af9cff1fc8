package repl

import (
	"strings"
	"testing"
	"time"

	"pi/agent"
	"pi/repl/terminal"
)

func TestAnAgentWithoutACallHasARowUntilItEnds(t *testing.T) {
	s := newScreen(terminal.Palette{}, false, 80)
	began := time.Now()
	now := began
	s.now = func() time.Time { return now }
	r := &REPL{screen: s, work: newWork(s)}
	r.work.queued = func() []queuedRow { return nil }
	rows := func() string { return strings.Join(s.agents.rows(&s.calls, 80, now), "\n") }
	r.agentStarts(&agent.ChildStart{Name: "reviewer", Prompt: "Review the\nchange"})
	r.agentStarts(&agent.ChildStart{Name: "of-a-call", Prompt: "x", Call: "c1"})
	now = began.Add(12 * time.Second)
	if got := rows(); !strings.HasPrefix(got, "• agent reviewer: Review the") || !strings.Contains(got, "12") || strings.Contains(got, "of-a-call") {
		t.Errorf("%q", got)
	}
	if r.work.stopTicks == nil {
		t.Error("its seconds stand still")
	}
	r.agentWorks(&agent.ChildUpdate{Name: "reviewer", Text: "read a.go\nbash make"})
	if got := rows(); !strings.HasPrefix(got, "• agent reviewer: bash make") {
		t.Errorf("%q", got)
	}
	r.agentEnds(&agent.ChildEnd{Name: "reviewer", StopReason: "completed"})
	if got := rows(); got != "" || r.work.stopTicks != nil {
		t.Errorf("it stays: %q", got)
	}
}
