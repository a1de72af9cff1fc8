package agent

import (
	"context"
	"errors"
	"iter"
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
		case a.ended:
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

// admitted takes a message in with take, which holds the lock, if it may come.
func (a *Agent) admitted(ctx context.Context, o Origin, take func() error) error {
	a.mu.Lock()
	notice, err := a.brake.admit(o, a.settings.MaxContinuations, a.now())
	if err == nil {
		err = take()
	}
	a.mu.Unlock()
	if notice != "" {
		a.Notify(context.WithoutCancel(ctx), LevelWarning, notice)
	}
	return err
}

// deferToFrontEnd appends a prompt to those that the front end runs, and wakes it;
// the caller has the lock.
func (a *Agent) deferToFrontEnd(p Prompt) {
	a.submitted = append(a.submitted, p)
	select {
	case a.wake <- struct{}{}:
	default:
	}
}

// Submitted is signalled when a prompt was handed in; the front end then calls
// [Agent.TakeSubmitted] when it is idle.
func (a *Agent) Submitted() <-chan struct{} { return a.wake }

// TakeSubmitted takes the prompts that were handed in one after the other, oldest
// first, until none is left. They are as typed: a command among them runs as a
// command, unless it is [Prompt.Literal].
func (a *Agent) TakeSubmitted() iter.Seq[Prompt] {
	return func(yield func(Prompt) bool) {
		for {
			p, ok := a.nextSubmitted()
			if !ok || !yield(p) {
				return
			}
		}
	}
}

// TakeNoMore refuses from now on what is handed in. It is false, and changes
// nothing, if something waits: the front end runs that first.
func (a *Agent) TakeNoMore() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.submitted) > 0 {
		return false
	}
	a.ended = true
	return true
}

// refuseRest ends the taking of messages, and tells of those for which nobody came.
func (a *Agent) refuseRest(ctx context.Context) {
	a.mu.Lock()
	a.ended = true
	n := len(a.followUp) + len(a.steer)
	for _, p := range a.submitted {
		if !p.compact {
			n++
		}
	}
	a.followUp, a.steer, a.submitted = nil, nil, nil
	a.mu.Unlock()
	if n > 0 {
		a.notifyf(ctx, LevelWarning, "not sent, because the program ends: %d messages of hooks", n)
	}
}

func (a *Agent) nextSubmitted() (p Prompt, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.submitted) == 0 {
		return Prompt{}, false
	}
	p, a.submitted = a.submitted[0], a.submitted[1:]
	return p, true
}
