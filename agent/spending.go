package agent

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"pi/agent/llm"
	"pi/session"
	"pi/session/message"
)

// spending is what was used of models: in the session, with its limit, and in the run
// in progress. All methods may be called from any goroutine.
type spending struct {
	events       *listeners
	conversation *conversation
	models       *llm.Models
	settings     *inForce
	above        *spending // of the agent that uses this one; nil: there is none

	account account
	run     runAccount // of a program that may spend only so much
	aside   asideUsage
	warned  atomic.Bool // it was told that a price is not known
}

// runAccount is what one run of the program has spent, in whatever sessions. All methods may be
// called from any goroutine.
type runAccount struct {
	limit float64 // in the currency of the prices; 0: there is none, and nothing is counted

	mu      sync.Mutex // guards what follows
	left    message.Usage
	current *account // of the current session, from where the run began with it
	priced  bool     // all that was used in sessions that were left
}

// begin makes s the session in which the run goes on. What s has used so far is none of its.
func (r *runAccount) begin(s *session.Session) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.current = &account{skip: len(s.Entries())}
}

// leave counts what the run has used in s, the session that it leaves.
func (r *runAccount) leave(s *session.Session, models *llm.Models) {
	r.mu.Lock()
	defer r.mu.Unlock()
	used, priced := r.current.usageOf(s, models)
	r.left.Add(&used)
	r.priced = r.priced && priced
}

// used is what the run has used until now, with s as the current session, and whether all of it
// has a price.
func (r *runAccount) used(s *session.Session, models *llm.Models) (u message.Usage, priced bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	u, priced = r.current.usageOf(s, models)
	u.Add(&r.left)
	return u, priced && r.priced
}

// move counts what is used from now on in next, which has replaced previous.
func (s *spending) move(previous, next *session.Session) {
	if s.run.limit > 0 {
		s.run.leave(previous, s.models)
		s.run.begin(next)
	}
}

// used is what the session has used, and whether all of it has a price.
func (s *spending) used() (u message.Usage, priced bool) {
	return s.account.usageOf(s.conversation.current(), s.models)
}

// checkLimit returns a *[LimitError] if the session, or that of an agent above, has cost as much
// as it may. m is the model to be asked next: if it or anything used so far has no known price,
// the sum is incomplete, and the user is told so once.
func (s *spending) checkLimit(ctx context.Context, m *llm.Model) error {
	whose := "this session has"
	for at := s; at != nil; at = at.above {
		if err := at.checkOwn(ctx, m, whose); err != nil {
			return err
		}
		whose = "the session that uses this agent has, with its agents,"
	}
	return nil
}

// checkOwn is checkLimit for one session.
func (s *spending) checkOwn(ctx context.Context, m *llm.Model, whose string) error {
	if limit := s.run.limit; limit > 0 {
		used, priced := s.run.used(s.conversation.current(), s.models)
		if used.Cost.Total >= limit {
			return &LimitError{"max-cost", fmt.Sprintf("stopped: this run has cost $%.4f, and --max-cost is $%.4f", used.Cost.Total, limit)}
		}
		s.warnUnpriced(ctx, "--max-cost", unpricedPart(m, priced))
	}
	limit := s.settings.get().MaxCost
	if limit <= 0 {
		return nil
	}
	used, priced := s.used()
	if used.Cost.Total >= limit {
		return &LimitError{"max_cost", fmt.Sprintf("stopped: %s cost $%.4f, and max_cost is $%.4f; /new begins another one", whose, used.Cost.Total, limit)}
	}
	s.warnUnpriced(ctx, "max_cost", unpricedPart(m, priced))
	return nil
}

// warnUnpriced tells once that a limit does not count a part of the cost; "" is none.
func (s *spending) warnUnpriced(ctx context.Context, limit, part string) {
	if part != "" && s.warned.CompareAndSwap(false, true) {
		s.events.Notify(ctx, LevelWarning, limit+" counts only what has a price: "+part)
	}
}

// unpricedPart describes which costs are not known: those of m, the model to be asked
// next, or, if priced is false, of something in the session. It is "" if all are known.
func unpricedPart(m *llm.Model, priced bool) string {
	switch {
	case !m.Cost.Known():
		return fmt.Sprintf("that of %s is not known (cost of its [[providers.%s.models]])", m.Ref(), m.Provider)
	case !priced:
		return "that of some of what this session has used is not known (/session)"
	}
	return ""
}

// record adds the usage of a model call outside of the conversation, or of a tool, to the
// session and to the run in progress, if there is one. An empty usage is ignored. The
// user is told if it cannot be recorded.
func (s *spending) record(ctx context.Context, entry session.UsageEntry) {
	if entry.Usage == nil || *entry.Usage == (message.Usage{}) {
		return
	}
	s.aside.add(entry.Usage)
	if _, err := s.conversation.current().Append(session.TypeUsage, entry); err != nil {
		s.events.notifyf(context.WithoutCancel(ctx), LevelWarning, "record usage: %v", err)
	}
}

