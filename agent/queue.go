package agent

import (
	"context"
	"strings"

	"pi/session/message"
)

// queued is a message that waits for its place in a run.
type queued struct {
	Prompt
	heard bool // by the listeners to input; else they are asked when it is delivered
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

// Enqueue takes a prompt while the agent works. It passes the input event as
// any other; accepted is false if a listener handled it. The error is ErrNoRun
// if no run is there to deliver the message, also if the last one ended
// meanwhile: then the caller prompts instead. What was accepted is delivered, or
// waits for [Agent.TakeQueued] or the next run if this one ends in another way.
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
	if in.Origin.Kind != FromHook {
		a.brake.heardFrom(in.Origin)
	}
	a.put(queued{in, true}, q)
	return true, nil
}

// put appends to a queue; the caller has the lock.
func (a *Agent) put(m queued, q Queue) {
	if q == Steer {
		a.steer = append(a.steer, m)
	} else {
		a.followUp = append(a.followUp, m)
	}
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

// waits reports whether a message is queued.
func (a *Agent) waits() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.steer)+len(a.followUp) > 0
}

// endRun reports whether messages are queued. If none are, it closes the queues in
// the same step, so that nothing is accepted that the run would not deliver.
func (a *Agent) endRun() (queued bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.queueing = len(a.steer)+len(a.followUp) > 0
	return a.queueing
}

// Pending counts the messages that wait to be delivered, those among them that
// hooks handed in and that the front end has not taken yet.
func (a *Agent) Pending() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	n := len(a.steer) + len(a.followUp)
	for _, p := range a.submitted {
		if !p.compact {
			n++
		}
	}
	return n
}

// TakeQueued takes the texts of people out of both queues and returns them, so
// that an interrupt can give unsent text back. What is more than a text that
// somebody typed stays queued for the next run: custom messages, what hooks sent,
// and what a program sent with attachments. The files of a typed text are named
// in it, and come along again.
func (a *Agent) TakeQueued() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	var texts []string
	for _, queue := range []*[]queued{&a.steer, &a.followUp} {
		var kept []queued
		for _, m := range *queue {
			if m.typed() {
				texts = append(texts, m.Text)
			} else {
				kept = append(kept, m)
			}
		}
		*queue = kept
	}
	return texts
}

// typed reports whether the text is all that it takes to send m again.
func (m queued) typed() bool {
	switch m.Source {
	case "hook":
		return false
	case "interactive":
		return m.Text != ""
	}
	return m.Custom == nil && len(m.Attachments) == 0
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
func (a *Agent) due(stopping bool) ([]queued, Queue) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if messages := take(&a.steer, a.settings.SteerAll); len(messages) > 0 || !stopping {
		return messages, Steer
	}
	return take(&a.followUp, a.settings.FollowUpAll), FollowUp
}

// deliver writes what is due into the session and counts it.
func (r *run) deliver(ctx context.Context, stopping bool) (delivered int, err error) {
	messages, q := r.due(stopping)
	counted := !stopping // the model is asked again anyway
	for _, m := range messages {
		p, handled := m.Prompt, false
		if p.Custom == nil && !m.heard {
			p, handled = r.input(ctx, p, q.String())
		}
		if handled || p.empty() {
			continue
		}
		if !counted {
			if err := r.addRequest(batchOrigin(messages)); err != nil {
				return delivered, err
			}
			counted = true
		}
		if err := r.write(ctx, p); err != nil {
			return delivered, err
		}
		if p.Custom == nil && p.Source == "hook" { // nobody has seen it yet
			m := r.userMessage(promptContent(p.Text, p.Attachments))
			r.emitAfter(ctx, KindCustomShow, func() Event { return &CustomShow{m} })
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
	return r.append(r.userMessage(promptContent(p.Text, p.Attachments)))
}

func promptContent(text string, attachments []message.Block) []message.Block {
	var content []message.Block
	if text != "" {
		content = append(content, message.TextBlock(text))
	}
	return append(content, attachments...)
}

func (p Prompt) empty() bool {
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
