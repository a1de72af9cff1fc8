package agent

import (
	"context"
	"fmt"

	"pi/agent/llm"
)

// costLimit is the error of a request that the session's money does not reach
// for. What was used of models without a known price is not in the sum; that is
// said once, for a limit that cannot see everything should not look as if it did.
func (a *Agent) costLimit(ctx context.Context, m *llm.Model) error {
	limit := a.settings.MaxCost
	if limit <= 0 {
		return nil
	}
	used, priced := a.used()
	if used.Cost.Total >= limit {
		return &LimitError{"max_cost", fmt.Sprintf("stopped: this session has cost $%.4f, and max_cost is $%.4f; /new begins another one", used.Cost.Total, limit)}
	}
	if what := unpricedPart(m, priced); what != "" && a.spending.account.warned.CompareAndSwap(false, true) {
		a.Notify(ctx, LevelWarning, "max_cost counts only what has a price: "+what)
	}
	return nil
}

// unpricedPart says what the limit does not see; "" if nothing.
func unpricedPart(m *llm.Model, priced bool) string {
	switch {
	case !m.Cost.Known():
		return fmt.Sprintf("that of %s is not known (cost of its [[providers.%s.models]])", m.Ref(), m.Provider)
	case !priced:
		return "that of some of what this session has used is not known (/session)"
	}
	return ""
}
