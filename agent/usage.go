package agent

import (
	"fmt"
	"sync"

	"pi/agent/llm"
	"pi/session"
	"pi/session/compaction"
	"pi/session/message"
)

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
