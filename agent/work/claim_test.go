package work

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
)

func TestOneAtATimeOccupiesTheAgent(t *testing.T) {
	var a Claim
	ctx, err := a.Begin(t.Context())
	if err != nil || a.IsIdle() {
		t.Fatal("nobody has it", err)
	}
	if _, err := a.Begin(t.Context()); !errors.Is(err, ErrBusy) {
		t.Errorf("a second one begins: %v", err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := a.WaitIdle(gone); !errors.Is(err, context.Canceled) {
		t.Errorf("who does not want to wait waits: %v", err)
	}
	a.Abort()
	if ctx.Err() == nil {
		t.Error("it is not interrupted")
	}
	waited := make(chan error)
	go func() { waited <- a.WaitIdle(t.Context()) }()
	a.End()
	if err := <-waited; err != nil || !a.IsIdle() {
		t.Errorf("idle %t, %v", a.IsIdle(), err)
	}
	a.Abort() // nobody
	if _, err := a.Begin(t.Context()); err != nil {
		t.Error(err)
	}
	a.End()
}

func TestWhatIsLeftToDoIsDoneBetweenRuns(t *testing.T) {
	var c Claim
	var done []string
	do := func(what string) { c.AfterRun(func() { done = append(done, what) }) }
	do("idle")
	if _, err := c.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	do("first")
	do("second")
	if want := []string{"idle"}; !slices.Equal(done, want) {
		t.Errorf("in a run %q", done)
	}
	c.DoLate()
	c.AfterRun(func() { do("of the third") })
	c.End()
	if want := []string{"idle", "first", "second", "of the third"}; !slices.Equal(done, want) {
		t.Errorf("done %q", done)
	}
}

func TestNoRunBeginsWhileSomethingIsDoneBetweenTwo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c Claim
		goOn, begun := make(chan struct{}), make(chan error, 1)
		go c.AfterRun(func() {
			if !c.IsIdle() {
				t.Error("it looks as if a run were in progress")
			}
			<-goOn
		})
		synctest.Wait()
		go func() {
			_, err := c.Begin(t.Context())
			begun <- err
		}()
		synctest.Wait()
		if len(begun) > 0 {
			t.Error("a run has begun meanwhile")
		}
		close(goOn)
		if err := <-begun; err != nil {
			t.Error(err)
		}
		c.End()
	})
}

func TestARunIsInterruptedForAnother(t *testing.T) {
	var c Claim
	first, err := c.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Interrupt(gone); !errors.Is(err, context.Canceled) || first.Err() == nil {
		t.Errorf("who does not want to wait waits: %v", err)
	}
	go c.End()
	second, err := c.Interrupt(t.Context())
	if err != nil || second.Err() != nil {
		t.Errorf("%v, %v", err, second.Err())
	}
	c.End()
}

func TestAGroupIsInterruptedAndWaitedFor(t *testing.T) {
	var g Group
	one, endOne, err := g.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	two, endTwo, _ := g.Begin(t.Context())
	endTwo()
	if g.Abort(); one.Err() == nil || two.Err() == nil {
		t.Error("somebody goes on")
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := g.Stop(gone); !errors.Is(err, context.Canceled) {
		t.Errorf("who does not want to wait waits: %v", err)
	}
	go endOne()
	if err := g.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	if err := g.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if _, _, err := g.Begin(t.Context()); !errors.Is(err, ErrClosed) {
		t.Errorf("after the end: %v", err)
	}
}
