package agent

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"pi/session"
	"pi/session/compaction"
	"pi/session/message"
)

// endTurn emits the end of a turn, appends the entries that listeners want, and returns
// whether one of them wants the model to go on.
func (r *run) endTurn(ctx context.Context, index int, a answer, b batchEnd) Continuation {
	if !r.events.wants(KindTurnEnd) {
		return Continuation{}
	}
	e := &TurnEnd{TurnIndex: index, Message: a.message, ToolResults: b.results, EntryIDs: r.entries,
		Usage: sync.OnceValue(func() TurnUsage {
			usage := TurnUsage{ContextUsage: r.meter.contextUsage()}
			usage.Add(a.message.Usage)
			return usage
		})}
	r.events.emit(uncancelled(ctx), e)
	r.addDrafts(ctx, e.Kind(), e.Entries)
	return e.Continuation
}

// askAgain asks the listeners whether the cycle is really to end with err, and closes the
// queues if it is. It reports whether there is another turn; if not, err is how the cycle
// ended.
func (r *run) askAgain(ctx context.Context, err error) (again bool, _ error) {
	var wish Continuation
	if r.events.wants(KindAgentBeforeSettle) {
		outcome := "error"
		switch {
		case err == nil:
			outcome = "completed"
		case errors.Is(err, ErrAborted):
			outcome = "aborted"
		}
		e := &AgentBeforeSettle{Outcome: outcome, Messages: r.added[:len(r.added):len(r.added)]}
		r.events.emit(uncancelled(ctx), e)
		r.addDrafts(ctx, e.Kind(), e.Entries)
		if err == nil && ctx.Err() != nil {
			err = ErrAborted
		}
		wish = e.Continuation
	}
	switch {
	case !wish.Continue && err == nil:
		return r.drain(ctx, ending)
	case !wish.Continue || errors.Is(err, ErrAborted):
		return false, err
	case isFinal(err):
		r.events.notifyf(ctx, LevelWarning, "%s wants to go on, but the run has ended for good", hookName(wish.ContinuedBy))
		return false, err
	case err == nil:
		if again, err = r.drain(ctx, stopping); again || err != nil { // it goes on by itself
			return again, err
		}
	}
	err = r.addTurn(ctx, wish)
	return err == nil, err
}

// isFinal reports whether a run that ended with err may not go on: a user set
// the limit, or a gate closed.
func isFinal(err error) bool {
	var limit *LimitError
	var ended *TerminatedError
	return errors.As(err, &limit) || errors.As(err, &ended) || errors.Is(err, errNothingToSend)
}

// errNothingToSend ends a run that listeners want to go on without a word.
var errNothingToSend = errors.New("the answer is the last message and nothing was added, so there is nothing to send")

// addTurn checks and counts a further model request that listeners want, and adds what steers
// it to the session. The error says why there cannot be one: there is nothing new to send, the
// run has had all its turns, or hooks have added too many.
func (r *run) addTurn(ctx context.Context, wish Continuation) error {
	sent := session.ForModel(r.conversation.current().Context())
	if len(sent) == 0 || sent[len(sent)-1].Role == message.RoleAssistant {
		return fmt.Errorf("%s wants the model to go on, but %w", hookName(wish.ContinuedBy), errNothingToSend)
	}
	if err := r.turnLimit(); err != nil {
		return err
	}
	if err := r.continuations.addRequest(ctx, wish.origin()); err != nil {
		return err
	}
	_, err := r.drain(ctx, betweenTurns)
	return err
}

// addDrafts appends the entries that listeners of the event k want in the session, all or
// none, and emits what that means (a message to show, a compaction). If they cannot be
// appended, the user is told, and the run goes on.
func (r *run) addDrafts(ctx context.Context, k Kind, drafts []session.Draft) {
	if len(drafts) == 0 {
		return
	}
	r.news.pause() // a turn may follow, to which they belong
	entries, err := r.appendDrafts(ctx, drafts)
	for _, e := range entries {
		m := e.Message()
		if m == nil || m.Role != message.RoleCustom {
			continue
		}
		r.added = append(r.added, m)
		if m.Display {
			r.events.emitAfter(ctx, KindCustomShow, func() Event { return &CustomShow{Message: m} })
		}
	}
	if err = r.noteSaved(err); err != nil {
		r.events.notifyf(context.WithoutCancel(ctx), LevelError, "%s: the entries of hooks were not added: %v", k, err)
	}
	compacted := false
	for _, e := range entries {
		if e.Type == session.TypeCompaction {
			compacted = true
			r.events.emitAfter(ctx, KindSessionCompact, func() Event {
				return &SessionCompact{Entry: e, Summary: e.Message().Summary, FromHook: true, Reason: CompactManual}
			})
		}
	}
	if compacted {
		r.conversation.refresh(ctx)
	}
}

// appendDrafts checks all drafts and then appends them together. The error names the first
// one that listeners may not add.
func (r *run) appendDrafts(ctx context.Context, drafts []session.Draft) ([]*session.Entry, error) {
	s := r.conversation.current()
	checked := make([]session.Draft, len(drafts))
	for i, d := range drafts {
		body, err := checkDraft(s, d)
		if err != nil {
			return nil, fmt.Errorf("entry %d: %w", i+1, err)
		}
		if custom, ok := body.(session.CustomMessage); ok {
			body = r.events.askCustom(ctx, custom, r.now().UnixMilli())
		}
		checked[i] = session.Draft{Type: d.Type, Body: r.images.body(ctx, body)}
	}
	entries, err := s.AppendAll(checked)
	for _, d := range checked {
		if edit, ok := d.Body.(session.ContextEdit); ok && len(entries) > 0 {
			r.conversation.noteEdit(s, edit.TargetID)
		}
	}
	return entries, err
}

// checkDraft returns the body of a draft as it will be stored: of the types that
// listeners may add, with targets that are on the branch.
func checkDraft(s *session.Session, d session.Draft) (any, error) {
	switch body := d.Body.(type) {
	case session.Custom, session.CustomMessage:
		return body, nil
	case session.ContextEdit:
		return body, checkEdit(s, body.TargetID)
	case session.Compaction:
		body.FromHook = true
		if body.FirstKeptEntryID == "" { // nothing is kept
			return body, nil
		}
		if err := compaction.CanKeepFrom(s.Branch(), body.FirstKeptEntryID); err != nil {
			return nil, fmt.Errorf("compaction: first_kept_entry_id: %w", err)
		}
		return body, nil
	}
	return nil, fmt.Errorf("a %s entry cannot be added (custom, custom_message, context_edit and compaction can)", d.Type)
}
