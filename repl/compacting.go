package repl

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	"pi/agent"
	"pi/internal/printable"
	"pi/repl/terminal"
)

// While a context is compacted, or a branch that is left is summed up, there is
// nothing to read and nothing to edit, so the line that says so gets the keys: Esc
// and Ctrl+C cancel that and nothing else, and if it goes on all the same the second
// Ctrl+C stops the work it belongs to. What else is typed is kept for whoever reads
// next. Dialogs of hooks go before that line. Where only whole lines can be read it
// is written once, and Ctrl+C cancels.

// compacting is the compaction, or the other summary, in progress.
type compacting struct {
	mu        sync.Mutex
	cancelIt  func() bool // cancels it, and reports whether there was anything to cancel; nil: none
	cancelled bool
	stop      func() // takes its line away; may be nil

	retry  *waiting // the line is that of a wait alone: of several at a time, the longest
	others int      // waits besides it
	wait   *waiting // that the line of a summary tells of
}

// cancel cancels the compaction. It reports false if there is none, or if that
// was done before and is not enough.
func (c *compacting) cancel() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cancelIt == nil || c.cancelled {
		return false
	}
	c.cancelled = c.cancelIt()
	return c.cancelled
}

func (c *compacting) isCancelled() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cancelled
}

// begin sets what goes on. A line that it takes the place of is gone when it
// returns; a wait that this was about is told of by the new one.
func (c *compacting) begin(line compactionLine, cancelIt func() bool, stop func()) {
	c.mu.Lock()
	before := c.stop
	switch {
	case line.retry == nil || c.retry == nil:
		c.wait, c.others = c.retry, 0
	default:
		c.others++
	}
	c.cancelIt, c.cancelled, c.stop, c.retry = cancelIt, false, stop, line.retry
	c.mu.Unlock()
	if before != nil {
		before()
	}
}

// end returns when the line is gone and the terminal as it was before.
func (c *compacting) end() {
	c.mu.Lock()
	stop := c.stop
	c.cancelIt, c.stop, c.retry, c.others, c.wait = nil, nil, nil, 0, nil
	c.mu.Unlock()
	if stop != nil {
		stop()
	}
}

// compactionStarts shows that a compaction goes on, and why if nobody asked for
// it, which is an event of its own.
func (r *REPL) compactionStarts(e *agent.CompactionStart) {
	if e.Auto {
		r.screen.Line(terminal.StyleDim, e.Text())
		return
	}
	a := r.agent
	if !r.HasUI() || a == nil {
		return
	}
	r.showWork(compactionLine{doing: "compacting", tokens: contextTokens(a.Session().Branch())}, a.CancelCompaction)
}

// Cancellable does what takes a while: until it is done a line says what, and Esc
// and Ctrl+C end its context.
func (r *REPL) Cancellable(ctx context.Context, doing string, do func(context.Context)) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if r.HasUI() {
		r.showWork(compactionLine{doing: doing}, func() bool { cancel(); return true })
		defer r.compacting.end()
	}
	do(ctx)
}

// showWork shows line until compacting.end, and has cancelled what it tells of
// when the person wants that.
func (r *REPL) showWork(line compactionLine, cancelled func() bool) {
	line.began, line.cancelled, line.waits = time.Now(), r.compacting.isCancelled, r.compacting.noted
	if !r.edits() || r.keyboard == nil {
		r.compacting.begin(line, cancelled, nil)
		r.floor.notice(func() { r.screen.Line(terminal.StyleDim, line.doing+" … Ctrl+C cancels") })
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	r.compacting.begin(line, cancelled, func() { cancel(); <-done })
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
			r.screen.Line(terminal.StyleDim, text)
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
		wanted, err := r.floor.acquireBackground(ctx)
		if err != nil {
			return
		}
		shown := r.awaitEsc(ctx, line, wanted)
		r.floor.releaseDialog()
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
	pressed, ok := r.prompter.Grab(cancel)
	if !ok {
		return false
	}
	defer r.prompter.Release()
	r.keyboard.KeepOthers()
	r.screen.OpenRegion()
	defer r.screen.CloseRegion()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		width := terminal.Columns(r.opts.Out) - 1
		r.screen.DrawRegion([]string{r.screen.Styled(terminal.StyleDim, line.text(width))})
		select {
		case <-ctx.Done():
			return true
		case <-wanted:
			return true
		case <-tick.C:
		case <-pressed:
			if r.keyboard.Escaped() {
				cancel()
			}
		}
	}
}

// compactionLine is what is shown of a compaction, or of another summary.
type compactionLine struct {
	doing     string
	began     time.Time
	tokens    int // before
	cancelled func() bool
	waits     func() *waiting // for the next attempt of the request, or of the longest wait; nil result: none

	retry *waiting // the line is about nothing else
}

// text has what matters most at its beginning, for a narrow terminal.
func (l compactionLine) text(width int) string {
	if l.retry != nil {
		return cmp.Or(l.waits(), l.retry).text(width)
	}
	text := l.doing + " … Esc cancels"
	if l.cancelled() {
		text = l.doing + " … cancelled"
	}
	if w := l.waits(); w != nil {
		return terminal.Cut(text+" · "+printable.Line(w.Text(time.Until(w.until))), width)
	}
	if s := time.Since(l.began) / time.Second; s > 0 {
		text += fmt.Sprintf(" · %d s", s)
	}
	if l.tokens > 0 {
		text += " · " + tokens(l.tokens, 0)
	}
	return terminal.Cut(text, width)
}
