package agent

import (
	"context"
	"slices"

	"pi/session"
)

// queued is a message that waits for its place in the run.
type queued struct {
	content []session.Block
	custom  *session.Message // instead: a custom message
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
// any other; accepted is false if a listener handled it. The error is ErrNoRun
// if no run is there to deliver the message, also if the last one ended
// meanwhile: then the caller prompts instead. What was accepted is delivered, or
// waits for [Agent.TakeQueued] if the run ends in another way.
func (a *Agent) Enqueue(ctx context.Context, in Prompt, q Queue) (accepted bool, err error) {
	if !a.takesQueued() {
		return false, ErrNoRun
	}
	in, handled := a.input(ctx, in, q.String())
	switch {
	case handled:
		return false, nil
	case in.empty():
		return false, ErrEmptyPrompt
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.queueing {
		return false, ErrNoRun
	}
	message := queued{content: promptContent(in.Text, in.Attachments)}
	if q == Steer {
		a.steer = append(a.steer, message)
	} else {
		a.followUp = append(a.followUp, message)
	}
	return true, nil
}

func (a *Agent) takesQueued() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.queueing
}

func (a *Agent) openQueues() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.queueing = true
}

func (a *Agent) closeQueues() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.queueing = false
}

// more reports whether a message waits. If none does, the queues are closed in
// the same moment, so that nothing is accepted which the run would not deliver.
func (a *Agent) more() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.queueing = len(a.steer)+len(a.followUp) > 0
	return a.queueing
}

// String is the name the input event uses.
func (q Queue) String() string {
	if q == Steer {
		return "steer"
	}
	return "follow_up"
}

// Pending counts the messages that wait: in both queues, and those handed in
// with Submit that no front end has taken.
func (a *Agent) Pending() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.steer) + len(a.followUp) + len(a.submitted)
}

// TakeQueued empties both queues and returns the texts, so that an interrupt
// can give unsent text back to the person.
func (a *Agent) TakeQueued() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	var texts []string
	for _, m := range slices.Concat(a.steer, a.followUp) {
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
