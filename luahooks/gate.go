package luahooks

import (
	"context"
	"fmt"

	"pi/agent"
	"pi/luahooks/event"
)

// The gates: a tool call, or a command of the person, passes or does not run. A
// handler that fails, is late or cannot be asked any more blocks.

// gate asks the handlers of the chain about a tool call, so that nothing runs which one of
// them did not see. After a rewrite there is a second round: the handlers before the last
// rewriter see the final arguments, and of their answers only a block counts.
func (d *dispatcher) gate(ctx context.Context, spec *event.Spec, e *agent.ToolCall) error {
	rewriter := d.gateRound(ctx, spec, e, place{})
	if e.Block || rewriter.hook == nil {
		return ctx.Err()
	}
	again := *e
	d.gateRound(ctx, spec, &again, rewriter)
	if again.Block {
		e.Block, e.Reason, e.BlockedBy, e.Terminate = true, again.Reason, again.BlockedBy, again.Terminate
	}
	return ctx.Err()
}

// gateRound asks the handlers of the chain in their order until one blocks, and returns the
// last one that rewrote the arguments. If until is a place, this is the second round of
// gate: only the handlers before it are asked, all about the same arguments.
func (d *dispatcher) gateRound(ctx context.Context, spec *event.Spec, e *agent.ToolCall, until place) (rewriter place) {
	w := d.newGateWalk(ctx, spec, e, until)
	w.run()
	return w.asking.rewriter
}

// newGateWalk returns the walk of a round.
func (d *dispatcher) newGateWalk(ctx context.Context, spec *event.Spec, e *agent.ToolCall, until place) *walk {
	return &walk{dispatcher: d, ctx: ctx, spec: spec, event: e, hooks: d.roster.list(), asking: asking{until: until}, steps: steps{
		begin: func(w *walk) (limit int) {
			if w.hook == w.asking.until.hook && w.in == w.asking.until.in {
				return w.asking.until.n
			}
			// The hook is before until's; or it is until's and runs another version since, so
			// that its handlers before until cannot be told from the others.
			return allHandlers
		},
		ended: func(w *walk, err error) (stop bool) {
			a, e := &w.asking, w.event.(*agent.ToolCall)
			before := a.seen.(*agent.ToolCall)
			w.apply(err)
			if err != nil {
				e.Block, e.BlockedBy, e.Reason = true, w.hook.Name, failedGate(w.hook, err)
			}
			if string(before.Input) != string(e.Input) {
				a.rewriter = place{w.hook, a.last.in, w.n}
			}
			if a.until.hook != nil {
				e.Input, e.RewrittenBy = before.Input, before.RewrittenBy
			}
			return e.Block
		},
		done: func(w *walk) (stop bool) {
			e := w.event.(*agent.ToolCall)
			if reason := w.dispatcher.gates.closedForTool(w.hook, e.Name); reason != "" {
				e.Block, e.BlockedBy, e.Reason = true, w.hook.Name, reason
			}
			return e.Block || w.hook == w.asking.until.hook
		},
	}}
}

func failedGate(h *hook, err error) string { return fmt.Sprintf("hook %s failed: %v", h.File(), err) }

// bash asks the handlers of the chain about a command that the person typed with !, until
// one gives a result in its place, or blocks. A handler that fails blocks.
func (d *dispatcher) bash(ctx context.Context, spec *event.Spec, e *agent.UserBash) error {
	w := &walk{dispatcher: d, ctx: ctx, spec: spec, event: e, hooks: d.roster.list(), steps: steps{
		ended: func(w *walk, err error) (stop bool) {
			if err != nil {
				e.Blocked = failedGate(w.hook, err)
			}
			return w.apply(err) || err != nil
		},
		done: func(w *walk) (stop bool) {
			if reason := w.hook.closedAt(agent.KindUserBash); reason != "" {
				e.Blocked = reason
				return true
			}
			return false
		},
	}}
	w.run()
	return ctx.Err()
}
