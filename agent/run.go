package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"pi/session"
	"pi/session/message"
)

// The loop has three levels, each a function of its own; all else is a step of one of them.
//
//	run                                 one prompt
//	  open                              the prompt into the session; before_agent_start
//	  cycle                             and one more, while programs have queued something behind its end
//	  sync                              the session to the disk; then agent_settled
//
//	cycle                               from agent_start to agent_end
//	  turn
//	  afterTurn                         what follows the turn:
//	    the model continues its answer  the next turn at once, for nothing may come between
//	    it is to see results of tools   drain: what steers it goes along
//	    it is done                      drain: what steers it, else the follow-ups; or what turn_end wants
//	    nothing, or something failed    askAgain: agent_before_settle; drain, which closes the queues
//	  afterRun                          the compaction that is due
//
//	turn                                from turn_start to turn_end
//	  ask                               the answer, also in several attempts (answer.go)
//	  batch                             the tool calls of the answer (batch.go)
//	  endTurn                           what listeners to turn_end want
//
// What a user, a hook or a program sends meanwhile waits in the inbox, and only drain takes
// it from there. [Inbox.next] says under one lock what is due, and closes the queues where
// nothing waits at the end: so nothing is accepted that nobody would deliver.

// Prompt runs one prompt to its end. The prompt is in the session file before
// anything is sent. The error says how the run ended: nil when the model had
// nothing more to do or a listener handled the prompt, ErrAborted, a
// *[llm.ProviderError], a *[LimitError], a *[TerminatedError], or another failure; what
// happened until then is in the session. In a session that is open for reading only it
// is session.ErrReadOnly. Without another error, a *[session.SaveError] says that the
// file lacks part of what happened; with one, that is a notice.
func (a *Agent) Prompt(ctx context.Context, p Prompt) error {
	ctx, err := a.busy.BeginNext(ctx)
	switch {
	case errors.Is(err, ErrBusy):
		return err
	case err != nil:
		return promptAborted{}
	}
	settled := Settled{Outcome: OutcomeError}
	defer func() {
		if ctx.Err() != nil {
			a.inbox.EndAllowed()
		}
		joined := a.inbox.takeJoined() // before another run can begin, which has its own
		a.busy.End()
		for _, w := range append(joined, p.waiter) {
			w.settle(settled)
		}
	}()
	if p.compact {
		if a.compactor.performRequested(ctx, true); ctx.Err() != nil {
			return ErrAborted
		}
		return nil // the request may have been served before
	}
	a.inbox.enter(inPreflight)
	in, started, err := a.preflight(ctx, p)
	if !started {
		a.inbox.endPreflight(ctx.Err() != nil)
		if settled = settledWith(err); err == nil {
			settled.Outcome = OutcomeHandled
		}
		return err
	}
	r := newRun(a.parts)
	err = r.run(ctx, in)
	settled = settledWith(err)
	settled.Messages = append(r.before, r.added...)
	if r.worked {
		a.busy.Settle(ctx, func(ctx context.Context) {
			a.events.emitAfter(ctx, KindAgentSettled, func() Event { return &AgentSettled{Aborted: errors.Is(err, ErrAborted)} })
		})
	}
	return err
}

// run is the state of one prompt on its way.
type run struct {
	parts
	counts
	compacting autoCompact
	news       *announcer // of the session

	system  promptText // for this prompt only
	entries []string   // ids of what this turn has appended
	unsaved bool       // before this run
	saveErr error      // the first failure to save; the conversation goes on in memory
	resumes bool       // the model continues its own answer

	before []*message.Message // of the cycles before this one
	worked bool               // it came to its end, of which listeners are told
}

// counts are what a cycle counts, and its messages.
type counts struct {
	index   int // of the next turn
	added   []*message.Message
	usage   message.Usage
	repeats repeats
	aborts  int // answers that listeners stopped
}

// newRun returns the run of one prompt.
func newRun(p parts) *run {
	r := &run{parts: p, news: p.conversation.announcer(), unsaved: p.conversation.current().Unsaved() != nil}
	r.compacting = autoCompact{compactor: p.compactor, noteSaved: r.noteSaved}
	return r
}

