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

// paid appends an answer of acme/one that used so many tokens for so much money.
func paid(t *testing.T, s *session.Session, tokens int, cost float64) {
	t.Helper()
	m := &message.Message{Role: message.RoleAssistant, Provider: "acme", Model: "one",
		Usage: &message.Usage{Input: tokens, Cost: message.Cost{Input: cost, Total: cost}}}
	if _, err := s.AppendMessage(m); err != nil {
		t.Fatal(err)
	}
}

func TestAnAccountAddsUpASessionAndKnowsWhatHasNoPrice(t *testing.T) {
	models := llm.NewModels(nil)
	models.Register(llm.ProviderSpec{Name: "acme", Models: llm.Listed(&llm.Model{Provider: "acme", ID: "one"})}) // of which nobody knows the price
	var l account
	one, other := session.New(session.Options{}), session.New(session.Options{})
	paid(t, one, 100, 0.5)
	if u, priced := l.usageOf(one, models); u.Input != 100 || u.Cost.Total != 0.5 || !priced {
		t.Errorf("%+v, priced %t", u, priced)
	}
	paid(t, one, 10, 0.25)
	if u, priced := l.usageOf(one, models); u.Input != 110 || u.Cost.Total != 0.75 || !priced {
		t.Errorf("grown: %+v, priced %t", u, priced)
	}
	paid(t, one, 1, 0)
	if u, priced := l.usageOf(one, models); u.Input != 111 || priced {
		t.Errorf("an answer for nothing: %+v, priced %t", u, priced)
	}
	if u, priced := l.usageOf(other, models); u.Input != 0 || !priced {
		t.Errorf("another session: %+v, priced %t", u, priced)
	}
}

func TestUsageIsCountedOnlyWhileARunIsInProgress(t *testing.T) {
	var u asideUsage
	u.add(&message.Usage{Input: 1})
	u.begin()
	u.add(&message.Usage{Input: 2})
	u.add(&message.Usage{Input: 3, Output: 1})
	if sum := u.end(); sum.Input != 5 || sum.Output != 1 {
		t.Errorf("%+v", sum)
	}
	if u.add(&message.Usage{Input: 1}); u.end() != nil {
		t.Error("it is counted after the end")
	}
}
