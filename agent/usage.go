package agent

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"pi/session"
)

// Totals is what the session has used so far, all branches together, for that is
// what was paid, and how full the context of this branch is.
type Totals struct {
	session.Usage
	ContextUsage
	Priced bool // the prices of every model that was used are known
}

// Totals adds up what the session has used: answers, and the model calls outside
// of the conversation.
func (a *Agent) Totals() Totals {
	t := Totals{ContextUsage: a.contextUsage(), Priced: true}
	known := map[string]bool{}
	for _, e := range a.Session().Entries() {
		provider, model, u := usedIn(e)
		if u == nil || *u == (session.Usage{}) {
			continue
		}
		addUsage(&t.Usage, u)
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

// contextUsage says how full the context is, as it was seen last: what the last
// good answer counted, and an estimate for what follows it. An answer from before
// the compaction that is in force says nothing about what is left. Without an
// answer that counted, all is estimated.
func (a *Agent) contextUsage() ContextUsage {
	items := a.Seen()
	compacted := lastSummary(items)
	tokens, from := 0, 0
	for i, it := range slices.Backward(items) {
		if n := counted(it.Message); n > 0 && it.Index > compacted {
			tokens, from = n, i+1
			break
		}
	}
	for _, it := range items[from:] {
		tokens += estimate(it.Message)
	}
	c := ContextUsage{Tokens: tokens, Window: a.Model().ContextWindow}
	if c.Window > 0 {
		c.Percent = 100 * float64(tokens) / float64(c.Window)
	}
	return c
}

// lastSummary is the position of the compaction that is in force; -1 for none.
func lastSummary(items []session.Item) int {
	at := -1
	for _, it := range items {
		if it.Message.Role == session.RoleCompactionSummary {
			at = max(at, it.Index)
		}
	}
	return at
}

// counted is how many tokens the context had with the answer that m is; 0 if it
// does not say.
func counted(m *session.Message) int {
	if m.Role != session.RoleAssistant || m.Usage == nil || !sendable(m) {
		return 0
	}
	return m.Usage.Input + m.Usage.Output + m.Usage.CacheRead + m.Usage.CacheWrite
}

// Estimates: four characters are a token, an image is as many as most models
// count for one.
const (
	charsPerToken = 4
	imageTokens   = 1200
)

// estimate is about how many tokens a message is, as the model would see it.
func estimate(m *session.Message) int {
	sent := []*session.Message{m}
	if m.Role != session.RoleToolResult && m.Role != session.RoleAssistant || !sendable(m) {
		sent = session.ForModel([]session.Item{{Message: m, Index: -1}})
	}
	tokens, chars := 0, 0
	for _, m := range sent {
		for _, b := range m.Content {
			chars += utf8.RuneCountInString(b.Text) + utf8.RuneCountInString(b.Name) + utf8.RuneCount(b.Arguments)
			if b.Type == session.BlockImage {
				tokens += imageTokens
			}
		}
	}
	return tokens + (chars+charsPerToken-1)/charsPerToken
}

// sendable reports whether an answer is sent again.
func sendable(m *session.Message) bool {
	return m.StopReason != session.StopError && m.StopReason != session.StopAborted
}

// recordUsage notes a model call outside of the conversation in the session, and
// in the run in progress, if there is one.
func (a *Agent) recordUsage(entry session.UsageEntry) error {
	if entry.Usage == nil || *entry.Usage == (session.Usage{}) {
		return nil
	}
	a.mu.Lock()
	if a.aside != nil {
		addUsage(a.aside, entry.Usage)
	}
	a.mu.Unlock()
	if _, err := a.Session().Append(session.TypeUsage, entry); err != nil {
		return fmt.Errorf("record usage: %w", err)
	}
	return nil
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
