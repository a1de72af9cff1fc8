package agent

import (
	"context"
	"errors"
	"fmt"
	"time"

	"pi/agent/llm"
	"pi/agent/work"
	"pi/session"
	"pi/session/message"
)

// A model call that failed for a reason that may pass is made again, in the
// conversation and outside of it. Of an attempt that is followed by another one no
// message is stored, no call runs, and no message_end comes. Only its usage is
// recorded, as a usage entry of the kind "retry".

// RetrySettings are those of the configuration.
type RetrySettings struct {
	MaxAttempts int           // further ones after the first; 0: none
	BaseDelay   time.Duration // before the first of them; it doubles each time
	MaxDelay    time.Duration // the longest; 0: no limit
}

// tries are the attempts of one model call.
type tries struct {
	asker   *asker
	outside bool                         // the call is none of the conversation
	watch   func() func() error          // called before a wait, and what it returns after it; may be nil
	failed  func(error) *message.Message // what came of the attempt; nil outside of the conversation
	further int                          // so far, without the first
	told    bool                         // the listeners know that there are further ones
	lost    bool                         // the last attempt got no answer: its connection may be dead
}

// repeat calls ask until it succeeds or no further attempt is made, waits between the
// attempts, and records what failed ones used. ask returns the model it asked and what
// came of the answer, also with an error.
func (t *tries) repeat(ctx context.Context, ask func() (*llm.Model, *llm.Assembly, error)) error {
	for {
		model, answer, err := ask()
		delay, again := t.next(ctx, err)
		if !again {
			return t.final(ctx, err)
		}
		var failed *message.Message
		if t.failed != nil {
			failed = t.failed(err)
		}
		t.asker.spending.record(ctx, session.UsageEntry{Kind: "retry", Provider: model.Provider, Model: model.ID, Usage: answer.TakeUsage()})
		if err := t.asker.spending.checkLimit(ctx, model); err != nil {
			return err
		}
		waited := func() error { return nil }
		if t.watch != nil {
			waited = t.watch()
		}
		if why := t.wait(ctx, delay, err, failed); why != nil {
			return why
		}
		if err := waited(); err != nil {
			return err
		}
	}
}

// next reports whether a call that failed with err is made again, and after which delay.
// It counts the attempts.
func (t *tries) next(ctx context.Context, err error) (delay time.Duration, again bool) {
	failed := transient(err)
	if ctx.Err() != nil || failed == nil || t.further >= t.asker.settings.get().Retry.MaxAttempts || t.tooLong(failed) {
		return 0, false
	}
	t.further++
	t.lost = failed.Status == 0 && failed.Err != nil
	if failed.RetryAfter > 0 { // the server knows best
		return failed.RetryAfter, true
	}
	is := t.asker.settings.get().Retry
	return work.Backoff(t.further, is.BaseDelay, is.MaxDelay), true
}

// transient returns the failure of the provider if it may not happen the next time;
// nil for any other error.
func transient(err error) *llm.ProviderError {
	var failed *llm.ProviderError
	if errors.As(err, &failed) && failed.Retryable && !failed.Overflow {
		return failed
	}
	return nil
}

// tooLong reports whether the server asks for a longer wait than the settings allow.
func (t *tries) tooLong(failed *llm.ProviderError) bool {
	most := t.asker.settings.get().Retry.MaxDelay
	return most > 0 && failed.RetryAfter > most
}

// wait blocks for delay, and emits the beginning and the end of that. If ctx has ended
// meanwhile, it returns err, the failure of the last attempt, and retryCancelled if
// somebody has ended the wait alone.
func (t *tries) wait(ctx context.Context, delay time.Duration, err error, failed *message.Message) error {
	waiting := ctx
	if !t.outside {
		var stop func()
		waiting, stop = t.asker.waiting.Begin(ctx)
		defer stop()
	}
	t.told = true
	t.emitRetry(ctx, KindAutoRetryStart, func() Event {
		return &AutoRetryStart{Attempt: t.further, MaxAttempts: t.asker.settings.get().Retry.MaxAttempts,
			DelayMS: int(delay.Milliseconds()), ErrorMessage: err.Error(), Aside: t.outside, Failed: failed}
	})
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-waiting.Done():
	}
	cancelled := waiting.Err() != nil
	t.emitRetry(ctx, KindAutoRetryWaited, func() Event { return &AutoRetryWaited{t.outside, cancelled} })
	switch {
	case ctx.Err() != nil:
		return err
	case cancelled:
		return retryCancelled{}
	}
	return nil
}

// retryCancelled is the error of a call that nobody wants made again.
type retryCancelled struct{}

func (retryCancelled) Error() string { return "Retry cancelled" }
func (retryCancelled) Unwrap() error { return ErrAborted }

// emitEnd emits how a call ended that had further attempts; nothing for a call without
// any.
func (t *tries) emitEnd(ctx context.Context, err error) {
	if !t.told {
		return
	}
	e := &AutoRetryEnd{Success: err == nil, Attempt: t.further, Aside: t.outside}
	switch {
	case ctx.Err() != nil:
		e.Success, e.FinalError = false, ErrAborted.Error()
	case err != nil:
		e.FinalError = err.Error()
	}
	t.emitRetry(ctx, e.Kind(), func() Event { return e })
}

// emitRetry emits an event, but not about calls that listeners make while they handle
// a request or such an event: that could have no end.
func (t *tries) emitRetry(ctx context.Context, k Kind, build func() Event) {
	if ctx.Value(wireKey{}) == nil {
		t.asker.events.emitAfter(onWire(ctx), k, build)
	}
}

// final returns the error of a call that is not made again, with a word on how often it
// was tried, or how long the server asks to wait.
func (t *tries) final(ctx context.Context, err error) error {
	failed := transient(err)
	if failed == nil || ctx.Err() != nil || t.asker.settings.get().Retry.MaxAttempts == 0 {
		return err
	}
	with := *failed
	if t.tooLong(failed) {
		asked := llm.ShortTime(failed.RetryAfter.Round(time.Second))
		with.Message = withNote(failed.Message, fmt.Sprintf("the server asks to wait %s", asked))
		with.NextStep = fmt.Sprintf("ask again in %s; retry.max_delay in config.toml (now %s) says how long pi waits by itself", asked, llm.ShortTime(t.asker.settings.get().Retry.MaxDelay))
		return &with
	}
	with.Message = withNote(failed.Message, fmt.Sprintf("tried %d times", t.further+1))
	return &with
}

// withNote adds a note in brackets to a message, which may be empty.
func withNote(message, more string) string {
	if message == "" {
		return more
	}
	return message + " (" + more + ")"
}
