package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"pi/session"
	"pi/session/message"
)

// Prompt is what a person, a program or a hook asks. Front ends run it as a
// command if its text begins with a slash, unless it is Literal or Custom is set.
type Prompt struct {
	Text        string
	Attachments []message.Block
	Source      string // interactive print json rpc acp hook
	Origin      Origin // who has a say in it; see brake

	// Custom is a custom message that triggers the run, instead of text: no user
	// entry is written, and the input event does not come.
	Custom  *message.Message
	Literal bool // never a command, whatever it begins with
	Expand  bool // a hook wants a command in it run, as if it had been typed; never with Literal

	compact bool // no prompt: a compaction that somebody asked for waits for its turn
}

var (
	// ErrNoRun is returned for what needs a running prompt.
	ErrNoRun = errors.New("the agent is not working")
	// ErrEmptyPrompt is returned for a prompt without text and attachments.
	ErrEmptyPrompt = errors.New("the prompt is empty")
	// ErrAborted is returned by a run that was interrupted.
	ErrAborted = errors.New("interrupted")
)

// TerminatedError ends a run whose calls were blocked by listeners that want no
// more of it. Reason is what the model was told.
type TerminatedError struct{ Reason string }

func (e *TerminatedError) Error() string { return "a hook ended the run: " + e.Reason }

// Prompt runs one prompt to its end. The prompt is in the session file before
// anything is sent. The error says how the run ended: nil when the model had
// nothing more to do or a listener handled the prompt, ErrAborted, a
// *[llm.ProviderError], a *[LimitError], a *[TerminatedError], or another failure; what happened until then
// is in the session. A session that is open for reading only takes none, with
// session.ErrReadOnly. If there is nothing worse to say, a *[session.SaveError]
// tells that the file lacks part of what happened; otherwise that is a notice.
func (a *Agent) Prompt(ctx context.Context, p Prompt) error {
	ctx, err := a.begin(ctx)
	if err != nil {
		return err
	}
	defer a.end()
	if p.compact {
		return a.runAsked(ctx)
	}
	if a.Session().ReadOnly() {
		return session.ErrReadOnly
	}
	handled := false
	if p.Custom == nil {
		p, handled = a.input(ctx, p, "")
	}
	switch {
	case handled:
		return nil
	case ctx.Err() != nil:
		return ErrAborted
	case p.empty():
		return ErrEmptyPrompt
	}
	if err := a.addRequest(p.Origin, a.settings.MaxContinuations); err != nil {
		return err
	}
	return a.run(ctx, p)
}

// input lets listeners rewrite a prompt or take it over.
func (a *Agent) input(ctx context.Context, p Prompt, behavior string) (_ Prompt, handled bool) {
	if !a.wants(KindInput) {
		return p, false
	}
	e := &Input{Text: p.Text, Attachments: p.Attachments, Source: p.Source, StreamingBehavior: behavior}
	a.emit(ctx, e)
	p.Text, p.Attachments = e.Text, e.Attachments
	return p, e.Handled
}

// run is the state of one prompt on its way.
type run struct {
	*Agent
	system   promptText // for this prompt only
	index    int        // of the next turn
	added    []*message.Message
	entries  []string // ids of what this turn has appended
	usage    message.Usage
	repeats  repeatCounter
	aborts   int   // answers that listeners stopped
	unsaved  bool  // before this run
	saveErr  error // the first failure to save; the conversation goes on in memory
	verdict  error // why a listener ended the last turn's run, or nil
	resumes  bool  // the model goes on with its own answer
	unwanted bool  // no further compaction by itself: the person stopped one, or one did not help
}

func (a *Agent) run(ctx context.Context, p Prompt) error {
	r := &run{Agent: a, unsaved: a.Session().Unsaved() != nil}
	a.openQueues()
	defer a.closeQueues()
	a.spending.aside.begin()
	defer a.spending.aside.end()
	defer a.inForce.set(promptText{})
	if err := r.open(ctx, p); err != nil {
		return err
	}
	r.emitIf(ctx, KindAgentStart, func() Event { return &AgentStart{} })
	err := r.work(ctx)
	a.closeQueues() // what is sent from here on is for the front end
	addUsage(&r.usage, a.spending.aside.end())
	r.emitAfter(ctx, KindAgentEnd, func() Event { return &AgentEnd{Messages: r.added, Usage: r.usage} })
	r.afterRun(ctx)
	err = r.settle(ctx, err)
	r.emitAfter(ctx, KindAgentSettled, func() Event { return &AgentSettled{} })
	return err
}

// work takes turns until nobody wants another one.
func (r *run) work(ctx context.Context) error {
	for {
		err := r.turns(ctx)
		if err == nil && ctx.Err() != nil {
			err = ErrAborted
		}
		again, err := r.beforeSettle(ctx, err)
		if again {
			_, err = r.deliver(ctx, false)
		} else if err == nil {
			again, err = r.deliverRest(ctx)
		}
		if err != nil || !again {
			return err
		}
	}
}

// deliverRest writes the next of what came in the meantime, and reports whether
// there was anything.
func (r *run) deliverRest(ctx context.Context) (bool, error) {
	for r.endRun() {
		if err := r.turnLimit(); err != nil {
			return false, err
		}
		n, err := r.deliver(ctx, true)
		if n > 0 || err != nil {
			return n > 0, err
		}
	}
	return false, nil
}

// settle brings the session to the disk and returns how the run ended, of which
// a failure to save is the least.
func (r *run) settle(ctx context.Context, err error) error {
	err = cmp.Or(err, r.saved(r.recordModel()))
	syncErr := r.saved(r.Session().Sync())
	for _, problem := range r.Session().Problems() {
		r.Notify(context.WithoutCancel(ctx), LevelWarning, problem)
	}
	if err = cmp.Or(err, syncErr); err == nil {
		return r.saveErr
	}
	if r.saveErr != nil {
		r.Notify(context.WithoutCancel(ctx), LevelError, r.saveErr.Error())
	}
	return err
}

