package agent

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pi/agent/llm"
	"pi/session"
	"pi/session/message"
)

var patient = Settings{Retry: RetrySettings{MaxAttempts: 3, BaseDelay: 2 * time.Second, MaxDelay: time.Minute}}

func overloaded() *llm.ProviderError {
	return &llm.ProviderError{Provider: "acme", Status: 529, Type: "overloaded_error", Message: "Overloaded", Retryable: true}
}

// cut is an answer that breaks off with err after some deltas.
func cutBy(err error, ds ...llm.Delta) reply {
	return func(_ context.Context, _ *llm.Request, yield func(llm.Delta, error) bool) {
		for _, d := range ds {
			if !yield(d, nil) {
				return
			}
		}
		yield(llm.Delta{}, err)
	}
}

// retries writes down what is told about further attempts.
type retries struct {
	starts []AutoRetryStart
	ends   []AutoRetryEnd
	other  []string
}

func (*retries) Wants(Kind) bool { return true }
func (l *retries) Handle(_ context.Context, e Event) error {
	switch e := e.(type) {
	case *AutoRetryStart:
		l.starts = append(l.starts, *e)
	case *AutoRetryEnd:
		l.ends = append(l.ends, *e)
	}
	switch k := e.Kind(); k {
	case KindTurnStart, KindTurnEnd, KindContext, KindMessageStart, KindMessageEnd, KindAutoRetryStart, KindAutoRetryWaited, KindAutoRetryEnd, KindToolExecutionStart:
		l.other = append(l.other, k.String())
	}
	return nil
}

func TestThreeFailuresAndAnAnswerAreOneAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &retries{}
		settings := patient
		settings.MaxTurns = 1
		r := newHarness(t, Options{Settings: settings, Listeners: []Listener{l}}, fail(overloaded()), fail(overloaded()), fail(overloaded()), say("hi"))
		began := time.Now()
		r.prompt("go")
		r.wantTalk("user: go", "assistant: hi")
		if took := time.Since(began); took < 8*14*time.Second/10 || took > 12*14*time.Second/10 {
			t.Errorf("it took %s, want about 2+4+8 s", took)
		}
		for i, s := range l.starts {
			if s.Attempt != i+1 || s.MaxAttempts != 3 || s.ErrorMessage != "acme: HTTP 529 overloaded_error: Overloaded" {
				t.Errorf("start %d: %+v", i, s)
			}
			if base := 2000 << i; s.DelayMS < base*8/10 || s.DelayMS > base*12/10 {
				t.Errorf("delay %d is %d ms, want about %d", i, s.DelayMS, base)
			}
		}
		if len(l.starts) != 3 || !slices.Equal(l.ends, []AutoRetryEnd{{Success: true, Attempt: 3}}) {
			t.Errorf("%d starts, ends %+v", len(l.starts), l.ends)
		}
		want := "turn_start context" + strings.Repeat(" auto_retry_start auto_retry_waited", 3) + " message_start message_end auto_retry_end turn_end"
		if got := strings.Join(l.other, " "); got != want {
			t.Errorf("events %s\nwant   %s", got, want)
		}
		first := r.model.requests[0]
		for i, q := range r.model.requests {
			if !reflect.DeepEqual(q.Messages, first.Messages) || q.System != first.System || !reflect.DeepEqual(q.Tools, first.Tools) {
				t.Errorf("request %d is not the first", i)
			}
		}
	})
}

func TestFourFailuresAreOneError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &retries{}
		r := newHarness(t, Options{Settings: patient, Listeners: []Listener{l}},
			cutBy(overloaded(), text("one")), cutBy(overloaded(), text("two")), fail(overloaded()), cutBy(overloaded(), text("four")), say("never"))
		err := r.Prompt(t.Context(), Prompt{Text: "go"})
		var failed *llm.ProviderError
		if !errors.As(err, &failed) || failed.Status != 529 || err.Error() != "acme: HTTP 529 overloaded_error: Overloaded (tried 4 times)" {
			t.Errorf("error %v", err)
		}
		r.wantTalk("user: go", "assistant: four [error: "+err.Error()+"]")
		if !slices.Equal(l.ends, []AutoRetryEnd{{Attempt: 3, FinalError: err.Error()}}) {
			t.Errorf("ends %+v", l.ends)
		}
		if n := len(r.Session().Entries()); n != 4 {
			t.Errorf("%d entries, want model, thinking level, prompt and answer: %s", n, r.file())
		}
		r.wantGoesOn()
	})
}

