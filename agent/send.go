package agent

import (
	"cmp"
	"context"
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
// why the message is refused.
func (a *Agent) SendCustom(ctx context.Context, p Prompt, d Delivery, trigger bool) error {
	switch {
	case d == DeliverNextTurn:
		return a.inbox.postForNextPrompt(ctx, p)
	case trigger:
		return a.inbox.submit(ctx, p, d.queue())
	}
	p.Source = "hook"
	posted, err := a.inbox.postToRun(ctx, p, d.queue())
	if err != nil || posted {
		return err
	}
	_, err = a.conversation.appendCustom(ctx, p.Custom)
	return err
}

// SendUser hands in a prompt as if it had been typed, but not as a command
// unless p.Expand says so. While the agent works it is queued as d says (with
// DeliverNextTurn: before the next model call); otherwise the front end runs it
// as soon as it gets to it. A *[HeldBackError] says why it is refused.
func (a *Agent) SendUser(ctx context.Context, p Prompt, d Delivery) error {
	if p.isEmpty() {
		return ErrEmptyPrompt
	}
	p.Literal = !p.Expand
	return a.inbox.submit(ctx, p, d.queue())
}

// Submit hands in a prompt from outside the front end, as if it had been typed.
// While the agent works it is queued as a follow-up. Otherwise, and if it is a
// command, it waits for the front end, which is woken through
// [Inbox.Submitted]. An empty prompt is dropped. The error says
// why it is refused: a *[HeldBackError], or ErrEnded.
func (a *Agent) Submit(ctx context.Context, p Prompt) error {
	return a.inbox.submit(ctx, p, FollowUp)
}

// submit hands in a prompt for the queue q, or for the front end if no run will deliver
// it. An empty prompt is ignored. The error is one of [Inbox.postPrompt].
func (b *Inbox) submit(ctx context.Context, p Prompt, q Queue) error {
	if p.isEmpty() {
		return nil
	}
	p.Source = cmp.Or(p.Source, "hook")
	return b.postPrompt(ctx, p, q)
}

// Pending counts the messages that wait to be delivered, those among them that
// hooks handed in and that the front end has not taken yet.
func (a *Agent) Pending() int { return a.inbox.Pending() }

// Enqueue queues a prompt while the agent works. The input event comes as for any
// other; accepted is false if a listener handled it. The error is ErrNoRun if no run
// is there to deliver the message, also if the last one ended meanwhile: then the
// caller prompts instead, unless in is WhileIdle or InPreflight. A message that was
// accepted is delivered, or waits for [Inbox.TakeQueued], [Inbox.Clear] or the next run if
// this one ends in another way. Steering that waited for a run comes right behind its
// prompt, follow-ups when it would stop.
func (a *Agent) Enqueue(ctx context.Context, in Prompt, q Queue) (accepted bool, err error) {
	if !a.inbox.takes(in) {
		return false, ErrNoRun
	}
	in, handled := a.events.askInput(ctx, in, q.String())
	switch {
	case handled:
		return false, nil
	case in.isEmpty():
		return false, ErrEmptyPrompt
	}
	in.asked, in.Accepted = true, nil
	if !a.inbox.enqueue(in, q) {
		return false, ErrNoRun
	}
	return true, nil
}

// CommandContext returns the context in which the command p runs. Messages that the
// command sends count as those of the user who typed it. If a hook sent p, they count as
// the hook's own, whatever made it send p: a command may send itself for ever.
func (a *Agent) CommandContext(ctx context.Context, p Prompt) context.Context {
	ctx = WithSource(ctx, p.Source)
	if p.Origin.Hook != "" {
		return WithOrigin(ctx, Origin{Kind: FromHook, Hook: p.Origin.Hook})
	}
	a.ResetBrake(p.Origin)
	return WithOrigin(ctx, p.Origin)
}

// ResetBrake counts the requests that hooks may add from zero again, because of something
// other than a prompt that a user, or something outside of the program, did.
func (a *Agent) ResetBrake(o Origin) { a.inbox.resetBrake(o) }
