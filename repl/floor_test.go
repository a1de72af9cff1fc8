package repl

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
)

func TestSecondDialogWaitsForTheFirstAndThePromptForBoth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFloor()
		var order []string
		if err := f.acquireDialog(t.Context()); err != nil {
			t.Fatal(err)
		}
		go func() {
			if f.acquireDialog(t.Context()) == nil {
				order = append(order, "second")
				f.releaseDialog()
			}
		}()
		synctest.Wait()
		go func() {
			if err := f.acquirePrompt(t.Context()); err == nil {
				order = append(order, "prompt")
				f.releasePrompt()
			}
		}()
		synctest.Wait()
		order = append(order, "first")
		f.releaseDialog()
		synctest.Wait()
		if want := []string{"first", "second", "prompt"}; !slices.Equal(order, want) {
			t.Errorf("order %v, want %v", order, want)
		}
	})
}

func TestDialogThatIsNoLongerWantedStopsWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFloor()
		if err := f.acquirePrompt(t.Context()); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var err error
		go func() { err = f.acquireDialog(ctx) }()
		synctest.Wait()
		select {
		case <-f.poke:
		default:
			t.Error("the open prompt was not asked to make room")
		}
		cancel()
		synctest.Wait()
		if !errors.Is(err, context.Canceled) || f.wanted() {
			t.Errorf("error %v, still wanted %v", err, f.wanted())
		}
	})
}

func TestNoticesWaitWhileAPromptIsOpen(t *testing.T) {
	f := newFloor()
	var shown []string
	say := func(text string) { f.notice(func() { shown = append(shown, text) }) }
	say("before")
	if err := f.acquirePrompt(t.Context()); err != nil {
		t.Fatal(err)
	}
	say("one")
	say("two")
	if !slices.Equal(shown, []string{"before"}) || !f.wanted() {
		t.Errorf("shown %v while the prompt is open", shown)
	}
	f.releasePrompt()
	if !slices.Equal(shown, []string{"before", "one", "two"}) {
		t.Errorf("shown %v", shown)
	}
}
