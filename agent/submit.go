package agent

import (
	"context"
	"errors"
)

// Submit hands in a prompt from outside the front end, as if it had been typed.
// While the agent works it is queued as a follow-up. Otherwise, and if it is a
// command, it waits for the front end, which is woken through
// [Agent.Submitted]. A prompt in which nothing stands is dropped. The error says
// why it is not taken: a *[HeldBackError], or ErrEnded.
func (a *Agent) Submit(ctx context.Context, p Prompt) error {
	return a.enqueueOrDefer(ctx, p, FollowUp)
}

// enqueueOrDefer queues a prompt if a run will look at the queues again. Otherwise
// the front end runs it.
func (a *Agent) enqueueOrDefer(ctx context.Context, p Prompt, q Queue) error {
	if p.empty() {
		return nil
	}
	if p.Source == "" {
		p.Source = "hook"
	}
	return a.admitted(ctx, p.Origin, func() error {
		switch {
		case a.closed:
			return ErrEnded
		case a.queueing && !p.isCommand():
			a.put(queued{Prompt: p}, q)
		default:
			a.deferToFrontEnd(p)
		}
		return nil
	})
}

// ErrEnded is told to whoever hands in a message that nobody will look at.
var ErrEnded = errors.New("the program ends, so nothing more is sent")

// admitted has take, which has the lock of the inbox, put a message where it
// belongs, if it may come.
func (a *Agent) admitted(ctx context.Context, o Origin, take func() error) error {
	notice, err := a.post(o, a.settings.MaxContinuations, a.now(), take)
	if notice != "" {
		a.Notify(context.WithoutCancel(ctx), LevelWarning, notice)
	}
	return err
}

// refuseRest ends the taking of messages, and tells of those for which nobody came.
func (a *Agent) refuseRest(ctx context.Context) {
	if n := a.dropAll(); n > 0 {
		a.notifyf(ctx, LevelWarning, "not sent, because the program ends: %d messages of hooks", n)
	}
}
