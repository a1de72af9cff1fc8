package agent

import (
	"fmt"
	"sync"
	"sync/atomic"

	"pi/agent/llm"
	"pi/agent/prefix"
	"pi/session"
	"pi/session/compaction"
	"pi/session/message"
)

// Totals is what the session has used so far, all branches together, for that is
// what was paid, and how full the context of this branch is.
type Totals struct {
	message.Usage
	ContextUsage
	Priced bool          // the prices of all that was used are known
	Break  *prefix.Break // see [Agent.PrefixBreak]
}

// Totals adds up what the session has used: answers, and the model calls outside
// of the conversation.
func (a *Agent) Totals() Totals {
	used, priced := a.used()
	return Totals{Usage: used, Priced: priced, ContextUsage: a.contextUsage(), Break: a.PrefixBreak()}
}

// Spent is what the session has cost so far, and whether that is all: the prices of
// all that it used are known.
func (a *Agent) Spent() (cost float64, all bool) {
	u, all := a.used()
	return u.Cost.Total, all
}

// used is what the session has used, and whether all of it has a price.
func (a *Agent) used() (u message.Usage, priced bool) {
	return a.spending.account.of(a.Session(), a.models)
}

// spending is what was used of models: in the session, and in the run in progress.
type spending struct {
	account account
	aside   asideUsage
}

// account adds up the entries of a session. Each is looked at once, for a session
// has many, and its entries neither change nor go away. The zero value is ready;
// of may be called from any goroutine.
type account struct {
	mu      sync.Mutex // guards what follows
	session *session.Session
	counted int // entries
	total   message.Usage
	free    map[modelRef]*unpaid
	last    modelRef // that was chosen or has answered

	warned atomic.Bool // it was said that a price is not known
}

// unpaid is what cost nothing of what a model was asked for: it is free, or its
// price was not known.
type unpaid struct {
	message.Usage
	wholly bool // some of its answers cost nothing at all
}

// of is what s has used, and whether all of it has a price in models.
func (l *account) of(s *session.Session, models *llm.Models) (u message.Usage, priced bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.read(s)
	return l.total, l.priced(models)
}

func (l *account) read(s *session.Session) {
	if l.session != s {
		l.session, l.counted, l.total, l.last = s, 0, message.Usage{}, modelRef{}
		l.free = map[modelRef]*unpaid{}
	}
	entries := s.Entries()
	for _, e := range entries[l.counted:] {
		ref, used := usedIn(e)
		if ref == (modelRef{}) { // a summary is by the model at hand
			ref = l.last
		}
		if e.Type != session.TypeUsage { // which is beside the conversation
			l.last = ref
		}
		l.add(ref, used)
	}
	l.counted = len(entries)
}

func (l *account) add(ref modelRef, u *message.Usage) {
	if u == nil || *u == (message.Usage{}) {
		return
	}
	addUsage(&l.total, u)
	rest := unpaidOf(u)
	if ref == (modelRef{}) || rest == (message.Usage{}) {
		return
	}
	if l.free[ref] == nil {
		l.free[ref] = &unpaid{}
	}
	addUsage(&l.free[ref].Usage, &rest)
	l.free[ref].wholly = l.free[ref].wholly || u.Cost.Total == 0
}

// unpaidOf are the tokens of u that cost nothing.
func unpaidOf(u *message.Usage) (rest message.Usage) {
	c := &u.Cost
	if c.Total > 0 && c.Input+c.Output+c.CacheRead+c.CacheWrite == 0 {
		return rest // whoever noted it knew only the sum
	}
	for _, bucket := range []struct {
		tokens, rest *int
		cost         float64
	}{{&u.Input, &rest.Input, c.Input}, {&u.Output, &rest.Output, c.Output},
		{&u.CacheRead, &rest.CacheRead, c.CacheRead}, {&u.CacheWrite, &rest.CacheWrite, c.CacheWrite}} {
		if bucket.cost == 0 {
			*bucket.rest = *bucket.tokens
		}
	}
	return rest
}

