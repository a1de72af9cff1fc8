package repl

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"pi/agent"
	"pi/internal/cells"
	"pi/internal/githead"
	"pi/internal/printable"
	"pi/session"
	"pi/session/message"
)

// activity is what is done between two prompts, and what is waited for: the row with the
// seconds, and in plain mode a line every few seconds.
type activity struct {
	tasks    []*task // what runs; the newest is shown
	silent   time.Time
	waits    waitsFor
	name     string // of the tool whose arguments are written
	bytes    int    // of them so far
	tokens   int    // of the answers of this run
	written  int    // bytes of the answer that is being written, whose tokens are not counted yet
	retries  []*retryWait
	text     string // in place of "working"; of a hook
	hidden   bool   // a hook does not want it said that the agent works
	frames   []string
	every    time.Duration
	hook     func() string // the hook that is being asked for long; "" for none; nil: nobody knows
	asked    []*time.Time  // since when each question of the work waits for its answer, the oldest first
	answered time.Time     // when the last question or component was closed, or a command gave the terminal back
	told     time.Time     // plain mode: when the last line came
}

// waitsFor is what the work waits for when nothing comes.
type waitsFor uint8

const (
	waitsForNothing waitsFor = iota
	waitsForAnswer
	waitsForArguments
	waitsForTool
)

// task is one thing that runs and that Esc stops.
type task struct {
	doing      string      // "" for the work of the agent
	initiative *initiative // of the user; nil for none
	began      time.Time
	size       int // in tokens, of a context that is compacted
	cancel     func() bool
	cancelled  bool
	told       bool // the user was told that it is cancelled
}

// retryWait is a wait for the next attempt of a request.
type retryWait struct {
	*agent.AutoRetryStart
	began, until time.Time
}

// begin adds a task; end removes it.
func (a *activity) begin(t *task) { a.tasks = append(a.tasks, t) }

func (a *activity) end(t *task) {
	a.tasks = slices.DeleteFunc(a.tasks, func(x *task) bool { return x == t })
}

// yield makes a task the oldest: it waits for another one, which is shown, and stopped, before
// it. resume makes it the newest again.
func (a *activity) yield(t *task) {
	a.end(t)
	a.tasks = slices.Insert(a.tasks, 0, t)
}

func (a *activity) resume(t *task) {
	a.end(t)
	a.begin(t)
}

// stop stops the newest task that was not stopped before, and returns it; nil for none.
func (a *activity) stop() *task {
	for _, t := range slices.Backward(a.tasks) {
		if !t.cancelled && t.cancel() {
			t.cancelled = true
			return t
		}
	}
	return nil
}

// steers reports whether the agent works on a prompt, so that what is typed steers it.
func (a *activity) steers() bool {
	return slices.ContainsFunc(a.tasks, func(t *task) bool { return t.doing == "" })
}

// isOfAgent reports whether what was begun last is the work of the agent.
func (a *activity) isOfAgent() bool { return len(a.tasks) > 0 && a.tasks[len(a.tasks)-1].doing == "" }

// asksAtOnce notes a question of something that runs, and reports whether that has the keys
// at once: it is the first one of what the user has just begun.
func (a *activity) asksAtOnce(now time.Time) bool {
	return slices.ContainsFunc(a.tasks, func(t *task) bool { return t.initiative.asksAtOnce(now) })
}

// isCancelled reports whether the work of the agent was interrupted and is coming to its
// end.
func (a *activity) isCancelled() bool {
	return slices.ContainsFunc(a.tasks, func(t *task) bool { return t.doing == "" && t.cancelled })
}

// note records a sign of life, and what is waited for from now on.
func (a *activity) note(w waitsFor, now time.Time) { a.silent, a.waits = now, w }

// shown is how long a command runs before the row appears.
const shown = 300 * time.Millisecond

// inView is the task that the row tells of; nil for none. asks says that a question or
// a component is open, so that a command waits for the user.
func (a *activity) inView(now time.Time, asks bool) *task {
	for _, t := range slices.Backward(a.tasks) {
		if t.doing == "" || !asks && now.Sub(t.began) >= shown && now.Sub(a.answered) >= shown {
			return t
		}
	}
	return nil
}

