package agent

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"

	"pi/agent/llm"
	"pi/session"
	"pi/session/compaction"
	"pi/session/message"
)

// ended listens to the ends of compactions.
func ended(f func(*CompactionEnd)) listener {
	return listener{KindCompactionEnd: func(_ context.Context, e Event) error { f(e.(*CompactionEnd)); return nil }}
}

// compacting are the settings that the program has; with threshold it compacts
// by itself.
func compacting(threshold bool) Options {
	return Options{Settings: Settings{Compaction: CompactionSettings{Enabled: threshold, ReserveTokens: 16384, KeepRecentTokens: 20000}}}
}

// asked is the text of request n, counted from 0.
func (r *harness) asked(n int) string {
	r.t.Helper()
	r.model.mu.Lock()
	defer r.model.mu.Unlock()
	if n >= len(r.model.requests) {
		r.t.Fatalf("there were %d requests", len(r.model.requests))
	}
	var b strings.Builder
	for _, m := range r.model.requests[n].Messages {
		b.WriteString(line(m) + "\n")
	}
	return b.String()
}

func (r *harness) requests() int {
	r.model.mu.Lock()
	defer r.model.mu.Unlock()
	return len(r.model.requests)
}

func TestACompactionPutsASummaryInThePlaceOfTheConversation(t *testing.T) {
	l := &log{}
	o := compacting(true)
	o.Listeners = []Listener{l}
	r := newHarness(t, o, say("four"), deltas(text("they added"), llm.Delta{Kind: llm.DeltaUsage, Usage: &message.Usage{Input: 7, Output: 3}}, stop(message.StopEnd)), say("six"))
	r.prompt("two and two?")
	before := r.Session().Leaf()
	l.kinds = nil
	done, err := r.Compact(t.Context(), CompactOptions{Instructions: "mind the numbers"})
	if err != nil {
		t.Fatal(err)
	}
	if done.Messages != 2 || done.FromHook || done.Before == 0 || done.After == 0 || done.Entry.ParentID != before {
		t.Errorf("done: %+v", done)
	}
	request := r.model.requests[1]
	for _, want := range []string{"two and two?", "four", "The user asks you to mind this: mind the numbers", "## Next steps"} {
		if !strings.Contains(r.asked(1), want) {
			t.Errorf("the model is not told %q:\n%s", want, r.asked(1))
		}
	}
	if request.Thinking != "off" || request.MaxTokens != 8192 || len(request.Tools) != 0 {
		t.Errorf("the request: %+v", request)
	}
	body, err := session.Body[session.Compaction](done.Entry)
	if err != nil || body.Summary != "they added" || body.FromHook || body.Usage.Input != 7 || body.FirstKeptEntryID != done.Entry.ID {
		t.Errorf("the entry: %s", done.Entry.Raw())
	}
	if got := strings.Join(l.kinds, " "); got != "context compaction_start session_before_compact session_compacting session_compact context compaction_end" {
		t.Errorf("events: %s", got)
	}
	if r.Totals().Input != 7 {
		t.Errorf("the summary is counted as %+v", r.Totals().Usage)
	}
	r.prompt("and two more?")
	if sent := r.asked(2); !strings.Contains(sent, "they added") || strings.Contains(sent, "four") {
		t.Errorf("the next request: %s", sent)
	}
	if !strings.Contains(r.file(), "four") {
		t.Error("the answer is gone from the file")
	}
}

func TestWhatCannotBeCompactedCallsNobody(t *testing.T) {
	l := &log{}
	o := compacting(true)
	o.Listeners = []Listener{l}
	r := newHarness(t, o, say("four"), say("a summary"))
	if _, err := r.Compact(t.Context(), CompactOptions{}); !errors.Is(err, compaction.ErrNothingToCompact) {
		t.Errorf("an empty session: %v", err)
	}
	r.prompt("two and two?")
	if _, err := r.Compact(t.Context(), CompactOptions{}); err != nil {
		t.Fatal(err)
	}
	l.kinds = nil
	file := r.file()
	if _, err := r.Compact(t.Context(), CompactOptions{}); !errors.Is(err, compaction.ErrJustCompacted) {
		t.Errorf("once more: %v", err)
	}
	if got := strings.Join(l.kinds, " "); got != "context" || r.requests() != 2 || r.file() != file {
		t.Errorf("events %s, %d requests, the file changed: %v", got, r.requests(), r.file() != file)
	}
}