// run works on a prompt from the first entry to the last one. Listeners to the input event
// have handled the prompt before; that it has settled they are told by [Agent.Prompt].
func (r *run) run(ctx context.Context, p Prompt) error {
	r.inbox.enter(inRun)
	defer r.inbox.enter(atRest)
	defer r.prompts.setOfRun(promptText{})
	r.news.pause() // until the first turn has begun
	defer r.news.resume()
	if err := r.open(ctx, p); err != nil {
		return err
	}
	p.accept(Started)
	p.waiter.begins()
	err := r.cycle(ctx)
	for err == nil && ctx.Err() == nil {
		r.before = append(r.before, r.added...)
		r.counts = counts{}
		more := false
		if more, err = r.drain(ctx, ending); !more || err != nil {
			break
		}
		err = r.cycle(ctx)
	}
	r.inbox.enter(atRest)
	r.userShell.addWaiting()
	err = r.sync(ctx, err)
	r.worked = true
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
	if err := r.noteSaved(r.images.session(ctx, s, r.conversation.view.core(s))); err != nil {
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
	_, err := r.drain(ctx, betweenTurns)
	return err
}

// askPrompt lets listeners add messages behind the prompt and change the system prompt,
// which holds for this run.
func (r *run) askPrompt(ctx context.Context, p Prompt) error {
	sections := r.prompts.sections()
	r.system = plainPrompt(sections)
	if r.events.wants(KindBeforeAgentStart) {
		e := &BeforeAgentStart{Prompt: p.Text, Attachments: p.Attachments, SystemPrompt: r.system.text, Sections: sections}
		if p.Custom != nil {
			e.Prompt, e.MessageType = p.Custom.Text(), p.Custom.CustomType
		}
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

// cycle is the work from agent_start to agent_end, and the compaction behind it. What
// programs queue behind its end is for another cycle of the same run. The error says how
// the work ended.
func (r *run) cycle(ctx context.Context) (err error) {
	r.spending.aside.begin()
	defer r.spending.aside.end()
	r.events.emitIf(ctx, KindAgentStart, func() Event { return &AgentStart{} })
	for again := true; again; {
		var end turnEnd
		end, err = r.turn(ctx)
		again, err = r.afterTurn(ctx, end, err)
	}
	r.news.resume()
	if err == nil {
		r.inbox.enter(inPreflight) // there may be another cycle
	} else {
		r.inbox.enter(atRest) // what is sent from here on is for the front end
	}
	err = cmp.Or(err, r.addSide(ctx))
	r.usage.Add(r.spending.aside.end())
	r.events.emitAfter(ctx, KindAgentEnd, func() Event {
		return &AgentEnd{Messages: r.added, Usage: r.usage, Overflow: isOverflow(err)}
	})
	r.compacting.afterRun(ctx)
	return err
}

// turnEnd is what a turn leaves to do.
type turnEnd struct {
	next    next
	wish    Continuation // of the listeners, where the model has nothing more to do
	verdict error        // why a listener ends the run with this turn; else nil
}

// next is what the model does after a turn.
type next int

const (
	nextStop   next = iota // nothing, unless a message waits
	nextAsk                // it sees the results
	nextResume             // it continues its own answer
)

// turn asks the model once and runs the tool calls of its answer.
func (r *run) turn(ctx context.Context) (end turnEnd, err error) {
	if err := r.spending.checkLimit(ctx, r.choice.model()); err != nil {
		return end, err
	}
	index := r.index
	r.index++
	r.events.emitIf(ctx, KindTurnStart, func() Event { return &TurnStart{TurnIndex: index, Timestamp: r.now().UnixMilli()} })
	r.news.resume()
	r.entries = nil
	if err := r.noteSaved(r.record()); err != nil {
		return end, err
	}
	answer, err := r.ask(ctx)
	var batch batchEnd
	if err == nil {
		batch, err = r.batch(ctx, answer)
	}
	wish := r.endTurn(ctx, index, answer, batch)
	switch {
	case err != nil:
	case batch.verdict() != nil:
		end.verdict = batch.verdict()
	case len(batch.results) > 0 && !batch.terminate:
		end.next = nextAsk
	case answer.paused:
		end.next = nextResume
	default:
		end.wish = wish
	}
	return end, err
}

// afterTurn does what lies between two turns, and reports whether there is another one; if not,
// the error is how the cycle ended. err is that of the turn before.
func (r *run) afterTurn(ctx context.Context, end turnEnd, err error) (again bool, _ error) {
	r.resumes = end.next == nextResume
	if err == nil && ctx.Err() == nil {
		switch end.next {
		case nextResume:
			err = r.turnLimit()
			again = err == nil
		case nextAsk:
			if err = r.turnLimit(); err == nil {
				_, err = r.drain(ctx, betweenTurns)
			}
			again = err == nil
		case nextStop:
			again, err = r.drain(ctx, stopping)
			switch {
			case again || err != nil:
			case end.wish.Continue && ctx.Err() == nil:
				err = r.addTurn(ctx, end.wish)
				again = err == nil
			default:
				err = end.verdict
			}
		}
	}
	if again {
		return true, nil
	}
	if err == nil && ctx.Err() != nil {
		err = ErrAborted
	}
	return r.askAgain(ctx, err)
}

// turnLimit is the error of a run that has taken as many turns as it may; else nil.
func (r *run) turnLimit() error {
	if limit := r.settings.get().MaxTurns; limit > 0 && r.index >= limit {
		return &LimitError{"max_turns", fmt.Sprintf("stopped after %d turns (max_turns)", limit)}
	}
	return nil
}

// drain adds the queued messages that are due at this moment to the session, and reports
// whether there were any. Those that listeners handle themselves do not count: where the
// model has nothing more to do, the next ones are due then.
func (r *run) drain(ctx context.Context, at moment) (more bool, err error) {
	for {
		if err := r.addSide(ctx); err != nil {
			return false, err
		}
		messages, q, err := r.inbox.next(at, r.turnLimit)
		if err != nil || len(messages) == 0 {
			return false, err
		}
		counted := at == betweenTurns // the model is asked again anyway
		for _, m := range messages {
			p, handled := m.Prompt, false
			if p.Custom == nil && !m.asked {
				p, handled = r.events.askInput(ctx, p, q.String())
			}
			if handled || p.isEmpty() {
				r.inbox.delivered(m, q)
				p.waiter.settle(Settled{Outcome: OutcomeHandled})
				continue
			}
			if !counted {
				if err := r.continuations.addRequest(ctx, batchOrigin(messages)); err != nil {
					return false, err
				}
				counted = true
			}
			p.Attachments = r.images.content(ctx, p.Attachments)
			r.news.pause() // the turn that it opens comes first
			entry, err := r.write(ctx, p)
			if err != nil {
				return false, err
			}
			r.news.precede(entry.ID, func() { r.inbox.delivered(m, q) })
			if p.Custom == nil {
				shown := entry.Message()
				r.events.emitAfter(ctx, KindCustomShow, func() Event { return &CustomShow{Message: shown, Typed: p.Source != "hook"} })
			}
			more = true
		}
		if more {
			return true, r.addDate(ctx)
		}
		if at == betweenTurns {
			return false, nil
		}
	}
}

// addSide adds the side messages to the session, for which the model is not asked.
func (r *run) addSide(ctx context.Context) error {
	for _, m := range r.inbox.takeSide() {
		var err error
		if m.Role == message.RoleCustom {
			_, err = r.appendCustom(ctx, m)
		} else {
			_, err = r.append(m)
		}
		if err != nil {
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
	m := r.userMessage(p)
	if told := r.events.askMessage(ctx, m); told != m {
		told.Content = r.images.content(ctx, told.Content)
		m = told
	}
	return r.append(m)
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

// record appends to the session what was chosen and it does not say yet: the mode, the model
// and the thinking level.
func (r *run) record() error { return cmp.Or(r.modes.Record(), r.choice.record()) }

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

// sync writes the session to the disk and returns the error that the run ends with. A
// failure to save is returned only if there is no other error; otherwise the user is
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