// priced reports whether what cost nothing has a price. A model that is not
// registered any more has none, unless its answers did cost something.
func (l *account) priced(models *llm.Models) bool {
	for ref, u := range l.free {
		m := models.Find(ref.provider, ref.id)
		if m == nil && u.wholly || m != nil && !m.Cost.Covers(&u.Usage) {
			return false
		}
	}
	return true
}

type modelRef struct{ provider, id string }

// usedIn is what an entry says was used, and of whom; nil and nobody if it does not
// say. A choice says of whom only.
func usedIn(e *session.Entry) (modelRef, *message.Usage) {
	switch e.Type {
	case session.TypeModelChange:
		if body, err := session.Body[session.ModelChange](e); err == nil {
			return modelRef{body.Provider, body.ModelID}, nil
		}
	case session.TypeMessage:
		if m := e.Message(); m != nil {
			return modelRef{m.Provider, m.Model}, m.Usage
		}
	case session.TypeUsage:
		if body, err := session.Body[session.UsageEntry](e); err == nil {
			return modelRef{body.Provider, body.Model}, body.Usage
		}
	case session.TypeCompaction:
		if body, err := session.Body[session.Compaction](e); err == nil {
			return modelRef{}, body.Usage
		}
	case session.TypeBranchSummary:
		if body, err := session.Body[session.BranchSummary](e); err == nil {
			return modelRef{}, body.Usage
		}
	}
	return modelRef{}, nil
}

func addUsage(total, u *message.Usage) {
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

// ReadyUsage says how full the context is, if that is at hand: before the first
// request it would take a look at the whole branch.
func (a *Agent) ReadyUsage() (_ ContextUsage, ready bool) {
	if a.sent.of(a.Session()) == nil {
		return ContextUsage{}, false
	}
	return a.contextUsage(), true
}

// contextUsage says how full the context is, as it was seen last.
func (a *Agent) contextUsage() ContextUsage {
	counted, estimated := a.contextTokens(a.Seen())
	return fullness(counted+estimated, a.Model())
}

func fullness(tokens int, m *llm.Model) ContextUsage {
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
	r := a.view.read(items)
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

// tokensOf is how many tokens a context is, as far as anybody knows.
func (a *Agent) tokensOf(items []session.Item) int {
	counted, estimated := a.contextTokens(items)
	return counted + estimated
}

// seenBy is what the model had before it when it gave an answer, as far as anybody
// knows: that of this process, and else what the session held then, if there is
// nobody who would have changed it.
func (a *Agent) seenBy(answer session.Item) ([]session.Item, bool) {
	s := a.Session()
	if last := a.sent.of(s); last != nil && answer.Entry != nil && last.answer == answer.Entry.ID {
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
		tokens += compaction.EstimateTokens(it.Message)
	}
	return tokens
}

// recordUsage notes a model call outside of the conversation in the session, and
// in the run in progress, if there is one.
func (a *Agent) recordUsage(entry session.UsageEntry) error {
	if entry.Usage == nil || *entry.Usage == (message.Usage{}) {
		return nil
	}
	a.spending.aside.add(entry.Usage)
	if _, err := a.Session().Append(session.TypeUsage, entry); err != nil {
		return fmt.Errorf("record usage: %w", err)
	}
	return nil
}

// asideUsage is what was used beside the answers of the run in progress. The zero
// value is ready; all methods may be called from any goroutine.
type asideUsage struct {
	mu  sync.Mutex     // guards sum
	sum *message.Usage // nil: no run is in progress, and nothing is counted
}

// begin starts to count.
func (u *asideUsage) begin() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.sum = &message.Usage{}
}

// add counts what was used, if a run is in progress.
func (u *asideUsage) add(used *message.Usage) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.sum != nil {
		addUsage(u.sum, used)
	}
}

// end returns what was counted since begin, nil if there was none, and counts no
// more.
func (u *asideUsage) end() *message.Usage {
	u.mu.Lock()
	defer u.mu.Unlock()
	sum := u.sum
	u.sum = nil
	return sum
}
