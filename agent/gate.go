package agent

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"pi/agent/schema"
	"pi/session/message"
)

// cleared is a tool call that passed the gate. Only the gate makes one, and only
// [cleared.run] runs a tool, so nothing in the program runs one unasked.
type cleared struct {
	tool    Tool
	call    *callScope
	input   json.RawMessage
	context []string // what listeners add to the result
}

// refuse is the result of a call that does not run: what the model is told instead.
func refuse(format string, args ...any) *Result {
	r := TextResult(fmt.Sprintf(format, args...))
	r.IsError = true
	return &r
}

// interrupted is the result of a call that an interrupt keeps from running.
func interrupted() *Result { return refuse("interrupted") }

// gate decides which calls of tools run.
type gate struct {
	events *listeners
	tools  *toolset
}

// clear decides whether call may run and with which arguments: the tool must be
// active, the arguments valid, and no listener against it. Of the results one is nil.
func (g *gate) clear(ctx context.Context, call message.Block) (*cleared, *Result) {
	scope := &callScope{id: call.ID}
	ctx = scope.mark(ctx)
	tool := g.tools.tool(call.Name)
	if tool == nil {
		if names := g.tools.names(); len(names) > 0 {
			return nil, refuse("unknown tool %q; available tools: %s", call.Name, strings.Join(names, ", "))
		}
		return nil, refuse("unknown tool %q; no tools are available", call.Name)
	}
	checker, err := g.tools.checker(tool, func(text string) { g.events.Notify(ctx, LevelWarning, text) })
	if err != nil {
		return nil, refuse("tool %s cannot be called: %v", call.Name, err)
	}
	arguments := call.Arguments
	if p, ok := tool.(Preparer); ok {
		if arguments, err = prepare(ctx, p, arguments); err != nil {
			return nil, refuse("%v", err)
		}
	}
	input, err := checker.Check(arguments)
	if err != nil {
		return nil, refuse("%v", err)
	}
	c := &cleared{tool: tool, call: scope, input: input}
	if !g.events.wants(KindToolCall) {
		return c, nil
	}
	return g.ask(ctx, c, checker)
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

// ask lets the listeners block a call or rewrite its arguments. The result is set, and the
// tool does not run, after a block, a failure of a listener, an interrupt, or a rewrite
// that the schema refuses. A rewrite is not coerced: the tool gets exactly what the
// listeners saw.
func (g *gate) ask(ctx context.Context, c *cleared, checker *schema.Checker) (*cleared, *Result) {
	e := &ToolCall{ID: c.call.id, Name: c.tool.Spec().Name, Annotations: AnnotationsOf(c.tool), Input: c.input}
	err := g.events.emitGate(ctx, e, func() bool { return e.Block })
	switch {
	case ctx.Err() != nil:
		return nil, interrupted()
	case err != nil:
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
