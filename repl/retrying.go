package repl

import (
	"cmp"
	"time"

	"pi/agent"
	"pi/internal/printable"
	"pi/repl/terminal"
)

// While a failed request waits to be made again, a line counts the seconds. It has
// the keys as the line of a compaction has them (compacting.go), and what is
// cancelled is the work that the request belongs to. A request for a summary has
// such a line already, which then says this as well. Where only whole lines can be
// read, each wait is one line.

// waiting is the wait for the next attempt.
type waiting struct {
	*agent.AutoRetryStart
	until time.Time
}

// text fits a number of columns: the reason is what is cut first.
func (w *waiting) text(width int) string {
	const how, least = " · Esc or Ctrl+C cancels", 24
	text := printable.Line(w.Text(time.Until(w.until)))
	if room := width - len(how) + 1; room >= least { // the dot has two bytes
		return terminal.Cut(text, room) + how
	}
	return terminal.Cut(text, width)
}

// note has a line that is there tell of a wait, be it that of a summary in progress
// or of another wait. It reports whether there is one.
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

// waitIsOver takes back what note said, or ends the line of the last wait.
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

// noted is the wait that the line tells of; nil: none.
func (c *compacting) noted() *waiting {
	c.mu.Lock()
	defer c.mu.Unlock()
	return cmp.Or(c.retry, c.wait)
}

// retryStarts shows that a request is made again after a while. What hooks ask
// while nothing goes on is theirs alone.
func (r *REPL) retryStarts(e *agent.AutoRetryStart) {
	w := &waiting{e, time.Now().Add(e.Delay())}
	told := r.compacting.note(w)
	switch {
	case !told && !r.work.interruptible():
	case !r.edits() || r.keyboard == nil:
		r.floor.notice(func() { r.screen.Line(terminal.StyleDim, printable.Line(e.Text(e.Delay()))+" · Ctrl+C cancels") })
	case !told:
		r.showWork(compactionLine{retry: w}, r.work.interrupt)
	}
}
