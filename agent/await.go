package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"pi/session"
	"pi/session/message"
)

// A command of a hook may hand in a prompt and wait for what becomes of it. The front end
// works on the prompt as on any other, on the goroutine of the command; where a run is in
// progress already, the prompt waits in its queue, and the command for its end. Either way
// the command has neither the agent nor a lock meanwhile.

// Outcome is what became of a prompt.
type Outcome string

const (
	OutcomeCompleted Outcome = "completed" // the model had nothing more to do
	OutcomeAborted   Outcome = "aborted"
	OutcomeError     Outcome = "error"
	OutcomeLimit     Outcome = "limit"
	OutcomeHandled   Outcome = "handled" // a listener took it, and the model was not asked
)

// Settled is how the run ended that a prompt became part of.
type Settled struct {
	Outcome  Outcome
	Messages []*message.Message // those that the run has added to the session
	Err      error              // why it ended like that; nil if it completed, or was handled
}

// settledWith is how a prompt ended with an error; nil is none.
func settledWith(err error) Settled {
	var limit *LimitError
	var held *HeldBackError
	switch {
	case err == nil, isSaveError(err):
		return Settled{Outcome: OutcomeCompleted}
	case errors.Is(err, ErrAborted):
		return Settled{Outcome: OutcomeAborted, Err: err}
	case errors.As(err, &limit), errors.As(err, &held):
		return Settled{Outcome: OutcomeLimit, Err: err}
	}
	return Settled{Outcome: OutcomeError, Err: err}
}

// errSessionLeft is the error of who waited for a prompt in a session that is not the current
// one any more.
var errSessionLeft = errors.New("the session was left meanwhile")

// Prompter is how a front end works on the prompts of a command that waits for them.
type Prompter struct {
	// Prompt has the agent work on a prompt and shows that, as for any other, but it shows
	// nothing of the error ErrBusy. It returns how the work ended, as far as that is known.
	Prompt func(ctx context.Context, p Prompt) error
	// Joins is called when the command waits for a run that is not its own, and what it
	// returns when it does not any more. It may be nil.
	Joins func() (left func())
}

type prompterKey struct{}

// WithPrompter returns the context of a command whose prompts p works on.
func WithPrompter(ctx context.Context, p Prompter) context.Context {
	return context.WithValue(ctx, prompterKey{}, p)
}

const (
	mostWaiting = 16 // commands that wait for a prompt
	mostPrompts = 4  // that are waited for inside of each other
)

// promptDepthKey is in the context of a prompt that a command waits for: how many there are
// around it, with it.
type promptDepthKey struct{}

// Await hands in a prompt for a command, which ctx is of, and returns when the run that it
// became part of has settled. While another run is in progress it is a follow-up of that;
// else it is a run of its own, behind those that wait already. The error says why nothing is
// known of it: it was refused, the session was left meanwhile, or ctx has ended (ErrAborted),
// which also ends a run of its own.
func (a *Agent) Await(ctx context.Context, p Prompt) (Settled, error) {
	by, ok := ctx.Value(prompterKey{}).(Prompter)
	depth, _ := ctx.Value(promptDepthKey{}).(int)
	switch {
	case !ok:
		return Settled{}, errors.New("nobody works on prompts here")
	case p.isEmpty():
		return Settled{}, ErrEmptyPrompt
	case depth >= mostPrompts:
		return Settled{}, fmt.Errorf("%d commands wait for a prompt inside of each other already", mostPrompts)
	case a.awaiting.count.Add(1) > mostWaiting:
		a.awaiting.count.Add(-1)
		return Settled{}, fmt.Errorf("%d commands wait for a prompt already", mostWaiting)
	}
	defer a.awaiting.count.Add(-1)
	ctx = context.WithValue(ctx, promptDepthKey{}, depth+1)
	ctx = context.WithValue(ctx, originKey{}, nil) // what happens in the run is not what the command does
	p.Source, p.Literal = cmp.Or(p.Source, "hook"), true
	about := a.Session()
	for {
		settled, err := a.awaitOnce(ctx, by, p, about)
		if errors.Is(err, ErrBusy) {
			continue // something else was quicker
		}
		_ = a.sessions.leaving.WaitIdle(ctx) // it may be why the run has ended
		switch {
		case ctx.Err() != nil:
			return Settled{}, ErrAborted
		case a.Session() != about:
			return Settled{}, errSessionLeft
		}
		return settled, err
	}
}

