package print

import (
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/term"

	"pi/agent"
	"pi/agent/command"
	"pi/internal/printable"
)

// On a terminal a user waits for the answer and would see nothing of a long one, for it is
// written as a whole. So one row behind the lines says what goes on. It is taken away before
// anything else is written, and at the end of the prompt.

const (
	rowAfter = 2 * time.Second // a shorter wait needs no row
	rowEvery = time.Second
	eraseRow = "\r\x1b[K"
)

// row is the live row. It belongs to lines, whose lock guards it.
type row struct {
	columns func() int // of the terminal; nil: there is none, and never a row
	due     bool       // a prompt has been worked on for rowAfter
	shown   bool
	since   time.Time // what goes on began
	doing   []activity
	tokens  int // of the answers that are whole
	written int // bytes of the one that is being written
	counted int // its tokens, as far as the provider has counted them
}

// activity is something that goes on beside the answer of the model: a tool that runs, the
// wait for another attempt, a compaction.
type activity struct{ id, name string }

// columnsOf returns what tells the width of a terminal; nil if w is none.
func columnsOf(w any) func() int {
	f, isFile := w.(*os.File)
	if !isFile || !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	return func() int {
		columns, _, err := term.GetSize(int(f.Fd()))
		if err != nil || columns <= 0 {
			return 80
		}
		return columns
	}
}

// watch shows in the row what goes on, until stop is called. Inside of a command there may be
// another one, for a prompt that it waits for. Without a terminal it does nothing.
func (l *lines) watch() (stop func()) {
	if l.row.columns == nil {
		return func() {}
	}
	l.change(func(r *row) { *r = row{columns: r.columns, shown: r.shown, since: time.Now()} })
	over, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		l.tick(over)
	}()
	return func() {
		close(over)
		<-gone
	}
}

// tick paints the row once it is due and then every second, and takes it away when over is
// closed.
func (l *lines) tick(over <-chan struct{}) {
	t := time.NewTimer(rowAfter)
	defer t.Stop()
	for {
		select {
		case <-over:
			l.change(func(r *row) { r.due = false })
			return
		case <-t.C:
			l.change(func(r *row) { r.due = true })
			t.Reset(rowEvery)
		}
	}
}

// change changes the row, and paints it anew if it is due.
func (l *lines) change(f func(*row)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f(&l.row)
	l.paint("")
}

// paint writes text in place of the row, and the row behind it if it is due. The caller has
// the lock.
func (l *lines) paint(text string) {
	if l.row.shown {
		text = eraseRow + text
	}
	if l.row.shown = l.row.due; l.row.shown {
		text += l.row.text(time.Now())
	}
	if text != "" {
		// What cannot be shown here has nowhere else to go.
		_, _ = l.w.Write([]byte(text))
	}
}

// text is the row, in one line of the terminal.
func (r *row) text(now time.Time) string {
	what := "answering"
	if len(r.doing) > 0 {
		var names []string
		for _, d := range r.doing {
			names = append(names, d.name)
		}
		what = strings.Join(names, ", ")
	}
	what += " " + (now.Sub(r.since) / time.Second * time.Second).String()
	if n := r.tokens + max(r.counted, r.written/4); n > 0 {
		what += " · " + command.TokenCount(n) + " tokens"
	}
	if text, room := []rune(what), r.columns()-1; len(text) > room { // one that fills the row would wrap
		return string(text[:max(room, 0)])
	}
	return what
}

// begin adds what goes on from now on.
func (r *row) begin(id, name string) {
	if len(r.doing) == 0 {
		r.since = time.Now()
	}
	r.doing = append(r.doing, activity{id, printable.Line(name)})
}

// end removes it, if it is there.
func (r *row) end(id string) {
	at := slices.IndexFunc(r.doing, func(d activity) bool { return d.id == id })
	if at < 0 {
		return
	}
	if r.doing = slices.Delete(r.doing, at, at+1); len(r.doing) == 0 {
		r.since = time.Now()
	}
}

// answered counts the tokens of an answer that is whole, or was given up; counted is what
// the provider says, 0 if nothing.
func (r *row) answered(counted int) {
	if counted == 0 {
		counted = max(r.counted, r.written/4)
	}
	r.tokens, r.written, r.counted = r.tokens+counted, 0, 0
}

// What is not a tool has an id that no tool has.
const (
	retryID      = "\x00retry"
	compactionID = "\x00compaction"
)

// wantsForRow reports whether k is one of the events that the row uses.
func (l *lines) wantsForRow(k agent.Kind) bool {
	return l.row.columns != nil && slices.Contains([]agent.Kind{
		agent.KindMessageUpdate, agent.KindMessageEnd, agent.KindToolExecutionStart, agent.KindToolRan, agent.KindToolExecutionEnd,
		agent.KindAutoRetryStart, agent.KindAutoRetryWaited, agent.KindCompactionStart, agent.KindCompactionEnd}, k)
}

// follow notes in the row what e says. It is painted only where it names something else.
func (l *lines) follow(e agent.Event) {
	if l.row.columns == nil {
		return
	}
	switch e := e.(type) {
	case *agent.MessageUpdate:
		l.mu.Lock()
		defer l.mu.Unlock()
		l.row.written += len(e.Delta.Text)
		if e.Delta.Usage != nil {
			l.row.counted = e.Delta.Usage.Output
		}
	case *agent.MessageEnd:
		counted := 0
		if e.Message.Usage != nil {
			counted = e.Message.Usage.Output
		}
		l.change(func(r *row) { r.answered(counted) })
	case *agent.ToolExecutionStart:
		l.change(func(r *row) { r.begin(e.ID, e.Name) })
	case *agent.ToolRan:
		l.change(func(r *row) { r.end(e.ID) })
	case *agent.ToolExecutionEnd: // also of a call that did not run
		l.change(func(r *row) { r.end(e.ID) })
	case *agent.AutoRetryStart:
		l.change(func(r *row) {
			r.answered(0)
			r.begin(retryID, "waiting to try again")
		})
	case *agent.AutoRetryWaited:
		l.change(func(r *row) { r.end(retryID) })
	case *agent.CompactionStart:
		if !e.Auto { // else it is the second word of the same
			l.change(func(r *row) { r.begin(compactionID, "compacting") })
		}
	case *agent.CompactionEnd:
		if !e.Auto {
			l.change(func(r *row) { r.end(compactionID) })
		}
	}
}
