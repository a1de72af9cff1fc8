package agent

import (
	"context"

	"pi/session"
)

// Delivery says when a message from outside the front end reaches the model.
type Delivery uint8

const (
	DeliverSteer    Delivery = iota // after the running tools, before the next model call
	DeliverFollowUp                 // when the agent would stop otherwise
	DeliverNextTurn                 // with the next prompt
)

// SendCustom hands in a custom message, which the model sees as one of a user.
// While the agent works it is delivered as d says. Otherwise it is appended at
// once (with DeliverNextTurn: behind the next prompt), and with trigger the
// model is asked, as soon as the front end gets to it.
func (a *Agent) SendCustom(ctx context.Context, m *session.Message, d Delivery, trigger bool) error {
	a.mu.Lock()
	working := a.queueing
	switch {
	case d == DeliverNextTurn:
		a.nextTurn = append(a.nextTurn, m)
	case working && d == DeliverFollowUp:
		a.followUp = append(a.followUp, queued{custom: m})
	case working:
		a.steer = append(a.steer, queued{custom: m})
	}
	a.mu.Unlock()
	switch {
	case d == DeliverNextTurn || working:
		return nil
	case trigger:
		a.Submit(Prompt{Custom: m, Source: "hook"})
		return nil
	}
	return a.addCustom(ctx, m)
}

// SendUser hands in a prompt as if it had been typed, but not as a command
// unless p says so. While the agent works it is queued as d says; otherwise it
// waits for the front end.
func (a *Agent) SendUser(ctx context.Context, p Prompt, d Delivery) error {
	q := FollowUp
	if d == DeliverSteer {
		q = Steer
	}
	if !p.Expand {
		p.Literal = true
		if _, err := a.Enqueue(ctx, p, q); err != ErrNoRun {
			return err
		}
	}
	a.Submit(p)
	return nil
}

// addCustom appends a custom message to the session and shows it.
func (a *Agent) addCustom(ctx context.Context, m *session.Message) error {
	_, err := a.Session().Append(session.TypeCustomMessage, customEntry(m))
	if m.Display {
		a.emitAfter(ctx, KindCustomShow, func() Event { return &CustomShow{m} })
	}
	return err
}

func customEntry(m *session.Message) session.CustomMessage {
	return session.CustomMessage{CustomType: m.CustomType, Content: m.Content, Plain: m.Plain, Display: m.Display, Details: m.Details}
}
