package agent

import (
	"fmt"

	"pi/session"
)

// Totals is what the session has used so far, all branches together, for that is
// what was paid, and how full the context of this branch is.
type Totals struct {
	session.Usage
	ContextUsage
	Priced bool         // the prices of every model that was used are known
	Break  *PrefixBreak // see [Agent.PrefixBreak]
}

// Totals adds up what the session has used: answers, and the model calls outside
// of the conversation.
func (a *Agent) Totals() Totals {
	t := Totals{ContextUsage: a.contextUsage(), Priced: true, Break: a.PrefixBreak()}
	known := map[string]bool{}
	for _, e := range a.Session().Entries() {
		provider, model, u := usedIn(e)
		if u == nil || *u == (session.Usage{}) {
			continue
		}
		addUsage(&t.Usage, u)
		if provider == "" && model == "" { // a summary, by a model that has answered here too
			continue
		}
		ref := provider + "/" + model
		priced, asked := known[ref]
		if !asked {
			m := a.models.Find(provider, model)
			priced = m != nil && m.Cost != nil
			known[ref] = priced
		}
		t.Priced = t.Priced && (priced || u.Cost.Total > 0)
	}
	return t
}

// usedIn is what an entry says was used, and of whom; nil if it says nothing.
func usedIn(e *session.Entry) (provider, model string, u *session.Usage) {
	switch e.Type {
	case session.TypeMessage:
		if m := e.Message(); m != nil {
			return m.Provider, m.Model, m.Usage
		}
	case session.TypeUsage:
		if body, err := session.Body[session.UsageEntry](e); err == nil {
			return body.Provider, body.Model, body.Usage
		}
	case session.TypeCompaction:
		if body, err := session.Body[session.Compaction](e); err == nil {
			return "", "", body.Usage
		}
	case session.TypeBranchSummary:
		if body, err := session.Body[session.BranchSummary](e); err == nil {
			return "", "", body.Usage
		}
	}
	return "", "", nil
}

// ReadyUsage says how full the context is, if that is at hand: before the first
// request it would take a look at the whole branch.
func (a *Agent) ReadyUsage() (_ ContextUsage, ready bool) {
	a.mu.Lock()
	ready = a.last != nil && a.last.session == a.session
	a.mu.Unlock()
	if !ready {
		return ContextUsage{}, false
	}
	return a.contextUsage(), true
}

// contextUsage says how full the context is, as it was seen last.
func (a *Agent) contextUsage() ContextUsage {
	counted, estimated := a.contextTokens(a.Seen())
	return fullness(counted+estimated, a.Model())
}

func fullness(tokens int, m *Model) ContextUsage {
	c := ContextUsage{Tokens: tokens, Window: m.ContextWindow}
	if c.Window > 0 {
		c.Percent = 100 * float64(tokens) / float64(c.Window)
	}
	return c
}

// contextTokens is what the last good answer counted, and an estimate of the rest:
// of what follows it, and of what was changed since in what it had seen. Where no
// answer counts, all is estimated, with the system prompt and the tools: an answer
// counts these too.
func (a *Agent) contextTokens(items []session.Item) (counted, estimated int) {
	r := a.read(items)
	if r.At < 0 {
		return 0, r.Rest + a.standingTokens()
	}
	if then, known := a.seenBy(items[r.At]); known {
		r.Rest += difference(then, items[:r.At])
	}
	return r.Counted, max(r.Rest, -r.Counted)
}

// standingTokens is about how many tokens each request has beside the messages.
func (a *Agent) standingTokens() int { return a.promptSource().Tokens + a.toolSource().Tokens }

func (a *Agent) read(items []session.Item) session.Reading {
	a.viewing.Lock()
	defer a.viewing.Unlock()
	return a.gauge.Read(items)
}

// tokensOf is how many tokens a context is, as far as anybody knows.
func (a *Agent) tokensOf(items []session.Item) int {
	counted, estimated := a.contextTokens(items)
	return counted + estimated
}

// seenBy is what the model had before it when it gave an answer, as far as anybody
// knows: that of this process, and else what the session held then, if there is
// nobody who would have changed it.
func (a *Agent) seenBy(answer session.Item) ([]session.Item, bool) {
	a.mu.Lock()
	last, s := a.last, a.session
	a.mu.Unlock()
	if last != nil && last.session == s && answer.Entry != nil && last.answer == answer.Entry.ID {
		return last.chain.items, true
	}
	path := s.Branch()
	if a.wants(KindContext) || answer.Index < 0 || answer.Index >= len(path) || !editedSince(path[answer.Index:]) {
		return nil, false
	}
	return session.ContextOf(path[:answer.Index]), true
}

func editedSince(path []*session.Entry) bool {
	for _, e := range path {
		if e.Type == session.TypeContextEdit {
			return true
		}
	}
	return false
}

// difference is by how much the estimates of two lists differ. Where they begin
// alike, as nearly always, nothing is estimated.
func difference(then, now []session.Item) int {
	n := 0
	for n < len(then) && n < len(now) && then[n].Message == now[n].Message {
		n++
	}
	return estimate(now[n:]) - estimate(then[n:])
}

func estimate(items []session.Item) (tokens int) {
	for _, it := range items {
		tokens += session.EstimateTokens(it.Message)
	}
	return tokens
}

// recordUsage notes a model call outside of the conversation in the session, and
// in the run in progress, if there is one.
func (a *Agent) recordUsage(entry session.UsageEntry) error {
	if entry.Usage == nil || *entry.Usage == (session.Usage{}) {
		return nil
	}
	a.noteAside(entry.Usage)
	if _, err := a.Session().Append(session.TypeUsage, entry); err != nil {
		return fmt.Errorf("record usage: %w", err)
	}
	return nil
}

// noteAside counts what was used beside the answers of the run in progress, if
// there is one.
func (a *Agent) noteAside(u *session.Usage) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.aside != nil {
		addUsage(a.aside, u)
	}
}

// beginAside starts to count what is used beside the answers of a run.
func (a *Agent) beginAside() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.aside = &session.Usage{}
}

// endAside returns what was counted, and counts no more.
func (a *Agent) endAside() *session.Usage {
	a.mu.Lock()
	defer a.mu.Unlock()
	aside := a.aside
	a.aside = nil
	return aside
}

func addUsage(total, u *session.Usage) {
	if u == nil {
		return
	}
	total.Input += u.Input
	total.Output += u.Output
	total.CacheRead += u.CacheRead
	total.CacheWrite += u.CacheWrite
	total.TotalTokens += u.TotalTokens
	total.Cost.Input += u.Cost.Input
	total.Cost.Output += u.Cost.Output
	total.Cost.CacheRead += u.Cost.CacheRead
	total.Cost.CacheWrite += u.Cost.CacheWrite
	total.Cost.Total += u.Cost.Total
}
