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

// While a context is compacted, or the branch that the person leaves is summed up, a line
// shows that and has the keys. Esc and Ctrl+C cancel the summary and nothing else; if it
// continues all the same, the second Ctrl+C stops the work it belongs to. Other keys are
// kept for the next prompt. Dialogs of hooks take precedence over
// that line. Where only whole lines can be read, the line is written once, and
// Ctrl+C cancels.

// compacting is the compaction, or the other summary, in progress.
type compacting struct {
	mu        sync.Mutex
	cancelIt  func() bool // cancels the summary, and reports whether there was anything to cancel; nil: none
	cancelled bool
	stop      func() // removes its line; may be nil

	retry  *waiting // set while the line only shows a retry countdown; the longest, if several requests wait
	others int      // how many requests wait besides that one
	wait   *waiting // the retry countdown that the line of a summary shows
}

// cancel cancels the summary. It reports false if there is none, or if it was
// cancelled before and continues all the same.
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

// begin replaces the line that is shown by another one: the old one is gone when
// it returns. If the old one was a retry countdown, the new one shows that too.
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

// end removes the line, and forgets what Esc would cancel. It returns when the terminal
// is as it was before.
func (c *compacting) end() {
	c.mu.Lock()
	stop := c.stop
	c.cancelIt, c.stop, c.retry, c.others, c.wait = nil, nil, nil, 0, nil
	c.mu.Unlock()
	if stop != nil {
		stop()
	}
}

// compactionStarts shows that a context is compacted. A compaction that nobody asked for
// is an event of its own, with its reason.
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

// Cancellable calls do, and shows a line with the words of doing until it returns.
// Esc and Ctrl+C end the context that do is given.
func (r *REPL) Cancellable(ctx context.Context, doing string, do func(context.Context)) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if r.HasUI() {
		r.showWork(compactionLine{doing: doing}, func() bool { cancel(); return true })
		defer r.compacting.end()
	}
	do(ctx)
}

// showWork shows line in the background until compacting.end is called. cancelled is
// called when the person wants to cancel that, and reports whether it could. Where
// single keys cannot be read, the line is written once.
func (r *REPL) showWork(line compactionLine, cancelled func() bool) {
	line.began, line.cancelled, line.waits = time.Now(), r.compacting.isCancelled, r.compacting.shownWait
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

// compactionEnds shows the outcome of a compaction that nobody asked for. The command
// that asked for one shows its outcome itself; then only the line is removed here, and
// the cost noted, unless the agent works: the end of its run counts that.
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

// showCompaction shows line until ctx ends, whenever no dialog wants the floor, the
// lines below the transcript. It ends earlier where single keys cannot be read.
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

// awaitEsc shows line until ctx ends or a dialog wants its place. Esc and Ctrl+C cancel
// the summary, or, if that was cancelled already, the work. It reports false where
// single keys cannot be read.
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
	r.keyboard.WantEscOnly()
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

// compactionLine is the line that is shown during a compaction, another summary or a
// wait.
type compactionLine struct {
	doing     string
	began     time.Time
	tokens    int // before
	cancelled func() bool
	waits     func() *waiting // for the next attempt of the request, or of the longest wait; nil result: none

	retry *waiting // set if the line only shows this countdown
}

// text is the line, cut to width: what is done, whether it was cancelled, and then the
// seconds that have passed and the size, or the wait for another attempt. The words
// that matter most come first.
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