func TestWhatACutAttemptUsedIsKeptAndNothingElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ran := 0
		count := tool("look", func(context.Context) (Result, error) { ran++; return TextResult("seen"), nil })
		used := func(in, out int) llm.Delta {
			return llm.Delta{Kind: llm.DeltaUsage, Usage: &message.Usage{Input: in, Output: out, TotalTokens: in + out}}
		}
		cut := cutBy(overloaded(), append([]llm.Delta{used(7, 1), text("Hello wor")}, callDeltas(call{"a", "look", `{}`})...)...)
		var end *AgentEnd
		l := &retries{}
		r := newHarness(t, Options{Settings: patient, Tools: []Tool{count}, Listeners: []Listener{l, on(func(e *AgentEnd) { end = e })}},
			cut, deltas(append(append([]llm.Delta{text("Hello world"), used(9, 4)}, callDeltas(call{"b", "look", `{}`})...), stop(message.StopToolUse))...), say("done"))
		r.prompt("go")
		r.wantTalk("user: go", "assistant: Hello world b=look{}", "toolResult b: seen", "assistant: done")
		if ran != 1 {
			t.Errorf("the tool ran %d times", ran)
		}
		if total := r.Totals(); total.Input != 16 || total.Output != 5 || total.TotalTokens != 21 {
			t.Errorf("totals %+v", total.Usage)
		}
		if end.Usage.Input != 16 || end.WillRetry {
			t.Errorf("end %+v", end)
		}
		starts := strings.Count(strings.Join(l.other, " "), "message_start")
		ends := strings.Count(strings.Join(l.other, " "), "message_end")
		if starts < ends+1 {
			t.Errorf("%d starts, %d ends: %v", starts, ends, l.other)
		}
		var kept []*session.UsageEntry
		for _, e := range r.Session().Entries() {
			if e.Type == session.TypeUsage {
				body, err := session.Body[session.UsageEntry](e)
				if err != nil {
					t.Fatal(err)
				}
				kept = append(kept, body)
			}
		}
		if len(kept) != 1 || kept[0].Kind != "retry" || kept[0].Provider != "acme" || kept[0].Model != "one" || kept[0].Usage.Input != 7 {
			t.Errorf("kept %+v", kept)
		}
		if r.Meter().PrefixBreak() != nil {
			t.Errorf("the request that is sent again breaks the prefix: %v", r.Meter().PrefixBreak())
		}
	})
}

func TestOnlyWhatMayPassIsTriedAgain(t *testing.T) {
	long := overloaded()
	long.RetryAfter = 5 * time.Minute
	for _, c := range []struct {
		name  string
		reply reply
		want  string
	}{
		{"a bad request", fail(&llm.ProviderError{Provider: "acme", Status: 400, Message: "no"}), "acme: HTTP 400: no"},
		{"too much", fail(&llm.ProviderError{Provider: "acme", Status: 429, Message: "too long", Retryable: true, Overflow: true}), "acme: HTTP 429: too long"},
		{"a refusal", deltas(llm.Delta{Kind: llm.DeltaStop, Stop: llm.Stop{Reason: llm.StopRefusal, Message: "I will not"}}), "acme: I will not"},
		{"any other error", fail(errors.New("what")), "acme: what"},
		{"a crash", func(context.Context, *llm.Request, func(llm.Delta, error) bool) { panic("nil map") }, "acme: the client crashed: nil map"},
		{"a longer wait than allowed", fail(long), "acme: HTTP 529 overloaded_error: Overloaded (the server asks to wait 5m)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := &retries{}
				r := newHarness(t, Options{Settings: patient, Listeners: []Listener{l}}, c.reply, say("never"))
				began := time.Now()
				err := r.Prompt(t.Context(), Prompt{Text: "go"})
				if err == nil || err.Error() != c.want {
					t.Errorf("error %v, want %s", err, c.want)
				}
				if time.Since(began) != 0 || len(l.starts)+len(l.ends) > 0 {
					t.Errorf("waited %s, told %+v %+v", time.Since(began), l.starts, l.ends)
				}
				r.wantTalk("user: go", "assistant [error: "+c.want+"]")
			})
		})
	}
}

