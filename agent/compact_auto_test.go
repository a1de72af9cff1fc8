package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"pi/agent/llm"
	"pi/session"
	"pi/session/message"
)

// using is an answer that counts so many tokens of context.
func using(tokens int, ds ...llm.Delta) reply {
	return deltas(append(ds, llm.Delta{Kind: llm.DeltaUsage, Usage: &message.Usage{Input: tokens}}, stop(message.StopEnd))...)
}

// full is a harness whose model has a window of 100,000 tokens, 10,000 of which are
// to be free.
func full(t *testing.T, o Options, replies ...reply) *harness {
	t.Helper()
	if o.Settings.Compaction == (CompactionSettings{}) {
		o.Settings.Compaction = CompactionSettings{Enabled: true, ReserveTokens: 10000, KeepRecentTokens: 20000}
	}
	r := newHarness(t, o, replies...)
	r.Model().ContextWindow = 100000
	return r
}

func overflow() reply {
	return fail(&llm.ProviderError{Provider: "acme", Status: 400, Message: "too long", Overflow: true, NextStep: "shorter"})
}

// started listens to the beginnings of compactions.
func started(f func(*CompactionStart)) listener {
	return listener{KindCompactionStart: func(_ context.Context, e Event) error { f(e.(*CompactionStart)); return nil }}
}

// compactions counts those in the session file of a harness.
func (r *harness) compactions() int { return strings.Count(r.file(), `"type":"compaction"`) }

func TestAContextOverTheThresholdIsCompacted(t *testing.T) {
	for _, c := range []struct {
		name     string
		tokens   int
		settings CompactionSettings
		want     bool
	}{
		{"above it", 95000, CompactionSettings{Enabled: true, ReserveTokens: 10000, KeepRecentTokens: 20000}, true},
		{"below it", 89000, CompactionSettings{Enabled: true, ReserveTokens: 10000, KeepRecentTokens: 20000}, false},
		{"exactly at it", 90000, CompactionSettings{Enabled: true, ReserveTokens: 10000, KeepRecentTokens: 20000}, false},
		{"just above it", 90001, CompactionSettings{Enabled: true, ReserveTokens: 10000, KeepRecentTokens: 20000}, true},
		{"off", 95000, CompactionSettings{Enabled: false, ReserveTokens: 10000, KeepRecentTokens: 20000}, false},
		{"a window smaller than what is to be free", 50001, CompactionSettings{Enabled: true, ReserveTokens: 400000, KeepRecentTokens: 400000}, true},
		{"at the half of such a window", 50000, CompactionSettings{Enabled: true, ReserveTokens: 400000, KeepRecentTokens: 400000}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := &log{}
			var reasons []string
			o := Options{Listeners: []Listener{l, started(func(e *CompactionStart) { reasons = append(reasons, e.Reason) })}, Settings: Settings{Compaction: c.settings}}
			r := full(t, o, say("one"), using(c.tokens, text("two")), say("the summary"))
			r.prompt("first")
			r.prompt("second")
			if got := r.compactions() == 1; got != c.want || r.requests() != map[bool]int{true: 3, false: 2}[c.want] {
				t.Fatalf("compacted: %v, %d requests", got, r.requests())
			}
			if !c.want {
				return
			}
			tail := "agent_end context compaction_start auto_compaction_start session_before_compact session_compacting session_compact context compaction_end auto_compaction_end agent_settled"
			if got := strings.Join(l.kinds, " "); !strings.HasSuffix(got, tail) {
				t.Errorf("events: %s", got)
			}
			if len(reasons) != 1 || reasons[0] != CompactThreshold {
				t.Errorf("reasons: %q", reasons)
			}
		})
	}
}

