package agent

import (
	"context"
	"testing"

	"pi/agent/llm"
)

// Between the end of a run and the word of it another run may begin.
func TestWhoJoinsARunIsToldNothingOfTheOneBefore(t *testing.T) {
	asked, works, goOn := make(chan struct{}), make(chan struct{}), make(chan struct{})
	one := func(ctx context.Context, in *llm.Request, yield func(llm.Delta, error) bool) {
		close(asked)
		say("one")(ctx, in, yield)
	}
	r := newHarness(t, Options{Tools: []Tool{tool("hold", func(context.Context) (Result, error) {
		close(works)
		<-goOn
		return TextResult("held"), nil
	})}}, one, use(call{"1", "hold", "{}"}), say("two"), say("three"))
	first := &waiter{begun: func() {}, done: make(chan struct{})}
	telling, tell := make(chan struct{}), make(chan struct{})
	go first.once.Do(func() {
		close(telling)
		<-tell
		close(first.done)
	})
	<-telling
	ended := make(chan error, 2)
	go func() { ended <- r.Prompt(t.Context(), Prompt{Text: "first", waiter: first}) }()
	<-asked
	if err := r.WaitIdle(t.Context()); err != nil {
		t.Fatal(err)
	}
	go func() { ended <- r.Prompt(t.Context(), Prompt{Text: "second"}) }()
	<-works
	second := &waiter{begun: func() {}, done: make(chan struct{})}
	if joins, err := r.inbox.postToRun(t.Context(), Prompt{Text: "third", waiter: second}, FollowUp); err != nil || !joins {
		t.Fatalf("%v, %v", joins, err)
	}
	close(tell)
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if _, told := second.result(); told || r.Pending() != 1 {
		t.Errorf("told: %v, %d wait", told, r.Pending())
	}
	close(goOn)
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if s, _ := second.result(); s.Outcome != OutcomeCompleted || len(s.Messages) != 6 {
		t.Errorf("%+v", s)
	}
}
