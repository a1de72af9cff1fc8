package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"pi/session"
)

// cleared is a tool call that passed the gate. Only [Agent.clear] makes one, and
// only [cleared.run] runs a tool, so nothing in the program runs one unasked.
type cleared struct {
	tool    Tool
	id      string
	input   json.RawMessage
	context []string // what listeners add to the result
}

// refused is a call that will not run: what the model is told instead.
type refused struct {
	result Result
}

func refuse(format string, args ...any) *refused {
	r := TextResult(fmt.Sprintf(format, args...))
	r.IsError = true
	return &refused{r}
}

// clear asks everyone whether call may run and with which arguments.
func (a *Agent) clear(ctx context.Context, call session.Block) (*cleared, *refused) {
	tool := a.tool(call.Name)
	if tool == nil {
		return nil, refuse("unknown tool %q; available tools: %s", call.Name, strings.Join(a.ToolNames(), ", "))
	}
	checker, err := a.checker(ctx, tool)
	if err != nil {
		return nil, refuse("tool %s cannot be called: %v", call.Name, err)
	}
	input, err := checker.check(call.Arguments)
	if err != nil {
		return nil, refuse("%v", err)
	}
	c := &cleared{tool: tool, id: call.ID, input: input}
	if !a.wants(KindToolCall) {
		return c, nil
	}
	return a.askGate(ctx, c, checker)
}

// askGate is the gate: a block, an error of a listener, and a rewrite that is no
// valid input all keep the tool from running.
func (a *Agent) askGate(ctx context.Context, c *cleared, checker *argChecker) (*cleared, *refused) {
	e := &ToolCall{ID: c.id, Name: c.tool.Spec().Name, Input: c.input}
	if err := a.ask(ctx, e); err != nil {
		return nil, refuse("%v", err)
	}
	if ctx.Err() != nil {
		return nil, interrupted()
	}
	if e.Block {
		no := refuse("%s", blockReason(e))
		no.result.Terminate = e.Terminate
		return nil, no
	}
	if e.RewrittenBy != "" {
		input, err := checker.check(e.Input)
		if err != nil {
			return nil, refuse("blocked: hook %s rewrote the arguments: %v", e.RewrittenBy, err)
		}
		e.Input = input
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

func interrupted() *refused { return refuse("interrupted") }

// run is the one place where a tool runs.
func (c *cleared) run(ctx context.Context, update Update) (result Result) {
	defer func() {
		if p := recover(); p != nil {
			result = refuse("tool %s crashed: %v", c.tool.Spec().Name, p).result
		}
	}()
	result, err := c.tool.Run(ctx, c.input, update)
	switch {
	case err != nil && ctx.Err() != nil:
		return withError(result, "interrupted")
	case err != nil:
		return withError(result, err.Error())
	}
	return result
}

// withError adds what went wrong to what the tool still had to say.
func withError(r Result, message string) Result {
	r.Content = append(r.Content[:len(r.Content):len(r.Content)], session.TextBlock(message))
	r.IsError = true
	return r
}

// finishCall lets listeners edit the result of a run. After an interrupt nobody
// is asked any more, so what a listener would have edited is not kept either.
func (a *Agent) finishCall(ctx context.Context, c *cleared, result Result) Result {
	if a.wants(KindToolResult) {
		if ctx.Err() != nil {
			return interrupted().result
		}
		e := &ToolResult{ID: c.id, Name: c.tool.Spec().Name, Input: c.input, Result: result}
		a.emit(ctx, e)
		result = e.Result
	}
	for _, text := range c.context {
		result.Content = append(result.Content[:len(result.Content):len(result.Content)], session.TextBlock(text))
	}
	return result
}

// CallTool runs one tool for a hook or a program, through the same gate as a
// call of the model. A refused call gives a Result that says why.
func (a *Agent) CallTool(ctx context.Context, name string, input json.RawMessage) Result {
	call := session.Block{Type: session.BlockToolCall, ID: newCallID(), Name: name, Arguments: input}
	a.emitIf(ctx, KindToolExecutionStart, func() Event { return &ToolExecutionStart{call.ID, name, input} })
	result := a.callOne(ctx, call)
	a.emitIf(ctx, KindToolExecutionEnd, func() Event { return &ToolExecutionEnd{call.ID, name, input, result} })
	return result
}

func (a *Agent) callOne(ctx context.Context, call session.Block) Result {
	c, no := a.clear(ctx, call)
	if no != nil {
		return no.result
	}
	return a.finishCall(ctx, c, c.run(ctx, a.updates(ctx, call, c.input)))
}