// open writes the prompt, what was to go with it, and what still waits from an
// earlier run, and lets listeners add to it.
func (r *run) open(ctx context.Context, p Prompt) error {
	if err := r.saved(r.recordModel()); err != nil {
		return err
	}
	if err := r.write(ctx, p); err != nil {
		return err
	}
	if p.Custom != nil { // which alone does not make the file
		if err := r.saved(r.Session().Flush()); err != nil {
			return err
		}
	}
	for _, m := range r.takeForPrompt() {
		if err := r.appendCustom(ctx, m); err != nil {
			return err
		}
	}
	if err := r.begun(ctx, p); err != nil {
		return err
	}
	_, err := r.deliver(ctx, false)
	return err
}

// begun lets listeners add messages and decides the system prompt.
func (r *run) begun(ctx context.Context, p Prompt) error {
	sections := r.sections()
	r.system = plainPrompt(sections)
	if r.wants(KindBeforeAgentStart) {
		text := p.Text
		if p.Custom != nil {
			text = p.Custom.Text()
		}
		e := &BeforeAgentStart{Prompt: text, Attachments: p.Attachments, SystemPrompt: r.system.text, Sections: sections}
		r.emit(ctx, e)
		r.system.text, r.system.sections = e.Prompts()
		r.system.stages = e.Stages
		for _, m := range e.Messages {
			if err := r.appendCustom(ctx, m); err != nil {
				return err
			}
		}
	}
	r.inForce.set(r.system)
	return nil
}

// turns asks the model until there is nothing left to do.
func (r *run) turns(ctx context.Context) error {
	for {
		if err := r.costLimit(ctx, r.Model()); err != nil {
			return err
		}
		next, err := r.turn(ctx)
		if err != nil || ctx.Err() != nil {
			return err
		}
		if next == nextStop && !r.waits() {
			return r.verdict
		}
		if err := r.turnLimit(); err != nil {
			return err
		}
		if r.resumes = next == nextResume; r.resumes {
			continue
		}
		n, err := r.deliver(ctx, next == nextStop)
		if err != nil {
			return err
		}
		if n == 0 && next == nextStop && !r.waits() { // listeners handled what waited
			return r.verdict
		}
	}
}

// turnLimit is the error of a run that may not take another turn.
func (r *run) turnLimit() error {
	if limit := r.settings.MaxTurns; limit > 0 && r.index >= limit {
		return &LimitError{"max_turns", fmt.Sprintf("stopped after %d turns (max_turns)", limit)}
	}
	return nil
}

// next is what follows a turn.
type next int

const (
	nextStop   next = iota // nothing, unless a message waits
	nextAsk                // the model sees the results
	nextResume             // the model goes on with its own answer: nothing may come between
)

// turn asks the model once and runs its calls.
func (r *run) turn(ctx context.Context) (next, error) {
	index := r.index
	r.index++
	r.emitIf(ctx, KindTurnStart, func() Event { return &TurnStart{TurnIndex: index, Timestamp: r.now().UnixMilli()} })
	r.entries, r.verdict = nil, nil
	if err := r.saved(r.recordModel()); err != nil {
		return nextStop, err
	}
	answer, err := r.answer(ctx)
	var batch batchEnd
	if err == nil {
		batch, err = r.batch(ctx, answer)
	}
	wish := r.turnEnded(ctx, index, answer, batch)
	switch {
	case err != nil || batch.verdict() != nil:
		r.verdict = batch.verdict()
		return nextStop, err
	case len(batch.results) > 0 && !batch.terminate:
		return nextAsk, nil
	case answer.paused:
		return nextResume, nil
	case wish.Continue && ctx.Err() == nil && !r.waits():
		return nextAsk, r.goOn(wish)
	}
	return nextStop, nil
}

// append adds m to the session.
func (r *run) append(m *message.Message) error {
	e, err := r.Session().AppendMessage(m)
	if e != nil {
		r.added, r.entries = append(r.added, m), append(r.entries, e.ID)
	}
	return r.saved(err)
}

// appendCustom persists a custom message of a listener.
func (r *run) appendCustom(ctx context.Context, m *message.Message) error {
	e, err := r.storeCustom(ctx, m)
	if e != nil {
		r.added = append(r.added, e.Message())
	}
	return r.saved(err)
}

// saved notes a failure to save, which does not end the run; any other failure
// is returned. A session that lacked something before is not complained about
// again.
func (r *run) saved(err error) error {
	var unsaved *session.SaveError
	if !errors.As(err, &unsaved) {
		return err
	}
	if r.saveErr == nil && !r.unsaved {
		r.saveErr = fmt.Errorf("%w\nthe conversation goes on in memory; what was saved before is safe", err)
	}
	return nil
}

// userMessage is a user message of now.
func (a *Agent) userMessage(content []message.Block) *message.Message {
	return &message.Message{Role: message.RoleUser, Content: content, Timestamp: a.now().UnixMilli()}
}

// recordModel notes model and thinking level in the session when they are not
// what the session says.
func (a *Agent) recordModel() error {
	s, is := a.Session(), a.takeForNote()
	model, thinking := is.model, is.level()
	if provider, id := s.Model(); provider != model.Provider || id != model.ID {
		if _, err := s.Append("model_change", session.ModelChange{Provider: model.Provider, ModelID: model.ID}); err != nil {
			return err
		}
	}
	if s.ThinkingLevel() != thinking {
		_, err := s.Append("thinking_level_change", session.ThinkingLevelChange{ThinkingLevel: thinking})
		return err
	}
	return nil
}