func TestWhereNoCompactionHelpsThatIsSaidOnceInARun(t *testing.T) {
	for name, c := range map[string]struct {
		rules int // words in the system prompt, more than a token each
		told  string
	}{
		"the system prompt fills the window": {80000, "the context is still nearly full after the compaction, about 110,"},
		"what is kept is too much":           {66000, "the context is still nearly full after the compaction, about 9"},
	} {
		t.Run(name, func(t *testing.T) {
			var notices []string
			o := Options{Prompt: &SystemPrompt{Replace: strings.Repeat("rule ", c.rules)}, Tools: []Tool{echo("echo")},
				Listeners: []Listener{on(func(e *Notice) { notices = append(notices, e.Text) })}}
			replies := []reply{say("one"), say("the summary")}
			for _, id := range []string{"1", "2", "3"} {
				replies = append(replies, deltas(append(callDeltas(call{id: id, name: "echo", args: fmt.Sprintf(`{"n":%s}`, id)}),
					llm.Delta{Kind: llm.DeltaUsage, Usage: &message.Usage{Input: 100200}}, stop(message.StopToolUse))...))
			}
			r := full(t, o, append(replies, using(100300, text("done")))...)
			r.setCompaction(func(s *CompactionSettings) { s.Enabled = false })
			r.prompt("first")
			r.setCompaction(func(s *CompactionSettings) { s.Enabled = true })
			r.prompt("second " + strings.Repeat("word ", 8000))
			if n := r.compactions(); n != 1 || len(notices) != 1 || !strings.HasPrefix(notices[0], c.told) {
				t.Errorf("%d compactions, notices %q", n, notices)
			}
		})
	}
}

func TestTheThresholdIsCheckedBetweenResultsAndTheNextRequest(t *testing.T) {
	look := deltas(append(callDeltas(call{"a", "look", "{}"}), llm.Delta{Kind: llm.DeltaUsage, Usage: &message.Usage{Input: 95000}}, stop(message.StopToolUse))...)
	o := Options{Tools: []Tool{echo("look")}}
	r := full(t, o, say("one"), look, say("the summary"), say("done"))
	r.prompt("first")
	r.prompt("second")
	sent := r.asked(3)
	if !strings.Contains(sent, "the summary") || strings.Contains(sent, "one") || !strings.HasSuffix(sent, "toolResult a: look{}\n") {
		t.Errorf("the request after the results: %s", sent)
	}
	if r.compactions() != 1 {
		t.Errorf("%d compactions", r.compactions())
	}
	r.wantGoesOn()
}

func TestAPromptThatComesToAFullContextIsKept(t *testing.T) {
	r := full(t, Options{}, say("one"), using(89000, text("two")), say("the summary"), say("three"))
	r.prompt("first")
	r.prompt("second")
	r.prompt("third " + strings.Repeat("word ", 1000))
	if sent := r.asked(3); !strings.Contains(sent, "the summary") || !strings.Contains(sent, "third word") {
		t.Errorf("the request: %s", sent)
	}
	if asked := r.asked(2); strings.Contains(asked, "third word") || !strings.Contains(asked, "first") {
		t.Errorf("the request for the summary: %s", asked)
	}
}

func TestAReplyThatFailsAfterAFullOneBringsACompaction(t *testing.T) {
	var r *harness
	breaks := func(_ context.Context, _ *llm.Request, yield func(llm.Delta, error) bool) {
		r.Model().ContextWindow = 100000 // what was said before is what counts
		yield(llm.Delta{Kind: llm.DeltaUsage, Usage: &message.Usage{Input: 1}}, nil)
		yield(llm.Delta{}, errors.New("no power"))
	}
	r = full(t, Options{}, say("one"), using(95000, text("two")), breaks, say("the summary"))
	r.Model().ContextWindow = 200000
	r.prompt("first")
	r.prompt("second")
	if err := r.Prompt(t.Context(), Prompt{Text: "third"}); err == nil {
		t.Fatal("no error")
	}
	if r.compactions() != 1 || r.requests() != 4 {
		t.Errorf("%d compactions, %d requests: %s", r.compactions(), r.requests(), r.talk())
	}
}

func TestNeverTwoCompactionsThatNobodyAskedForWithoutAGoodAnswerBetween(t *testing.T) {
	big := strings.Repeat("word ", 100000)
	for name, tries := range map[string][]reply{
		"the first succeeds": {say("the summary"), say("never asked for")},
		"the first fails":    {fail(errors.New("no power")), say("never asked for")},
	} {
		t.Run(name, func(t *testing.T) {
			l := &log{}
			r := full(t, Options{Listeners: []Listener{l}}, append([]reply{say("one"), tries[0], fail(errors.New("no"))}, fail(errors.New("no")))...)
			r.prompt("first")
			for range 2 {
				if err := r.Prompt(t.Context(), Prompt{Text: big}); err == nil {
					t.Fatal("no error")
				}
			}
			if n := strings.Count(strings.Join(l.kinds, " "), "auto_compaction_start"); n != 1 || r.requests() != 4 {
				t.Errorf("%d compactions, %d requests", n, r.requests())
			}
		})
	}
}