func TestTheWaitIsTheServersWishOrGrowsUpToTheLimit(t *testing.T) {
	for _, c := range []struct {
		name     string
		settings RetrySettings
		wish     time.Duration
		from, to time.Duration // of the third wait
	}{
		{"it doubles", RetrySettings{3, 2 * time.Second, time.Minute}, 0, 6400 * time.Millisecond, 9600 * time.Millisecond},
		{"never above the limit", RetrySettings{3, 20 * time.Second, 30 * time.Second}, 0, 30 * time.Second, 30 * time.Second},
		{"as the server wants", RetrySettings{3, 2 * time.Second, time.Minute}, time.Minute, time.Minute, time.Minute},
		{"shorter, if the server wants", RetrySettings{3, 2 * time.Second, time.Minute}, 100 * time.Millisecond, 100 * time.Millisecond, 100 * time.Millisecond},
		{"no limit", RetrySettings{3, 2 * time.Second, 0}, time.Hour, time.Hour, time.Hour},
		{"at once", RetrySettings{3, 0, time.Minute}, 0, 0, 0},
		{"a base without reason", RetrySettings{3, 1 << 62, 0}, 0, 24 * time.Hour, 24 * time.Hour},
	} {
		a := &asker{settings: newInForce(Settings{Retry: c.settings})}
		for range 100 {
			failed := overloaded()
			failed.RetryAfter = c.wish
			try, delay, again := &tries{asker: a}, time.Duration(0), false
			for range 3 {
				delay, again = try.next(t.Context(), failed)
			}
			if !again || delay < c.from || delay > c.to {
				t.Errorf("%s: %s %v", c.name, delay, again)
			}
			if _, again = try.next(t.Context(), failed); again {
				t.Errorf("%s: a fourth time", c.name)
			}
		}
	}
}

func TestAnInterruptEndsTheWaitAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &retries{}
		var r *harness
		r = newHarness(t, Options{Settings: patient, Listeners: []Listener{l, on(func(*AutoRetryStart) { r.Abort() })}},
			cutBy(overloaded(), llm.Delta{Kind: llm.DeltaUsage, Usage: &message.Usage{Input: 3}}, text("Hello wor")), say("never"))
		began := time.Now()
		if err := r.Prompt(t.Context(), Prompt{Text: "go"}); !errors.Is(err, ErrAborted) {
			t.Errorf("error %v", err)
		}
		if time.Since(began) != 0 {
			t.Errorf("it took %s", time.Since(began))
		}
		r.wantTalk("user: go", "assistant: Hello wor [aborted: interrupted]")
		if !slices.Equal(l.ends, []AutoRetryEnd{{Attempt: 1, FinalError: "interrupted"}}) {
			t.Errorf("ends %+v", l.ends)
		}
		if got := strings.Join(l.other[len(l.other)-5:], " "); got != "auto_retry_start auto_retry_waited message_end auto_retry_end turn_end" {
			t.Errorf("events %s", got)
		}
		if total := r.Totals(); total.Input != 3 {
			t.Errorf("what was used is counted as %+v", total.Usage)
		}
		r.wantGoesOn()
	})
}

func TestAListenersStopIsNotAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &retries{}
		stopIt := on(func(e *MessageUpdate) {
			if strings.Contains(e.Message().Text(), "bad") {
				e.Abort = &Abort{Reason: "bad", By: "h"}
			}
		})
		r := newHarness(t, Options{Settings: patient, Listeners: []Listener{stopIt, l}}, cutBy(overloaded(), text("ba")), cutBy(overloaded(), text("bad")), say("good"))
		r.prompt("go")
		r.wantTalk("user: go", "assistant: bad [aborted: stopped by hook h: bad]", "assistant: good")
		if !slices.Equal(l.ends, []AutoRetryEnd{{Attempt: 1, FinalError: "stopped by a listener"}}) || len(l.starts) != 1 {
			t.Errorf("starts %+v ends %+v", l.starts, l.ends)
		}
	})
}

