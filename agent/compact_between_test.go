package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"pi/agent/llm"
	"pi/session/message"
)

// moments are the events of a compaction at which listeners may do something.
var moments = []Kind{KindContext, KindCompactionStart, KindAutoCompactionStart, KindSessionBeforeCompact, KindSessionCompacting,
	KindSessionCompact, KindSessionCompactFailed, KindCompactionEnd, KindAutoCompactionEnd}

// instant does something at the first event of a kind after it was armed.
type instant struct {
	kind  Kind
	armed bool
	do    func()
}

func (o *instant) Wants(k Kind) bool { return k == o.kind }
func (o *instant) Handle(context.Context, Event) error {
	if o.armed {
		o.armed = false
		o.do()
	}
	return nil
}

// paired checks that what began in a list of events has ended.
func paired(t *testing.T, kinds []string) {
	t.Helper()
	n := map[string]int{}
	for _, k := range kinds {
		n[k]++
	}
	if n["compaction_start"] != n["compaction_end"] || n["auto_compaction_start"] != n["auto_compaction_end"] ||
		n["session_before_compact"] > n["session_compact"]+n["session_compact_failed"] {
		t.Errorf("not everything has its end: %s", kinds)
	}
}

// compactions of every sort: by hand, over the threshold, of what did not fit.
func everySort(t *testing.T, test func(t *testing.T, r *harness, l *log, arm func(func()), compact func(context.Context) error)) {
	for sort, replies := range map[string][]reply{
		"manual":    {say("one"), say("the notes"), say("later")},
		"threshold": {using(95000, text("one")), say("the notes"), say("two"), say("later")},
		"overflow":  {say("one"), overflow(), say("the notes"), say("two"), say("later")},
	} {
		for _, k := range moments {
			t.Run(fmt.Sprintf("%s/%s", sort, k), func(t *testing.T) {
				o, l := &instant{kind: k}, &log{}
				r := full(t, Options{Listeners: []Listener{o, l}}, replies...)
				r.setCompaction(func(s *CompactionSettings) { s.Enabled = false })
				r.prompt("first")
				r.setCompaction(func(s *CompactionSettings) { s.Enabled = true })
				l.kinds = nil
				arm := func(do func()) { o.armed, o.do = true, do }
				test(t, r, l, arm, func(ctx context.Context) error {
					if sort == "manual" {
						_, err := r.Compact(ctx, CompactOptions{})
						return err
					}
					return r.Prompt(ctx, Prompt{Text: "second"})
				})
				paired(t, l.kinds)
				r.setCompaction(func(s *CompactionSettings) { s.Enabled = false })
				r.wantGoesOn()
			})
		}
	}
}

func TestACompactionMayBeInterruptedAtAnyMoment(t *testing.T) {
	for name, interrupt := range map[string]func(*harness){
		"the run":        func(r *harness) { r.Abort() },
		"the compaction": func(r *harness) { r.Interrupt().Compaction() },
	} {
		t.Run(name, func(t *testing.T) {
			everySort(t, func(t *testing.T, r *harness, l *log, arm func(func()), compact func(context.Context) error) {
				arm(func() { interrupt(r) })
				before := r.talk()
				err := compact(t.Context())
				var tooLong *llm.ProviderError
				if err != nil && !errors.Is(err, ErrAborted) && !errors.As(err, &tooLong) {
					t.Errorf("%v", err)
				}
				told := strings.Count(strings.Join(l.kinds, " ")+" ", "session_compact ")
				if r.compactions() != told {
					t.Errorf("%d compactions were made and %d told", r.compactions(), told)
				}
				if told == 0 && !strings.HasPrefix(r.talk(), before) {
					t.Errorf("the context was\n%s\nand is\n%s", before, r.talk())
				}
			})
		})
	}
}

func TestAMessageThatComesDuringACompactionIsNotLost(t *testing.T) {
	everySort(t, func(t *testing.T, r *harness, _ *log, arm func(func()), compact func(context.Context) error) {
		sent := false
		arm(func() {
			sent = true
			m := &message.Message{Role: message.RoleCustom, CustomType: "note", Content: []message.Block{message.TextBlock("mind the gap")}}
			if err := r.SendCustom(t.Context(), Prompt{Custom: m}, DeliverSteer, false); err != nil {
				t.Error(err)
			}
		})
		if err := compact(t.Context()); err != nil {
			t.Fatal(err)
		}
		asked := ""
		for i := range r.requests() {
			asked += r.asked(i)
		}
		if sent && !strings.Contains(r.talk(), "mind the gap") && !strings.Contains(asked, "mind the gap") {
			t.Errorf("the message is in no context and in no summary: %s", r.talk())
		}
	})
}

