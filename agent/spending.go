package agent

import (
	"context"
	"fmt"
	"sync/atomic"

	"pi/agent/ledger"
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

	account ledger.Account
	aside   ledger.Aside
	warned  atomic.Bool // it was told that a price is not known
}

// used is what the session has used, and whether all of it has a price.
func (s *spending) used() (u message.Usage, priced bool) {
	return s.account.Of(s.conversation.current(), s.models)
}

// checkLimit returns a *[LimitError] if the session has cost as much as it may. m is the
// model to be asked next: if it or anything used so far has no known price, the sum is
// incomplete, and the person is told so once.
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
// person is told if it cannot be recorded.
func (s *spending) record(ctx context.Context, entry session.UsageEntry) {
	if entry.Usage == nil || *entry.Usage == (message.Usage{}) {
		return
	}
	s.aside.Add(entry.Usage)
	if _, err := s.conversation.current().Append(session.TypeUsage, entry); err != nil {
		s.events.notifyf(context.WithoutCancel(ctx), LevelWarning, "record usage: %v", err)
	}
}
