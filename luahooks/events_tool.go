package luahooks

import (
	"encoding/json"
	"fmt"

	"pi/agent"
	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

func toolEvents() []eventSpec {
	return []eventSpec{
		{
			Kind: agent.KindToolCall, Asking: true, Clock: luavm.CountedLua,
			Fields:  fields("tool_name", "string", "tool_call_id", "string", "input", "table"),
			Results: fields("block", "boolean?", "reason", "string?", "input", "table?", "additional_context", "string?", "terminate", "boolean?"),
			Rule:    "in chain order until the first block; after a rewrite of input earlier handlers are asked again, and only a block of theirs counts; an error blocks",
			build:   buildToolCall, merge: mergeToolCall, peek: peekToolCall,
		},
		{
			Kind: agent.KindToolResult, Asking: true,
			Fields: fields("tool_name", "string", "tool_call_id", "string", "input", "table", "content", "pi.Block[]",
				"details", "any", "is_error", "boolean", "usage", "pi.Usage?"),
			Results: fields("content", "string|pi.Block[]?", "details", "any", "is_error", "boolean?", "usage", "pi.Usage?", "terminate", "boolean?"),
			Rule:    "chained field by field; a failing handler leaves the result as it was",
			build:   buildToolResult, merge: mergeToolResult, peek: peekToolResult,
		},
	}
}

func buildToolCall(in *instance, L *lua.LState, e agent.Event) *lua.LTable {
	s := e.(*agent.ToolCall)
	t := record(L, s.Kind(), 3)
	t.RawSetString("tool_name", lua.LString(s.Name))
	t.RawSetString("tool_call_id", lua.LString(s.ID))
	t.RawSetString("input", in.input(s.Name, s.Input))
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

func mergeToolCall(in *instance, L *lua.LState, e agent.Event, r *lua.LTable) (func(), bool, error) {
	s := e.(*agent.ToolCall)
	block, err := optionalBool(r, "block")
	if err != nil {
		return nil, false, err
	}
	terminate, err := optionalBool(r, "terminate")
	if err != nil {
		return nil, false, err
	}
	reason, _, err := optionalString(r, "reason")
	if err != nil {
		return nil, false, err
	}
	context, adds, err := optionalString(r, "additional_context")
	if err != nil {
		return nil, false, err
	}
	var input json.RawMessage
	if given := r.RawGetString("input"); given != lua.LNil {
		if input, err = in.inputFrom(s.Name, given); err != nil {
			return nil, false, err
		}
	}
	return func() {
		if block {
			s.Block, s.Reason, s.BlockedBy, s.Terminate = true, reason, in.hook.Name, terminate
			return
		}
		if input != nil {
			s.Input, s.RewrittenBy = input, in.hook.Name
		}
		if adds {
			s.AdditionalContext = append(s.AdditionalContext, context)
		}
	}, block, nil
}

func buildToolResult(in *instance, L *lua.LState, e agent.Event) *lua.LTable {
	s := e.(*agent.ToolResult)
	t := record(L, s.Kind(), 6)
	t.RawSetString("tool_name", lua.LString(s.Name))
	t.RawSetString("tool_call_id", lua.LString(s.ID))
	t.RawSetString("input", in.input(s.Name, s.Input))
	t.RawSetString("content", in.blocks(L, s.Result.Content))
	t.RawSetString("details", in.json(s.Result.Details))
	t.RawSetString("is_error", lua.LBool(s.Result.IsError))
	if s.Result.Usage != nil {
		t.RawSetString("usage", usageTable(L, s.Result.Usage))
	}
	return t
}

func mergeToolResult(in *instance, L *lua.LState, e agent.Event, r *lua.LTable) (func(), bool, error) {
	s := e.(*agent.ToolResult)
	var edits []func()
	if v := r.RawGetString("content"); v != lua.LNil {
		blocks, err := in.content(L, v, "content")
		if err != nil {
			return nil, false, err
		}
		edits = append(edits, func() { s.Result.Content = blocks })
	}
	if v := r.RawGetString("details"); v != lua.LNil {
		raw, err := in.encode(v, "details")
		if err != nil {
			return nil, false, err
		}
		edits = append(edits, func() { s.Result.Details = raw })
	}
	switch v := r.RawGetString("usage").(type) {
	case *lua.LNilType:
	case *lua.LTable:
		usage := usageFrom(L, v)
		edits = append(edits, func() { s.Result.Usage = usage })
	default:
		return nil, false, fmt.Errorf("usage: expected a table, got %s", v.Type())
	}
	for name, field := range map[string]*bool{"is_error": &s.Result.IsError, "terminate": &s.Result.Terminate} {
		if r.RawGetString(name) == lua.LNil {
			continue
		}
		v, err := optionalBool(r, name)
		if err != nil {
			return nil, false, err
		}
		edits = append(edits, func() { *field = v })
	}
	return func() {
		for _, edit := range edits {
			edit()
		}
	}, false, nil
}