// rows is the row that says what is done. The caller has the lock of s.
func (a *activity) rows(columns int, s *screen) []string {
	now := s.now()
	t := a.inView(now, s.panels.top() != nil || s.panels.component() != nil)
	if t == nil || a.isHidden(t) {
		return nil
	}
	how, began := "  "+t.how(), t.began
	if t.doing == "" && len(a.asked) > 0 {
		began = *a.asked[0]
		if !t.cancelled {
			how = "" // the keys are the question's
		}
	}
	room := columns - len(how)
	sign, text, ran := s.inkedLine(a.spinner(now, t.began), indicatorColumns), a.front(t, now, s), ""
	if sign != "" {
		sign += " "
	}
	if a.retry() == nil {
		ran = " " + printable.Seconds(now.Sub(began)) // which stay, whatever else has no room
	}
	least := min(leastBusy, columns)
	if ran != "" {
		least = cells.Width(sign+text) + len(ran)
	}
	if room < least {
		how, room = "", columns
	}
	accent := func(text string) string {
		if strings.Contains(text, "\x1b") {
			return text // it has a hook's colours
		}
		return s.palette.Paint("accent", text)
	}
	row := cells.Cut(accent(sign)+accent(text), max(1, room-len(ran))) + accent(ran)
	if len(ran) >= columns {
		row = cells.Cut(accent(sign)+accent(text), columns)
	}
	used := cells.Width(row)
	for _, fact := range a.facts(t, s) {
		if used+3+cells.Width(fact) > room {
			break
		}
		row += s.palette.Paint("dim", " · "+fact)
		used += 3 + cells.Width(fact)
	}
	return []string{row + s.palette.Paint("dim", how)}
}

// leastBusy is how many cells what is done has, before the row says how to stop it.
const leastBusy = 20

// how says how to stop a task.
func (t *task) how() string {
	switch {
	case t.cancelled:
		return "cancelled"
	case t.doing != "":
		return "Esc cancels"
	}
	return "Esc interrupts"
}

// isHidden reports whether a hook does not want a task shown: the work of the agent, while the
// user has nothing to do about it and nothing else is waited for than the model and its tools.
func (a *activity) isHidden(t *task) bool {
	return a.hidden && t.doing == "" && !t.cancelled && len(a.asked) == 0 && a.retry() == nil && (a.hook == nil || a.hook() == "")
}

// front says what is done or waited for. Of a wait for another attempt it is the rest of
// the time. The caller has the lock of s.
func (a *activity) front(t *task, now time.Time, s *screen) string {
	text := a.doing(t, now, s)
	w := a.retry()
	if w == nil {
		return text
	}
	retry := printable.Line(w.Text(w.until.Sub(now)))
	if t.doing == "" {
		return retry
	}
	return text + " " + printable.Seconds(now.Sub(t.began)) + " · " + retry
}

// frame is how long the sign that something moves stays the same: a quarter of a second, or as
// a hook wants its own.
func (a *activity) frame() time.Duration {
	if len(a.frames) == 0 {
		return spinnerFrame
	}
	return max(a.every, shortestFrame)
}

// spinner is the sign that something moves.
func (a *activity) spinner(now, began time.Time) string {
	frames := a.frames
	if frames == nil {
		frames = []string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"}
	}
	if len(frames) == 0 {
		return ""
	}
	return frames[int(now.Sub(began)/a.frame())%len(frames)]
}

// inkedLine is a text that a hook may have made with the theme, in one row of at most so many
// columns. The caller has the lock.
func (s *screen) inkedLine(text string, columns int) string {
	row := strings.Join(s.palette.Painted([]string{text}, columns), " ")
	return cells.Cut(strings.Join(strings.Fields(row), " "), columns)
}

const (
	spinnerFrame  = 250 * time.Millisecond
	shortestFrame = 80 * time.Millisecond // of a hook's indicator
)

// silence is how long nothing may come before the row says what is waited for.
const silence = time.Second

