package agent

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"pi/session/message"
)

func textsOf(messages []queued) (texts []string) {
	for _, m := range messages {
		texts = append(texts, m.Text)
	}
	return texts
}

func TestAnInboxKeepsWhatNoRunLooksAtForTheFrontEnd(t *testing.T) {
	b := newInbox(listening(), newInForce(Settings{FollowUpAll: true}), time.Now)
	if b.enqueue(Prompt{Text: "early"}, Steer) {
		t.Error("a prompt is queued though no run is there")
	}
	b.enter(inRun)
	for i, q := range []Queue{Steer, FollowUp, Steer, FollowUp} {
		b.enqueue(Prompt{Text: fmt.Sprint(i), Source: "interactive"}, q)
	}
	var got []string
	may := func() error { return nil }
	for _, at := range []moment{betweenTurns, stopping, betweenTurns, ending, stopping} {
		messages, q, _ := b.next(at, may)
		got = append(got, fmt.Sprint(q, textsOf(messages)))
	}
	if want := []string{"steer [0]", "steer [2]", "steer []", "follow_up [1 3]", "steer []"}; !slices.Equal(got, want) {
		t.Errorf("delivered %q, want %q", got, want)
	}
	if !b.takes(Prompt{}) {
		t.Error("the queues are closed before the end of the run")
	}
	if _, _, _ = b.next(ending, may); b.takes(Prompt{}) {
		t.Error("the queues are open after the end of the run")
	}
	err := b.postPrompt(t.Context(), Prompt{Text: "late"}, Steer)
	<-b.Submitted()
	if err != nil || b.Pending() != 1 || b.CloseIfEmpty() {
		t.Errorf("%v, %d wait", err, b.Pending())
	}
	for p := range b.TakeSubmitted() {
		if p.Text != "late" || !b.CloseIfEmpty() {
			t.Error(p)
		}
	}
	if err := b.postPrompt(t.Context(), Prompt{Text: "too late"}, Steer); !errors.Is(err, ErrEnded) {
		t.Error(err)
	}
}

func TestAnInboxDropsWhatHooksSentOnceTheyWantTooMuch(t *testing.T) {
	b := newInbox(listening(), newInForce(Settings{MaxContinuations: 1}), time.Now)
	b.enter(inRun)
	hook := Origin{Kind: FromHook, Hook: "loop"}
	for _, p := range []Prompt{{Text: "a", Origin: hook}, {Text: "b"}} {
		if posted, err := b.postToRun(t.Context(), p, Steer); !posted || err != nil {
			t.Fatal(posted, err)
		}
	}
	var limit *LimitError
	if err := b.addRequest(hook); err != nil {
		t.Fatal(err)
	}
	if err := b.addRequest(hook); !errors.As(err, &limit) || b.Pending() != 1 {
		t.Errorf("%v, %d wait", err, b.Pending())
	}
	if err := b.postPrompt(t.Context(), Prompt{Text: "c", Origin: hook}, Steer); !heldBack(err) || b.Pending() != 1 {
		t.Error(err)
	}
	b.resetBrake(Origin{Kind: FromUser})
	if err := b.addRequest(hook); err != nil {
		t.Error(err)
	}
	r := &compactRequest{}
	if !b.putCompact(r) || b.putCompact(&compactRequest{}) || b.takeCompact() != r || b.takeCompact() != nil {
		t.Error("more than one compaction waits")
	}
}

// What is sent while the session is swapped waits for the one that comes, and is not
// dropped with what waited for the other.
func TestWhatIsSentWhileASessionIsLeftIsForTheNext(t *testing.T) {
	b := newInbox(listening(), newInForce(Settings{}), time.Now)
	note := func(text string) Prompt {
		return Prompt{Custom: &message.Message{Role: message.RoleCustom, CustomType: text}}
	}
	if err := b.postForNextPrompt(t.Context(), note("old")); err != nil || !b.putCompact(&compactRequest{}) {
		t.Fatal(err)
	}
	sent := make(chan error)
	request := b.forget(func() {
		go func() { sent <- b.postForNextPrompt(t.Context(), note("new")) }()
	})
	if err := <-sent; err != nil || request == nil || b.takeCompact() != nil {
		t.Errorf("%v, compaction %v", err, request)
	}
	if got := b.takeForPrompt(); len(got) != 1 || got[0].CustomType != "new" {
		t.Errorf("%d messages go with the next prompt", len(got))
	}
}

func TestAnInboxGivesBackWhatPeopleTyped(t *testing.T) {
	b := newInbox(listening(), newInForce(Settings{SteerAll: true}), time.Now)
	b.enter(inRun)
	for _, p := range []Prompt{{Text: "typed", Source: "interactive"}, {Text: "of a hook", Source: "hook"}, {Text: "of a program", Source: "rpc"}} {
		b.enqueue(p, Steer)
	}
	if got := b.TakeQueued(); !slices.Equal(got, []string{"typed", "of a program"}) {
		t.Errorf("given back %q", got)
	}
	if _, _, err := b.next(stopping, func() error { return ErrAborted }); !errors.Is(err, ErrAborted) || b.Pending() != 1 {
		t.Errorf("%v, and %d wait, where nothing may come any more", err, b.Pending())
	}
	if messages, _, _ := b.next(betweenTurns, func() error { return nil }); !slices.Equal(textsOf(messages), []string{"of a hook"}) || b.Pending() != 0 {
		t.Errorf("stays %q", textsOf(messages))
	}
	b.enqueue(Prompt{Text: "rest"}, FollowUp)
	if n := b.close(); n != 1 || b.Pending() != 0 {
		t.Errorf("%d dropped", n)
	}
}

func TestTheNewestQueuedTextIsTakenBackFirst(t *testing.T) {
	b := newInbox(listening(), newInForce(Settings{}), time.Now)
	b.enter(inRun)
	for _, x := range []struct {
		text string
		q    Queue
	}{{"first", Steer}, {"at the end", FollowUp}, {"last", Steer}} {
		b.enqueue(Prompt{Text: x.text, Source: "interactive"}, x.q)
	}
	b.enqueue(Prompt{Text: "of a hook", Source: "hook"}, Steer)
	want := []Waiting{{"first", Steer, true, 1}, {"last", Steer, true, 3}, {"of a hook", Steer, false, 4}, {"at the end", FollowUp, true, 2}}
	if got := b.Queued(); !slices.Equal(got, want) {
		t.Errorf("queued are %v, want %v", got, want)
	}
	for _, want := range []string{"last", "at the end", "first", ""} {
		if got, ok := b.TakeLast(); got != want || ok != (want != "") {
			t.Errorf("took %q, %v, want %q", got, ok, want)
		}
	}
}