// KindAgent is the [session.UsageEntry.Kind] of what an agent has used for this one, or another
// one for that; the note is its name.
const KindAgent = "agent"

// usageAbove is a listener of an agent that another one uses: what comes into its session is
// counted in that of the other one, as it comes.
type usageAbove struct {
	spending *spending // of the other one
	name     string    // of this one

	mu   sync.Mutex // guards last
	last modelRef   // that was chosen or has answered
}

// Wants reports whether k is KindEntryAppended.
func (*usageAbove) Wants(k Kind) bool { return k == KindEntryAppended }

// Handle counts what an entry says to have been used. It never fails.
func (u *usageAbove) Handle(ctx context.Context, e Event) error {
	entry := e.(*EntryAppended).Entry
	ref, used := usedIn(entry)
	u.mu.Lock()
	if ref == (modelRef{}) { // a summary is by the model at hand
		ref = u.last
	}
	note := u.name
	if entry.Type != session.TypeUsage {
		u.last = ref
	} else if body, err := session.Body[session.UsageEntry](entry); err == nil && body.Kind == KindAgent {
		note = body.Note
	}
	u.mu.Unlock()
	u.spending.record(ctx, session.UsageEntry{Kind: KindAgent, Provider: ref.Provider, Model: ref.ID, Usage: used, Note: note})
	return nil
}

// asideUsage counts what one run uses of models otherwise than for its answers. The zero value
// is ready; all methods may be called from any goroutine.
type asideUsage struct {
	mu  sync.Mutex     // guards sum
	sum *message.Usage // nil: no run is in progress, and nothing is counted
}

// begin starts to count, for one run.
func (a *asideUsage) begin() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.sum = &message.Usage{}
}

// add adds used to the count, if a run is in progress.
func (a *asideUsage) add(used *message.Usage) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.sum != nil {
		a.sum.Add(used)
	}
}

// end returns what was counted since begin, nil if there was none, and counts no more.
func (a *asideUsage) end() *message.Usage {
	a.mu.Lock()
	defer a.mu.Unlock()
	sum := a.sum
	a.sum = nil
	return sum
}

// account adds up the entries of a session. Each is looked at once, for a session
// has many, and its entries neither change nor go away. The zero value is ready;
// usageOf may be called from any goroutine.
type account struct {
	skip int // the first entries of the first session, which another one has counted

	mu      sync.Mutex // guards what follows
	session *session.Session
	counted int // entries
	total   message.Usage
	free    map[modelRef]*unpaid
	last    modelRef // that was chosen or has answered
}

// unpaid is the use of a model that cost nothing: it is free, or its price was not
// known.
type unpaid struct {
	message.Usage
	wholly bool // some of its answers cost nothing at all
}

// usageOf returns what s has used in all, and whether a price is known for all of it. Only
// entries that are new since the last call are counted.
func (l *account) usageOf(s *session.Session, models *llm.Models) (u message.Usage, priced bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.session != s {
		from := 0
		if l.session == nil {
			from = l.skip
		}
		l.session, l.counted, l.total, l.last = s, from, message.Usage{}, modelRef{}
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
	return l.total, l.priced(models)
}

// add adds u, which ref has used, to the total. Tokens that cost nothing are also counted
// by model, because a price may be missing.
func (l *account) add(ref modelRef, u *message.Usage) {
	if u == nil || *u == (message.Usage{}) {
		return
	}
	l.total.Add(u)
	rest := unpaidOf(u)
	if ref == (modelRef{}) || rest == (message.Usage{}) {
		return
	}
	if l.free[ref] == nil {
		l.free[ref] = &unpaid{}
	}
	l.free[ref].Add(&rest)
	l.free[ref].wholly = l.free[ref].wholly || u.Cost.Total == 0
}

// unpaidOf returns the tokens of u for which no cost was recorded.
func unpaidOf(u *message.Usage) (rest message.Usage) {
	c := &u.Cost
	if c.Total > 0 && c.Input+c.Output+c.CacheRead+c.CacheWrite == 0 {
		return rest // only the sum was known
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

// priced reports whether every model that charged nothing is known to be free of charge. A
// model that is no longer registered has no price, unless its answers did cost something.
func (l *account) priced(models *llm.Models) bool {
	for ref, u := range l.free {
		m := models.Find(ref.Provider, ref.ID)
		if m == nil && u.wholly || m != nil && !m.Cost.Covers(&u.Usage) {
			return false
		}
	}
	return true
}

// modelRef names a model.
type modelRef struct{ Provider, ID string }

// usedIn returns the model and the usage that an entry records. The usage is nil for an
// entry that records the choice of a model; both are empty for entries of other kinds.
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
