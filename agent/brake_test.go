package agent

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

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
