package luahooks

import (
	"context"
	"fmt"

	"pi/agent"

	lua "github.com/yuin/gopher-lua"
)

// The gate: a tool call passes it or does not run. A handler that fails, is late
// or cannot be asked any more blocks.

// place is a handler's place in the chain.
type place struct {
	hook *hook
	n    int // among the handlers of its hook
}

// gate passes a tool call along the chain. What runs is what every handler last
// saw: after a rewrite the handlers before it are asked again with the final
// arguments, and of those answers only a block counts.
func (c *Chain) gate(ctx context.Context, spec *eventSpec, e *agent.ToolCall) error {
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
func (c *Chain) gateRound(ctx context.Context, spec *eventSpec, e *agent.ToolCall, until place) (rewriter place) {
	g := &gateSteps{spec: spec, call: e, until: until}
	c.walk(ctx, spec, c.list(), g)
	return g.rewriter
}

type gateSteps struct {
	spec     *eventSpec
	call     *agent.ToolCall
	until    place
	rewriter place

	asked  *question
	before *agent.ToolCall // what asked saw
}

func (g *gateSteps) enter(h *hook) (limit int) {
	if h == g.until.hook {
		return g.until.n
	}
	return allHandlers
}

func (g *gateSteps) job(in *instance, fn *lua.LFunction) func(*lua.LState) error {
	g.before = copied(g.call)
	g.asked = &question{in: in, spec: g.spec, event: g.call, seen: g.before, fn: fn}
	return g.asked.run
}

func (g *gateSteps) after(h *hook, n int, err error) (stop bool) {
	e := g.call
	g.asked.settle(err)
	if err != nil {
		e.Block, e.BlockedBy = true, h.Name
		e.Reason = fmt.Sprintf("hook %s failed: %v", h.File(), err)
	}
	if string(g.before.Input) != string(e.Input) {
		g.rewriter = place{h, n}
	}
	if g.until.hook != nil {
		e.Input, e.RewrittenBy = g.before.Input, g.before.RewrittenBy
	}
	return e.Block
}

func (g *gateSteps) leave(h *hook) (stop bool) {
	e := g.call
	if reason := h.shut.Load(); reason != nil && !e.Block {
		e.Block, e.BlockedBy, e.Reason = true, h.Name, *reason
	}
	return e.Block || h == g.until.hook
}

// shutGates makes the gates of a hook that is given up block until its file
// changes: a gate that is gone must not become an open one. in is what ran.
func (c *Chain) shutGates(h *hook, in *instance) {
	gate := c.events[agent.KindToolCall]
	if len(in.registered(gate.name)) == 0 {
		return
	}
	reason := "hook " + h.File() + " did not stop and is disabled, so its gate stays shut; change or remove its file to open it"
	if h.shut.Swap(&reason) == nil {
		c.wanted[gate.Kind].Add(1)
	}
}

// openGates ends what shutGates did.
func (c *Chain) openGates(h *hook) {
	if h.shut.Swap(nil) != nil {
		c.wanted[agent.KindToolCall].Add(-1)
	}
}
