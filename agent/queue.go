package agent

import (
	"context"

	"pi/session"
)

// queued is a message that waits for its place in the run.
type queued struct {
	content []session.Block
}

// Queue says when a message that comes while the agent works is delivered.
type Queue uint8

const (
	// Steer: after the running tools, before the next model call.
	Steer Queue = iota
	// FollowUp: when the agent would stop otherwise.
	FollowUp
)

// Enqueue takes a prompt while the agent works. It passes the input event as
// any other; queued is false if a listener handled it, or if the agent is idle
// (ErrNoRun), so that the caller can prompt instead.
func (a *Agent) Enqueue(ctx context.Context, in Prompt, q Queue) (accepted bool, err error) {
	if a.IsIdle() {
		return false, ErrNoRun
	}
	e := &Input{Text: in.Text, Attachments: in.Attachments, Source: in.Source, StreamingBehavior: q.String()}
	if a.wants(KindInput) {
		a.emit(ctx, e)
	}
	if e.Handled {
		return false, nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.cancel == nil {
		return false, ErrNoRun
	}
	message := queued{content: promptContent(e.Text, e.Attachments)}
	if q == Steer {
		a.steer = append(a.steer, message)
	} else {
		a.followUp = append(a.followUp, message)
	}
	return true, nil
}

// String is the name the input event uses.
func (q Queue) String() string {
	if q == Steer {
		return "steer"
	}
	return "follow_up"
}

// Pending counts the messages that wait in both queues.
func (a *Agent) Pending() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.steer) + len(a.followUp)
}

// TakeQueued empties both queues and returns the texts, so that an interrupt
// can give unsent text back to the person.
func (a *Agent) TakeQueued() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	var texts []string
	for _, m := range append(a.steer, a.followUp...) {
		texts = append(texts, (&session.Message{Content: m.content}).Text())
	}
	a.steer, a.followUp = nil, nil
	return texts
}

// take removes what is to be delivered now from a queue: one message, or all.
func take(queue *[]queued, all bool) []queued {
	n := min(1, len(*queue))
	if all {
		n = len(*queue)
	}
	taken := (*queue)[:n:n]
	*queue = (*queue)[n:]
	return taken
}

// due removes from the queues what is to be delivered now: the steering
// messages, and, when the run would stop otherwise, the follow-ups.
func (a *Agent) due(stopping bool) []queued {
	a.mu.Lock()
	defer a.mu.Unlock()
	messages := take(&a.steer, a.settings.SteerAll)
	if len(messages) == 0 && stopping {
		messages = take(&a.followUp, a.settings.FollowUpAll)
	}
	return messages
}
