package repl

import (
	"context"
	"fmt"
	"sync"
	"time"

	"pi/agent"
)

// While a context is compacted there is nothing to read and nothing to edit, so
// the line that says so gets the keys: Esc and Ctrl+C cancel the compaction and
// nothing else, and if it goes on all the same the second Ctrl+C stops the work it
// belongs to. What else is typed is kept for whoever reads next. Dialogs of hooks
// go before that line. Where only whole lines can be read it is written once, and
// Ctrl+C cancels.

// compacting is the compaction in progress.
type compacting struct {
	mu        sync.Mutex
	agent     *agent.Agent // nil: none
	cancelled bool
	stop      func() // takes its line away; may be nil
}

// cancel cancels the compaction. It reports false if there is none, or if that
// was done before and is not enough.
func (c *compacting) cancel() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.agent == nil || c.cancelled {
		return false
	}
	c.cancelled = c.agent.CancelCompaction()
	return c.cancelled
}

func (c *compacting) isCancelled() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cancelled
}

func (c *compacting) begin(a *agent.Agent, stop func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.agent, c.cancelled, c.stop = a, false, stop
}

// end returns when the line is gone and the terminal as it was before.
func (c *compacting) end() {
	c.mu.Lock()
	stop := c.stop
	c.agent, c.stop = nil, nil
	c.mu.Unlock()
	if stop != nil {
		stop()
	}
}

// compactionStarts shows that a compaction goes on, and why if nobody asked for
// it, which is an event of its own.
func (r *REPL) compactionStarts(e *agent.CompactionStart) {
	if e.Auto {
		r.screen.line(styleDim, e.Text())
		return
	}
	a := r.agent
	if !r.HasUI() || a == nil {
		return
	}
	line := compactionLine{began: time.Now(), tokens: contextTokens(a.Session().Branch()), cancelled: r.compacting.isCancelled}
	if !r.edits() || r.keyboard == nil {
		r.compacting.begin(a, nil)
		r.floor.notice(func() { r.screen.line(styleDim, "compacting … Ctrl+C cancels") })
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	r.compacting.begin(a, func() { cancel(); <-done })
	go func() {
		defer close(done)
		r.showCompaction(ctx, line)
	}()
}

// compactionEnds says what came of a compaction that nobody asked for; of the
// others it is said by whoever asked. What a run spent is told with its end.
func (r *REPL) compactionEnds(e *agent.CompactionEnd) {
	if e.Auto {
		if text := e.Text(); text != "" {
			r.screen.line(styleDim, text)
		}
		return
	}
	r.compacting.end()
	if e.Done != nil && !r.work.working() {
		r.status.spend(e.Done.Usage.Cost.Total)
	}
}

// showCompaction shows line whenever nobody else wants the floor.
func (r *REPL) showCompaction(ctx context.Context, line compactionLine) {
	for {
		wanted, err := r.floor.takeSpare(ctx)
		if err != nil {
			return
		}
		shown := r.awaitEsc(ctx, line, wanted)
		r.floor.leaveDialog()
		if !shown {
			return
		}
	}
}

// awaitEsc shows line until ctx ends or somebody wants the floor. It reports false
// if keys cannot be had.
func (r *REPL) awaitEsc(ctx context.Context, line compactionLine, wanted <-chan struct{}) bool {
	cancel := func() {
		if !r.compacting.cancel() {
			r.work.interrupt()
		}
	}
	pressed, ok := r.prompter.grab(cancel)
	if !ok {
		return false
	}
	defer r.prompter.release()
	r.keyboard.keepOthers()
	r.screen.openRegion()
	defer r.screen.closeRegion()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		width := columns(r.opts.Out) - 1
		r.screen.drawRegion([]string{r.screen.paint(styleDim, cutTo(line.text(), width))})
		select {
		case <-ctx.Done():
			return true
		case <-wanted:
			return true
		case <-tick.C:
		case <-pressed:
			if r.keyboard.escaped() {
				cancel()
			}
		}
	}
}

// compactionLine is what is shown of a compaction.
type compactionLine struct {
	began     time.Time
	tokens    int // before
	cancelled func() bool
}

// text has what matters most at its beginning, for a narrow terminal.
func (l compactionLine) text() string {
	text := "compacting … Esc cancels"
	if l.cancelled() {
		text = "compacting … cancelled"
	}
	if s := time.Since(l.began) / time.Second; s > 0 {
		text += fmt.Sprintf(" · %d s", s)
	}
	if l.tokens > 0 {
		text += " · " + tokens(l.tokens, 0)
	}
	return text
}