func TestACompactionThatFailsChangesNothing(t *testing.T) {
	cancel := on(func(e *SessionBeforeCompact) { e.Cancel = true })
	full := deltas(text("never"), stop(llm.StopRefusal))
	for _, c := range []struct {
		name      string
		listeners []Listener
		reply     reply
		want      string
		aborted   bool
	}{
		{"a hook is against it", []Listener{cancel}, nil, "Compaction cancelled by hook", true},
		{"the provider fails", nil, fail(&llm.ProviderError{Provider: "acme", Message: "no power"}), "acme: no power", false},
		{"the model says nothing", nil, say(" \n"), "no summary: the model answered with nothing", false},
		{"the model thinks for too long", nil, deltas(stop(message.StopLength)), "no summary: the model came to the end of its answer", false},
		{"the model calls tools", nil, use(call{"c1", "echo", "{}"}), "no summary: the model called tools", false},
		{"the model refuses", nil, full, "acme: the model ended its answer as refusal", false},
		{"the client crashes", nil, func(context.Context, *llm.Request, func(llm.Delta, error) bool) { panic("oh") }, "the client crashed", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := &log{}
			var failed *SessionCompactFailed
			var end *CompactionEnd
			o := compacting(true)
			o.Listeners = append(c.listeners, l, on(func(e *SessionCompactFailed) { failed = e }), ended(func(e *CompactionEnd) { end = e }))
			r := newHarness(t, o, say("four"), c.reply)
			r.prompt("two and two?")
			file := r.file()
			done, err := r.Compact(t.Context(), CompactOptions{})
			if done != nil || err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %+v, %v", done, err)
			}
			if failed == nil || failed.Reason != "manual" || failed.ErrorMessage != err.Error() || failed.Aborted != c.aborted || failed.FromHook {
				t.Errorf("failed: %+v", failed)
			}
			if end == nil || end.Result != nil || end.ErrorMessage != err.Error() || end.Aborted != c.aborted {
				t.Errorf("end: %+v", end)
			}
			if r.file() != file {
				t.Errorf("the file was\n%s\nand is\n%s", file, r.file())
			}
			r.wantTalk("user: two and two?", "assistant: four")
			r.wantGoesOn()
		})
	}
}

func TestAnInterruptedCompactionChangesNothing(t *testing.T) {
	for name, interrupt := range map[string]func(*harness){
		"abort":  func(r *harness) { r.Abort() },
		"cancel": func(r *harness) { r.Interrupt().Compaction() },
	} {
		t.Run(name, func(t *testing.T) {
			var failed *SessionCompactFailed
			started := make(chan struct{})
			o := compacting(true)
			o.Listeners = []Listener{on(func(e *SessionCompactFailed) { failed = e })}
			r := newHarness(t, o, say("four"), hang(started))
			r.prompt("two and two?")
			file := r.file()
			go func() {
				<-started
				interrupt(r)
			}()
			if _, err := r.Compact(t.Context(), CompactOptions{}); !errors.Is(err, ErrAborted) {
				t.Fatal(err)
			}
			if failed == nil || !failed.Aborted || r.file() != file {
				t.Errorf("failed: %+v; the file: %s", failed, r.file())
			}
			r.wantGoesOn()
		})
	}
}

func TestASummaryThatIsCutOffIsTakenAndSaid(t *testing.T) {
	l := &log{}
	o := compacting(true)
	o.Listeners = []Listener{l}
	r := newHarness(t, o, say("four"), deltas(text("they ad"), stop(message.StopLength)))
	r.prompt("two and two?")
	if _, err := r.Compact(t.Context(), CompactOptions{}); err != nil {
		t.Fatal(err)
	}
	if told := strings.Join(l.notes, ""); !strings.Contains(told, "cut off at 8192 tokens") || !strings.Contains(r.file(), `"summary":"they ad"`) {
		t.Errorf("told %q; the file: %s", told, r.file())
	}
}

func TestASummaryThatFailedIsPaidForAllTheSame(t *testing.T) {
	usage := llm.Delta{Kind: llm.DeltaUsage, Usage: &message.Usage{Input: 7, Output: 3}}
	r := newHarness(t, compacting(true), say("four"), deltas(usage, stop(message.StopEnd)))
	r.prompt("two and two?")
	if _, err := r.Compact(t.Context(), CompactOptions{}); err == nil {
		t.Fatal("no error")
	}
	if r.Totals().Input != 7 || !strings.Contains(r.file(), `"kind":"compaction"`) {
		t.Errorf("used %+v", r.Totals().Usage)
	}
	r.wantTalk("user: two and two?", "assistant: four")
}

func TestWhatASummaryCostsInARunIsPartOfTheRun(t *testing.T) {
	var end *AgentEnd
	usage := func(n int) llm.Delta { return llm.Delta{Kind: llm.DeltaUsage, Usage: &message.Usage{Input: n}} }
	r := full(t, Options{Listeners: []Listener{on(func(e *AgentEnd) { end = e })}}, say("one"),
		deltas(text("the notes"), usage(7), stop(message.StopEnd)), deltas(text("two"), usage(30), stop(message.StopEnd)))
	r.prompt("first")
	r.prompt(strings.Repeat("word ", 100000))
	if end.Usage.Input != 37 || r.Totals().Input != 37 {
		t.Errorf("the run used %d, the session %d", end.Usage.Input, r.Totals().Input)
	}
}

