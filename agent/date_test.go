package agent

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pi/agent/llm"
	"pi/session"
	"pi/session/message"
)

// calendar is a clock that tests turn.
type calendar struct{ at time.Time }

func newCalendar() *calendar { return &calendar{testTime()} }

func (c *calendar) now() time.Time { return c.at }
func (c *calendar) nextDay()       { c.at = c.at.AddDate(0, 0, 1) }

const (
	changed5 = "custom: The date has changed: it is 2026-03-05 now."
	changed6 = "custom: The date has changed: it is 2026-03-06 now."
)

// wantDate wants the system prompts of all requests so far to have the date of the
// beginning.
func (r *harness) wantDate(date string) {
	r.t.Helper()
	for i, q := range r.model.requests {
		if !strings.Contains(q.System, "Date: "+date+"\n") {
			r.t.Errorf("request %d has not the date %s:\n%s", i+1, date, q.System)
		}
	}
}

func TestTheModelIsToldOnceThatTheDayHasChanged(t *testing.T) {
	day := newCalendar()
	shown := 0
	r := newHarness(t, Options{Now: day.now, Listeners: []Listener{on(func(*CustomShow) { shown++ })}}, say("a"), say("b"), say("c"), say("d"))
	r.prompt("one")
	day.nextDay()
	r.prompt("two")
	r.prompt("three")
	day.nextDay()
	r.prompt("four")
	r.wantTalk("user: one", "assistant: a", "user: two", changed5, "assistant: b", "user: three", "assistant: c", "user: four", changed6, "assistant: d")
	r.wantDate("2026-03-04")
	if shown > 0 {
		t.Error("what the model is told is shown to the person")
	}
	sent := r.model.requests[1].Messages
	if last := sent[len(sent)-1]; last.Role != message.RoleUser || last.Text() != "The date has changed: it is 2026-03-05 now." || sent[len(sent)-2].Text() != "two" {
		t.Errorf("sent: %q", last.Text())
	}
}

func TestAResumedSessionHasTheDateOfItsBeginning(t *testing.T) {
	day := newCalendar()
	first := newHarness(t, Options{Now: day.now}, say("a"))
	first.prompt("one")
	file := first.Session().File()
	resume := func(replies ...reply) *harness {
		t.Helper()
		if err := first.Session().Close(); err != nil {
			t.Fatal(err)
		}
		s, err := session.Open(file, session.Options{Dir: filepath.Dir(file), Now: day.now})
		if err != nil {
			t.Fatal(err)
		}
		first = newHarness(t, Options{Now: day.now, Session: s}, replies...)
		return first
	}
	day.nextDay()
	r := resume(say("b"))
	r.prompt("two")
	r.wantDate("2026-03-04")
	r = resume(say("c"))
	r.prompt("three")
	r.wantTalk("user: one", "assistant: a", "user: two", changed5, "assistant: b", "user: three", "assistant: c")
	r.wantDate("2026-03-04")
}

func TestWhatIsUndoneIsToldAgain(t *testing.T) {
	day := newCalendar()
	r := newHarness(t, Options{Now: day.now}, say("a"), say("b"), say("c"), say("d"), say("e"))
	r.prompt("one")
	day.nextDay()
	r.prompt("two")
	if _, err := r.Undo(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	r.prompt("instead")
	r.wantTalk("user: one", "assistant: a", "user: instead", changed5, "assistant: c")

	// A branch keeps the day of what it has of the other session.
	day.nextDay()
	if err := r.Interrupting().Clone(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.prompt("on")
	r.wantTalk("user: one", "assistant: a", "user: instead", changed5, "assistant: c", "user: on", changed6, "assistant: d")
	r.wantDate("2026-03-04")

	// A new session begins today.
	if err := r.NewSession(t.Context(), NewSessionOptions{}); err != nil {
		t.Fatal(err)
	}
	r.model.requests = r.model.requests[:0]
	r.model.replies = []reply{say("e")}
	r.prompt("new")
	r.wantTalk("user: new", "assistant: e")
	r.wantDate("2026-03-06")
}

func TestWhatACompactionTookAwayIsToldAgain(t *testing.T) {
	day := newCalendar()
	r := newHarness(t, Options{Now: day.now}, say("a"), say("b"), say("c"), say("d"))
	r.prompt("one")
	day.nextDay()
	r.prompt("two")
	if _, err := r.Session().Append(session.TypeCompaction, session.Compaction{Summary: "so far"}); err != nil {
		t.Fatal(err)
	}
	r.conversation.refresh(t.Context())
	r.prompt("three")
	r.prompt("four")
	r.wantTalk("compactionSummary", "user: three", changed5, "assistant: c", "user: four", "assistant: d")
}

func TestQueuedAndSentPromptsSayThatTheDayHasChangedToo(t *testing.T) {
	day := newCalendar()
	var r *harness
	midnight := func(ctx context.Context, q *llm.Request, yield func(llm.Delta, error) bool) {
		day.nextDay()
		for _, text := range []string{"and", "also"} {
			if accepted, err := r.Enqueue(ctx, Prompt{Text: text}, FollowUp); err != nil || !accepted {
				t.Error(err)
			}
		}
		say("a")(ctx, q, yield)
	}
	r = newHarness(t, Options{Now: day.now}, midnight, say("b"), say("c"), say("d"))
	r.prompt("one")
	r.wantTalk("user: one", "assistant: a", "user: and", changed5, "assistant: b", "user: also", "assistant: c")
	day.nextDay()
	by := &message.Message{Role: message.RoleCustom, CustomType: "hook", Content: []message.Block{message.TextBlock("wake up")}}
	if err := r.Prompt(t.Context(), Prompt{Custom: by}); err != nil {
		t.Fatal(err)
	}
	if got := strings.Split(r.talk(), "\n"); !slices.Equal(got[len(got)-3:], []string{"custom: wake up", changed6, "assistant: d"}) {
		t.Errorf("%q", got)
	}
}
