package agent

import (
	"errors"
	"strings"
	"testing"

	"pi/session"
)

// costing is an answer that calls a tool and costs that much.
func costing(dollars float64) reply {
	return deltas(append(callDeltas(call{"c", "look", `{}`}),
		Delta{Kind: DeltaUsage, Usage: &session.Usage{Input: 10, TotalTokens: 10, Cost: session.Cost{Total: dollars}}}, stop(session.StopToolUse))...)
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

func TestAPriceCoversWhatItNames(t *testing.T) {
	cases := []struct {
		name  string
		price *Price
		used  session.Usage
		want  bool
	}{
		{"none", nil, session.Usage{Input: 1}, false},
		{"all", &Price{1, 2, 3, 4}, session.Usage{Input: 1, Output: 1, CacheRead: 1, CacheWrite: 1}, true},
		{"free", &Price{}, session.Usage{Input: 1, Output: 1}, true},
		{"an unknown one that is not used", &Price{1, 2, 3, -1}, session.Usage{Input: 1, CacheRead: 1}, true},
		{"an unknown one that is used", &Price{1, 2, 3, -1}, session.Usage{Input: 1, CacheWrite: 1}, false},
		{"an unknown input", &Price{-1, 2, 3, 4}, session.Usage{Input: 1}, false},
	}
	for _, c := range cases {
		if got := c.price.Covers(&c.used); got != c.want {
			t.Errorf("%s: %t", c.name, got)
		}
	}
}
