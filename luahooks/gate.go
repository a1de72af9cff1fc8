package luahooks

import (
	"context"
	"fmt"

	"pi/agent"
	"pi/luahooks/event"
)

// The gates: a tool call, or a command of the person, passes or does not run. A
// handler that fails, is late or cannot be asked any more blocks.

// gate passes a tool call along the chain. What runs is what every handler last
// saw: after a rewrite the handlers before it are asked again with the final
// arguments, and of those answers only a block counts.
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

// gateRound asks the handlers of the chain until one blocks. With a place it
// asks only those before that, all with the same arguments. It returns the last
// handler that rewrote the arguments.
func (d *dispatcher) gateRound(ctx context.Context, spec *event.Spec, e *agent.ToolCall, until place) (rewriter place) {
	round := d.gateSteps(spec, e, until)
	d.walk(ctx, spec, d.roster.list(), round)
	return round.asking.rewriter
}

// gateSteps are those of a round.
func (d *dispatcher) gateSteps(spec *event.Spec, e *agent.ToolCall, until place) steps {
	a := &asking{spec: spec, event: e}
	round := steps{asking: a,
		ended: func(h *hook, n int, err error) (stop bool) {
			before := a.seen.(*agent.ToolCall)
			a.apply(err)
			if err != nil {
				e.Block, e.BlockedBy, e.Reason = true, h.Name, failedGate(h, err)
			}
			if string(before.Input) != string(e.Input) {
				a.rewriter = place{h, a.last.in, n}
			}
			if until.hook != nil {
				e.Input, e.RewrittenBy = before.Input, before.RewrittenBy
			}
			return e.Block
		},
		done: func(h *hook) (stop bool) {
			if reason := d.gates.closedForTool(h, e.Name); reason != "" {
				e.Block, e.BlockedBy, e.Reason = true, h.Name, reason
			}
			return e.Block || h == until.hook
		},
	}
	if until.hook != nil {
		round.begin = func(h *hook, in *instance) (limit int) {
			if h == until.hook && in == until.in {
				return until.n
			}
			return allHandlers // of a file that was saved since, for what is where in it now is not known
		}
	}
	return round
}

func failedGate(h *hook, err error) string { return fmt.Sprintf("hook %s failed: %v", h.File(), err) }

// bash asks who answers for a command of the person, until one does or blocks.
func (d *dispatcher) bash(ctx context.Context, spec *event.Spec, e *agent.UserBash) error {
	a := &asking{spec: spec, event: e}
	d.walk(ctx, spec, d.roster.list(), steps{asking: a,
		ended: func(h *hook, _ int, err error) (stop bool) {
			if err != nil {
				e.Blocked = failedGate(h, err)
			}
			return a.apply(err) || err != nil
		},
		done: func(h *hook) (stop bool) {
			if reason := h.closedAt(agent.KindUserBash); reason != "" {
				e.Blocked = reason
				return true
			}
			return false
		},
	})
	return ctx.Err()
}
