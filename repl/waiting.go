package repl

import (
	"context"
	"os"
	"time"

	"pi/agent"
	"pi/internal/githead"
	"pi/internal/printable"
	"pi/repl/terminal"
)

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
func (p *person) Cancellable(ctx context.Context, doing string, do func(context.Context)) {
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
		if len(s.busy.works) == 0 {
			return
		}
		if !e.Aside {
			s.startOver()
		}
		w := &retryWait{e, s.now(), s.now().Add(e.Delay())}
		s.busy.retries = append(s.busy.retries, w)
		if s.plain {
			s.add(kindNotice, printable.Line(e.Text(e.Delay()))+" · Ctrl+C cancels")
		}
	})
}

// refresh reads the figures of the status line anew.
func (r *REPL) refresh() {
	if !r.person.HasUI() || r.agent == nil {
		return
	}
	s := r.screen
	s.mu.Lock()
	spent := s.status.spent
	s.mu.Unlock()
	f := readStatus(r.agent, spent, githead.Branch)
	s.change(func() {
		st := &s.status
		st.mode, st.model, st.full, st.part, st.cost, st.branch, st.cache = f.mode, f.model, f.full, f.part, f.cost, f.branch, f.cache
	})
	if f.branch != "" {
		r.worktree.look(r.agent.Cwd(), func(changed bool) { s.change(func() { s.status.changed = changed }) })
	}
}

// refreshLater is refresh in the background, for listeners.
func (r *REPL) refreshLater() {
	if r.agent != nil {
		go r.refresh()
	}
}

// longRun is how long a run takes, at least, for its end to be told to a person who
// looks at another window.
const longRun = 20 * time.Second

// attract tells a person who looks at another window, in the way of [ui] notify.
func (p *person) attract(text string) {
	s := p.screen
	s.mu.Lock()
	away, way := !s.window.inFront || !s.window.known, s.notifyWith
	s.mu.Unlock()
	notice := terminal.Notice(way, text, os.Getenv("TMUX") != "")
	if away && notice != "" && p.term != nil && !p.opts.Dumb {
		p.term.Control(notice)
	}
}
