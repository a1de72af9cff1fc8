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

	account account
	aside   asideUsage
	warned  atomic.Bool // it was told that a price is not known
}

// used is what the session has used, and whether all of it has a price.
func (s *spending) used() (u message.Usage, priced bool) {
	return s.account.of(s.conversation.current(), s.models)
}

// checkLimit returns a *[LimitError] if the session has cost as much as it may. m is the
// model to be asked next: if it or anything used so far has no known price, the sum is
// incomplete, and the user is told so once.
func (s *spending) checkLimit(ctx context.Context, m *llm.Model) error {
	limit := s.settings.get().MaxCost
	if limit <= 0 {
		return nil
	}
	used, priced := s.used()
	if used.Cost.Total >= limit {
		return &LimitError{"max_cost", fmt.Sprintf("stopped: this session has cost $%.4f, and max_cost is $%.4f; /new begins another one", used.Cost.Total, limit)}
	}
	if what := unpricedPart(m, priced); what != "" && s.warned.CompareAndSwap(false, true) {
		s.events.Notify(ctx, LevelWarning, "max_cost counts only what has a price: "+what)
	}
	return nil
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
