package luahooks

import (
	"context"
	"fmt"
	"slices"

	"pi/agent"
	"pi/luahooks/event"
)

// The gates: a tool call, or a command of a shell, passes or does not run. A
// handler that fails, is late or cannot be asked any more blocks.

// gate asks the mode that is on, and then the handlers of the chain, about a tool call, so that
// nothing runs which one of them did not see. After a rewrite there is a second round: the handlers before the last
// rewriter see the final arguments, and of their answers only a block counts.
func (d *dispatcher) gate(ctx context.Context, spec *event.Spec, e *agent.ToolCall) error {
	// A call may have found its tool just before the gate of its mode was lost.
	if name, h, _ := d.modeOn(); name != "" && h == nil && !(slices.Contains(lookingNames(), e.Name) && e.Annotations.ReadOnly) {
		e.Block, e.Reason = true, fmt.Sprintf("the session is in the mode %q, which no hook has here, so only %s work; a person has to choose another mode, or turn it off with /mode off", name, looking)
		return ctx.Err()
	}
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

// newGateWalk returns the walk for a gateRound. It carries out each answer on e, and blocks
// where a handler fails, or where a gate of the hook is closed, which blocks without being
// asked. In the second round rewrites are undone: every handler would have to see them
// again, which might never end. The gate of the mode comes first, as if its hook were in the
// chain a second time.
func (d *dispatcher) newGateWalk(ctx context.Context, spec *event.Spec, e *agent.ToolCall, until place) *walk {
	hooks, gateOf := d.roster.list(), ""
	if _, h, mode := d.modeOn(); len(mode.Gate()) > 0 {
		hooks, gateOf = append([]*hook{h}, hooks...), mode.Name
	}
	return &walk{dispatcher: d, ctx: ctx, spec: spec, event: e, hooks: hooks, gateOf: gateOf, asking: asking{until: until}, steps: steps{
		begin: beforeRewriter,
		ended: func(w *walk, err error) (stop bool) {
			a, e := &w.asking, w.event.(*agent.ToolCall)
			before := a.seen.(*agent.ToolCall)
			w.apply(err)
			if err != nil {
				e.Block, e.BlockedBy, e.Reason = true, w.hook.Name, failedGate(w.hook, err)
			}
			if string(before.Input) != string(e.Input) {
				a.rewriter = place{w.hook, w.mode, a.last.in, w.n}
			}
			if a.until.hook != nil {
				e.Input, e.RewrittenBy = before.Input, before.RewrittenBy
			}
			return e.Block
		},
		done: func(w *walk) (stop bool) {
			e := w.event.(*agent.ToolCall)
			if reason := w.dispatcher.roster.closedForTool(w.hook, e.Name); reason != "" {
				e.Block, e.BlockedBy, e.Reason = true, w.hook.Name, reason
			}
			if w.mode != "" && w.hook.current().mode(w.mode) == nil {
				e.Block, e.BlockedBy, e.Reason = true, w.hook.Name, "hook "+w.hook.File()+" does not have the mode "+w.mode+" any more, so nobody can be asked"
			}
			return e.Block || w.isAt(w.asking.until)
		},
	}}
}

// beforeRewriter limits the handlers of the current hook to those before the last rewriter,
// if that one is known. Of its hook all are asked if it runs another version since: which of
// them are before it cannot be told then.
func beforeRewriter(w *walk) (limit int) {
	if w.isAt(w.asking.until) && w.in == w.asking.until.in {
		return w.asking.until.n
	}
	return allHandlers
}

// isAt reports whether the walk is at the hook of a place, there where the place is.
func (w *walk) isAt(p place) bool { return w.hook == p.hook && w.mode == p.mode }

func failedGate(h *hook, err error) string { return fmt.Sprintf("hook %s failed: %v", h.File(), err) }

// bash asks the handlers of the chain about a command that the person typed with !, until
// one gives a result in its place, or fails. As with tool calls a rewritten command goes back
// to the handlers before the last rewriter: of their answers only a result, or a failure,
// counts, for nothing runs then.
func (d *dispatcher) bash(ctx context.Context, spec *event.Spec, e *agent.UserBash) error {
	rewriter := d.bashRound(ctx, spec, e, place{})
	if isAnswered(e) || rewriter.hook == nil {
		return ctx.Err()
	}
	again := *e
	d.bashRound(ctx, spec, &again, rewriter)
	e.Result, e.Blocked = again.Result, again.Blocked
	return ctx.Err()
}

// isAnswered reports whether the command does not run.
func isAnswered(e *agent.UserBash) bool { return e.Result != nil || e.Blocked != "" }

// bashRound asks the handlers in their order until the command does not run, and returns the
// last one that rewrote it. If until is a place, only the handlers before it are asked.
func (d *dispatcher) bashRound(ctx context.Context, spec *event.Spec, e *agent.UserBash, until place) (rewriter place) {
	w := &walk{dispatcher: d, ctx: ctx, spec: spec, event: e, hooks: d.roster.list(), asking: asking{until: until}, steps: steps{
		begin: beforeRewriter,
		ended: func(w *walk, err error) (stop bool) {
			a, before := &w.asking, w.asking.seen.(*agent.UserBash)
			w.apply(err)
			if err != nil {
				e.Blocked = failedGate(w.hook, err)
			}
			if e.Command != before.Command {
				a.rewriter = place{hook: w.hook, in: a.last.in, n: w.n}
			}
			if a.until.hook != nil {
				e.Command = before.Command
			}
			return isAnswered(e)
		},
		done: func(w *walk) (stop bool) {
			if reason := w.hook.closedAt(agent.KindUserBash); reason != "" {
				e.Blocked = reason
			}
			return isAnswered(e) || w.isAt(w.asking.until)
		},
	}}
	w.run()
	return w.asking.rewriter
}

// shell asks the handlers of the chain what a command is handed to in the place of the shell.
// The last one that says something counts; one that fails blocks.
func (d *dispatcher) shell(ctx context.Context, spec *event.Spec, e *agent.ShellCommand) error {
	w := &walk{dispatcher: d, ctx: ctx, spec: spec, event: e, hooks: d.roster.list(), steps: steps{
		ended: func(w *walk, err error) (stop bool) {
			if err != nil {
				e.Blocked = failedGate(w.hook, err)
			}
			return w.apply(err) || err != nil
		},
		done: func(w *walk) (stop bool) {
			if reason := w.hook.closedAt(agent.KindShell); reason != "" {
				e.Blocked = reason
			}
			return e.Blocked != ""
		},
	}}
	w.run()
	return ctx.Err()
}
