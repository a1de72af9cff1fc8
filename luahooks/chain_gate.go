package luahooks

import (
	"context"
	"fmt"

	"pi/agent"
	"pi/luahooks/event"

	lua "github.com/yuin/gopher-lua"
)

// The gates: a tool call, or a command of the person, passes or does not run. A
// handler that fails, is late or cannot be asked any more blocks.

// place is a handler's place in the chain.
type place struct {
	hook *hook
	in   *instance
	n    int // among the handlers of in
}

// gate passes a tool call along the chain. What runs is what every handler last
// saw: after a rewrite the handlers before it are asked again with the final
// arguments, and of those answers only a block counts.
func (c *Chain) gate(ctx context.Context, spec *event.Spec, e *agent.ToolCall) error {
	rewriter := c.gateRound(ctx, spec, e, place{})
	if e.Block || rewriter.hook == nil {
		return ctx.Err()
	}
	again := *e
	c.gateRound(ctx, spec, &again, rewriter)
	if again.Block {
		e.Block, e.Reason, e.BlockedBy, e.Terminate = true, again.Reason, again.BlockedBy, again.Terminate
	}
	return ctx.Err()
}

// gateRound asks the handlers of the chain until one blocks. With a place it
// asks only those before that, all with the same arguments. It returns the last
// handler that rewrote the arguments.
func (c *Chain) gateRound(ctx context.Context, spec *event.Spec, e *agent.ToolCall, until place) (rewriter place) {
	g := &gateSteps{chain: c, spec: spec, call: e, until: until}
	c.walk(ctx, spec, c.list(), g)
	return g.rewriter
}

type gateSteps struct {
	chain    *Chain
	spec     *event.Spec
	call     *agent.ToolCall
	until    place
	rewriter place

	asked  *question
	before *agent.ToolCall // what asked saw, as the call is now; nil: to be copied
}

// enter asks all of a hook whose file was saved since, for what stands where in it
// now is not known.
func (g *gateSteps) enter(h *hook, in *instance) (limit int) {
	if h == g.until.hook && in == g.until.in {
		return g.until.n
	}
	return allHandlers
}

func (g *gateSteps) job(in *instance, fn *lua.LFunction) func(*lua.LState) error {
	if g.before == nil {
		g.before = copied(g.call)
	}
	g.asked = &question{in: in, spec: g.spec, event: g.call, seen: g.before, fn: fn}
	return g.asked.run
}

func (g *gateSteps) after(h *hook, n int, err error) (stop bool) {
	e := g.call
	_, changed := g.asked.settle(err)
	if err != nil {
		e.Block, e.BlockedBy = true, h.Name
		e.Reason = failedGate(h, err)
	}
	if string(g.before.Input) != string(e.Input) {
		g.rewriter = place{h, g.asked.in, n}
	}
	if g.until.hook != nil {
		e.Input, e.RewrittenBy = g.before.Input, g.before.RewrittenBy
	}
	if changed {
		g.before = nil
	}
	return e.Block
}

func (g *gateSteps) leave(h *hook) (stop bool) {
	e := g.call
	if reason := g.chain.shutForTool(h, e.Name); reason != "" && !e.Block {
		e.Block, e.BlockedBy, e.Reason = true, h.Name, reason
	}
	return e.Block || h == g.until.hook
}

func (g *gateSteps) answered() []string { return g.asked.keys }

func failedGate(h *hook, err error) string { return fmt.Sprintf("hook %s failed: %v", h.File(), err) }

// bash asks who answers for a command of the person, until one does or blocks.
func (c *Chain) bash(ctx context.Context, spec *event.Spec, e *agent.UserBash) error {
	c.walk(ctx, spec, c.list(), &bashSteps{offering: offering{spec: spec, event: e}, command: e})
	return ctx.Err()
}

type bashSteps struct {
	offering
	command *agent.UserBash
}

func (b *bashSteps) after(h *hook, n int, err error) (stop bool) {
	if err != nil {
		b.command.Blocked = failedGate(h, err)
		b.stop = true
		return true
	}
	return b.offering.after(h, n, err)
}

func (b *bashSteps) leave(h *hook) (stop bool) {
	if reason := h.shutAt(agent.KindUserBash); reason != "" && !b.stop {
		b.command.Blocked, b.stop = reason, true
	}
	return b.stop
}
