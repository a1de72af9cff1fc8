package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
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
	b := newInbox(listening(), newInForce(Settings{FollowUpAll: true}), newBrake(nil), time.Now)
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
	b := newInbox(listening(), newInForce(Settings{MaxContinuations: 1}), newBrake(nil), time.Now)
	b.enter(inRun)
	hook := Origin{Kind: FromHook, Hook: "loop"}
	for _, p := range []Prompt{{Text: "a", Origin: hook}, {Text: "b"}} {
		if posted, err := b.postToRun(t.Context(), p, Steer); !posted || err != nil {
			t.Fatal(posted, err)
		}
	}
	if _, _, ok := b.addRequest(hook); !ok {
		t.Fatal("the first is one too many")
	}
	q, stopped, ok := b.addRequest(hook)
	if ok || stopped || b.Pending() != 2 {
		t.Errorf("the second: %t, stopped %t, %d wait", ok, stopped, b.Pending())
	}
	if err := b.stop(hook, q); err.Limit != "max_continuations" || b.Pending() != 1 {
		t.Errorf("%v, %d wait", err, b.Pending())
	}
	if err := b.postPrompt(t.Context(), Prompt{Text: "c", Origin: hook}, Steer); !heldBack(err) || b.Pending() != 1 {
		t.Error(err)
	}
	b.brake.reset(Origin{Kind: FromUser})
	if _, _, ok := b.addRequest(hook); !ok {
		t.Error("nothing is taken in a new count")
	}
	r := &compactRequest{}
	if !b.putCompact(r) || b.putCompact(&compactRequest{}) || b.takeCompact() != r || b.takeCompact() != nil {
		t.Error("more than one compaction waits")
	}
}

