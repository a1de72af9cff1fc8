package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"pi/agent/llm"
	"pi/session"
	"pi/session/message"
)

// Prompt is what a user, a program or a hook asks. Front ends run it as a
// command if its text begins with a slash, unless it is Literal or Custom is set.
type Prompt struct {
	Text        string
	Attachments []message.Block
	Source      string // interactive print json rpc acp hook
	Origin      Origin // its cause

	// Custom is a custom message that triggers the run, instead of text: no user
	// entry is written, and the input event does not come.
	Custom  *message.Message
	Literal bool // never a command, whatever it begins with
	Expand  bool // a hook wants a command in it run, as if it had been typed; never with Literal

	// Accepted, if set, is called once, when the prompt is past everything that can refuse
	// it: Started right before the event agent_start of its run, Handled if a listener took
	// it. A prompt that is refused never gets there; the error says why. With Accepted the
	// money left and the key of the model are looked for before anything is written, and an
	// interrupt before Started refuses the prompt and takes it back out of the conversation.
	// [Agent.Enqueue] does not call it.
	Accepted func(Disposition)

	// Where no run delivers what is queued, [Agent.Enqueue] refuses a prompt, unless one of
	// these is set. InPreflight queues it also while another prompt is not accepted yet; if
	// that one starts no run, this one is handed to the front end. WhileIdle queues it in
	// any case, for the next prompt.
	InPreflight, WhileIdle bool

	compact bool    // no prompt: a compaction that somebody asked for waits for its turn
	asked   bool    // the listeners to input were
	waiter  *waiter // the command that waits for what becomes of it; nil: none
}

// Disposition is what became of a prompt that was accepted.
type Disposition string

const (
	Started Disposition = "started" // a run works on it
	Queued  Disposition = "queued"  // it waits in a queue
	Handled Disposition = "handled" // a listener or a command did it
)

// accept tells whoever wants to know what becomes of p.
func (p Prompt) accept(d Disposition) {
	if p.Accepted != nil {
		p.Accepted(d)
	}
}

// isText reports whether p is a text of a user or a program, which front ends are told
// of while it is queued.
func (p Prompt) isText() bool { return p.Custom == nil && p.Source != "hook" }

func (p Prompt) isEmpty() bool {
	return p.Custom == nil && strings.TrimSpace(p.Text) == "" && len(p.Attachments) == 0
}

// saysNothing reports whether p is a custom message of which a model would see nothing.
func (p Prompt) saysNothing() bool { return p.Custom != nil && message.SaysNothing(p.Custom) }

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

