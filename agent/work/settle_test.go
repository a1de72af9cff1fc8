package work

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
)

// begun begins a run that must be able to.
func begun(ctx context.Context, t *testing.T, c *Claim) context.Context {
	t.Helper()
	ctx, err := c.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return ctx
}

func TestWhoIsToldThatARunSettlesMayClaimTheAgent(t *testing.T) {
	var c Claim
	run := begun(t.Context(), t, &c)
	c.Settle(run, func(told context.Context) {
		if !c.IsIdle() {
			t.Error("it does not look idle")
		}
		if _, err := c.Begin(t.Context()); !errors.Is(err, ErrBusy) {
			t.Errorf("somebody else begins: %v", err)
		}
		mine := begun(told, t, &c)
		if _, err := c.Begin(told); !errors.Is(err, ErrBusy) || c.IsIdle() {
			t.Errorf("a second one begins: %v, idle %t", err, c.IsIdle())
		}
		c.End()
		if mine.Err() == nil || run.Err() != nil {
			t.Errorf("ended: %v, the run %v", mine.Err(), run.Err())
		}
		_ = begun(told, t, &c)
		c.End()
	})
	if c.IsIdle() || run.Err() != nil {
		t.Error("the run has ended with that")
	}
	c.End()
	if !c.IsIdle() || run.Err() == nil {
		t.Error("the run has not ended")
	}
}

func TestARunEndsBehindWhatItsEndHasBegun(t *testing.T) {
	for name, stop := range map[string]func(c *Claim, cancel func(), end func()){
		"by itself":       func(_ *Claim, _, end func()) { end() },
		"by an interrupt": func(c *Claim, _, _ func()) { c.Abort() },
		"by its context":  func(_ *Claim, cancel, _ func()) { cancel() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var c Claim
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				run := begun(ctx, t, &c)
				goOn, settled := make(chan struct{}), false
				go func() {
					c.Settle(run, func(told context.Context) {
						mine := begun(told, t, &c)
						go func() { // behind the one that is told
							select {
							case <-goOn:
							case <-mine.Done():
							}
							c.End()
						}()
					})
					settled = true
					c.End()
				}()
				synctest.Wait()
				if settled {
					t.Error("it is not waited for")
				}
				stop(&c, cancel, func() { close(goOn) })
				synctest.Wait()
				if !settled || !c.IsIdle() {
					t.Errorf("settled %t, idle %t", settled, c.IsIdle())
				}
			})
		})
	}
}

// What is begun late, when the run has ended, stands in the way of nobody who sends a prompt.
func TestAPromptWaitsForWhatTheEndOfARunHasBegun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c Claim
		var late context.Context
		c.Settle(begun(t.Context(), t, &c), func(told context.Context) { late = told })
		c.End()
		_ = begun(late, t, &c)
		gone, cancel := context.WithCancel(t.Context())
		next, ended := make(chan error, 1), make(chan error, 1)
		go func() { _, err := c.BeginNext(t.Context()); next <- err }()
		go func() { _, err := c.BeginNext(gone); ended <- err }()
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("who does not want to wait: %v", err)
		}
		synctest.Wait()
		if _, err := c.Begin(t.Context()); !errors.Is(err, ErrBusy) || len(next) > 0 {
			t.Errorf("what is no prompt waits, too: %v", err)
		}
		c.End()
		if err := <-next; err != nil {
			t.Error(err)
		}
		if _, err := c.BeginNext(t.Context()); !errors.Is(err, ErrBusy) {
			t.Errorf("a prompt waits for another one: %v", err)
		}
		c.End()
		if _, err := c.Begin(late); err != nil { // a run of before
			t.Error(err)
		}
		c.End()
	})
}
