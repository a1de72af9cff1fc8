package agent

import (
	"errors"
	"fmt"
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
	r := newHarness(t, Options{Settings: Settings{MaxCost: 1}, Tools: []Tool{echo("look")}}, costing(0.6), costing(0.6), say("never"))
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
	r := newHarness(t, Options{Settings: Settings{MaxCost: 1}, Listeners: []Listener{on(func(n *Notice) { said = append(said, n.Text) })}}, say("a"), say("b"))
	r.prompt("one")
	r.prompt("two")
	if len(said) != 1 || !strings.Contains(said[0], "that of acme/one is not known") {
		t.Errorf("said %q", said)
	}
}

func TestAnAnswerThatWasStoppedCountsBeforeTheNextRequest(t *testing.T) {
	stopIt := on(func(e *MessageUpdate) { e.Abort = &Abort{Reason: "bad", Inject: "once more", By: "h"} })
	cost := llm.Delta{Kind: llm.DeltaUsage, Usage: &message.Usage{Input: 10, TotalTokens: 10, Cost: message.Cost{Total: 2}}}
	r := newHarness(t, Options{Settings: Settings{MaxCost: 1}, Listeners: []Listener{stopIt}}, deltas(cost, text("bad")), say("never"))
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
	r := newHarness(t, Options{Settings: Settings{MaxCost: 1}, Listeners: []Listener{on(func(n *Notice) { said = append(said, n.Text) })}}, say("a"))
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
		r := newHarness(t, Options{})
		if c.price != nil {
			r.Models().Register(llm.ProviderSpec{Name: "other", Models: llm.Listed(&llm.Model{Provider: "other", ID: "m", Cost: c.price})})
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
		r := newHarness(t, Options{}, say("a"))
		r.Models().Register(llm.ProviderSpec{Name: "other", Models: llm.Listed(
			&llm.Model{Provider: "other", ID: "dear", API: "test", Cost: &llm.Price{}}, &llm.Model{Provider: "other", ID: "odd", API: "test"})})
		r.SetModel(t.Context(), r.Models().Find("other", "dear"), "set")
		r.prompt("one")
		r.SetModel(t.Context(), r.Models().Find("other", id), "set")
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

func TestAnAnswerThatIsTooLongEndsWithAnErrorAndIsNotAskedForAgain(t *testing.T) {
	const limit = 10_000
	much := strings.Repeat("x", limit)
	many := func(of func(i int) llm.Delta) (ds []llm.Delta) {
		for i := range 12 {
			ds = append(ds, of(i))
		}
		return ds
	}
	for name, c := range map[string]struct {
		deltas []llm.Delta
		want   string // of the answer that stands; "": it is too long
	}{
		"text":           {[]llm.Delta{text(much)}, ""},
		"thoughts":       {[]llm.Delta{{Kind: llm.DeltaThinking, Text: much}}, ""},
		"arguments":      {[]llm.Delta{{Kind: llm.DeltaToolCall, ID: "1", Name: "read", Text: `{"path":"` + much + `"}`}}, ""},
		"a name":         {[]llm.Delta{{Kind: llm.DeltaToolCall, ID: "1", Name: much}}, ""},
		"a signature":    {[]llm.Delta{{Kind: llm.DeltaSignature, Text: much}}, ""},
		"what is hidden": {[]llm.Delta{{Kind: llm.DeltaRedacted, Text: much}}, ""},
		"small pieces":   {many(func(int) llm.Delta { return text(much[:limit/10]) }), ""},
		"small blocks":   {many(func(i int) llm.Delta { return llm.Delta{Kind: llm.DeltaToolCall, Index: i, ID: "1", Name: "read"} }), ""},
		"a refusal":      {[]llm.Delta{{Kind: llm.DeltaStop, Stop: llm.Stop{Reason: llm.StopRefusal, Message: much + "x"}}}, ""},
		"just within":    {[]llm.Delta{text(much[blockSize:])}, much[blockSize:]},
		"said anew":      {many(func(int) llm.Delta { return llm.Delta{Kind: llm.DeltaWhole, Text: much[blockSize:]} }), much[blockSize:]},
		"signed and said anew": {many(func(i int) llm.Delta {
			return llm.Delta{Kind: []llm.DeltaKind{llm.DeltaSignature, llm.DeltaWhole}[i%2], Text: much[:limit/5]}
		}), ""},
	} {
		t.Run(name, func(t *testing.T) {
			l := &retries{}
			settings := Settings{MaxAnswerBytes: limit, Retry: RetrySettings{MaxAttempts: 3}}
			r := newHarness(t, Options{Settings: settings, Listeners: []Listener{l}}, deltas(append(c.deltas, stop(message.StopEnd))...))
			err := r.Prompt(t.Context(), Prompt{Text: "go"})
			if c.want != "" {
				r.wantTalk("user: go", "assistant: "+c.want)
				return
			}
			var tooLong *LimitError
			if !errors.As(err, &tooLong) || tooLong.Limit != "max_answer_bytes" || !strings.Contains(err.Error(), "longer than 10000 bytes (max_answer_bytes in config.toml; 0: no limit)") {
				t.Errorf("the error is %v", err)
			}
			if len(l.starts) > 0 {
				t.Error("it was asked for again")
			}
		})
	}
}

func TestOfAnAnswerThatIsTooLongTheBeginningIsKept(t *testing.T) {
	r := newHarness(t, Options{Settings: Settings{MaxAnswerBytes: 1 << 20}}, deltas(text(strings.Repeat("é", 1<<19-1024)),
		llm.Delta{Kind: llm.DeltaToolCall, Index: 1, ID: "1", Name: "read"}, llm.Delta{Kind: llm.DeltaToolCall, Index: 1, Text: strings.Repeat("x", 1<<12)}))
	var tooLong *LimitError
	if err := r.Prompt(t.Context(), Prompt{Text: "go"}); !errors.As(err, &tooLong) {
		t.Fatal(err)
	}
	r.wantTalk("user: go", "assistant: "+strings.Repeat("é", keptOfLong/2)+" … [error: "+tooLong.Message+"]")
}

func TestTheLimitHoldsForWhatIsAskedAside(t *testing.T) {
	for limit, want := range map[int]bool{5000: true, 0: false} {
		r := newHarness(t, Options{Settings: Settings{MaxAnswerBytes: limit}}, say(strings.Repeat("x", 6000)))
		_, err := r.Complete(t.Context(), Completion{Messages: userItems("go")})
		var tooLong *LimitError
		if errors.As(err, &tooLong) != want {
			t.Errorf("limit %d: %v", limit, err)
		}
	}
}

func TestWhatAProviderHoldsBackCountsToo(t *testing.T) {
	r := newHarness(t, Options{Settings: Settings{MaxAnswerBytes: 100, Retry: RetrySettings{MaxAttempts: 3}}}, fail(fmt.Errorf("read: %w", llm.ErrAnswerTooLong)))
	var tooLong *LimitError
	if err := r.Prompt(t.Context(), Prompt{Text: "go"}); !errors.As(err, &tooLong) || tooLong.Limit != "max_answer_bytes" {
		t.Errorf("the error is %v", err)
	}
}
