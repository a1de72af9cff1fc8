package agent

import (
	"context"
	"errors"
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

// A model that repeats itself, or a server that means harm, must not fill the
// memory: an answer longer than max_answer_bytes ends with an error.

const limitOfAnswer = "max_answer_bytes"

// answerTooLong is the error of an answer that is longer than r allows.
func answerTooLong(r *llm.Request) error {
	return &LimitError{limitOfAnswer, fmt.Sprintf("stopped: the answer of %s is longer than %d bytes (max_answer_bytes in config.toml; 0: no limit)",
		r.Model.Ref(), r.MaxAnswer)}
}

func isTooLong(err error) bool {
	var limit *LimitError
	return errors.As(err, &limit) && limit.Limit == limitOfAnswer
}

// keptOfLong is how much is kept of an answer that is too long: enough to see what
// it was.
const keptOfLong = 64 << 10

// blockSize is what a block counts beside its text: many small ones are much too.
const blockSize = 1 << 10

// answerSize counts what an answer takes, whatever it is made of.
type answerSize struct {
	bytes  int
	blocks map[int]int // the text of each
}

// exceeds adds d and reports whether the answer is longer than limit, 0 being none.
func (s *answerSize) exceeds(limit int, d llm.Delta) bool {
	if limit > 0 {
		s.add(d)
	}
	return limit > 0 && s.bytes > limit
}

func (s *answerSize) add(d llm.Delta) {
	switch d.Kind {
	case llm.DeltaPing, llm.DeltaUsage, llm.DeltaStop:
		s.bytes += len(d.Stop.Message)
		return
	}
	before, known := s.blocks[d.Index]
	if !known {
		s.bytes += blockSize
	}
	if s.blocks == nil {
		s.blocks = map[int]int{}
	}
	s.bytes += len(d.Text) + len(d.ID) + len(d.Name)
	switch d.Kind {
	case llm.DeltaSignature, llm.DeltaRedacted: // kept beside the text
		s.blocks[d.Index] = before
	case llm.DeltaWhole: // takes the place of what came before
		s.bytes -= before
		s.blocks[d.Index] = len(d.Text)
	default:
		s.blocks[d.Index] = before + len(d.Text)
	}
}
