package agent

import (
	"context"
	"encoding/json"
	"fmt"

	"pi/session"
)

// batchEnd is what came of the calls of one message.
type batchEnd struct {
	results   []*session.Message
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
	call   session.Block
	ready  *cleared // nil: it does not run
	result Result
	done   chan struct{} // closed when there is a result
}

// batch runs the calls of an answer. Calls are prepared and finished in their
// order; only the running is parallel, and not even that if a tool wants to be
// alone. Every call gets a result, whatever happened to it. If a result cannot
// be appended, what still runs is interrupted and waited for.
func (r *run) batch(ctx context.Context, a answer) (end batchEnd, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	steps, limit := r.prepare(ctx, a)
	sequential := wantsOrder(steps)
	if !sequential {
		for _, s := range steps {
			go s.run(ctx, r.updates(ctx, s.call, s.input()))
		}
	}
	end.terminate = len(steps) > 0
	for _, s := range steps {
		if sequential {
			s.run(ctx, r.updates(ctx, s.call, s.input()))
		}
		<-s.done
		m := r.finishStep(ctx, s)
		end.results = append(end.results, m)
		end.terminate = end.terminate && s.result.Terminate
		if s.ready == nil && end.blocked == "" {
			end.blocked = m.Text()
		}
		if err == nil {
			err = r.append(m)
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

// prepare decides for each call whether it runs. limit is the limit that ends
// the run, if one of them reached it.
func (r *run) prepare(ctx context.Context, a answer) (steps []*step, limit error) {
	for _, call := range a.message.ToolCalls() {
		r.emitIf(ctx, KindToolExecutionStart, func() Event { return &ToolExecutionStart{call.ID, call.Name, call.Arguments} })
		s := &step{call: call, done: make(chan struct{})}
		if limit == nil {
			limit = r.repeated(call, a.broken[call.ID])
		}
		var no *refused
		if s.ready, no = r.admit(ctx, a, call, limit); no != nil {
			s.result = no.result
		}
		steps = append(steps, s)
	}
	return steps, limit
}

// admit decides whether one call may run.
func (r *run) admit(ctx context.Context, a answer, call session.Block, limit error) (*cleared, *refused) {
	raw, isBroken := a.broken[call.ID]
	switch {
	case ctx.Err() != nil:
		return nil, interrupted()
	case limit != nil:
		return nil, refuse("not run: %v", limit)
	case a.message.StopReason == session.StopLength:
		return nil, refuse("not run: the answer was cut off at the token limit before this call was complete")
	case isBroken:
		return nil, refuse("not run: the arguments are not a JSON object: %.200s", raw)
	}
	return r.clear(ctx, call)
}

func wantsOrder(steps []*step) bool {
	for _, s := range steps {
		if s.ready != nil && s.ready.tool.Spec().Sequential {
			return true
		}
	}
	return false
}

// input is what the tool gets; of a call that does not run, what the model sent.
func (s *step) input() json.RawMessage {
	if s.ready != nil {
		return s.ready.input
	}
	return s.call.Arguments
}

func (s *step) run(ctx context.Context, update Update) {
	defer close(s.done)
	if s.ready != nil {
		s.result = s.ready.run(ctx, update)
	}
}

// finishStep makes the result message of one call.
func (r *run) finishStep(ctx context.Context, s *step) *session.Message {
	if s.ready != nil {
		s.result = r.finishCall(ctx, s.ready, s.result)
	}
	r.noteToolUsage(ctx, s.call.Name, s.result)
	r.emitAfter(ctx, KindToolExecutionEnd, func() Event {
		return &ToolExecutionEnd{s.call.ID, s.call.Name, s.input(), s.result}
	})
	return &session.Message{Role: session.RoleToolResult, ToolCallID: s.call.ID, ToolName: s.call.Name,
		Content: resultContent(s.result), Details: s.result.Details, IsError: s.result.IsError, Timestamp: r.now().UnixMilli()}
}

// resultContent is never empty, for some providers refuse an empty result.
func resultContent(r Result) []session.Block {
	if len(r.Content) == 0 {
		return []session.Block{session.TextBlock("(no output)")}
	}
	return r.Content
}

// repeated notes a call and returns the limit it reaches, if it came too often
// in a row. broken is what a call without readable arguments had instead: such
// calls count too, or a model that is stuck would go on for ever.
func (r *run) repeated(call session.Block, broken string) error {
	count := r.repeats.note(call, broken)
	if limit := r.settings.MaxRepeats; limit <= 0 || count < limit {
		return nil
	}
	return &LimitError{"max_repeats", fmt.Sprintf("stopped: the model called %s with the same arguments %d times in a row (max_repeats)", call.Name, count)}
}

// repeatCounter counts how often the same call came in a row.
type repeatCounter struct {
	last  string
	count int
}

// note counts a call. Arguments are the same whatever the order of their keys
// and the space between them.
func (c *repeatCounter) note(call session.Block, broken string) int {
	key := call.Name + "\x00" + canonical(call.Arguments) + "\x00" + broken
	if key != c.last {
		c.last, c.count = key, 0
	}
	c.count++
	return c.count
}

func canonical(args json.RawMessage) string {
	var v any
	if decodeNumbers(args, &v) == nil {
		if b, err := encode(v); err == nil {
			return string(b)
		}
	}
	return string(args)
}
