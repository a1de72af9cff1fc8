package agent

import (
	"context"
	"strings"
)

// queued is a message that waits for its place in a run.
type queued struct {
	Prompt
	asked bool // the listeners to input were; else they are when it is delivered
}

// Queue says when a message that comes while the agent works is delivered.
type Queue uint8

const (
	// Steer: after the running tools, before the next model call.
	Steer Queue = iota
	// FollowUp: when the agent would stop otherwise.
	FollowUp
)

// String is the name the input event uses.
func (q Queue) String() string {
	if q == Steer {
		return "steer"
	}
	return "follow_up"
}

// Enqueue queues a prompt while the agent works. The input event comes as for any
// other; accepted is false if a listener handled it. The error is ErrNoRun if no run
// is there to deliver the message, also if the last one ended meanwhile: then the
// caller prompts instead. A message that was accepted is delivered, or
// waits for [Inbox.TakeQueued] or the next run if this one ends in another way.
func (a *Agent) Enqueue(ctx context.Context, in Prompt, q Queue) (accepted bool, err error) {
	if !a.inbox.isOpen() {
		return false, ErrNoRun
	}
	in, handled := a.events.askInput(ctx, in, q.String())
	switch {
	case handled:
		return false, nil
	case in.isEmpty():
		return false, ErrEmptyPrompt
	}
	if !a.inbox.enqueue(in, q) {
		return false, ErrNoRun
	}
	return true, nil
}

// isTyped reports whether m can be sent again from its text alone.
func (m queued) isTyped() bool {
	switch m.Source {
	case "hook":
		return false
	case "interactive":
		return m.Text != ""
	}
	return m.Custom == nil && len(m.Attachments) == 0
}

// deliver adds the queued messages that are due to the session and counts them. With
// stopping, they are also those that wait for the end of the work.
func (r *run) deliver(ctx context.Context, stopping bool) (delivered int, err error) {
	messages, q := r.inbox.due(stopping)
	counted := !stopping // the model is asked again anyway
	for _, m := range messages {
		p, handled := m.Prompt, false
		if p.Custom == nil && !m.asked {
			p, handled = r.events.askInput(ctx, p, q.String())
		}
		if handled || p.isEmpty() {
			continue
		}
		if !counted {
			if err := r.inbox.addRequest(batchOrigin(messages)); err != nil {
				return delivered, err
			}
			counted = true
		}
		if err := r.write(ctx, p); err != nil {
			return delivered, err
		}
		if p.Custom == nil && p.Source == "hook" { // nobody has seen it yet
			m := r.userMessage(p)
			r.events.emitAfter(ctx, KindCustomShow, func() Event { return &CustomShow{m} })
		}
		delivered++
	}
	return delivered, nil
}

// write adds a prompt to the session.
func (r *run) write(ctx context.Context, p Prompt) error {
	if p.Custom != nil {
		return r.appendCustom(ctx, p.Custom)
	}
	_, err := r.append(r.userMessage(p))
	return err
}

func (p Prompt) isEmpty() bool {
	return p.Custom == nil && strings.TrimSpace(p.Text) == "" && len(p.Attachments) == 0
}

// isCommand reports whether a front end would run p as a command.
func (p Prompt) isCommand() bool {
	return !p.Literal && p.Custom == nil && IsCommandLine(p.Text)
}

// IsCommandLine reports whether the first word of a text could be a command: a slash
// and a name. A path or the beginning of a traceback has another slash, or a dot.
func IsCommandLine(text string) bool {
	word, _, _ := strings.Cut(strings.TrimSpace(text), " ")
	if i := strings.IndexAny(word, "\t\r\n"); i >= 0 {
		word = word[:i]
	}
	name, ok := strings.CutPrefix(word, "/")
	return ok && name != "" && !strings.ContainsAny(name, "/.")
}
