package agent

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"pi/agent/schema"
)

// approvedCall is a tool call that passed the gate. Only the gate makes one, and only
// [approvedCall.run] runs a tool, so nothing in the program runs one unasked.
type approvedCall struct {
	gate    *gate
	tool    Tool
	id      string // of the call
	call    *callScope
	input   json.RawMessage
	server  *ServerCall // nil: the tool is none of a server
	context []string    // what listeners add to the result

	progress *Progress // of the tool while it runs; nil: nobody wants to know

	forwarded bool // the call was written as one of a [Forwarder]
}

// refuse is the result of a call that does not run: what the model is told instead.
func refuse(format string, args ...any) *Result {
	r := TextResult(fmt.Sprintf(format, args...))
	r.IsError = true
	return &r
}

// interrupted is the result of a call that an interrupt keeps from running.
func interrupted() *Result {
	r := refuse("interrupted")
	r.Interrupted = true
	return r
}

// gate decides which calls of tools run.
type gate struct {
	events *listeners
	tools  *toolset
	pause  time.Duration // between two reports of a running tool
	begin  *Sent         // see [Options]
}

// approve decides whether a call may run and with which arguments: the tool must be
// active, the arguments valid, and no listener against it. Of the results one is nil.
func (g *gate) approve(ctx context.Context, call meaning) (*approvedCall, *Result) {
	scope := newCallScope(ctx, call.ID, func(ctx context.Context, runs bool) {
		g.events.emitAfter(ctx, KindToolClock, func() Event { return &ToolClock{call.ID, runs} })
	})
	ctx = scope.mark(ctx)
	tool, no := g.find(ctx, call)
	if no != nil {
		return nil, no
	}
	checker, err := g.checker(ctx, tool, call)
	if err != nil {
		return nil, refuse("tool %s cannot be called: %v", call.Name, err)
	}
	return g.decide(ctx, &approvedCall{gate: g, tool: tool, id: call.ID, call: scope, input: call.Arguments,
		server: serverCall(ctx, tool, call.forwarded), forwarded: call.forwarded}, checker, nil)
}

// find returns the tool of a call: an active one, one behind it, or the one that the caller
// has. Of the results one is nil.
func (g *gate) find(ctx context.Context, call meaning) (Tool, *Result) {
	if call.given != nil {
		return call.given, nil
	}
	if call.through != nil {
		tool, err := call.through.Target(ctx, call.input)
		switch {
		case ctx.Err() != nil:
			return nil, interrupted()
		case err != nil:
			return nil, refuse("%v", err)
		case tool.Spec().Name != call.Name: // what was told is what is asked about
			return nil, refuse("not run: the call is one of %s, and not of %s", tool.Spec().Name, call.Name)
		}
		return tool, nil
	}
	if tool := g.tools.tool(call.Name); tool != nil {
		return tool, nil
	}
	if g.begin.has(call.Name) {
		return nil, refuse("not run: %s is a tool of the conversation that this one goes on from, and may not be used here", call.Name)
	}
	if names := g.tools.names(); len(names) > 0 {
		return nil, refuse("unknown tool %q; available tools: %s", call.Name, strings.Join(names, ", "))
	}
	return nil, refuse("unknown tool %q; no tools are available", call.Name)
}

// checker returns what checks the arguments of a call. That of a tool which is not among the
// active ones is not remembered, for it may be another one the next time.
func (g *gate) checker(ctx context.Context, tool Tool, call meaning) (*schema.Checker, error) {
	if call.through != nil || call.given != nil {
		return schema.Compile(tool.Spec().Parameters)
	}
	return g.tools.checker(tool, func(text string) { g.events.Notify(ctx, LevelWarning, text) })
}

// approveBelow decides whether below, in whose place the tool of running stands, may run in that
// call: the arguments must be those that the listeners were asked about, or else they are
// asked again. So they are where they were told that nothing is changed, and below may, and
// about a call of another name.
func (g *gate) approveBelow(ctx context.Context, running *approvedCall, below Tool, arguments json.RawMessage) (*approvedCall, *Result) {
	checker, err := schema.Compile(below.Spec().Parameters)
	if err != nil {
		return nil, refuse("tool %s cannot be called: %v", below.Spec().Name, err)
	}
	c := *running
	c.tool, c.input, c.context = below, arguments, nil
	c.server = serverCall(ctx, below, running.forwarded)
	seen := running.input
	if c.server != nil && (running.server == nil || running.server.Definition != c.server.Definition) {
		seen = nil // they were not told of the server, or of what its tool is now
	}
	if running.tool.Spec().Name != below.Spec().Name || AnnotationsOf(running.tool).ReadOnly && !AnnotationsOf(below).ReadOnly {
		seen = nil
	}
	return g.decide(ctx, &c, checker, seen)
}

// decide checks the arguments of c, and lets the listeners block the call or rewrite them,
// unless they have seen the same: seen is what they were asked about before, nil for nothing.
// The result is set, and the tool does not run, after arguments that the schema refuses, a
// block, a failure of a listener, an interrupt, or a rewrite that the schema refuses. A rewrite
// is not coerced: the tool gets exactly what the listeners saw.
func (g *gate) decide(ctx context.Context, c *approvedCall, checker *schema.Checker, seen json.RawMessage) (*approvedCall, *Result) {
	var err error
	if p, ok := c.tool.(Preparer); ok {
		if c.input, err = prepare(ctx, p, c.input); err != nil {
			return nil, refuse("%v", err)
		}
	}
	if c.input, err = checker.Check(c.input); err != nil {
		return nil, refuse("%v", err)
	}
	if !g.events.wants(KindToolCall) || seen != nil && schema.IsSame(seen, c.input) {
		return c, nil
	}
	e := &ToolCall{ID: c.id, Name: c.tool.Spec().Name, Annotations: AnnotationsOf(c.tool), Input: c.input, Server: c.server}
	if c.server != nil {
		e.Annotations = c.server.Claims
	}
	err = g.events.emitGate(ctx, e, func() bool { return e.Block })
	switch {
	case ctx.Err() != nil:
		return nil, interrupted()
	case err != nil: // of a listener that is no hook, for a hook that fails comes back as a block
		return nil, refuse("blocked: %v", err)
	case e.Block:
		reason := "Blocked"
		if e.BlockedBy != "" {
			reason += " by hook " + e.BlockedBy
		}
		no := refuse("%s", cmp.Or(e.Reason, reason))
		no.Terminate = e.Terminate
		return nil, no
	}
	if !bytes.Equal(e.Input, c.input) {
		if err := checker.Validate(e.Input); err != nil {
			return nil, refuse("blocked: %s rewrote the arguments: %v", hookName(e.RewrittenBy), err)
		}
	}
	c.input, c.context = e.Input, e.AdditionalContext
	return c, nil
}

// prepare lets a tool that is a Preparer change the arguments of a call before they are
// checked. A crash of the tool becomes the error.
func prepare(ctx context.Context, p Preparer, arguments json.RawMessage) (changed json.RawMessage, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the tool crashed: %v", r)
		}
	}()
	return p.Prepare(ctx, arguments)
}