func TestEachAttemptIsAnswerOfItsOwnToThoseWhoWatchIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var contexts []context.Context
		var seen []string
		watch := listener{KindMessageUpdate: func(ctx context.Context, e Event) error {
			u := e.(*MessageUpdate)
			if len(contexts) == 0 || contexts[len(contexts)-1] != ctx {
				contexts = append(contexts, ctx)
			}
			seen = append(seen, fmt.Sprintf("%d:%s/%v", len(contexts), u.Message().Text(), u.Delta.Kind == llm.DeltaStop))
			return nil
		}}
		r := newHarness(t, Options{Settings: patient, Listeners: []Listener{watch}}, cutBy(overloaded(), text("a"), text("b")), say("abc"))
		r.prompt("go")
		if got := strings.Join(seen, " "); got != "1:a/false 1:ab/false 1:ab/true 2:abc/false 2:abc/true" {
			t.Errorf("updates %s", got)
		}
	})
}

func TestAFallbackThatAHookChoosesGetsTheNextAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r *harness
		choose := on(func(*AutoRetryStart) { r.SetModel(t.Context(), r.Models().Find("acme", "two"), "set") })
		chains := 0
		r = newHarness(t, Options{Settings: patient, Listeners: []Listener{choose, on(func(*Context) { chains++ })}}, fail(overloaded()), say("hi"))
		r.prompt("go")
		if q := r.model.requests; q[0].Model.ID != "one" || q[1].Model.ID != "two" || chains != 2 {
			t.Errorf("%s then %s, %d chains", q[0].Model.ID, q[1].Model.ID, chains)
		}
		if m := r.Session().Context()[1].Message; m.Model != "two" {
			t.Errorf("the answer is by %s", m.Model)
		}
	})
}

func TestCallsOutsideOfTheConversationAreTriedAgainToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &retries{}
		used := llm.Delta{Kind: llm.DeltaUsage, Usage: &message.Usage{Input: 5, TotalTokens: 5}}
		r := newHarness(t, Options{Settings: patient, Listeners: []Listener{l}}, say("hi"),
			cutBy(overloaded(), used, text("half")), deltas(used, text("whole"), stop(message.StopEnd)),
			fail(overloaded()), say("the summary"))
		r.prompt("go")
		m, err := r.Complete(t.Context(), Completion{Messages: r.Session().Context(), By: "h"})
		if err != nil || m.Text() != "whole" || m.Usage.Input != 5 {
			t.Fatalf("%+v, %v", m, err)
		}
		if total := r.Totals(); total.Input != 10 {
			t.Errorf("totals %+v", total.Usage)
		}
		done, err := r.Compact(t.Context(), CompactOptions{})
		if err != nil || done == nil {
			t.Fatalf("compact: %v", err)
		}
		if !slices.Equal(l.ends, []AutoRetryEnd{{true, 1, "", true}, {true, 1, "", true}}) || len(l.starts) != 2 {
			t.Errorf("starts %+v ends %+v", l.starts, l.ends)
		}
	})
}

func TestCancellingACompactionEndsItsWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r *harness
		l := &retries{}
		cancel := on(func(*AutoRetryStart) { r.Interrupt().Compaction() })
		r = newHarness(t, Options{Settings: patient, Listeners: []Listener{l, cancel}}, say("hi"), fail(overloaded()))
		r.prompt("go")
		if _, err := r.Compact(t.Context(), CompactOptions{}); !errors.Is(err, ErrAborted) {
			t.Errorf("error %v", err)
		}
		if !slices.Equal(l.ends, []AutoRetryEnd{{false, 1, "interrupted", true}}) {
			t.Errorf("ends %+v", l.ends)
		}
	})
}

