package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
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

func TestACallWhoseResultChangesIsNoRepeat(t *testing.T) {
	n := 0
	poll := tool("poll", func(context.Context) (Result, error) { n++; return TextResult(fmt.Sprintf("%d of 20 done", n)), nil })
	var replies []reply
	for range 20 {
		replies = append(replies, use(call{"a", "poll", `{}`}))
	}
	r := newHarness(t, Options{Tools: []Tool{poll}, Settings: Settings{MaxRepeats: 5}}, append(replies, say("all done"))...)
	r.prompt("wait for it")
	if n != 20 || strings.Contains(r.talk(), "in a row") {
		t.Errorf("polled %d times:\n%s", n, r.talk())
	}
}

func TestTheModelIsToldOnceBeforeTheLimitOfRepeats(t *testing.T) {
	for limit, at := range map[int]int{1: 0, 2: 0, 3: 2, 4: 3, 5: 3, 8: 3, 0: 0} {
		look := tool("look", func(context.Context) (Result, error) { return TextResult("nothing"), nil })
		var replies []reply
		for range 10 {
			replies = append(replies, use(call{"a", "look", `{}`}))
		}
		r := newHarness(t, Options{Tools: []Tool{look}, Settings: Settings{MaxRepeats: limit}}, append(replies, say("done"))...)
		err := r.Prompt(t.Context(), Prompt{Text: "go"})
		want := fmt.Sprintf("stopped: the model called look %d times in a row with the same arguments and the same result (max_repeats)", limit)
		if limited, ok := errors.AsType[*LimitError](err); limit > 0 && (!ok || limited.Error() != want) || limit == 0 && err != nil {
			t.Errorf("limit %d: %v", limit, err)
		}
		results, told := 0, 0
		for _, it := range r.Session().Context() {
			if it.Message.ToolCallID == "" {
				continue
			}
			if results++; strings.Contains(it.Message.Text(), fmt.Sprintf("[look was called %d times in a row", results)) {
				if told != 0 {
					t.Errorf("limit %d: told at %d and %d", limit, told, results)
				}
				told = results
			}
		}
		if told != at {
			t.Errorf("limit %d: told at %d, want %d", limit, told, at)
		}
	}
}

func TestWhatTheFileOfALongOutputIsCalledMakesNoDifference(t *testing.T) {
	n := 0
	long := tool("long", func(context.Context) (Result, error) {
		n++
		path := fmt.Sprintf("/tmp/out-%d.log", n)
		details, _ := json.Marshal(map[string]string{"fullOutputPath": path})
		return Result{Content: TextResult("much [all of it: " + path + "]").Content, Details: details}, nil
	})
	again := use(call{"a", "long", `{}`})
	r := newHarness(t, Options{Tools: []Tool{long}, Settings: Settings{MaxRepeats: 2}}, again, again)
	if _, ok := errors.AsType[*LimitError](r.Prompt(t.Context(), Prompt{Text: "go"})); !ok {
		t.Error("it went on")
	}
}

func TestCallsBehindOneThatReachesALimitDoNotRun(t *testing.T) {
	ran := 0
	alone := tool("alone", func(context.Context) (Result, error) { ran++; return TextResult("same"), nil })
	alone.spec.Sequential = true
	r := newHarness(t, Options{Tools: []Tool{alone}, Settings: Settings{MaxRepeats: 2}},
		use(call{"a", "alone", `{}`}, call{"b", "alone", `{}`}, call{"c", "alone", `{"n":1}`}))
	if _, ok := errors.AsType[*LimitError](r.Prompt(t.Context(), Prompt{Text: "go"})); !ok || ran != 2 {
		t.Errorf("ran %d times", ran)
	}
	if !strings.Contains(r.talk(), "not run: stopped: the model called alone 2 times") {
		t.Error(r.talk())
	}
}

// manyCalls are more calls than any is looked for among.
func manyCalls() (all []call) {
	for i := range 30 {
		all = append(all, call{fmt.Sprint("c", i), "look", fmt.Sprintf(`{"n":%d}`, i)})
	}
	return all
}