// doing names what is done or waited for. The caller has the lock of s.
func (a *activity) doing(t *task, now time.Time, s *screen) string {
	if t.doing != "" {
		return t.doing
	}
	if len(a.asked) > 0 {
		return "waiting for your answer"
	}
	if a.hook != nil {
		if name := a.hook(); name != "" {
			return "waiting for hook " + printable.Line(name)
		}
	}
	if a.waits == waitsForArguments {
		return fmt.Sprintf("writing %s (%s)", printable.Line(a.name), printable.Bytes(a.bytes))
	}
	if a.waits == waitsForAnswer && now.Sub(a.silent) >= silence {
		return "waiting for " + s.status.model
	}
	if a.text != "" {
		return s.inkedLine(a.text, max(1, s.columns))
	}
	return "working"
}

// inProgress names what a task is doing, and for how long: the wait for another attempt, the
// hook that is asked, the tool that runs.
func (a *activity) inProgress(t *task, c *calls, now time.Time) (what string, ran time.Duration) {
	title, toolRan := c.running(now)
	switch retry := a.retry(); {
	case t.doing != "":
		return t.doing, now.Sub(t.began)
	case retry != nil:
		return fmt.Sprintf("retry %d/%d", retry.Attempt, retry.MaxAttempts), now.Sub(retry.began)
	case a.hook != nil && a.hook() != "":
		return "hook " + a.hook(), now.Sub(t.began)
	case title != "":
		return title, toolRan
	}
	return "", now.Sub(t.began)
}

// facts are further words, the most important first.
func (a *activity) facts(t *task, s *screen) (facts []string) {
	if t.size > 0 {
		facts = append(facts, tokenCount(t.size)+" tokens")
	}
	if n := a.tokens + a.written/4; n > 0 && t.doing == "" {
		facts = append(facts, "↓ "+tokenCount(n)+" tokens")
	}
	if n := len(s.queue); n > 0 {
		facts = append(facts, fmt.Sprintf("%d queued", n))
	}
	return facts
}

// retry is the longest wait for another attempt; nil for none.
func (a *activity) retry() (longest *retryWait) {
	for _, w := range a.retries {
		if longest == nil || w.until.After(longest.until) {
			longest = w
		}
	}
	return longest
}

// waited removes the wait that ends first.
func (a *activity) waited() {
	first := 0
	for i, w := range a.retries {
		if w.until.Before(a.retries[first].until) {
			first = i
		}
	}
	if len(a.retries) > 0 {
		a.retries = slices.Delete(a.retries, first, first+1)
	}
}

// used counts the tokens of an answer that has ended.
func (a *activity) used(u *message.Usage) {
	if u != nil && u.Output > 0 {
		a.tokens += u.Output
	} else {
		a.tokens += a.written / 4
	}
	a.written = 0
}

// tokenCount is a number of tokens in few characters.
func tokenCount(n int) string {
	switch {
	case n < 1000:
		return fmt.Sprint(n)
	case n < 1e6:
		return strings.TrimSuffix(fmt.Sprintf("%.1f", float64(n)/1e3), ".0") + "k"
	}
	return strings.TrimSuffix(fmt.Sprintf("%.1f", float64(n)/1e6), ".0") + "M"
}

// plainEvery is how often a line tells in plain mode that something runs.
const plainEvery = 5 * time.Second

// tick is called while something runs: it has the row painted anew, and in plain mode
// writes a line when nothing was written for long. queued are the messages that wait. It
// ends when stop is closed.
func (s *screen) tick(stop <-chan struct{}, queued func() []queuedRow) {
	t := time.NewTimer(spinnerFrame)
	defer t.Stop()
	for {
		select {
		case <-stop:
			return
		case <-t.C:
			rows := queued()
			s.change(func() {
				s.queue = rows
				s.tickPlain()
				t.Reset(s.activity.frame())
			})
		}
	}
}

// tickPlain writes the line of the plain mode. The caller has the lock.
func (s *screen) tickPlain() {
	now := s.now()
	if !s.plain || len(s.activity.tasks) == 0 || len(s.activity.asked) > 0 || s.writer.open != nil {
		return // nothing runs, or the last row says what is asked for, or is being written
	}
	t := s.activity.tasks[len(s.activity.tasks)-1]
	if now.Sub(t.began) < plainEvery || now.Sub(s.activity.told) < plainEvery || now.Sub(s.activity.silent) < plainEvery {
		return
	}
	s.activity.told = now
	text := s.activity.doing(t, now, s) + " " + printable.Seconds(now.Sub(t.began))
	if title, ran := s.calls.running(now); ran > 0 {
		text = title + " " + printable.Seconds(ran)
	}
	s.add(kindNotice, "... "+printable.Line(text))
}