func TestAfterARestartThereIsNoSecondCompactionEither(t *testing.T) {
	r := full(t, Options{}, say("one"), using(95000, text("two")), say("the summary"))
	r.prompt("first")
	r.prompt("second")
	path := r.Session().File()
	if r.compactions() != 1 || r.Session().Close() != nil {
		t.Fatal("not compacted")
	}
	again, err := session.Open(path, session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := full(t, Options{Session: again}, fail(errors.New("no")))
	if err := s.Prompt(t.Context(), Prompt{Text: strings.Repeat("word ", 100000)}); err == nil || s.requests() != 1 {
		t.Errorf("%v, %d requests", err, s.requests())
	}
}

func TestAThresholdCompactionThatFailsDoesNotEndTheRun(t *testing.T) {
	against := on(func(e *SessionBeforeCompact) { e.Cancel = true })
	for name, c := range map[string]struct {
		listeners []Listener
		replies   []reply
		warned    string
	}{
		"a hook is against it": {[]Listener{against}, nil, ""},
		"the model fails":      {nil, []reply{fail(errors.New("no power"))}, "the context is nearly full and was not compacted: acme: no power"},
	} {
		t.Run(name, func(t *testing.T) {
			l := &log{}
			var end *CompactionEnd
			c.listeners = append(c.listeners, l, ended(func(e *CompactionEnd) { end = e }))
			r := full(t, Options{Listeners: c.listeners}, append(append([]reply{say("one")}, c.replies...), using(1000, text("two")))...)
			r.prompt("first")
			r.prompt(strings.Repeat("word ", 100000))
			if end == nil || end.Result != nil || end.Reason != CompactThreshold || r.compactions() != 0 {
				t.Errorf("end: %+v", end)
			}
			if got := strings.Join(l.notes, "\n"); got != c.warned {
				t.Errorf("told %q", got)
			}
		})
	}
}

func TestTheRunGoesOnWhenTheUserStopsItsCompaction(t *testing.T) {
	started := make(chan struct{})
	r := full(t, Options{Tools: []Tool{echo("look")}}, say("one"), hang(started), use(call{"a", "look", "{}"}), say("two"))
	r.prompt("first")
	go func() {
		<-started
		r.Interrupt().Compaction()
	}()
	r.prompt(strings.Repeat("word ", 100000))
	if r.compactions() != 0 || r.requests() != 4 {
		t.Errorf("%d compactions, %d requests", r.compactions(), r.requests())
	}
}

func TestAnInterruptDuringACompactionEndsTheRun(t *testing.T) {
	started := make(chan struct{})
	r := full(t, Options{}, say("one"), hang(started))
	r.prompt("first")
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-started
		cancel()
	}()
	if err := r.Prompt(ctx, Prompt{Text: strings.Repeat("word ", 100000)}); !errors.Is(err, ErrAborted) || r.requests() != 2 {
		t.Errorf("%v, %d requests", err, r.requests())
	}
	r.setCompaction(func(s *CompactionSettings) { s.Enabled = false })
	r.wantGoesOn()
}

func TestARequestThatDoesNotFitIsSentAgainAfterACompaction(t *testing.T) {
	for _, window := range []int{100000, 0} {
		t.Run(fmt.Sprint(window), func(t *testing.T) {
			l := &log{}
			var before *SessionBeforeCompact
			var end *CompactionEnd
			o := Options{Listeners: []Listener{on(func(e *SessionBeforeCompact) { before = e }), l, ended(func(e *CompactionEnd) { end = e })}}
			r := full(t, o, say("one"), overflow(), say("the summary"), say("two"))
			r.Model().ContextWindow = window
			r.prompt("first")
			r.prompt("second")
			if sent := r.asked(3); sent != "user: This is a summary of the earlier conversation, which is no longer shown in full:\n\n<summary>\nthe summary\n</summary>\nuser: second\n" {
				t.Errorf("sent again: %s", sent)
			}
			if before == nil || before.Reason != CompactOverflow || !before.WillRetry || end == nil || !end.WillRetry || end.Result == nil {
				t.Errorf("before %+v, end %+v", before, end)
			}
			file := r.file()
			if !strings.Contains(file, "acme: HTTP 400: too long") || !strings.Contains(file, `"replacement":null`) {
				t.Errorf("the file: %s", file)
			}
			r.wantTalk("compactionSummary", "user: second", "assistant: two")
			if !strings.HasSuffix(strings.Join(l.kinds, " "), "agent_before_settle agent_end agent_settled") || len(l.notes) > 0 {
				t.Errorf("events %s, told %q", l.kinds, l.notes)
			}
		})
	}
}

