package agent

import (
	"context"
	"errors"

	"pi/session"
	"pi/session/message"
)

// Delivery says when a message from outside the front end reaches the model.
type Delivery uint8

const (
	DeliverSteer    Delivery = iota // after the running tools, before the next model call
	DeliverFollowUp                 // when the agent would stop otherwise
	DeliverNextTurn                 // with the next prompt, right behind it
)

func (d Delivery) queue() Queue {
	if d == DeliverFollowUp {
		return FollowUp
	}
	return Steer
}

// SendCustom hands in p.Custom, a custom message, which the model sees as one of a user.
// While the agent works it is delivered as d says. Otherwise it is appended at
// once (with DeliverNextTurn: behind the next prompt, whenever it comes), and
// with trigger it is a prompt of its own, which the front end runs as soon as it
// gets to it, in whichever session is current then. Other messages that wait
// belong to their session: a new one begins without them. A *[HeldBackError] says
// why the message is not taken.
func (a *Agent) SendCustom(ctx context.Context, p Prompt, d Delivery, trigger bool) error {
	switch {
	case d == DeliverNextTurn:
		return a.admitted(ctx, p.Origin, func() error {
			if a.closed {
				return ErrEnded
			}
			a.nextTurn = append(a.nextTurn, p.Custom)
			return nil
		})
	case trigger:
		return a.enqueueOrDefer(ctx, p, d.queue())
	}
	queued, err := a.queueCustom(ctx, p, d.queue())
	if err != nil || queued {
		return err
	}
	_, err = a.storeCustom(ctx, p.Custom)
	return err
}

// queueCustom queues a custom message if a run will look at the queues again.
func (a *Agent) queueCustom(ctx context.Context, p Prompt, q Queue) (taken bool, err error) {
	p.Source = "hook"
	err = a.admitted(ctx, p.Origin, func() error {
		if taken = a.queueing && !a.closed; taken {
			a.put(queued{Prompt: p}, q)
		}
		return nil
	})
	return taken, err
}

// SendUser hands in a prompt as if it had been typed, but not as a command
// unless p.Expand says so. While the agent works it is queued as d says (with
// DeliverNextTurn: before the next model call); otherwise the front end runs it
// as soon as it gets to it. A *[HeldBackError] says why it is not taken.
func (a *Agent) SendUser(ctx context.Context, p Prompt, d Delivery) error {
	if p.empty() {
		return ErrEmptyPrompt
	}
	p.Literal = !p.Expand
	return a.enqueueOrDefer(ctx, p, d.queue())
}

// storeCustom appends a custom message to the session and tells front ends if it
// is to be shown. The entry is nil if there is none.
func (a *Agent) storeCustom(ctx context.Context, m *message.Message) (*session.Entry, error) {
	e, err := a.Session().Append(session.TypeCustomMessage, session.CustomMessage{
		CustomType: m.CustomType, Content: m.Content, Plain: m.Plain, Display: m.Display, Details: m.Details,
	})
	if e != nil && m.Display {
		a.emitAfter(ctx, KindCustomShow, func() Event { return &CustomShow{m} })
	}
	return e, err
}

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
