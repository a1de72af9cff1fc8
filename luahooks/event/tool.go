package event

import (
	"encoding/json"
	"fmt"

	"pi/agent"
	"pi/luahooks/record"
	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

func toolEvents() []Spec {
	return []Spec{
		{
			Kind: agent.KindToolCall, Asking: true, Clock: luavm.CountedLua,
			Fields:  "tool_name string; tool_call_id string; input table",
			Results: "block boolean?; reason string?; input table?; additional_context string?; terminate boolean?",
			Rule:    "in chain order until the first block; after a rewrite of input earlier handlers are asked again, and only a block of theirs counts; an error blocks",
			build:   buildToolCall, Copy: copyOf[agent.ToolCall], Merge: mergeToolCall, peek: peekToolCall,
		},
		{
			Kind: agent.KindToolResult, Asking: true,
			Fields: "tool_name string; tool_call_id string; input table; content pi.Block[]; details any; " +
				"is_error boolean; usage pi.Usage?",
			Results: "content string|pi.Block[]?; details any; is_error boolean?; usage pi.Usage?; terminate boolean?",
			Rule:    "chained field by field; a failing handler leaves the result as it was",
			build:   buildToolResult, Copy: copyOf[agent.ToolResult], Merge: mergeToolResult, peek: peekToolResult,
		},
		{
			Kind:   agent.KindToolExecutionStart,
			Fields: "tool_call_id string; tool_name string; args table",
			Rule:   toldWithGrace, Wait: Graceful,
			build: buildToolExecutionStart, peek: peekToolExecution,
		},
		{
			Kind:   agent.KindToolExecutionUpdate,
			Fields: "tool_call_id string; tool_name string; args table; partial_result pi.ToolResult",
			Rule:   toldWithGrace, Wait: Graceful,
			build: buildToolExecutionUpdate, peek: peekToolExecution,
		},
		{
			Kind:   agent.KindToolExecutionEnd,
			Fields: "tool_call_id string; tool_name string; args table; result pi.ToolResult; is_error boolean",
			Rule:   toldWithGrace, Wait: Graceful,
			build: buildToolExecutionEnd, peek: peekToolExecution,
		},
		{
			// What answers for a command often runs it elsewhere, which takes as
			// long as it takes.
			Kind: agent.KindUserBash, Asking: true, Clock: luavm.CountedLua,
			Fields:  "command string; exclude_from_context boolean; cwd string",
			Results: "result pi.BashResult?",
			Rule:    "the first answer counts, and nothing runs; an error blocks",
			build:   buildUserBash, Copy: copyOf[agent.UserBash], Merge: mergeUserBash,
		},
	}
}

func buildToolCall(src *Source, L *lua.LState, e agent.Event) *lua.LTable {
	s := e.(*agent.ToolCall)
	t := newEvent(L, s.Kind(), 3)
	luavm.Set(t, "tool_name", lua.LString(s.Name))
	luavm.Set(t, "tool_call_id", lua.LString(s.ID))
	luavm.Set(t, "input", src.records.Input(s.Name, s.Input))
	return t
}

func peekToolCall(e agent.Event, field string) (lua.LValue, bool) {
	s := e.(*agent.ToolCall)
	return peekCall(field, s.Name, s.ID)
}

func peekToolResult(e agent.Event, field string) (lua.LValue, bool) {
	s := e.(*agent.ToolResult)
	if field == "is_error" {
		return lua.LBool(s.Result.IsError), true
	}
	return peekCall(field, s.Name, s.ID)
}

func peekCall(field, name, id string) (lua.LValue, bool) {
	switch field {
	case "tool_name":
		return lua.LString(name), true
	case "tool_call_id":
		return lua.LString(id), true
	}
	return nil, false
}

func mergeToolCall(src *Source, L *lua.LState, e agent.Event, r *lua.LTable) (func(), bool, error) {
	s, a := e.(*agent.ToolCall), src.records.NewAnswer(L, r)
	block, terminate, reason := a.Flag("block"), a.Flag("terminate"), a.Text("reason")
	context, adds := a.Text("additional_context"), a.Has("additional_context")
	var input json.RawMessage
	if given := r.RawGetString("input"); given != lua.LNil {
		var err error
		input, err = src.records.InputFrom(s.Name, given)
		a.FailWith(err)
	}
	return func() {
		if block {
			s.Block, s.Reason, s.BlockedBy, s.Terminate = true, reason, src.hook, terminate
			return
		}
		if input != nil {
			s.Input, s.RewrittenBy = input, src.hook
		}
		if adds {
			s.AdditionalContext = append(s.AdditionalContext, context)
		}
	}, block, a.Failed()
}

func buildToolResult(src *Source, L *lua.LState, e agent.Event) *lua.LTable {
	s := e.(*agent.ToolResult)
	t := newEvent(L, s.Kind(), 6)
	luavm.Set(t, "tool_name", lua.LString(s.Name))
	luavm.Set(t, "tool_call_id", lua.LString(s.ID))
	luavm.Set(t, "input", src.records.Input(s.Name, s.Input))
	luavm.Set(t, "content", src.records.Blocks(L, s.Result.Content))
	luavm.Set(t, "details", src.records.Details(s.Name, s.Result.Details))
	luavm.Set(t, "is_error", lua.LBool(s.Result.IsError))
	if s.Result.Usage != nil {
		luavm.Set(t, "usage", record.Usage(L, s.Result.Usage))
	}
	return t
}

func mergeToolResult(src *Source, L *lua.LState, e agent.Event, r *lua.LTable) (func(), bool, error) {
	s := e.(*agent.ToolResult)
	var edits []func()
	if v := r.RawGetString("content"); v != lua.LNil {
		blocks, err := src.records.Content(L, v, "content")
		if err != nil {
			return nil, false, err
		}
		edits = append(edits, func() { s.Result.Content = blocks })
	}
	if v := r.RawGetString("details"); v != lua.LNil {
		raw, err := src.records.DetailsFrom(s.Name, v)
		if err != nil {
			return nil, false, err
		}
		edits = append(edits, func() { s.Result.Details = raw })
	}
	switch v := r.RawGetString("usage").(type) {
	case *lua.LNilType:
	case *lua.LTable:
		usage := record.UsageFrom(L, v)
		edits = append(edits, func() { s.Result.Usage = usage })
	default:
		return nil, false, fmt.Errorf("usage: expected a table, got %s", v.Type())
	}
	a := src.records.NewAnswer(L, r)
	for name, field := range map[string]*bool{"is_error": &s.Result.IsError, "terminate": &s.Result.Terminate} {
		if v := a.Flag(name); a.Has(name) {
			edits = append(edits, func() { *field = v })
		}
	}
	if a.Failed() != nil {
		return nil, false, a.Failed()
	}
	return func() {
		for _, edit := range edits {
			edit()
		}
	}, false, nil
}

func peekToolExecution(e agent.Event, field string) (lua.LValue, bool) {
	switch s := e.(type) {
	case *agent.ToolExecutionStart:
		return peekCall(field, s.Name, s.ID)
	case *agent.ToolExecutionUpdate:
		return peekCall(field, s.Name, s.ID)
	case *agent.ToolExecutionEnd:
		if field == "is_error" {
			return lua.LBool(s.Result.IsError), true
		}
		return peekCall(field, s.Name, s.ID)
	}
	return nil, false
}

func (src *Source) execution(L *lua.LState, e agent.Event, id, name string, input json.RawMessage) record.Payload {
	return newPayload(L, e, 5).Text("tool_call_id", id).Text("tool_name", name).Set("args", src.records.Input(name, input))
}

func buildToolExecutionStart(src *Source, L *lua.LState, e agent.Event) *lua.LTable {
	s := e.(*agent.ToolExecutionStart)
	return src.execution(L, e, s.ID, s.Name, s.Input).Table()
}

func buildToolExecutionUpdate(src *Source, L *lua.LState, e agent.Event) *lua.LTable {
	s := e.(*agent.ToolExecutionUpdate)
	return src.execution(L, e, s.ID, s.Name, s.Input).Set("partial_result", src.toolOutput(L, s.Name, &s.Partial)).Table()
}

func buildToolExecutionEnd(src *Source, L *lua.LState, e agent.Event) *lua.LTable {
	s := e.(*agent.ToolExecutionEnd)
	return src.execution(L, e, s.ID, s.Name, s.Input).Set("result", src.toolOutput(L, s.Name, &s.Result)).
		Flag("is_error", s.Result.IsError).Table()
}

// toolOutput is what a tool gave back, in the form in which a hook's tool gives it.
func (src *Source) toolOutput(L *lua.LState, tool string, r *agent.Result) *lua.LTable {
	p := record.NewPayload(L, 5).Set("content", src.records.Blocks(L, r.Content)).Set("details", src.records.Details(tool, r.Details)).Flag("is_error", r.IsError)
	if r.Usage != nil {
		p.Set("usage", record.Usage(L, r.Usage))
	}
	if r.Terminate {
		p.Flag("terminate", true)
	}
	return p.Table()
}

func buildUserBash(_ *Source, L *lua.LState, e agent.Event) *lua.LTable {
	s := e.(*agent.UserBash)
	return newPayload(L, e, 3).Text("command", s.Command).Flag("exclude_from_context", s.ExcludeFromContext).Text("cwd", s.Cwd).Table()
}

func mergeUserBash(src *Source, L *lua.LState, e agent.Event, r *lua.LTable) (func(), bool, error) {
	s, a := e.(*agent.UserBash), src.records.NewAnswer(L, r)
	result, ok := a.Record("result", "output", "exit_code", "cancelled", "truncated")
	if !ok {
		return nil, false, a.Failed()
	}
	if !result.Has("output") {
		result.Fail("output", "it is missing")
	}
	outcome := &agent.BashOutcome{Output: result.Text("output"), Cancelled: result.Flag("cancelled"), Truncated: result.Flag("truncated")}
	if result.Has("exit_code") {
		code := result.Integer("exit_code")
		outcome.ExitCode = &code
	}
	return func() { s.Result = outcome }, true, a.Failed()
}
