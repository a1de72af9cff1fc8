package luahooks

import (
	"context"
	"slices"
	"sync"
	"testing"

	"pi/agent"
	"pi/luahooks/api"
	"pi/session"
)

// noting is a host that notes what it is told.
type noting struct {
	api.Host
	session *session.Session

	mu    sync.Mutex
	lines []string
}

// Modes are none, and nobody is told of them.
func (n *noting) Modes() *agent.Modes { return new(fakeHost).Modes() }

func (n *noting) note(line string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.lines = append(n.lines, line)
}

// told returns what it was told.
func (n *noting) told() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.lines)
}

func (n *noting) Session() *session.Session { return n.session }

func (n *noting) Notify(_ context.Context, level agent.Level, text string) {
	n.note(string(level) + ": " + text)
}

func (n *noting) HookFailed(_ context.Context, f *agent.HookFailed, text string) {
	n.note(f.Hook + " failed: " + text)
}

func TestWhatIsToldBeforeThereIsAHostWaitsForIt(t *testing.T) {
	var a audience
	ctx, host := t.Context(), new(noting)
	a.notify(ctx, agent.LevelInfo, "one")
	a.tell(ctx, notice{level: agent.LevelError, text: "broken", failed: &agent.HookFailed{Hook: "h"}})
	a.notifyOnce(ctx, "key", agent.LevelWarning, "once")
	a.notifyOnce(ctx, "key", agent.LevelWarning, "once")
	if !a.keep(func(h api.Host) { h.Notify(ctx, agent.LevelInfo, "sent") }) {
		t.Error("nothing is kept before there is a host")
	}
	for _, send := range a.attach(host, nil) {
		send(host)
	}
	a.notifyOnce(ctx, "key", agent.LevelWarning, "once")
	a.notify(ctx, agent.LevelInfo, "two")
	if a.keep(func(api.Host) {}) {
		t.Error("something waits although there is a host")
	}
	want := []string{"info: one", "h failed: broken", "warning: once", "info: sent", "info: two"}
	if !slices.Equal(host.told(), want) {
		t.Errorf("told %q, want %q", host.told(), want)
	}
}

func TestNoticesOfAStartThatFailsAreDrained(t *testing.T) {
	var a audience
	a.notify(t.Context(), agent.LevelInfo, "fine")
	a.notify(t.Context(), agent.LevelError, "no session")
	a.tell(t.Context(), notice{failed: new(agent.HookFailed)})
	if got := a.PendingNotices(); !slices.Equal(got, []string{"fine", "error: no session"}) {
		t.Errorf("drained %q", got)
	}
	if got := a.PendingNotices(); len(got) > 0 {
		t.Errorf("drained again: %q", got)
	}
}
