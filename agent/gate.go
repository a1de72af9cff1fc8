package agent

import (
	"bytes"
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
	id      string
	input   json.RawMessage
	context []string // what listeners add to the result
}

// refused is a call that will not run: what the model is told instead.
type refused struct{ result Result }

func refuse(format string, args ...any) *refused {
	r := TextResult(fmt.Sprintf(format, args...))
	r.IsError = true
	return &refused{r}
}

func interrupted() *refused { return refuse("interrupted") }

// gate decides which calls of tools run.
type gate struct {
	events *listeners
	tools  *toolset
}

// clear decides whether call may run and with which arguments: the tool must be
// active, the arguments valid, and no listener against it.
func (g *gate) clear(ctx context.Context, call message.Block) (*cleared, *refused) {
	tool := g.tools.tool(call.Name)
	if tool == nil {
		return nil, g.unknownTool(call.Name)
	}
	checker, err := g.tools.checker(tool, func(text string) { g.events.Notify(ctx, LevelWarning, text) })
	if err != nil {
		return nil, refuse("tool %s cannot be called: %v", call.Name, err)
	}
	arguments := call.Arguments
	if p, ok := tool.(Preparer); ok {
		if arguments, err = prepared(ctx, p, arguments); err != nil {
			return nil, refuse("%v", err)
		}
	}
	input, err := checker.Check(arguments)
	if err != nil {
		return nil, refuse("%v", err)
	}
	c := &cleared{tool: tool, id: call.ID, input: input}
	if !g.events.wants(KindToolCall) {
		return c, nil
	}
	return g.ask(ctx, c, checker)
}

// prepared keeps a tool that crashes from ending the run.
func prepared(ctx context.Context, p Preparer, arguments json.RawMessage) (changed json.RawMessage, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the tool crashed: %v", r)
		}
	}()
	return p.Prepare(ctx, arguments)
}

func (g *gate) unknownTool(name string) *refused {
	names := g.tools.names()
	if len(names) == 0 {
		return refuse("unknown tool %q; no tools are available", name)
	}
	return refuse("unknown tool %q; available tools: %s", name, strings.Join(names, ", "))
}

// ask asks the listeners: a block, a failure of a listener, an interrupt, and a
// rewrite that is no valid input all keep the tool from running. A rewrite is
// not coerced, for what runs is what the listeners saw.
func (g *gate) ask(ctx context.Context, c *cleared, checker *schema.Checker) (*cleared, *refused) {
	e := &ToolCall{ID: c.id, Name: c.tool.Spec().Name, Input: c.input}
	err := g.events.emitGate(ctx, e, func() bool { return e.Block })
	switch {
	case ctx.Err() != nil:
		return nil, interrupted()
	case err != nil:
		return nil, refuse("blocked: %v", err)
	case e.Block:
		no := refuse("%s", blockReason(e))
		no.result.Terminate = e.Terminate
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

func blockReason(e *ToolCall) string {
	switch {
	case e.Reason != "":
		return e.Reason
	case e.BlockedBy != "":
		return "Blocked by hook " + e.BlockedBy
	}
	return "Blocked"
}