func TestARequestThatDoesNotFitIsAnErrorThatSaysWhatToDo(t *testing.T) {
	off := Settings{Compaction: CompactionSettings{Enabled: false, ReserveTokens: 10000, KeepRecentTokens: 20000}}
	against := on(func(e *SessionBeforeCompact) { e.Cancel = true })
	for name, c := range map[string]struct {
		o       Options
		replies []reply
		first   bool // there is a conversation before
	}{
		"twice in a row":       {Options{}, []reply{overflow(), say("the summary"), overflow()}, true},
		"off":                  {Options{Settings: off}, []reply{overflow()}, true},
		"a hook is against it": {Options{Listeners: []Listener{against}}, []reply{overflow()}, true},
		"no summary":           {Options{}, []reply{overflow(), say("")}, true},
		"nothing to summarise": {Options{}, []reply{overflow()}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if c.first {
				c.replies = append([]reply{say("one")}, c.replies...)
			}
			r := full(t, c.o, c.replies...)
			if c.first {
				r.prompt("first")
			}
			err := r.Prompt(t.Context(), Prompt{Text: "second"})
			var failed *llm.ProviderError
			if !errors.As(err, &failed) || !failed.Overflow || !strings.Contains(failed.NextStep, "/compact") || !strings.Contains(failed.NextStep, "/new") {
				t.Errorf("%v", err)
			}
			if r.requests() != len(c.replies) {
				t.Errorf("%d requests", r.requests())
			}
			r.setCompaction(func(s *CompactionSettings) { s.Enabled = false })
			r.wantGoesOn()
		})
	}
}

func TestASummaryLargerThanTheWindowIsMadeInParts(t *testing.T) {
	var replies []reply
	for i := range 12 {
		replies = append(replies, say(fmt.Sprintf("answer %d %s", i, strings.Repeat("word ", 4000))))
	}
	r := full(t, Options{Settings: Settings{Compaction: CompactionSettings{Enabled: false, ReserveTokens: 16384, KeepRecentTokens: 20000}}}, append(replies, say("part one"), say("part two"), say("more"))...)
	for i := range 12 {
		r.prompt(fmt.Sprintf("prompt %d %s", i, strings.Repeat("word ", 4000)))
	}
	r.Model().ContextWindow = 100000
	if _, err := r.Compact(t.Context(), CompactOptions{}); err != nil {
		t.Fatal(err)
	}
	if n := r.requests(); n != 14 {
		t.Fatalf("%d requests", n)
	}
	first, second := r.asked(12), r.asked(13)
	if !strings.Contains(first, "prompt 0") || !strings.Contains(second, "<notes>\npart one\n</notes>") || strings.Contains(second, "prompt 0 ") {
		t.Error("the parts do not follow each other")
	}
	if len(first) > 4*70000 || len(second) > 4*70000 {
		t.Errorf("the parts are %d and %d characters", len(first), len(second))
	}
	if !strings.Contains(r.talk(), "compactionSummary") || !strings.Contains(r.file(), `"summary":"part two"`) {
		t.Errorf("%s", r.talk()[:200])
	}
}

func TestWhoStopsTheCompactionOfARequestThatDoesNotFitIsToldWhy(t *testing.T) {
	started := make(chan struct{})
	r := full(t, Options{}, say("one"), overflow(), hang(started))
	r.prompt("first")
	go func() {
		<-started
		r.Interrupt().Compaction()
	}()
	var failed *llm.ProviderError
	if err := r.Prompt(t.Context(), Prompt{Text: "second"}); !errors.As(err, &failed) || !strings.Contains(failed.NextStep, "/compact") {
		t.Errorf("%v", err)
	}
	r.wantTalk("user: first", "assistant: one", "user: second") // the answer that did not fit is out of it already
	if file := r.file(); !strings.Contains(file, "acme: HTTP 400: too long") {
		t.Errorf("the file: %s", file)
	}
}
