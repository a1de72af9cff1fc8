package repl

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"pi/agent"
	"pi/internal/cells"
	"pi/internal/printable"
	"pi/repl/terminal"
	"pi/session"
	"pi/session/message"
)

// status is what the row above the line says: the model, how full the context is, the
// cost of the session, the git branch, and the words of hooks. It is read anew when
// something may have changed it, never for a key.
type status struct {
	hooks map[string]string
	spent bool // something was spent: only then the cost is added up, which reads all entries

	mode   string // that is on; "" for none
	model  string // as people call it, with the thinking level
	full   string // "34% of 200k"
	part   float64
	cost   string
	branch string
	cache  string
	alerts []string // what a user must know of the hooks

	changed bool // there are changes that are not committed
	hidden  bool // a hook shows a footer instead; what a user must know stays
}

// set sets the words that a hook shows under a key; "" removes them. It reports whether they
// are others than before.
func (s *status) set(key, text string) (changed bool) {
	text = printable.Line(text)
	changed = s.hooks[key] != text
	if text == "" {
		delete(s.hooks, key)
		return changed
	}
	if s.hooks == nil {
		s.hooks = map[string]string{}
	}
	s.hooks[key] = text
	return changed
}

// figures are the parts of the status that are read from the agent.
type figures struct {
	mode, model, full, cost, branch, cache string
	part                                   float64
	alerts                                 []string
}

// readStatus reads the figures from the agent. It may read files, so it is not called
// with the lock.
func readStatus(a *agent.Agent, spent bool, branch func(dir string) string) (f figures) {
	f.model = printable.Line(a.Model().Ref() + ":" + a.Thinking())
	if f.mode = printable.Line(a.Modes().Current()); f.mode != "" {
		f.mode += " mode"
		if a.Modes().IsMissing() {
			f.mode += " (not here)"
		}
	}
	u, ready := a.Meter().ReadyUsage()
	if !ready {
		u = agent.ContextUsage{Tokens: contextTokens(a.Session().Branch()), Window: a.Model().ContextWindow}
	}
	switch {
	case u.Tokens > 0 && u.Window > 0:
		f.part = float64(u.Tokens) / float64(u.Window)
		f.full = fmt.Sprintf("%d%% of %s", int(f.part*100+0.5), tokenCount(u.Window))
	case u.Tokens > 0:
		f.full = tokenCount(u.Tokens) + " tokens"
	}
	f.cost = costText(a, spent)
	f.branch = branch(a.Cwd())
	if b := a.Meter().PrefixBreak(); b != nil {
		f.cache = "cache: " + printable.Line(b.String())
	}
	return f
}

// costText is what the session has cost, as at least that if not all prices are known;
// "" for nothing.
func costText(a *agent.Agent, spent bool) string {
	if !spent {
		return ""
	}
	switch cost, all := a.Meter().Spent(); {
	case cost <= 0:
		return ""
	case !all:
		return fmt.Sprintf("≥ $%.3f", cost)
	default:
		return fmt.Sprintf("$%.3f", cost)
	}
}

// statusRows is the row above the line. The caller has the lock.
func (s *screen) statusRows(columns int) []string {
	st := &s.status
	if st.model == "" {
		return nil
	}
	if st.hidden {
		return s.mustKnowRows(columns)
	}
	var words []string
	for _, key := range slices.Sorted(maps.Keys(st.hooks)) {
		words = append(words, st.hooks[key])
	}
	return []string{s.palette.Paint("dim", s.statusText(columns, words))}
}

// mustKnowRows are what stays of the status where a footer of a hook stands in its place: the
// mode, whose gates are shut, and what waits for approval; none if there is nothing of that. The
// caller has the lock.
func (s *screen) mustKnowRows(columns int) (rows []string) {
	words, style := s.status.alerts, "warning"
	if len(words) == 0 {
		style = "dim"
	}
	if s.status.mode != "" {
		words = append([]string{s.status.mode}, words...)
	}
	if len(words) == 0 {
		return nil
	}
	for _, row := range cells.Wrap(printable.Line(strings.Join(words, " · ")), max(1, columns)) {
		rows = append(rows, s.palette.Paint(style, row))
	}
	return rows
}