func TestASessionThatIsForReadingIsNotCompacted(t *testing.T) {
	r := newHarness(t, compacting(true), say("four"))
	r.prompt("two and two?")
	read, err := session.Read(r.Session().File())
	if err != nil {
		t.Fatal(err)
	}
	o := compacting(true)
	o.Session = read
	s := newHarness(t, o)
	if _, err := s.Compact(t.Context(), CompactOptions{}); !errors.Is(err, session.ErrReadOnly) || s.requests() != 0 {
		t.Errorf("%v, %d requests", err, s.requests())
	}
}

func TestACompactionIsTakenBackWithAllThatCameAfterIt(t *testing.T) {
	var tree *SessionTree
	o := compacting(true)
	o.Listeners = []Listener{on(func(e *SessionTree) { tree = e })}
	r := newHarness(t, o, say("four"), say("the notes"), say("six"), say("eight"))
	if _, err := r.Uncompact(t.Context()); !errors.Is(err, ErrNotCompacted) {
		t.Errorf("an empty session: %v", err)
	}
	r.prompt("two and two?")
	before := r.talk()
	if _, err := r.Compact(t.Context(), CompactOptions{}); err != nil {
		t.Fatal(err)
	}
	r.prompt("and two more?")
	after := r.talk()
	leaf, lines := r.Session().Leaf(), strings.Count(r.file(), "\n")
	undone, err := r.Uncompact(t.Context())
	if err != nil || undone.Left != 2 || undone.Full || r.talk() != before {
		t.Fatalf("%+v, %v: %s", undone, err, r.talk())
	}
	if tree == nil || tree.OldLeafID != leaf || strings.Count(r.file(), "\n") != lines+1 {
		t.Errorf("told %+v; the file: %s", tree, r.file())
	}
	if _, err := r.Redo(t.Context()); err != nil || r.talk() != after {
		t.Errorf("back: %v, %s", err, r.talk())
	}
	if _, err := r.Uncompact(t.Context()); err != nil {
		t.Error(err)
	}
	r.prompt("and four more?")
	r.wantTalk("user: two and two?", "assistant: four", "user: and four more?", "assistant: eight")
}

// One prompt that is larger than the whole window is summarised all the same, in
// parts that the provider takes.
func TestAMessageLargerThanTheWindowIsSummarisedInFull(t *testing.T) {
	const fits = 10000 // tokens, which nobody knows but the provider
	var summarised strings.Builder
	write := func(_ context.Context, r *llm.Request, yield func(llm.Delta, error) bool) {
		asked := r.Messages[0].Text()
		if compaction.EstimateTokens(r.Messages[0]) > fits {
			yield(llm.Delta{}, &llm.ProviderError{Provider: "acme", Message: "too long", Overflow: true})
			return
		}
		summarised.WriteString(strings.Join(regexp.MustCompile(`word;`).FindAllString(asked, -1), ""))
		_ = yield(text("the summary"), nil) && yield(stop(message.StopEnd), nil)
	}
	replies := []reply{say("a long prompt")}
	for range 100 {
		replies = append(replies, write)
	}
	r := newHarness(t, compacting(false), replies...)
	var long strings.Builder
	for range 40000 {
		long.WriteString("word;")
	}
	r.prompt(long.String())
	if _, err := r.Compact(t.Context(), CompactOptions{}); err != nil {
		t.Fatal(err)
	}
	// A word may lie across the end of a part.
	if n := strings.Count(summarised.String(), "word;"); n < 39950 || n > 40000 {
		t.Errorf("%d of 40000 words were summarised", n)
	}
	r.wantTalk("compactionSummary", "assistant: a long prompt")
}

// A script that answers in place of a server sees the time of each message.
func TestARequestForASummaryHasTheTimeOfNow(t *testing.T) {
	for name, sumUp := range map[string]func(r *harness) error{
		"compaction": func(r *harness) error { _, err := r.Compact(t.Context(), CompactOptions{}); return err },
		"branch": func(r *harness) error {
			_, err := r.Navigate(t.Context(), sentTo(r)[0], NavigateOptions{Summarize: true})
			return err
		},
	} {
		r := newHarness(t, compacting(false), say("hello"), say("a summary"))
		r.prompt("hi")
		if err := sumUp(r); err != nil || len(r.model.requests) != 2 {
			t.Fatalf("%s: %d requests, %v", name, len(r.model.requests), err)
		}
		if at := r.model.requests[1].Messages[0].Timestamp; at != r.now().UnixMilli() {
			t.Errorf("%s: the time of the request is %d", name, at)
		}
	}
}

func TestACompactionInProgressIsInterruptedAndNoOther(t *testing.T) {
	var c compactionState
	if c.Interrupt() {
		t.Error("there is one before it began")
	}
	ctx, end := c.Begin(t.Context())
	if !c.Interrupt() || ctx.Err() == nil || t.Context().Err() != nil {
		t.Error("it goes on")
	}
	if end(); c.Interrupt() {
		t.Error("there is one after it ended")
	}
}