func TestARequestIsMadeOfWhatAListenerHasLeftWhenItDoesNotWantACompaction(t *testing.T) {
	var r *harness
	prune := on(func(e *SessionBeforeCompact) {
		if _, err := r.EditContext(t.Context(), e.BranchEntries[e.Messages[0].Index].ID, nil); err != nil {
			t.Error(err)
		}
		e.Cancel = true
	})
	r = full(t, Options{Listeners: []Listener{prune}}, say("one"), say("two"))
	r.prompt("first")
	r.prompt("second " + strings.Repeat("word ", 100000))
	if strings.Contains(r.asked(1), "first") {
		t.Errorf("what was taken out is sent: %.200s", r.asked(1))
	}
}

func TestWhatListenersToACompactionTakeOutIsNotSummarised(t *testing.T) {
	for _, k := range []Kind{KindSessionBeforeCompact, KindSessionCompacting} {
		t.Run(k.String(), func(t *testing.T) {
			var r *harness
			redact := &instant{kind: k, armed: true, do: func() {
				if _, err := r.EditContext(t.Context(), r.Seen()[0].Entry.ID, nil); err != nil {
					t.Error(err)
				}
			}}
			r = newHarness(t, Options{Listeners: []Listener{redact}, Settings: compacting(false).Settings}, say("one"), say("the notes"))
			r.prompt("the secret")
			if _, err := r.Compact(t.Context(), CompactOptions{}); err != nil {
				t.Fatal(err)
			}
			if asked := r.asked(1); strings.Contains(asked, "secret") || !strings.Contains(asked, "one") {
				t.Errorf("asked: %s", asked)
			}
		})
	}
}

func TestNobodyIsAskedForASummaryAfterAnInterrupt(t *testing.T) {
	var r *harness
	r = newHarness(t, Options{Listeners: []Listener{on(func(*SessionCompacting) { r.Abort() })},
		Settings: Settings{Compaction: CompactionSettings{ReserveTokens: 1600, KeepRecentTokens: 2000}},
		Tools:    []Tool{tool("huge", func(context.Context) (Result, error) { return TextResult(strings.Repeat("word ", 10000)), nil })}},
		use(call{"a", "huge", "{}"}), fail(errors.New("no power")))
	if err := r.Prompt(t.Context(), Prompt{Text: "first"}); err == nil {
		t.Fatal("no error")
	}
	file := r.file()
	if _, err := r.Compact(t.Context(), CompactOptions{}); !errors.Is(err, ErrAborted) || r.file() != file || r.requests() != 2 {
		t.Errorf("%v, %d requests; the file changed: %v", err, r.requests(), r.file() != file)
	}
}

func TestAProgramThatEndsDuringACompactionLeavesTheContextAsItWas(t *testing.T) {
	started := make(chan struct{})
	l := &log{}
	r := newHarness(t, Options{Listeners: []Listener{l}, Settings: compacting(false).Settings}, say("one"), hang(started))
	r.prompt("first")
	file, ended := r.file(), make(chan error)
	go func() {
		_, err := r.Compact(context.WithoutCancel(t.Context()), CompactOptions{})
		ended <- err
	}()
	<-started
	if err := r.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if err := <-ended; !errors.Is(err, ErrAborted) || r.file() != file {
		t.Errorf("%v; the file: %s", err, r.file())
	}
	paired(t, l.kinds)
	if !strings.HasSuffix(strings.Join(l.kinds, " "), "session_compact_failed compaction_end session_shutdown") {
		t.Errorf("events: %s", l.kinds)
	}
}

func TestACompactionThatIsAskedForAtTheVeryEndIsRefused(t *testing.T) {
	var r *harness
	var got outcomes
	r = newHarness(t, Options{Listeners: []Listener{on(func(*SessionShutdown) { r.RequestCompact(CompactOptions{}, got.note) })}})
	if err := r.Close(t.Context()); err != nil || strings.Join(got, " ") != "interrupted" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestOfTwoCompactionsAtOnceOneIsRefused(t *testing.T) {
	started, release := make(chan struct{}), make(chan struct{})
	slow := func(_ context.Context, _ *llm.Request, yield func(llm.Delta, error) bool) {
		close(started)
		<-release
		_ = yield(text("the notes"), nil) && yield(stop(message.StopEnd), nil)
	}
	r := newHarness(t, compacting(false), say("one"), slow)
	r.prompt("first")
	ended := make(chan error)
	go func() {
		_, err := r.Compact(t.Context(), CompactOptions{})
		ended <- err
	}()
	<-started
	if _, err := r.Compact(t.Context(), CompactOptions{}); !errors.Is(err, ErrNotIdle) {
		t.Errorf("the second: %v", err)
	}
	var got outcomes
	r.RequestCompact(CompactOptions{}, got.note)
	close(release)
	if err := <-ended; err != nil || r.compactions() != 1 {
		t.Errorf("the first: %v, %d compactions", err, r.compactions())
	}
	for p := range r.Inbox().TakeSubmitted() {
		if err := r.Prompt(t.Context(), p); err != nil {
			t.Error(err)
		}
	}
	if strings.Join(got, " ") != "already compacted" || r.compactions() != 1 {
		t.Errorf("the third: %q", got)
	}
}
