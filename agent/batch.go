package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"pi/internal/pace"
	"pi/session"
	"pi/session/message"
)

// batchEnd has the results of the calls of one message.
type batchEnd struct {
	results   []*message.Message
	terminate bool   // every call of the batch wants the run to end
	blocked   string // why the first call that a gate kept from running did not run
}

// verdict returns the error with which the run ends if every call wants it to end and a
// listener blocked one of them. It is nil if the tools themselves end the run, which is no
// failure, or if it goes on.
func (b batchEnd) verdict() error {
	if !b.terminate || b.blocked == "" {
		return nil
	}
	return &TerminatedError{b.blocked}
}

// step is one call of a batch on its way.
type step struct {
	call   message.Block // as the model wrote it
	meant  meaning       // what it is
	broken string        // what it had instead of readable arguments
	last   bool          // of its answer
	ready  *approvedCall // nil: it does not run
	result Result
	limit  error             // that the call reached
	took   time.Duration     // to run
	done   chan struct{}     // closed when there is a result
	ran    func(failed bool) // tells that the tool has run
}

// batch runs the calls of an answer. They are prepared and finished in their order; the
// tools run at the same time, or one after the other if one of them is sequential. Every
// call gets a result, also one that was refused or interrupted. If a result cannot be
// added to the session, the tools that still run are interrupted and waited for.
func (r *run) batch(ctx context.Context, a answer) (end batchEnd, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	steps := r.prepare(ctx, a)
	var limit error
	sequential := slices.ContainsFunc(steps, func(s *step) bool { return s.ready != nil && s.ready.tool.Spec().Sequential })
	if !sequential {
		for _, s := range steps {
			go s.run(ctx, r.gate.updates(ctx, s.meant.Block))
		}
	}
	end.terminate = len(steps) > 0
	for _, s := range steps {
		if sequential {
			if limit != nil && s.ready != nil {
				s.ready, s.result = nil, *refuse("not run: %v", limit)
			}
			s.run(ctx, r.gate.updates(ctx, s.meant.Block))
		}
		<-s.done
		m := r.finishStep(ctx, s)
		end.results = append(end.results, m)
		end.terminate = end.terminate && s.result.Terminate
		if s.ready == nil && end.blocked == "" {
			end.blocked = m.Text()
		}
		limit = cmp.Or(limit, s.limit)
		if err == nil {
			_, err = r.append(m)
		}
		if err != nil {
			cancel()
		}
	}
	if err == nil {
		err = limit
	}
	return end, err
}

// prepare makes a step of each call of the answer: ready to run, or with the result that
// says why it does not.
func (r *run) prepare(ctx context.Context, a answer) (steps []*step) {
	for _, call := range a.message.ToolCalls() {
		meant := r.tools.meaning(call)
		r.events.emitIf(ctx, KindToolExecutionStart, func() Event { return &ToolExecutionStart{call.ID, meant.Name, meant.Arguments} })
		s := &step{call: call, meant: meant, broken: a.broken[call.ID], done: make(chan struct{})}
		s.ran = func(failed bool) {
			r.events.emitAfter(ctx, KindToolRan, func() Event { return &ToolRan{call.ID, failed} })
		}
		raw, isBroken := a.broken[call.ID]
		var no *Result
		switch {
		case ctx.Err() != nil:
			no = interrupted()
		case a.message.StopReason == message.StopLength:
			no = refuse("not run: the answer was cut off at the token limit before this call was complete")
		case isBroken:
			no = refuse("not run: the arguments are not a JSON object: %.200s", raw)
		default:
			s.ready, no = r.gate.approve(ctx, meant)
		}
		if no != nil {
			s.result = *no
		}
		steps = append(steps, s)
	}
	if len(steps) > 0 {
		steps[len(steps)-1].last = true
	}
	return steps
}

// input returns the arguments that the tool gets, which listeners may have changed. For a
// call that does not run it returns what the model sent.
func (s *step) input() json.RawMessage {
	if s.ready != nil {
		return s.ready.input
	}
	return s.meant.Arguments
}

// run runs the tool, if the call may run, and closes done.
func (s *step) run(ctx context.Context, progress *pace.Pacer[Result]) {
	defer close(s.done)
	if s.ready != nil {
		s.result = s.ready.runTimed(ctx, progress)
		s.took = s.ready.call.took()
		s.ran(s.result.IsError)
	}
}

// finishStep lets the listeners change the result of one call, counts it for the limit of
// repeats and the costs, and returns it as a message. Every call passes here, also one
// that did not run.
func (r *run) finishStep(ctx context.Context, s *step) *message.Message {
	if s.ready != nil {
		s.result = r.gate.finishCall(ctx, s.ready, s.result)
		s.result.Content = r.images.result(s.result.Content)
	}
	r.noteRepeat(s)
	r.spending.record(ctx, session.UsageEntry{Kind: "tool", Usage: s.result.Usage, Note: s.meant.Name})
	r.events.emitAfter(ctx, KindToolExecutionEnd, func() Event {
		return &ToolExecutionEnd{ID: s.call.ID, Name: s.meant.Name, Input: s.input(), Result: s.result, Took: s.took}
	})
	content := s.result.Content
	if len(content) == 0 { // some providers refuse an empty result
		content = []message.Block{message.TextBlock("(no output)")}
	}
	m := &message.Message{Role: message.RoleToolResult, ToolCallID: s.call.ID, ToolName: s.call.Name,
		Content: content, Details: s.result.Details, IsError: s.result.IsError, Timestamp: r.now().UnixMilli()}
	told := r.events.askMessage(ctx, m)
	if told != m {
		told.Content = r.images.result(told.Content)
	}
	return told
}

// tellAt is the repetition at which the model is told, before the limit.
const tellAt = 3

// noteRepeat counts how often a call had the same arguments and the same result, and behind
// the last call of an answer how often all of them had. Before the limit the model is warned
// once, in the result; at the limit s gets the error that ends the run.
func (r *run) noteRepeat(s *step) {
	limit := r.settings.get().MaxRepeats
	if limit <= 0 {
		return
	}
	times, inRow := r.repeats.note(repeatable{Name: s.meant.Name, Arguments: s.meant.Arguments, Broken: s.broken,
		Content: s.result.Content, Details: s.result.Details, IsError: s.result.IsError})
	did, was := "called %s %d times with the same arguments and the same result, and nothing new came in between", "%s was called %d times with these arguments, the result was the same each time, and nothing new came in between"
	if inRow {
		did, was = "called %s %d times in a row with the same arguments and the same result", "%s was called %d times in a row with these arguments, and the result was the same each time"
	}
	s.repeated(limit, times, fmt.Sprintf(did, s.meant.Name, times), fmt.Sprintf(was, s.meant.Name, times))
	if !s.last {
		return
	}
	calls, turns := r.repeats.endTurn()
	if calls > 1 && turns > times { // else it was said of the call
		s.repeated(limit, turns, fmt.Sprintf("made the same %d calls in %d answers, with the same results", calls, turns),
			fmt.Sprintf("These %d calls were made in %d answers, and the results were the same each time", calls, turns))
	}
}

// repeated is what becomes of a step whose call, or answer, has come so many times. did
// tells the user so, and was the model.
func (s *step) repeated(limit, times int, did, was string) {
	switch {
	case times >= limit:
		s.limit = &LimitError{"max_repeats", "stopped: the model " + did + " (max_repeats)"}
	case times == min(tellAt, limit-1) && times > 1:
		s.result = withText(s.result, fmt.Sprintf("[%s. After %d times the work is stopped: do something else.]", was, limit))
	}
}