// statusText joins the parts, and leaves out those for which there is no room: the words
// of hooks, the branch, the cost, the bar, in this order. The mode and the percentage stay
// longest.
func (s *screen) statusText(columns int, words []string) string {
	st := &s.status
	hooks, branch, cost, bar, cache := strings.Join(words, " · "), st.branch, st.cost, "", st.cache
	if branch != "" && st.changed {
		branch += "*"
	}
	model := st.model
	if st.mode != "" {
		model = st.mode + " · " + model
	}
	if st.part > 0 && !s.plain {
		bar = s.bar(st.part)
	}
	join := func() string {
		full := strings.TrimSpace(bar + " " + st.full)
		var all []string
		head := model
		if bar != "" {
			head, full = strings.TrimSpace(head+" "+full), ""
		}
		for _, part := range []string{head, full, cost, cache, branch, hooks} {
			if part != "" {
				all = append(all, part)
			}
		}
		return strings.Join(all, " · ")
	}
	for _, drop := range []*string{&hooks, &branch, &cache, &cost, &bar} {
		if cells.Width(join()) <= columns {
			break
		}
		*drop = ""
	}
	text := join()
	if cells.Width(text) > columns && st.full != "" {
		if room := columns - cells.Width(st.full) - 3; room >= 4 {
			return cells.Cut(model, room) + " · " + st.full
		}
		return cells.Cut(st.full, columns)
	}
	return cells.Cut(text, columns)
}

// bar draws how full the context is.
func (s *screen) bar(part float64) string {
	const width = 6
	full := min(width, max(0, int(part*width+0.5)))
	return "▕" + strings.Repeat("█", full) + strings.Repeat("░", width-full) + "▏"
}

// contextTokens is the size of the last request and its answer, 0 if there was none
// since the last compaction. It looks back only as far as that, since a long session
// must not delay the first prompt.
func contextTokens(branch []*session.Entry) int {
	for _, e := range slices.Backward(branch) {
		if e.Type == session.TypeCompaction {
			return 0
		}
		if e.Type != session.TypeMessage {
			continue
		}
		if m := e.Message(); m != nil && m.Role == message.RoleAssistant && m.Usage != nil {
			if n := m.Usage.ContextTokens(); n > 0 {
				return n
			}
		}
	}
	return 0
}

// worktree looks in the background whether files were changed since they were committed.
// One look runs at a time; who asks meanwhile has another one follow.
type worktree struct {
	changed func(ctx context.Context, dir string) bool // nil: not known

	mu      sync.Mutex
	stopped bool
	cancel  context.CancelFunc // of the look that runs; nil: none does
	again   bool               // somebody asked since it began
	looks   sync.WaitGroup
}

// look has show called with what was found, later. It returns at once.
func (w *worktree) look(dir string, show func(changed bool)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.again = w.cancel != nil
	if w.again || w.stopped || w.changed == nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	w.cancel = cancel
	w.looks.Go(func() {
		defer cancel()
		for more := true; more; more = w.next() {
			if changed := w.changed(ctx, dir); ctx.Err() == nil {
				show(changed)
			}
		}
	})
}

// next ends a look, and reports whether another one follows.
func (w *worktree) next() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	more := w.again && !w.stopped
	if w.again = false; !more {
		w.cancel = nil
	}
	return more
}

// stop ends the look that runs, without waiting for it, and allows no other.
func (w *worktree) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stopped = true; w.cancel != nil {
		w.cancel()
	}
}

// planRows is how many open steps of a plan are shown.
const planRows = 8

// plan is the steps that a hook has shown last.
type plan []agent.PlanItem

// rows are what is open of the plan, below how much of it is done; none if nothing is open.
func (x plan) rows(p terminal.Palette, columns int) (rows []string) {
	var open []string
	for _, item := range x {
		text := printable.Line(item.Content)
		switch item.Status {
		case "completed":
		case "in_progress":
			open = append(open, p.Paint("accent", cells.Cut("  ▸ "+text, columns)))
		default:
			open = append(open, p.Paint("dim", cells.Cut("  ○ "+text, columns)))
		}
	}
	if len(open) == 0 {
		return nil
	}
	rows = append(rows, p.Paint("dim", cells.Cut(fmt.Sprintf("plan %d/%d", len(x)-len(open), len(x)), columns)))
	if more := len(open) - planRows; more > 0 {
		open = append(open[:planRows:planRows], p.Paint("dim", cells.Cut(fmt.Sprintf("  … %d more", more), columns)))
	}
	return append(rows, open...)
}
