package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"pi/agent/limits"
	"pi/session"
	"pi/session/message"
)

// Prompt runs one prompt to its end. The prompt is in the session file before
// anything is sent. The error says how the run ended: nil when the model had
// nothing more to do or a listener handled the prompt, ErrAborted, a
// *[llm.ProviderError], a *[LimitError], a *[TerminatedError], or another failure; what
// happened until then is in the session. In a session that is open for reading only it
// is session.ErrReadOnly. Without another error, a *[session.SaveError] says that the
// file lacks part of what happened; with one, that is a notice.
func (a *Agent) Prompt(ctx context.Context, p Prompt) error {
	ctx, err := a.busy.Begin(ctx)
	if err != nil {
		return err
	}
	defer a.busy.End()
	if p.compact {
		if a.compactor.performRequested(ctx, true); ctx.Err() != nil {
			return ErrAborted
		}
		return nil // the request may have been served before
	}
	a.inbox.beginPreflight()
	p, started, err := preflight{a.events, a.conversation, a.choice, a.spending, a.inbox}.check(ctx, p)
	if !started {
		a.inbox.endPreflight(ctx.Err() != nil)
		return err
	}
	return newRun(a.parts).run(ctx, p)
}

// run is the state of one prompt on its way.
type run struct {
	parts
	compacting autoCompact
	news       *announcer // of the session

	system  promptText // for this prompt only
	index   int        // of the next turn
	added   []*message.Message
	entries []string // ids of what this turn has appended
	usage   message.Usage
	repeats limits.Repeats
	aborts  int   // answers that listeners stopped
	unsaved bool  // before this run
	saveErr error // the first failure to save; the conversation goes on in memory
	verdict error // why a listener ended the last turn's run, or nil
	resumes bool  // the model continues its own answer
}

// newRun returns the run of one prompt.
func newRun(p parts) *run {
	r := &run{parts: p, news: p.conversation.announcer(), unsaved: p.conversation.current().Unsaved() != nil}
	r.compacting = autoCompact{compactor: p.compactor, noteSaved: r.noteSaved}
	return r
}

// run works on a prompt from the first entry to the last event. Listeners to the input
// event have handled the prompt before.
func (r *run) run(ctx context.Context, p Prompt) error {
	r.inbox.openQueues()
	defer r.inbox.closeQueues()
	defer r.prompts.setOfRun(promptText{})
	r.news.pause() // until the first turn has begun
	defer r.news.resume()
	if err := r.open(ctx, p); err != nil {
		return err
	}
	p.accept(Started)
	err := r.stretch(ctx)
	for r.inbox.reopenIfQueued(err == nil && ctx.Err() == nil) {
		r.index, r.added, r.usage, r.repeats, r.aborts = 0, nil, message.Usage{}, limits.Repeats{}, 0
		n := 0
		if n, err = r.deliver(ctx, true); n > 0 && err == nil {
			err = r.stretch(ctx)
		}
	}
	r.userShell.addWaiting()
	err = r.sync(ctx, err)
	r.events.emitAfter(ctx, KindAgentSettled, func() Event { return &AgentSettled{Aborted: errors.Is(err, ErrAborted)} })
	return err
}

// stretch is the work from agent_start to agent_end, and the compaction behind it. What
// programs queue while that goes on is for another stretch of the same run.
func (r *run) stretch(ctx context.Context) error {
	r.spending.aside.begin()
	defer r.spending.aside.end()
	r.events.emitIf(ctx, KindAgentStart, func() Event { return &AgentStart{} })
	err := r.work(ctx)
	r.news.resume()
	r.inbox.closeQueues() // what is sent from here on is for the front end
	if err == nil {
		r.inbox.beginPreflight()
	}
	err = cmp.Or(err, r.addBeside())
	r.usage.Add(r.spending.aside.end())
	r.events.emitAfter(ctx, KindAgentEnd, func() Event {
		return &AgentEnd{Messages: r.added, Usage: r.usage, Overflow: isOverflow(err)}
	})
	r.compacting.afterRun(ctx)
	return err
}

