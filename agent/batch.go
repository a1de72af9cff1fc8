package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"pi/session"
	"pi/session/message"
)

// batchEnd has the results of the calls of one message.
type batchEnd struct {
	results   []*message.Message
	terminate bool   // every call of the batch wants the run to end
	blocked   string // why the first call that a gate kept from running did not run
}

// verdict is the error of a run that gates ended; nil if tools did.
func (b batchEnd) verdict() error {
	if !b.terminate || b.blocked == "" {
		return nil
	}
	return &TerminatedError{b.blocked}
}

// step is one call of a batch on its way.
type step struct {
	call   message.Block
	broken string   // what it had instead of readable arguments
	ready  *cleared // nil: it does not run
	result Result
	limit  error         // that the call reached
	done   chan struct{} // closed when there is a result
}

// batch runs the calls of an answer. Calls are prepared and finished in their
// order; only the running is parallel, and not even that if a tool wants to be
// alone. Every call gets a result, whatever happened to it. If a result cannot
// be appended, what still runs is interrupted and waited for.
func (r *run) batch(ctx context.Context, a answer) (end batchEnd, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	steps := r.prepare(ctx, a)
	var limit error
	sequential := slices.ContainsFunc(steps, func(s *step) bool { return s.ready != nil && s.ready.tool.Spec().Sequential })
	if !sequential {
		for _, s := range steps {
			go s.run(ctx, r.gate.updates(ctx, s.call, s.input()))
		}
	}
	end.terminate = len(steps) > 0
	for _, s := range steps {
		if sequential {
			if limit != nil && s.ready != nil {
				s.ready, s.result = nil, *refuse("not run: %v", limit)
			}
			s.run(ctx, r.gate.updates(ctx, s.call, s.input()))
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

// prepare decides for each call whether it runs.
func (r *run) prepare(ctx context.Context, a answer) (steps []*step) {
	for _, call := range a.message.ToolCalls() {
		r.events.emitIf(ctx, KindToolExecutionStart, func() Event { return &ToolExecutionStart{call.ID, call.Name, call.Arguments} })
		s := &step{call: call, broken: a.broken[call.ID], done: make(chan struct{})}
		var no *Result
		if s.ready, no = r.admit(ctx, a, call); no != nil {
			s.result = *no
		}
		steps = append(steps, s)
	}
	return steps
}

// admit decides whether one call may run.
func (r *run) admit(ctx context.Context, a answer, call message.Block) (*cleared, *Result) {
	raw, isBroken := a.broken[call.ID]
	switch {
	case ctx.Err() != nil:
		return nil, interrupted()
	case a.message.StopReason == message.StopLength:
		return nil, refuse("not run: the answer was cut off at the token limit before this call was complete")
	case isBroken:
		return nil, refuse("not run: the arguments are not a JSON object: %.200s", raw)
	}
	return r.gate.clear(ctx, call)
}

// input is what the tool gets; of a call that does not run, what the model sent.
func (s *step) input() json.RawMessage {
	if s.ready != nil {
		return s.ready.input
	}
	return s.call.Arguments
}

// run runs the tool, if the call may run, and closes done.
func (s *step) run(ctx context.Context, update Update) {
	defer close(s.done)
	if s.ready != nil {
		s.result = s.ready.run(ctx, update)
	}
}

// finishStep makes the result message of one call.
func (r *run) finishStep(ctx context.Context, s *step) *message.Message {
	if s.ready != nil {
		s.result = r.gate.finishCall(ctx, s.ready, s.result)
	}
	r.noteRepeat(s)
	r.spending.record(ctx, session.UsageEntry{Kind: "tool", Usage: s.result.Usage, Note: s.call.Name})
	r.events.emitAfter(ctx, KindToolExecutionEnd, func() Event {
		return &ToolExecutionEnd{s.call.ID, s.call.Name, s.input(), s.result}
	})
	content := s.result.Content
	if len(content) == 0 { // some providers refuse an empty result
		content = []message.Block{message.TextBlock("(no output)")}
	}
	return &message.Message{Role: message.RoleToolResult, ToolCallID: s.call.ID, ToolName: s.call.Name,
		Content: content, Details: s.result.Details, IsError: s.result.IsError, Timestamp: r.now().UnixMilli()}
}

// tellAt is the repetition at which the model is told, before the limit.
const tellAt = 3

// noteRepeat counts a call that has its result. The model is told once what the
// next ones lead to; the last makes the limit of s.
func (r *run) noteRepeat(s *step) {
	limit := r.maxRepeats
	if limit <= 0 {
		return
	}
	count := r.repeats.note(s)
	switch {
	case count >= limit:
		s.limit = &LimitError{"max_repeats", fmt.Sprintf("stopped: the model called %s %d times in a row with the same arguments and the same result (max_repeats)",
			s.call.Name, count)}
	case count == min(tellAt, limit-1) && count > 1:
		s.result = withText(s.result, fmt.Sprintf("[%s was called %d times in a row with these arguments, and the result was the same each time. After %d times the work is stopped: do something else.]",
			s.call.Name, count, limit))
	}
}
