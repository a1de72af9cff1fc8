package agent

import (
	"errors"
	"testing"

	"pi/agent/llm"
	"pi/session"
	"pi/session/message"
)

func TestSpendingEndsAtItsLimitAndCountsWhatIsBesideTheAnswers(t *testing.T) {
	l, is := &log{}, unsaved(t, "go")
	s := &spending{events: listening(l), conversation: &conversation{session: is}, models: llm.NewModels(nil), settings: newInForce(Settings{MaxCost: 1})}
	m := &llm.Model{Provider: "acme", ID: "one"}
	for range 2 {
		if err := s.checkLimit(t.Context(), m); err != nil {
			t.Error(err)
		}
	}
	if len(l.notes) != 1 {
		t.Errorf("that the price is not known is told as %q", l.notes)
	}
	s.aside.begin()
	s.record(t.Context(), session.UsageEntry{Kind: "hook", Provider: "acme", Model: "one"}) // nothing was used
	s.record(t.Context(), session.UsageEntry{Kind: "hook", Provider: "acme", Model: "one", Usage: &message.Usage{Input: 7, Cost: message.Cost{Total: 2}}})
	if sum := s.aside.end(); sum.Input != 7 || len(is.Entries()) != 2 {
		t.Errorf("%+v, %d entries", sum, len(is.Entries()))
	}
	var limit *LimitError
	if err := s.checkLimit(t.Context(), m); !errors.As(err, &limit) || limit.Limit != "max_cost" {
		t.Error(err)
	}
}
