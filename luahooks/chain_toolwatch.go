package luahooks

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	"pi/agent"
	"pi/internal/printable"
	"pi/luahooks/trust"
)

// The listener that opens and closes the window.

// Watcher is the listener that opens and closes the window. It has its say before
// hooks do.
func (c *Chain) Watcher() agent.Listener { return &toolWatch{chain: c} }

type toolWatch struct {
	chain   *Chain
	mu      sync.Mutex
	running int // tools that are called while no prompt runs
}

// Wants reports whether k begins or ends a step of the window.
func (*toolWatch) Wants(k agent.Kind) bool {
	switch k {
	case agent.KindToolExecutionStart, agent.KindToolExecutionEnd, agent.KindTurnEnd, agent.KindAgentSettled:
		return true
	}
	return false
}

// Handle never fails: what cannot be written down is told and still held.
func (t *toolWatch) Handle(ctx context.Context, e agent.Event) error {
	switch e.(type) {
	case *agent.ToolExecutionStart:
		t.count(1)
		t.chain.beforeTool(ctx)
	case *agent.ToolExecutionEnd:
		if host := t.chain.audience.hostNow(); t.count(-1) == 0 && host != nil && host.IsIdle() {
			t.chain.afterTools(ctx)
		}
	case *agent.TurnEnd: // until the next tool, what is saved is the person's
		t.chain.closeWindow(ctx)
	case *agent.AgentSettled:
		t.chain.afterTools(ctx)
	}
	return nil
}

func (t *toolWatch) count(n int) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.running += n
	return t.running
}

// beforeTool opens the window. It waits for a reload that is under way.
func (c *Chain) beforeTool(ctx context.Context) {
	c.changes.Lock()
	defer c.changes.Unlock()
	c.openWindow(ctx)
}

// openWindow is beforeTool with c.changes held.
func (c *Chain) openWindow(ctx context.Context) {
	parts := map[string]trust.Scope{}
	for _, h := range c.roster.list() {
		parts[h.Path] = h.Scope
		maps.Copy(parts, h.partPaths())
	}
	err := c.guard.OpenWindow(c.opts.Places, parts)
	c.tellNotices(ctx)
	if err != nil {
		c.audience.notifyOnce(ctx, "window", agent.LevelWarning, err.Error()+"; a change of a hook is noticed only while this program runs")
	}
}

// closeWindow checks and closes the window, or has somebody wait for the processes
// that keep it open.
func (c *Chain) closeWindow(ctx context.Context) {
	closed := c.guard.CloseWindow()
	c.tellNotices(ctx)
	if !closed {
		c.awaitProcesses()
	}
}

// afterTools is closeWindow at the end of a run: what waits is easily missed, so the
// person is asked.
func (c *Chain) afterTools(ctx context.Context) {
	c.closeWindow(ctx)
	c.askUnasked(ctx)
}

// askUnasked asks the person, if there is one, about what began to wait in this run
// and still does.
func (c *Chain) askUnasked(ctx context.Context) {
	if c.audience.person() == nil {
		return
	}
	if list := c.guard.TakeUnasked(); len(list) > 0 {
		c.askEdits(ctx, list)
	}
}

const (
	firstLook = 50 * time.Millisecond
	lastLook  = 2 * time.Second
)

// awaitProcesses closes the window when the last process has ended. Nothing tells
// when a group is empty, so it is asked, at growing intervals.
func (c *Chain) awaitProcesses() {
	if c.awaiting.Swap(true) {
		return
	}
	began := c.behind.run(func() {
		defer c.awaiting.Store(false)
		timer := time.NewTimer(firstLook)
		defer timer.Stop()
		for pause := firstLook; ; pause = min(2*pause, lastLook) {
			looked, waits := c.guard.CloseIdleWindow()
			if looked {
				c.tellNotices(c.behind.life)
				c.askUnasked(c.behind.life)
			}
			if !waits {
				return
			}
			timer.Reset(pause)
			select {
			case <-c.behind.ending:
				return
			case <-timer.C:
			}
		}
	})
	if !began {
		c.awaiting.Store(false)
	}
}

// tellNotices says what waits for the person, and if it cannot be written down; once of
// each folder that it has too much in it to be judged.
func (c *Chain) tellNotices(ctx context.Context) {
	ctx = context.WithoutCancel(ctx)
	n := c.guard.TakeNotices()
	if n.Unmarked != nil {
		c.audience.notifyOnce(ctx, "marks", agent.LevelWarning, n.Unmarked.Error()+"; what waits for approval is held back, but not marked")
	}
	for _, line := range n.Lines {
		c.audience.notify(ctx, agent.LevelWarning, line)
	}
	for _, p := range n.Began {
		c.audience.notify(ctx, agent.LevelWarning, fmt.Sprintf("%s was %s while the agent was at work: %s; /hooks approve %s shows the difference",
			printable.VisibleLine(c.dir.shown(p.Path)), p.Change, p.Effect(), printable.VisibleLine(p.Name)))
	}
	for _, dir := range n.Large {
		c.audience.notifyOnce(ctx, "large "+dir, agent.LevelWarning, fmt.Sprintf("%s has more than %d entries, too many to be watched: modules in it count only where a hook names them in its text",
			printable.VisibleLine(c.dir.shown(dir)), trust.MaxEntries))
	}
}

// startedBy is [trust.Guard.NoteGroup] for what a hook's own tool starts; what its handlers
// start is not the model's.
func (c *Chain) startedBy(ctx context.Context) func(group int) {
	if agent.CallID(ctx) == "" {
		return func(int) {}
	}
	return c.guard.NoteGroup
}