// A hook that asks a model because one does not answer must not make that worse.
func TestWhatIsAskedWhileARetryIsToldTellsOfNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r *harness
		told := 0
		ask := listener{KindAutoRetryStart: func(ctx context.Context, _ Event) error {
			told++
			_, err := r.Complete(ctx, Completion{Messages: r.Session().Context(), By: "h"})
			return err
		}}
		r = newHarness(t, Options{Settings: patient, Listeners: []Listener{ask}}, fail(overloaded()), fail(overloaded()), say("aside"), say("hi"))
		r.prompt("go")
		r.wantTalk("user: go", "assistant: hi")
		if told != 1 {
			t.Errorf("told %d times", told)
		}
	})
}

func TestThePromptIsInTheFileBeforeTheWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r *harness
		file := ""
		r = newHarness(t, Options{Settings: patient, Listeners: []Listener{on(func(*AutoRetryStart) { file = r.file() })}}, fail(overloaded()), say("hi"))
		r.prompt("remember me")
		if !strings.Contains(file, "remember me") || strings.Contains(file, "HTTP 529") {
			t.Errorf("during the wait the file holds %s", file)
		}
	})
}

func TestWaitsAreSaidInWholeSeconds(t *testing.T) {
	e := &AutoRetryStart{Attempt: 1, MaxAttempts: 3, ErrorMessage: "acme: HTTP 529"}
	for left, want := range map[time.Duration]string{
		0: "retry 1/3 in 1 s: acme: HTTP 529", time.Second: "retry 1/3 in 1 s: acme: HTTP 529", 1001 * time.Millisecond: "retry 1/3 in 2 s: acme: HTTP 529",
	} {
		if got := e.Text(left); got != want {
			t.Errorf("%s: %s", left, got)
		}
	}
}

func TestALostConnectionIsNotTrustedWithTheNextAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lost := &llm.ProviderError{Provider: "acme", Message: "reset", Retryable: true, Err: errors.New("reset")}
		var fresh []bool
		noting := func(then reply) reply {
			return func(ctx context.Context, q *llm.Request, yield func(llm.Delta, error) bool) {
				fresh = append(fresh, q.Fresh)
				then(ctx, q, yield)
			}
		}
		r := newHarness(t, Options{Settings: patient}, noting(fail(overloaded())), noting(fail(lost)), noting(fail(overloaded())), noting(say("hi")),
			noting(fail(lost)), noting(say("aside")))
		r.prompt("go")
		if _, err := r.Complete(t.Context(), Completion{Messages: r.Session().Context()}); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(fresh, []bool{false, false, true, false, false, true}) {
			t.Errorf("%v", fresh)
		}
	})
}

func TestASteeringMessageWaitsForTheAnswerThatIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r *harness
		steer := on(func(*AutoRetryStart) {
			if ok, err := r.Enqueue(t.Context(), Prompt{Text: "and this"}, Steer); err != nil || !ok {
				t.Errorf("%v, %v", ok, err)
			}
		})
		r = newHarness(t, Options{Settings: patient, Listeners: []Listener{steer}}, fail(overloaded()), say("first"), say("second"))
		r.prompt("go")
		r.wantTalk("user: go", "assistant: first", "user: and this", "assistant: second")
		if q := r.model.requests; !reflect.DeepEqual(q[0].Messages, q[1].Messages) {
			t.Error("the second try is another request")
		}
	})
}

func TestNoFurtherTryIsMadeOnceTheSessionHasCostItsLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &retries{}
		settings := patient
		settings.MaxCost = 1
		dear := llm.Delta{Kind: llm.DeltaUsage, Usage: &message.Usage{Input: 1, Cost: message.Cost{Input: 2, Total: 2}}}
		r := newHarness(t, Options{Settings: settings, Listeners: []Listener{l}}, cutBy(overloaded(), dear, text("half")), say("never"))
		began := time.Now()
		var limit *LimitError
		if err := r.Prompt(t.Context(), Prompt{Text: "go"}); !errors.As(err, &limit) || limit.Limit != "max_cost" {
			t.Errorf("error %v", err)
		}
		if time.Since(began) > 0 || len(l.starts)+len(l.ends) > 0 || len(r.model.requests) != 1 {
			t.Errorf("after %s: %+v %+v, %d requests", time.Since(began), l.starts, l.ends, len(r.model.requests))
		}
		if total := r.Totals(); total.Cost.Total != 2 {
			t.Errorf("cost %+v", total.Cost)
		}
	})
}