// awaitOnce is one attempt of [Agent.Await]; the error is ErrBusy if the agent was claimed for
// something else just then.
func (a *Agent) awaitOnce(ctx context.Context, by Prompter, p Prompt, about *session.Session) (Settled, error) {
	if err := a.awaiting.begin(ctx); err != nil {
		return Settled{}, err
	}
	begun := sync.OnceFunc(a.awaiting.end) // the next one is then queued for the run of this one
	defer begun()
	p.waiter = &waiter{begun: begun, done: make(chan struct{})}
	joins, err := a.inbox.postToRun(ctx, p, FollowUp)
	switch {
	case err != nil:
		return settledWith(err), nil
	case joins:
		begun()
		return a.awaitRun(ctx, by, p.waiter)
	}
	if err := a.WaitIdle(ctx); err != nil {
		return Settled{}, err
	}
	if a.Session() != about {
		return Settled{}, errSessionLeft
	}
	err = by.Prompt(ctx, p)
	switch settled, ok := p.waiter.result(); {
	case ok:
		return settled, nil
	case errors.Is(err, ErrBusy):
		return Settled{}, ErrBusy
	case err == nil:
		return Settled{}, errors.New("it was not sent")
	}
	return settledWith(err), nil
}

// awaitRun waits for the run in progress, for which the prompt of w is queued.
func (a *Agent) awaitRun(ctx context.Context, by Prompter, w *waiter) (Settled, error) {
	if by.Joins != nil {
		defer by.Joins()()
	}
	select {
	case <-w.done:
		settled, _ := w.result()
		return settled, nil
	case <-ctx.Done():
		a.inbox.withdraw(w)
		return Settled{}, ErrAborted
	}
}

// awaiting are the commands that wait for a prompt. All methods may be called from any
// goroutine.
type awaiting struct {
	count atomic.Int32
	turn  chan struct{} // of size 1; holds one token: who has put it there begins a run
}

func newAwaiting() *awaiting { return &awaiting{turn: make(chan struct{}, 1)} }

// begin waits for the turn to begin a run, in the order of the calls; the error is that of ctx.
func (w *awaiting) begin(ctx context.Context) error {
	select {
	case w.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (w *awaiting) end() { <-w.turn }

// waiter is a command that waits for what becomes of its prompt; nil is nobody.
type waiter struct {
	begun func()        // is called when a run of its own begins
	done  chan struct{} // closed when settled is known

	once    sync.Once
	settled Settled
}

// begins tells the waiter that its run begins.
func (w *waiter) begins() {
	if w != nil {
		w.begun()
	}
}

// settle tells the waiter what became of its prompt; only the first call has an effect.
func (w *waiter) settle(s Settled) {
	if w == nil {
		return
	}
	w.once.Do(func() {
		w.settled = s
		close(w.done)
	})
}

// result is what became of the prompt; ok is false if that is not known yet.
func (w *waiter) result() (s Settled, ok bool) {
	select {
	case <-w.done:
		return w.settled, true
	default:
		return s, false
	}
}

// takeJoined removes and returns those who wait for the run, which takes nothing more. Their
// prompts that it did not deliver are dropped.
func (b *Inbox) takeJoined() (joined []*waiter) {
	b.mu.Lock()
	defer b.mu.Unlock()
	joined, b.joined = b.joined, nil
	for _, w := range joined {
		b.dropOf(w)
	}
	return joined
}

// withdraw drops a prompt whose command waits no more, unless the run has it already.
func (b *Inbox) withdraw(w *waiter) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.joined = slices.DeleteFunc(b.joined, func(other *waiter) bool { return other == w })
	b.dropOf(w)
}

// dropOf removes the prompt of a command that waits from the queue; the caller has the lock.
func (b *Inbox) dropOf(w *waiter) {
	b.followUp = slices.DeleteFunc(b.followUp, func(m queued) bool { return m.waiter == w })
}
