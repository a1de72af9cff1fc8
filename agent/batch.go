package agent

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"

	"pi/session"
)

// batchEnd says how the calls of one message ended.
type batchEnd struct {
	terminate bool // every call of the batch wants the run to end
}

// step is one call of a batch on its way.
type step struct {
	call   session.Block
	ready  *cleared // nil: it does not run
	result Result
	done   chan struct{} // closed when the tool has returned
}

// batch runs the calls of an answer. Calls are prepared and finished in their
// order; only the running is parallel, and not even that if a tool wants to be
// alone. Every call gets a result, whatever happened to it.
func (r *run) batch(ctx context.Context, a answer) ([]*session.Message, batchEnd, error) {
	calls := a.message.ToolCalls()
	steps, limit := r.prepare(ctx, a, calls)
	sequential := r.wantsOrder(steps)
	if !sequential {
		for _, s := range steps {
			go s.run(ctx, r.updates(ctx, s.call, s.input()))
		}
	}
	var results []*session.Message
	end := batchEnd{terminate: len(steps) > 0}
	for _, s := range steps {
		if sequential {
			s.run(ctx, r.updates(ctx, s.call, s.input()))
		}
		<-s.done
		m := r.finishStep(ctx, s)
		results = append(results, m)
		end.terminate = end.terminate && s.result.Terminate
		if err := r.append(context.WithoutCancel(ctx), m); err != nil {
			r.drain(steps)
			return results, end, err
		}
	}
	if limit != nil {
		return results, end, limit
	}
	return results, end, nil
}

// drain waits for the tools that still run, so that none outlives its run.
func (r *run) drain(steps []*step) {
	r.Abort()
	for _, s := range steps {
		<-s.done
	}
}

func (r *run) prepare(ctx context.Context, a answer, calls []session.Block) (steps []*step, limit error) {
	for _, call := range calls {
		r.emitIf(ctx, KindToolExecutionStart, func() Event { return &ToolExecutionStart{call.ID, call.Name, call.Arguments} })
		s := &step{call: call, done: make(chan struct{})}
		c, no, err := r.admit(ctx, a, call, limit)
		if err != nil {
			limit = err
		}
		if no != nil {
			s.result = no.result
		}
		s.ready = c
		steps = append(steps, s)
	}
	return steps, limit
}

// admit decides whether one call may run.
func (r *run) admit(ctx context.Context, a answer, call session.Block, limit error) (*cleared, *refused, error) {
	raw, isBroken := a.broken[call.ID]
	switch {
	case ctx.Err() != nil:
		return nil, interrupted(), nil
	case a.message.StopReason == session.StopLength:
		return nil, refuse("not run: the answer was cut off at the token limit before this call was complete"), nil
	case isBroken:
		return nil, refuse("not run: the arguments are not a JSON object: %.200s", raw), nil
	case limit != nil:
		return nil, refuse("not run: the run ended at a limit"), nil
	}
	if r.repeats.seen(call) && r.settings.MaxRepeats > 0 && r.repeats.count >= r.settings.MaxRepeats {
		err := &LimitError{"max_repeats", fmt.Sprintf("stopped: the model called %s with the same arguments %d times in a row (max_repeats)", call.Name, r.repeats.count)}
		return nil, refuse("%s", err.Message), err
	}
	c, no := r.clear(ctx, call)
	return c, no, nil
}

func (r *run) wantsOrder(steps []*step) bool {
	for _, s := range steps {
		if s.ready != nil && s.ready.tool.Spec().Sequential {
			return true
		}
	}
	return false
}

func (s *step) input() json.RawMessage {
	if s.ready != nil {
		return s.ready.input
	}
	return s.call.Arguments
}

func (s *step) run(ctx context.Context, update Update) {
	defer close(s.done)
	switch {
	case s.ready == nil:
	case ctx.Err() != nil:
		s.ready, s.result = nil, interrupted().result
	default:
		s.result = s.ready.run(ctx, update)
	}
}

// finishStep makes the result message of one call.
func (r *run) finishStep(ctx context.Context, s *step) *session.Message {
	if s.ready != nil {
		s.result = r.finishCall(ctx, s.ready, s.result)
	}
	addUsage(&r.usage, s.result.Usage)
	r.emitIf(context.WithoutCancel(ctx), KindToolExecutionEnd, func() Event {
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

// updates passes on what a running tool reports, if anyone wants it.
func (a *Agent) updates(ctx context.Context, call session.Block, input json.RawMessage) Update {
	if !a.wants(KindToolExecutionUpdate) {
		return nil
	}
	return func(partial Result) {
		a.emit(ctx, &ToolExecutionUpdate{call.ID, call.Name, input, partial})
	}
}

// repeatCounter counts how often the same call came in a row.
type repeatCounter struct {
	last  string
	count int
}

// seen notes a call and reports whether it is the same as the one before.
func (c *repeatCounter) seen(call session.Block) bool {
	key := call.Name + "\x00" + string(call.Arguments)
	if key == c.last {
		c.count++
		return true
	}
	c.last, c.count = key, 1
	return false
}

func newCallID() string { return "call_" + rand.Text()[:20] }