// queued is a message that waits for its place in a run.
type queued struct {
	Prompt
	number int // in the order in which all were queued
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

// batchOrigin returns the origin that counts for messages delivered together: the first
// that is not a hook on its own, else that of the first message.
func batchOrigin(messages []queued) Origin {
	for _, m := range messages {
		if m.Origin.Kind != FromHook {
			return m.Origin
		}
	}
	return messages[0].Origin
}

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
// belong to their session: a new one begins without them. A message that says nothing
// is for the user alone: whatever d and trigger are, it is appended as soon as it can be,
// and nobody is asked. A *[HeldBackError] says why the message is refused.
func (a *Agent) SendCustom(ctx context.Context, p Prompt, d Delivery, trigger bool) error {
	switch {
	case p.saysNothing():
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

// Before a prompt starts a run, there is much that can refuse it. For a front end that
// wants to know (see [Prompt.Accepted]) an interrupt counts until the run begins, also
// where the prompt is in the session already.

// preflight finds out whether a prompt starts a run, and returns it as listeners have
// rewritten it. If not, the error says why; it is nil if a listener handled the prompt.
func (p parts) preflight(ctx context.Context, in Prompt) (_ Prompt, starts bool, err error) {
	if p.conversation.current().ReadOnly() {
		return in, false, session.ErrReadOnly
	}
	handled := false
	if in.Custom == nil && !in.asked {
		in, handled = p.events.askInput(ctx, in, "")
	}
	switch {
	case handled:
		in.accept(Handled)
		return in, false, nil
	case ctx.Err() != nil:
		return in, false, promptAborted{}
	case in.isEmpty():
		return in, false, ErrEmptyPrompt
	}
	if in.Accepted != nil {
		model := p.choice.model()
		if err := p.spending.checkLimit(ctx, model); err != nil {
			return in, false, err
		}
		if _, err := p.choice.models.Key(ctx, model); err != nil {
			if ctx.Err() != nil {
				return in, false, promptAborted{}
			}
			return in, false, &NoKeyError{model.Provider, noKey(model, err)}
		}
	}
	if err := p.continuations.addRequest(ctx, in.Origin); err != nil {
		if ctx.Err() != nil {
			err = promptAborted{}
		}
		return in, false, err
	}
	in.Attachments = p.images.content(ctx, in.Attachments)
	return in, true, nil
}

// askInput lets listeners rewrite a prompt or handle it themselves. behavior says how it
// comes while the agent works, see [Queue.String]; else it is "".
func (ls *listeners) askInput(ctx context.Context, p Prompt, behavior string) (_ Prompt, handled bool) {
	if !ls.wants(KindInput) {
		return p, false
	}
	e := &Input{Text: p.Text, Attachments: p.Attachments, Source: p.Source, StreamingBehavior: behavior}
	ls.emit(ctx, e)
	p.Text, p.Attachments = e.Text, e.Attachments
	return p, e.Handled
}

// takeBack moves the leaf to where it was before the prompt, whose entries stay in the
// file, and of whose messages front ends are not told. The move is recorded as one that
// [Agent.Redo] takes back.
func (r *run) takeBack(ctx context.Context, before string) error {
	s := r.conversation.current()
	left := s.Leaf()
	_, err := s.MoveTo(before, leafMoved(LeafNote{"undo", left}))
	r.news.refuse()
	r.conversation.forgetChain()
	r.events.emitAfter(ctx, KindSessionTree, func() Event { return &SessionTree{NewLeafID: s.EndOf(before), OldLeafID: left} })
	return r.noteSaved(err)
}

// promptAborted is the error of a prompt that was interrupted before its run began.
type promptAborted struct{}

func (promptAborted) Error() string { return "Prompt aborted" }

func (promptAborted) Unwrap() error { return ErrAborted }

// NoKeyError refuses a prompt because the provider of its model has no key.
type NoKeyError struct {
	Provider string
	Err      error
}

func (e *NoKeyError) Error() string {
	text := "No API key found for " + e.Provider
	var known *llm.ProviderError
	if errors.As(e.Err, &known) && known.Message != "" {
		text += ": " + known.Message
	}
	return text
}

func (e *NoKeyError) Unwrap() error { return e.Err }

// Hint is the next step for the user.
func (e *NoKeyError) Hint() string {
	var known *llm.ProviderError
	if errors.As(e.Err, &known) && known.NextStep != "" {
		return known.NextStep
	}
	return fmt.Sprintf("give %s a key in config.toml, or choose another model", e.Provider)
}

// CommandContext returns the context in which the command p runs. Messages that the
// command sends count as those of the user who typed it. If a hook sent p, they count as
// the hook's own, whatever made it send p: a command may send itself for ever.
func (a *Agent) CommandContext(ctx context.Context, p Prompt) context.Context {
	ctx = WithSource(ctx, p.Source)
	if p.Origin.Hook != "" {
		return WithOrigin(ctx, Origin{Kind: FromHook, Hook: p.Origin.Hook, Path: p.Origin.Path, Limit: p.Origin.Limit})
	}
	a.inbox.brake.beginCommand(p.Origin)
	return WithOrigin(ctx, p.Origin)
}

// ResetBrake counts the requests that hooks may add from zero again, because of something
// other than a prompt that a user, or something outside of the program, did.
func (a *Agent) ResetBrake(o Origin) { a.inbox.brake.reset(o) }
