package repl

import (
	"cmp"
	"time"

	"pi/agent"
	"pi/internal/printable"
	"pi/repl/terminal"
)

// While a failed request waits for its next attempt, a line counts the seconds. It
// has the keys like the line of a compaction (compacting.go), and cancels the work
// that the request belongs to. If the request is for a summary, there is a line
// already, which then shows the seconds as well. Where only whole lines can be read,
// each wait is one line.

// waiting is the wait for the next attempt.
type waiting struct {
	*agent.AutoRetryStart
	until time.Time
}

// text tells why the request failed, the seconds until the next attempt and, if there
// is room, how to cancel, in a number of columns.
func (w *waiting) text(width int) string {
	const how, least = " · Esc or Ctrl+C cancels", 24
	text := printable.Line(w.Text(time.Until(w.until)))
	if room := width - len(how) + 1; room >= least { // the dot has two bytes
		return terminal.Cut(text, room) + how
	}
	return terminal.Cut(text, width)
}

// note records a wait, for the line of a summary to show too. The line of a wait shows
// the longest one. It reports false, and records nothing, if no line is shown.
func (c *compacting) note(w *waiting) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.cancelIt == nil:
		return false
	case c.retry == nil:
		c.wait = w
	default:
		c.others++
		if w.until.After(c.retry.until) {
			c.retry = w
		}
	}
	return true
}

// waitIsOver forgets one wait that note recorded. With the last one, the line of a wait
// is removed; that of a summary stays.
func (c *compacting) waitIsOver() {
	c.mu.Lock()
	c.wait = nil
	last := c.retry != nil && c.others == 0
	c.others = max(0, c.others-1)
	c.mu.Unlock()
	if last {
		c.end()
	}
}

// shownWait is the wait whose seconds the line shows; nil: none.
func (c *compacting) shownWait() *waiting {
	c.mu.Lock()
	defer c.mu.Unlock()
	return cmp.Or(c.retry, c.wait)
}

// retryStarts shows the wait for the next attempt of a request. A request of a hook
// while nothing else is done is not shown.
func (r *REPL) retryStarts(e *agent.AutoRetryStart) {
	w := &waiting{e, time.Now().Add(e.Delay())}
	shown := r.compacting.note(w)
	switch {
	case !shown && !r.work.interruptible():
	case !r.edits() || r.keyboard == nil:
		r.floor.notice(func() { r.screen.Line(terminal.StyleDim, printable.Line(e.Text(e.Delay()))+" · Ctrl+C cancels") })
	case !shown:
		r.showWork(compactionLine{retry: w}, r.work.interrupt)
	}
}
