package luahooks

import (
	"context"
	"slices"
	"sync"

	"pi/agent"
)

// toolWindow is the window of edits of a session and its children: it is open while a tool of any of
// them is at work, which one that only waits for a child is not. All methods may be called from any
// goroutine.
type toolWindow struct {
	edits *edits
	open  func(ctx context.Context) // opens the window; it waits for a reload that is under way

	mu   sync.Mutex   // guards what follows, and the calls of the runs
	runs []*toolWatch // of the tree
}

// toolWatch is the listener by which one run opens and closes the window.
type toolWatch struct {
	window *toolWindow
	isIdle func() bool // no prompt runs

	calls []*watchedCall // tools that run now
}

// watchedCall is one call of a tool.
type watchedCall struct {
	id    string
	parts int // of it that are at work: one, until it waits, or does several things at once
}

// join adds a run to those that the window is open for.
func (w *toolWindow) join(isIdle func() bool) *toolWatch {
	w.mu.Lock()
	defer w.mu.Unlock()
	t := &toolWatch{window: w, isIdle: isIdle}
	w.runs = append(w.runs, t)
	return t
}

// leave removes a run that has ended. The window does not stay open for calls that it has left
// behind.
func (w *toolWindow) leave(ctx context.Context, t *toolWatch) {
	_, ended := w.change(func() {
		t.calls = nil
		w.runs = slices.DeleteFunc(w.runs, func(r *toolWatch) bool { return r == t })
	})
	if ended {
		w.calm(ctx, nil)
	}
}

// change calls do, which changes the calls. began reports that a tool is at work where none was, ended
// that none is any more.
func (w *toolWindow) change(do func()) (began, ended bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	before := w.isAtWork()
	do()
	now := w.isAtWork()
	return now && !before, before && !now
}

// isAtWork reports whether a tool is. mu is held.
func (w *toolWindow) isAtWork() bool {
	return slices.ContainsFunc(w.runs, func(t *toolWatch) bool {
		return slices.ContainsFunc(t.calls, func(c *watchedCall) bool { return c.parts > 0 })
	})
}

// calm judges what has changed, unless a tool is at work: as at the end of a run if no prompt runs,
// that of except aside, else until the next tool.
func (w *toolWindow) calm(ctx context.Context, except *toolWatch) {
	w.mu.Lock()
	works, runs := w.isAtWork(), slices.Clone(w.runs)
	w.mu.Unlock()
	switch {
	case works:
	case slices.ContainsFunc(runs, func(t *toolWatch) bool { return t != except && !t.isIdle() }):
		w.edits.close(ctx)
	default:
		w.edits.endRun(ctx)
	}
}

// Wants reports whether k begins or ends a step of the window.
func (*toolWatch) Wants(k agent.Kind) bool {
	switch k {
	case agent.KindToolExecutionStart, agent.KindToolExecutionEnd, agent.KindTurnEnd, agent.KindAgentSettled:
		return true
	}
	return false
}

// Handle never fails: a change that cannot be marked is told, and still waits for approval.
func (t *toolWatch) Handle(ctx context.Context, e agent.Event) error {
	w := t.window
	switch e := e.(type) {
	case *agent.ToolExecutionStart:
		w.change(func() { t.calls = append(t.calls, &watchedCall{id: e.ID, parts: 1}) })
		w.open(ctx)
	case *agent.ToolExecutionEnd:
		t.end(ctx, e.ID)
	case *agent.TurnEnd: // until the next tool, what is saved is the user's
		w.close(ctx)
	case *agent.AgentSettled:
		w.calm(ctx, t)
	}
	return nil
}

// end ends a call. What the tools of a run changed is judged at the end of its turn; a call outside
// of one is a turn of its own.
func (t *toolWatch) end(ctx context.Context, id string) {
	_, ended := t.window.change(func() {
		if i := slices.IndexFunc(t.calls, func(c *watchedCall) bool { return c.id == id }); i >= 0 {
			t.calls = slices.Delete(t.calls, i, i+1)
		}
	})
	if ended && t.window.isIdle() {
		t.window.calm(ctx, nil)
	}
}

// isIdle reports whether no run of the tree works on a prompt.
func (w *toolWindow) isIdle() bool { return w.countWorking() == 0 }

// countWorking is how many runs of the tree work on a prompt.
func (w *toolWindow) countWorking() (n int) {
	w.mu.Lock()
	runs := slices.Clone(w.runs)
	w.mu.Unlock()
	for _, t := range runs {
		if !t.isIdle() {
			n++
		}
	}
	return n
}

// close judges what has changed until the next tool, unless one is at work.
func (w *toolWindow) close(ctx context.Context) {
	w.mu.Lock()
	works := w.isAtWork()
	w.mu.Unlock()
	if !works {
		w.edits.close(ctx)
	}
}

// add says that so many parts more of the calls that ctx belongs to are at work: less than none
// where they begin to wait for a child. Outside of calls it does nothing.
func (t *toolWatch) add(ctx context.Context, parts int) {
	ids := agent.CallIDs(ctx)
	if len(ids) == 0 {
		return
	}
	began, ended := t.window.change(func() {
		for _, c := range t.calls {
			if slices.Contains(ids, c.id) {
				c.parts += parts
			}
		}
	})
	switch {
	case began:
		t.window.open(ctx)
	case ended:
		t.window.close(ctx)
	}
}