// work repeats the turns until the model is done and neither listeners nor queued messages
// want it to go on, and returns the error that the run ended with.
func (r *run) work(ctx context.Context) error {
	for {
		err := r.turns(ctx)
		if err == nil && ctx.Err() != nil {
			err = ErrAborted
		}
		again, err := r.askAgain(ctx, err)
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

// deliverRest adds the messages to the session that were queued while the run came to its
// end, and reports whether there were any. If there are none, the queues are closed, so
// that later messages go to the front end.
func (r *run) deliverRest(ctx context.Context) (bool, error) {
	for r.inbox.closeIfNoneQueued() {
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

// sync writes the session to the disk and returns the error that the run ends with. A
// failure to save is returned only if there is no other error; otherwise the person is
// told of it.
func (r *run) sync(ctx context.Context, err error) error {
	err = cmp.Or(err, r.noteSaved(r.record()), r.noteSaved(r.conversation.current().RecordGitBranch()))
	syncErr := r.noteSaved(r.conversation.current().Sync())
	for _, problem := range r.conversation.current().Problems() {
		r.events.Notify(context.WithoutCancel(ctx), LevelWarning, problem)
	}
	if err = cmp.Or(err, syncErr); err == nil {
		return r.saveErr
	}
	if r.saveErr != nil {
		r.events.Notify(context.WithoutCancel(ctx), LevelError, r.saveErr.Error())
	}
	return err
}

// open begins the run in the session: it adds the prompt, the custom messages that wait
// for one, what listeners add to it, and the messages that are still queued from an
// earlier run.
func (r *run) open(ctx context.Context, p Prompt) error {
	if err := r.noteSaved(r.record()); err != nil {
		return err
	}
	s := r.conversation.current()
	if err := r.noteSaved(r.images.Session(ctx, s, r.conversation.view.core(s))); err != nil {
		return err
	}
	before := s.Leaf()
	if _, err := r.write(ctx, p); err != nil {
		return err
	}
	if s := r.conversation.current(); p.Custom == nil && s.GitBranch() == "" {
		if err := r.noteSaved(s.RecordGitBranch()); err != nil {
			return err
		}
	}
	if err := r.addDate(ctx); err != nil {
		return err
	}
	if p.Custom != nil { // a custom message alone does not create the session file
		if err := r.noteSaved(r.conversation.current().Flush()); err != nil {
			return err
		}
	}
	waited := r.inbox.takeForPrompt()
	for _, m := range waited {
		if _, err := r.appendCustom(ctx, m); err != nil {
			return err
		}
	}
	if err := r.askPrompt(ctx, p); err != nil {
		return err
	}
	if ctx.Err() != nil && p.Accepted != nil {
		r.inbox.putForPrompt(waited)
		return cmp.Or(r.takeBack(ctx, before), error(promptAborted{}))
	}
	_, err := r.deliver(ctx, false)
	return err
}

// addDate adds a message behind a prompt that tells the model which day it is, if it sees
// another one.
func (r *run) addDate(ctx context.Context) error {
	seen, _ := r.conversation.seen()
	note := dateNote(seen, r.conversation.current().Began(), r.now())
	if note == nil {
		return nil
	}
	_, err := r.appendCustom(ctx, note)
	return err
}

// askPrompt lets listeners add messages behind the prompt and change the system prompt,
// which holds for this run.
func (r *run) askPrompt(ctx context.Context, p Prompt) error {
	sections := r.prompts.sections()
	r.system = plainPrompt(sections)
	if r.events.wants(KindBeforeAgentStart) {
		text := p.Text
		if p.Custom != nil {
			text = p.Custom.Text()
		}
		e := &BeforeAgentStart{Prompt: text, Attachments: p.Attachments, SystemPrompt: r.system.text, Sections: sections}
		r.events.emit(ctx, e)
		r.system.text, r.system.sections = e.Prompts()
		r.system.stages = e.Stages
		for _, m := range e.Messages {
			if _, err := r.appendCustom(ctx, m); err != nil {
				return err
			}
		}
	}
	r.prompts.setOfRun(r.system)
	return nil
}

// turns takes turns until the model calls no more tools and no queued message waits, or
// until an error or an interrupt. It returns the verdict of the last turn, an error if a
// listener ended the run.
func (r *run) turns(ctx context.Context) error {
	for {
		if err := r.spending.checkLimit(ctx, r.choice.model()); err != nil {
			return err
		}
		next, err := r.turn(ctx)
		if err != nil || ctx.Err() != nil {
			return err
		}
		if next == nextStop && !r.inbox.hasQueued() {
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
		if n == 0 && next == nextStop && !r.inbox.hasQueued() { // listeners handled what waited
			return r.verdict
		}
	}
}

// turnLimit is the error of a run that has taken as many turns as it may; else nil.
func (r *run) turnLimit() error {
	if limit := r.settings.get().MaxTurns; limit > 0 && r.index >= limit {
		return &LimitError{"max_turns", fmt.Sprintf("stopped after %d turns (max_turns)", limit)}
	}
	return nil
}

// next is what follows a turn.
type next int

const (
	nextStop   next = iota // nothing, unless a message waits
	nextAsk                // the model sees the results
	nextResume             // the model continues its own answer: nothing may come between
)

// turn asks the model once and runs the tool calls of its answer. It returns whether the
// model is to be asked again, is to continue its answer, or is done.
func (r *run) turn(ctx context.Context) (next, error) {
	index := r.index
	r.index++
	r.events.emitIf(ctx, KindTurnStart, func() Event { return &TurnStart{TurnIndex: index, Timestamp: r.now().UnixMilli()} })
	r.news.resume()
	r.entries, r.verdict = nil, nil
	if err := r.noteSaved(r.record()); err != nil {
		return nextStop, err
	}
	answer, err := r.answer(ctx)
	var batch batchEnd
	if err == nil {
		batch, err = r.batch(ctx, answer)
	}
	wish := r.endTurn(ctx, index, answer, batch)
	switch {
	case err != nil || batch.verdict() != nil:
		r.verdict = batch.verdict()
		return nextStop, err
	case len(batch.results) > 0 && !batch.terminate:
		return nextAsk, nil
	case answer.paused:
		return nextResume, nil
	case wish.Continue && ctx.Err() == nil && !r.inbox.hasQueued():
		return nextAsk, r.addTurn(wish)
	}
	return nextStop, nil
}

// record appends to the session what was chosen and it does not say yet: the mode, the model
// and the thinking level.
func (r *run) record() error { return cmp.Or(r.modes.Record(), r.choice.record()) }

// append adds m to the session. A failure to save is only noted, and then the entry is
// there all the same. The entry is nil with any other error.
func (r *run) append(m *message.Message) (*session.Entry, error) {
	e, err := r.conversation.current().AppendMessage(m)
	if e != nil {
		r.added, r.entries = append(r.added, m), append(r.entries, e.ID)
	}
	return e, r.noteSaved(err)
}

// appendCustom adds a custom message of a listener to the session.
func (r *run) appendCustom(ctx context.Context, m *message.Message) (*session.Entry, error) {
	e, err := r.conversation.appendCustom(ctx, m)
	if e != nil {
		r.added = append(r.added, e.Message())
	}
	return e, r.noteSaved(err)
}

// noteSaved returns err, but nil for a failure to save, which does not end the run: the
// first one is remembered for its end. If the file already lacked something before the
// run, it is not reported again.
func (r *run) noteSaved(err error) error {
	var unsaved *session.SaveError
	if !errors.As(err, &unsaved) {
		return err
	}
	if r.saveErr == nil && !r.unsaved {
		r.saveErr = fmt.Errorf("%w\nthe conversation goes on in memory; what was saved before is safe", err)
	}
	return nil
}

// userMessage returns the message that a prompt makes, with the present time.
func (r *run) userMessage(p Prompt) *message.Message {
	m := &message.Message{Role: message.RoleUser, Timestamp: r.now().UnixMilli()}
	if p.Text != "" {
		m.Content = append(m.Content, message.TextBlock(p.Text))
	}
	m.Content = append(m.Content, p.Attachments...)
	return m
}

// deliver adds the queued messages that are due to the session and counts them. With
// stopping, they are also those that wait for the end of the work.
func (r *run) deliver(ctx context.Context, stopping bool) (delivered int, err error) {
	if err := r.addBeside(); err != nil {
		return 0, err
	}
	messages, q := r.inbox.takeDue(stopping)
	counted := !stopping // the model is asked again anyway
	for _, m := range messages {
		p, handled := m.Prompt, false
		if p.Custom == nil && !m.asked {
			p, handled = r.events.askInput(ctx, p, q.String())
		}
		if handled || p.isEmpty() {
			r.inbox.delivered(m, q)
			continue
		}
		if !counted {
			if err := r.inbox.addRequest(batchOrigin(messages)); err != nil {
				return delivered, err
			}
			counted = true
		}
		p.Attachments = r.images.Content(ctx, p.Attachments)
		r.news.pause() // the turn that it opens comes first
		entry, err := r.write(ctx, p)
		if err != nil {
			return delivered, err
		}
		r.news.precede(entry.ID, func() { r.inbox.delivered(m, q) })
		if p.Custom == nil {
			m := r.userMessage(p)
			r.events.emitAfter(ctx, KindCustomShow, func() Event { return &CustomShow{Message: m, Typed: p.Source != "hook"} })
		}
		delivered++
	}
	if delivered > 0 {
		err = r.addDate(ctx)
	}
	return delivered, err
}

// addBeside adds the messages to the session that came beside the run, for which the model
// is not asked.
func (r *run) addBeside() error {
	for _, m := range r.inbox.takeBeside() {
		if _, err := r.append(m); err != nil {
			return err
		}
	}
	return nil
}

// write adds a prompt to the session. The entry is nil only with an error.
func (r *run) write(ctx context.Context, p Prompt) (*session.Entry, error) {
	if p.Custom != nil {
		return r.appendCustom(ctx, p.Custom)
	}
	return r.append(r.userMessage(p))
}
