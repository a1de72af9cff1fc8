package agent

import "pi/session"

// Totals is what the session has used so far, and how full the context is.
type Totals struct {
	session.Usage
	ContextUsage
	Priced bool // the prices of every model that was used are known
}

// Totals adds up what the session has used.
func (a *Agent) Totals() Totals {
	t := Totals{ContextUsage: ContextUsage{Tokens: -1, Window: a.Model().ContextWindow}}
	for _, e := range a.Session().Entries() {
		if m := e.Message(); m != nil {
			addUsage(&t.Usage, m.Usage)
		}
	}
	return t
}
