package agent

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestTheTimeOfACallStandsWhileAnyQuestionIsOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []string
		began := time.Now()
		s := newCallScope(t.Context(), "a", func(_ context.Context, runs bool) {
			told = append(told, fmt.Sprint(time.Since(began), " ", runs))
		})
		ctx := s.mark(t.Context())
		AwaitUser(ctx)() // before it runs, which is told to nobody
		s.measure(ctx, func() {
			time.Sleep(time.Second)
			one := AwaitUser(ctx)
			time.Sleep(time.Second)
			two := AwaitUser(ctx)
			time.Sleep(time.Second)
			one()
			time.Sleep(time.Second)
			two()
			time.Sleep(time.Second)
		})
		AwaitUser(ctx)()
		if got, want := strings.Join(told, ", "), "0s true, 1s false, 4s true, 5s false"; got != want || s.took() != 2*time.Second {
			t.Errorf("told %s, took %v; want %s, 2s", got, s.took(), want)
		}
		AwaitUser(context.Background())() // which belongs to no call
	})
}

func TestACallInACallHasItsIDWithANumber(t *testing.T) {
	quiet := func(context.Context, bool) {}
	if id := newCallID(t.Context()); !strings.HasPrefix(id, "call_") || CallID(t.Context()) != "" {
		t.Errorf("outside of all calls one is %q", id)
	}
	ctx := newCallScope(t.Context(), "a", quiet).mark(t.Context())
	inner := newCallScope(ctx, newCallID(ctx), quiet).mark(ctx)
	if got := []string{CallID(inner), newCallID(inner), newCallID(ctx)}; strings.Join(got, " ") != "a/1 a/1/1 a/2" {
		t.Errorf("%q", got)
	}
}