// What is sent while the session is swapped waits for the one that comes, and is not
// dropped with what waited for the other.
func TestWhatIsSentWhileASessionIsLeftIsForTheNext(t *testing.T) {
	b := newInbox(listening(), newInForce(Settings{}), newBrake(nil), time.Now)
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
	b := newInbox(listening(), newInForce(Settings{SteerAll: true}), newBrake(nil), time.Now)
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
	b := newInbox(listening(), newInForce(Settings{}), newBrake(nil), time.Now)
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

func heldBack(err error) bool {
	var held *HeldBackError
	return errors.As(err, &held)
}

func byHook(text string) Prompt {
	return Prompt{Text: text, Origin: Origin{Kind: FromHook, Hook: "loop"}}
}

func TestOnceHooksWantedTooMuchNothingOfTheirsIsTakenUntilSomebodySaysSomething(t *testing.T) {
	ctx := t.Context()
	for name, say := range map[string]func(*harness){
		"a prompt":         func(r *harness) { r.prompt("hello") },
		"a command":        func(r *harness) { r.CommandContext(ctx, Prompt{Text: "/tools"}) },
		"a word to a hook": func(r *harness) { r.ResetBrake(Origin{Kind: FromUser}) },
		"what a hook listens to": func(r *harness) {
			_ = r.Submit(ctx, Prompt{Text: "ci", Origin: Origin{Kind: FromOutside, Hook: "web", Source: "port"}})
		},
		"a command of a person's hook": func(r *harness) {
			_ = r.Submit(ctx, Prompt{Text: "part", Origin: Origin{Kind: FromUser, Hook: "batch"}})
		},
	} {
		r := newHarness(t, Options{Settings: Settings{MaxContinuations: 1}}, scriptedAnswers(9)...)
		if err := r.Prompt(ctx, byHook("one")); err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{"two", "three"} {
			if err := r.Submit(ctx, byHook(text)); err != nil {
				t.Fatal(err)
			}
		}
		var limit *LimitError
		for p := range r.Inbox().TakeSubmitted() {
			if err := r.Prompt(ctx, p); !errors.As(err, &limit) || !strings.HasSuffix(err.Error(), "; messages of hooks that waited are dropped: 1") {
				t.Errorf("%s: %s ended with %v", name, p.Text, err)
			}
		}
		_, byCommand := r.CommandContext(ctx, Prompt{Text: "/x", Origin: byHook("").Origin}), r.SendUser(ctx, byHook("four"), DeliverFollowUp)
		if !heldBack(r.Submit(ctx, byHook("four"))) || !heldBack(byCommand) || !heldBack(r.SendCustom(ctx, Prompt{Custom: custom("x"), Origin: byHook("").Origin}, DeliverSteer, false)) {
			t.Errorf("%s: taken though the limit was reached", name)
		}
		say(r)
		if err := r.Submit(ctx, byHook("five")); err != nil {
			t.Errorf("after %s: %v", name, err)
		}
	}
}

func scriptedAnswers(n int) (replies []reply) {
	for range n {
		replies = append(replies, say("a"))
	}
	return replies
}

func TestWhatAUserTypesWhileTheAgentWorksBeginsANewCount(t *testing.T) {
	r := newHarness(t, Options{}, scriptedAnswers(9)...)
	turns := 0
	r.events.all = append(r.events.all, on(func(*TurnEnd) {
		if turns++; turns == 1 {
			if err := r.Submit(t.Context(), byHook("mine")); err != nil {
				t.Error(err)
			}
			if _, err := r.Enqueue(t.Context(), Prompt{Text: "yours", Source: "interactive"}, Steer); err != nil {
				t.Error(err)
			}
		}
	}))
	r.SetSettings(Settings{MaxContinuations: 1})
	r.prompt("go")
	r.wantTalk("user: go", "assistant: a", "user: yours", "assistant: a", "user: mine", "assistant: a")
}

func TestAMessageThatGoesAlongWithARequestIsNotCounted(t *testing.T) {
	r := newHarness(t, Options{Tools: []Tool{echo("t")}}, use(call{"1", "t", `{"n":1}`}), use(call{"2", "t", `{"n":2}`}), say("done"))
	r.events.all = append(r.events.all, on(func(*ToolResult) {
		if err := r.SendUser(t.Context(), byHook("mind"), DeliverSteer); err != nil {
			t.Error(err)
		}
	}))
	r.prompt("go") // hooks may add no request at all
	if n := strings.Count(r.talk(), "user: mind"); n != 2 {
		t.Errorf("%d of 2 messages arrived:\n%s", n, r.talk())
	}
}

func TestASourceThatSendsTooMuchIsPaused(t *testing.T) {
	now := time.Unix(1000, 0)
	var said []string
	r := newHarness(t, Options{Now: func() time.Time { return now }, Listeners: []Listener{on(func(e *Notice) { said = append(said, e.Text) })}})
	send := func(source string) error {
		now = now.Add(time.Second)
		return r.Submit(context.Background(), Prompt{Text: "x", Origin: Origin{Kind: FromOutside, Hook: "ci", Source: source}})
	}
	taken := func(source string) (n int) {
		for send(source) == nil {
			n++
		}
		return n
	}
	const port, file = "http.listen on port 8080", "fs.watch of x"
	if n := taken(port); n != 30 {
		t.Errorf("%d messages were taken", n)
	}
	if err := send(port); !heldBack(err) || !strings.Contains(err.Error(), "is paused") {
		t.Errorf("the hook is told %v", err)
	}
	if len(said) != 1 || said[0] != "hook ci: http.listen on port 8080 sent 30 messages within a minute and is paused until somebody says something, or for a minute" {
		t.Errorf("said %q", said)
	}
	if err := send(file); err != nil {
		t.Errorf("another source: %v", err)
	}
	now = now.Add(time.Minute)
	if n := taken(port); n != 30 || len(said) != 2 {
		t.Errorf("after a minute %d messages were taken, said %q", n, said)
	}
	r.ResetBrake(Origin{Kind: FromUser})
	if n := taken(port); n != 30 {
		t.Errorf("after a word of a person %d messages were taken", n)
	}
	now = now.Add(time.Hour)
	for range 100 { // one in three seconds goes on for days
		now = now.Add(2 * time.Second)
		if err := send(file); err != nil {
			t.Fatal(err)
		}
	}
}