func TestTheSameCallsInEachAnswerEndTheRun(t *testing.T) {
	two := []call{{"a", "look", `{"n":1}`}, {"b", "look", `{"n":2}`}}
	for _, c := range []struct {
		name       string
		calls      []call
		ran        int
		told, stop string
	}{
		{"two calls", two, 10,
			"[look was called 3 times with these arguments, the result was the same each time, and nothing new came in between. After 5 times the work is stopped: do something else.]",
			"stopped: the model called look 5 times with the same arguments and the same result, and nothing new came in between (max_repeats)"},
		{"many calls", manyCalls(), 150,
			"[These 30 calls were made in 3 answers, and the results were the same each time. After 5 times the work is stopped: do something else.]",
			"stopped: the model made the same 30 calls in 5 answers, with the same results (max_repeats)"},
	} {
		var ran atomic.Int64
		look := tool("look", func(context.Context) (Result, error) { ran.Add(1); return TextResult("nothing"), nil })
		var replies []reply
		for range 10 {
			replies = append(replies, use(c.calls...))
		}
		r := newHarness(t, Options{Tools: []Tool{look}, Settings: Settings{MaxRepeats: 5}}, replies...)
		err := r.Prompt(t.Context(), Prompt{Text: "go"})
		if limited, ok := errors.AsType[*LimitError](err); !ok || limited.Error() != c.stop || int(ran.Load()) != c.ran {
			t.Errorf("%s: %d calls, %v", c.name, ran.Load(), err)
		}
		if !strings.Contains(r.talk(), c.told) {
			t.Errorf("%s: the model was not told:\n%s", c.name, r.talk())
		}
		r.wantGoesOn()
	}
}

// The tests say the same each time, but a file was changed in between.
func TestACheckAfterEachChangeIsNoRepeat(t *testing.T) {
	vet := tool("vet", func(context.Context) (Result, error) { return TextResult("no problems"), nil })
	edit := tool("edit", func(context.Context) (Result, error) { return TextResult("done"), nil })
	var replies []reply
	for i := range 12 {
		replies = append(replies, use(call{"a", "edit", fmt.Sprintf(`{"n":%d}`, i)}), use(call{"b", "vet", `{}`}))
	}
	r := newHarness(t, Options{Tools: []Tool{vet, edit}, Settings: Settings{MaxRepeats: 3}}, append(replies, say("all done"))...)
	r.prompt("change them")
	if strings.Contains(r.talk(), "nothing new came in between") {
		t.Error(r.talk())
	}
}

func callOf(name, arguments, result string) repeatable {
	return repeatable{Name: name, Arguments: json.RawMessage(arguments), Content: []message.Block{message.TextBlock(result)}}
}

func TestWhatCountsAsARepeat(t *testing.T) {
	for _, c := range []struct {
		name  string
		calls string // two of the same letter are the same call
		times string // for each call how many times it has come
	}{
		{"in a row", "aaaa", "1234"},
		{"alternating", "abababab", "11122334"},
		{"three in turn", "abcabcabc", "111112223"},
		{"something new in between", "aababcac", "12112112"},
		{"seen, but longer ago than is looked", "a" + "bcdefghijklmnopqrstu" + "a", "1" + "11111111111111111111" + "1"},
		{"seen, as long ago as is looked", "a" + "bcdefghijklmnopqrst" + "aa", "1" + "1111111111111111111" + "12"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var r repeats
			var got strings.Builder
			for _, name := range strings.Split(c.calls, "") {
				times, _ := r.note(callOf(name, `{}`, "same"))
				fmt.Fprint(&got, times)
			}
			if got.String() != c.times {
				t.Errorf("%s: %s, want %s", c.calls, got.String(), c.times)
			}
		})
	}
}

func TestTheResultAndTheArgumentsMakeTheCall(t *testing.T) {
	var r repeats
	for i, c := range []struct {
		call  repeatable
		times int
		inRow bool
	}{
		{callOf("look", `{"a":1,"b":2}`, "x"), 1, true},
		{callOf("look", `{ "b": 2, "a": 1 }`, "x"), 2, true},
		{callOf("look", `{"a":1,"b":2}`, "y"), 1, true},
		{callOf("look", `{"a":1,"b":2}`, "x"), 1, true},
		{callOf("look", `{"a":1,"b":2}`, "y"), 2, false},
		{callOf("look", `{"a":1,"b":2}`, "y"), 3, false},
	} {
		if times, inRow := r.note(c.call); times != c.times || inRow != c.inRow {
			t.Errorf("call %d: %d %v, want %d %v", i, times, inRow, c.times, c.inRow)
		}
	}
}

func TestATurnIsItsCallsInWhateverOrder(t *testing.T) {
	var r repeats
	for i, c := range []struct {
		calls string
		times int
	}{
		{"ab", 1}, {"ba", 2}, {"aab", 1}, {"baa", 2}, {"ab", 1}, {"c", 1}, {"ab", 1},
	} {
		for _, name := range strings.Split(c.calls, "") {
			r.note(callOf(name, `{}`, "same"))
		}
		if calls, times := r.endTurn(); calls != len(c.calls) || times != c.times {
			t.Errorf("turn %d, %s: %d calls, %d times, want %d", i, c.calls, calls, times, c.times)
		}
	}
}
