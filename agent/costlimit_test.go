package agent

import (
	"errors"
	"strings"
	"testing"

	"pi/agent/llm"
	"pi/session"
	"pi/session/message"
)

// costing is an answer that calls a tool and costs that much.
func costing(dollars float64) reply {
	return deltas(append(callDeltas(call{"c", "look", `{}`}),
		llm.Delta{Kind: llm.DeltaUsage, Usage: &message.Usage{Input: 10, TotalTokens: 10, Cost: message.Cost{Total: dollars}}}, stop(message.StopToolUse))...)
}

func TestNoRequestIsSentOnceTheSessionHasCostItsLimit(t *testing.T) {
	r := newRig(t, Options{Settings: Settings{MaxCost: 1}, Tools: []Tool{echo("look")}}, costing(0.6), costing(0.6), say("never"))
	var limit *LimitError
	if err := r.Prompt(t.Context(), Prompt{Text: "go"}); !errors.As(err, &limit) || limit.Limit != "max_cost" || !strings.Contains(err.Error(), "$1.2000") {
		t.Fatalf("the run ended with %v", err)
	}
	if n := len(r.model.requests); n != 2 {
		t.Errorf("%d requests", n)
	}
	if err := r.Prompt(t.Context(), Prompt{Text: "once more"}); !errors.As(err, &limit) {
		t.Errorf("the next prompt ended with %v", err)
	}
	if _, err := r.Complete(t.Context(), Completion{Messages: userItems("hi")}); !errors.As(err, &limit) {
		t.Errorf("a call outside of the conversation ended with %v", err)
	}
	if n := len(r.model.requests); n != 2 {
		t.Errorf("%d requests after the limit", n)
	}
}

func TestALimitOfCostSaysOnceThatAPriceIsNotKnown(t *testing.T) {
	var said []string
	r := newRig(t, Options{Settings: Settings{MaxCost: 1}, Listeners: []Listener{on(func(n *Notice) { said = append(said, n.Text) })}}, say("a"), say("b"))
	r.prompt("one")
	r.prompt("two")
	if len(said) != 1 || !strings.Contains(said[0], "that of acme/one is not known") {
		t.Errorf("said %q", said)
	}
}

func TestAnAnswerThatWasStoppedCountsBeforeTheNextRequest(t *testing.T) {
	stopIt := on(func(e *MessageUpdate) { e.Abort = &Abort{Reason: "bad", Inject: "once more", By: "h"} })
	cost := llm.Delta{Kind: llm.DeltaUsage, Usage: &message.Usage{Input: 10, TotalTokens: 10, Cost: message.Cost{Total: 2}}}
	r := newRig(t, Options{Settings: Settings{MaxCost: 1}, Listeners: []Listener{stopIt}}, deltas(cost, text("bad")), say("never"))
	var limit *LimitError
	if err := r.Prompt(t.Context(), Prompt{Text: "go"}); !errors.As(err, &limit) || limit.Limit != "max_cost" {
		t.Errorf("the run ended with %v", err)
	}
	if n := len(r.model.requests); n != 1 {
		t.Errorf("%d requests", n)
	}
}

func TestALimitOfCostBlamesNoModelThatHasAPrice(t *testing.T) {
	var said []string
	r := newRig(t, Options{Settings: Settings{MaxCost: 1}, Listeners: []Listener{on(func(n *Notice) { said = append(said, n.Text) })}}, say("a"))
	if _, err := r.Session().Append(session.TypeUsage, session.UsageEntry{Kind: "hook", Provider: "gone", Model: "m", Usage: &message.Usage{Input: 3}}); err != nil {
		t.Fatal(err)
	}
	r.SetModel(t.Context(), &llm.Model{Provider: "acme", ID: "dear", API: "test", Cost: &llm.Price{Input: 1, Output: 2}}, "set")
	r.prompt("one")
	if len(said) != 1 || strings.Contains(said[0], "dear") || !strings.Contains(said[0], "some of what this session has used") {
		t.Errorf("said %q", said)
	}
}

func TestTotalsKnowWhichPartOfAnAnswerHasNoPrice(t *testing.T) {
	used := message.Usage{Input: 10, Output: 5, CacheRead: 100, Cost: message.Cost{Input: 1, Output: 1, Total: 2}}
	sum := used
	sum.Cost = message.Cost{Total: 2}
	for name, c := range map[string]struct {
		price *llm.Price
		used  message.Usage
		want  bool
	}{
		"one is not known":                 {&llm.Price{Input: 1, Output: 1, CacheRead: -1, CacheWrite: 1}, used, false},
		"one is free":                      {&llm.Price{Input: 1, Output: 1, CacheWrite: 1}, used, true},
		"only the sum was noted":           {nil, sum, true},
		"nothing cost anything":            {nil, message.Usage{Input: 3}, false},
		"the model is gone":                {nil, used, true},
		"the model is gone, and cost none": {nil, message.Usage{Input: 3, CacheRead: 1}, false},
	} {
		r := newRig(t, Options{})
		if c.price != nil {
			r.models.Register(llm.ProviderSpec{Name: "other", Models: llm.Listed(&llm.Model{Provider: "other", ID: "m", Cost: c.price})})
		}
		if _, err := r.Session().Append(session.TypeUsage, session.UsageEntry{Kind: "hook", Provider: "other", Model: "m", Usage: &c.used}); err != nil {
			t.Fatal(err)
		}
		if got := r.Totals().Priced; got != c.want {
			t.Errorf("%s: priced %t", name, got)
		}
	}
}

func TestASummaryHasThePriceOfTheModelThatWasChosenForIt(t *testing.T) {
	for id, want := range map[string]bool{"dear": true, "odd": false} {
		r := newRig(t, Options{}, say("a"))
		r.models.Register(llm.ProviderSpec{Name: "other", Models: llm.Listed(
			&llm.Model{Provider: "other", ID: "dear", API: "test", Cost: &llm.Price{}}, &llm.Model{Provider: "other", ID: "odd", API: "test"})})
		r.SetModel(t.Context(), r.models.Find("other", "dear"), "set")
		r.prompt("one")
		r.SetModel(t.Context(), r.models.Find("other", id), "set")
		s := r.Session()
		for _, body := range []struct {
			kind string
			any
		}{{session.TypeUsage, session.UsageEntry{Kind: "hook", Provider: "other", Model: "dear", Usage: &message.Usage{Input: 1}}},
			{session.TypeCompaction, session.Compaction{Summary: "so far", FirstKeptEntryID: s.Leaf(), Usage: &message.Usage{Input: 3}}}} {
			if _, err := s.Append(body.kind, body.any); err != nil {
				t.Fatal(err)
			}
		}
		if got := r.Totals().Priced; got != want {
			t.Errorf("%s: priced %t", id, got)
		}
	}
}