// compactionStarts shows that a context is compacted, until compactionEnds. A compaction
// that nobody asked for is an event of its own, with its reason.
func (r *REPL) compactionStarts(e *agent.CompactionStart) {
	s := r.screen
	if e.Auto {
		s.change(func() { s.tell(s.noticeRows(e.Text(), agent.LevelInfo)) })
		return
	}
	a := r.agent
	if a == nil {
		return
	}
	if s.plain {
		s.change(func() { s.tell([]string{"compacting … Ctrl+C cancels"}) })
	}
	r.compaction = r.work.begin(&task{doing: "compacting", began: s.now(), size: contextTokens(a.Session().Branch()), cancel: a.Interrupt().Compaction})
}

// compactionEnds removes the row of a compaction. The command that asked for one shows
// its outcome itself; of one that nobody asked for it is shown here.
func (r *REPL) compactionEnds(e *agent.CompactionEnd) {
	s := r.screen
	if e.Auto {
		if text := e.Text(); text != "" {
			s.change(func() { s.tell(s.noticeRows(text, agent.LevelInfo)) })
		}
		return
	}
	if r.compaction != nil {
		r.compaction()
		r.compaction = nil
	}
	if e.Done != nil {
		s.change(func() { s.status.spent = s.status.spent || e.Done.Usage.Cost.Total > 0 })
	}
}

// Cancellable calls do, and shows the words of doing until it returns. Esc and Ctrl+C
// end the context that do is given.
func (p *user) Cancellable(ctx context.Context, doing string, do func(context.Context)) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if p.HasUI() {
		defer p.work.begin(&task{doing: doing, began: p.screen.now(), cancel: func() bool { cancel(); return true }})()
	}
	do(ctx)
}

// retryStarts shows the wait for the next attempt of a request. A request of a hook
// while nothing else is done is not shown.
func (r *REPL) retryStarts(e *agent.AutoRetryStart) {
	s := r.screen
	s.change(func() {
		if len(s.activity.tasks) == 0 {
			return
		}
		if !e.Aside {
			s.startOver()
		}
		w := &retryWait{e, s.now(), s.now().Add(e.Delay())}
		s.activity.retries = append(s.activity.retries, w)
		if s.plain {
			s.add(kindNotice, printable.Line(e.Text(e.Delay()))+" · Ctrl+C cancels")
		}
	})
}

// refresh reads the figures of the status line anew.
func (r *REPL) refresh() {
	if !r.user.HasUI() || r.agent == nil {
		return
	}
	s := r.screen
	s.mu.Lock()
	spent := s.status.spent
	s.mu.Unlock()
	f := readStatus(r.agent, spent, githead.Branch)
	if r.opts.Alerts != nil {
		f.alerts = r.opts.Alerts()
	}
	s.change(func() {
		st := &s.status
		st.mode, st.model, st.full, st.part, st.cost, st.branch, st.cache, st.alerts = f.mode, f.model, f.full, f.part, f.cost, f.branch, f.cache, f.alerts
		s.widgets.redraw() // what hooks draw tells much of the same
	})
	if f.branch != "" {
		r.worktree.look(r.agent.Cwd(), func(changed bool) { s.change(func() { s.status.changed = changed }) })
	}
}

// refreshAlerts reads anew, in the background, what a user must know, where only that stays of
// the status: hooks that load, fail or wait for approval are told of in notices.
func (r *REPL) refreshAlerts() {
	r.screen.mu.Lock()
	hidden := r.screen.status.hidden
	r.screen.mu.Unlock()
	if hidden {
		r.refreshLater()
	}
}

// refreshLater is refresh in the background, for listeners.
func (r *REPL) refreshLater() {
	if r.agent != nil {
		go r.refresh()
	}
}

// countsUsage shows at once what was used beside the conversation, such as by an agent that works for
// long.
func (r *REPL) countsUsage(e *session.Entry) {
	if e.Type != session.TypeUsage {
		return
	}
	r.screen.change(func() { r.screen.status.spent = true })
	r.refreshLater()
}

// longRun is how long a run takes, at least, for its end to be told to a user who
// looks at another window.
const longRun = 20 * time.Second
