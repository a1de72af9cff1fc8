package luahooks

import (
	"fmt"

	"pi/agent"
	"pi/session"

	lua "github.com/yuin/gopher-lua"
)

func promptEvents() []eventSpec {
	return []eventSpec{
		{
			Kind: agent.KindInput, Asking: true,
			Fields:  fields("text", "string", "attachments", "pi.Block[]", "source", "string", "streaming_behavior", "string?"),
			Results: fields("text", "string?", "attachments", "pi.Block[]?", "handled", "boolean?"),
			Rule:    "chained: each sees the text as rewritten so far; handled stops the chain",
			build:   buildInput, merge: mergeInput,
		},
		{
			Kind: agent.KindBeforeAgentStart, Asking: true,
			Fields:  fields("prompt", "string", "attachments", "pi.Block[]", "system_prompt", "string"),
			Results: fields("message", "pi.CustomMessage?", "system_prompt", "string?"),
			Rule:    "messages: all, in order; system_prompt: chained",
			build:   buildBeforeAgentStart, merge: mergeBeforeAgentStart,
		},
		{
			Kind:   agent.KindAgentStart,
			Fields: nil,
			Rule:   "told in chain order; waited for",
			build:  func(_ *instance, L *lua.LState, e agent.Event) *lua.LTable { return record(L, e.Kind(), 0) },
		},
		{
			Kind:   agent.KindAgentEnd,
			Fields: fields("messages", "pi.Message[]", "usage", "pi.Usage"),
			Rule:   "told in chain order; the agent goes on after hook_grace",
			Wait:   graceful, build: buildAgentEnd,
		},
		{
			Kind:   agent.KindTurnStart,
			Fields: fields("turn_index", "integer", "timestamp", "integer"),
			Rule:   "told in chain order; waited for",
			build:  buildTurnStart,
		},
		{
			Kind: agent.KindTurnEnd,
			Fields: fields("turn_index", "integer", "message", "pi.Message", "tool_results", "pi.Message[]",
				"entry_ids", "string[]", "usage", "pi.Usage"),
			Rule: "told in chain order; the agent goes on after hook_grace",
			Wait: graceful, build: buildTurnEnd,
		},
		{
			Kind: agent.KindContext, Asking: true,
			Fields:  fields("entries", "pi.Entry[]", "messages", "pi.Message[]"),
			Results: fields("messages", "pi.Message[]?"),
			Rule:    "chained: each sees the list of the one before; a failing handler leaves it in force",
			build:   buildContext, merge: mergeContext,
		},
	}
}

func buildInput(in *instance, L *lua.LState, e agent.Event) *lua.LTable {
	s := e.(*agent.Input)
	t := record(L, s.Kind(), 4)
	t.RawSetString("text", lua.LString(s.Text))
	t.RawSetString("attachments", in.blocks(L, s.Attachments))
	setText(t, "source", s.Source)
	setText(t, "streaming_behavior", s.StreamingBehavior)
	return t
}

func mergeInput(in *instance, L *lua.LState, e agent.Event, r *lua.LTable) (func(), bool, error) {
	s := e.(*agent.Input)
	text, rewrites, err := optionalString(r, "text")
	if err != nil {
		return nil, false, err
	}
	handled, err := optionalBool(r, "handled")
	if err != nil {
		return nil, false, err
	}
	var blocks []session.Block
	given := r.RawGetString("attachments")
	if given != lua.LNil {
		if blocks, err = in.blocksFrom(L, given, "attachments"); err != nil {
			return nil, false, err
		}
	}
	return func() {
		if rewrites {
			s.Text = text
		}
		if given != lua.LNil {
			s.Attachments = blocks
		}
		s.Handled = s.Handled || handled
	}, handled, nil
}

func buildBeforeAgentStart(in *instance, L *lua.LState, e agent.Event) *lua.LTable {
	s := e.(*agent.BeforeAgentStart)
	t := record(L, s.Kind(), 3)
	t.RawSetString("prompt", lua.LString(s.Prompt))
	t.RawSetString("attachments", in.blocks(L, s.Attachments))
	t.RawSetString("system_prompt", lua.LString(s.SystemPrompt))
	return t
}

func mergeBeforeAgentStart(in *instance, L *lua.LState, e agent.Event, r *lua.LTable) (func(), bool, error) {
	s := e.(*agent.BeforeAgentStart)
	system, rewrites, err := optionalString(r, "system_prompt")
	if err != nil {
		return nil, false, err
	}
	var message *session.Message
	switch m := r.RawGetString("message").(type) {
	case *lua.LNilType:
	case *lua.LTable:
		if message, err = in.customMessage(L, m); err != nil {
			return nil, false, err
		}
	default:
		return nil, false, fmt.Errorf("message: expected a table, got %s", m.Type())
	}
	return func() {
		if rewrites {
			s.SystemPrompt = system
		}
		if message != nil {
			s.Messages = append(s.Messages, message)
		}
	}, false, nil
}

func buildAgentEnd(in *instance, L *lua.LState, e agent.Event) *lua.LTable {
	s := e.(*agent.AgentEnd)
	t := record(L, s.Kind(), 2)
	t.RawSetString("messages", in.messages(L, itemsOf(s.Messages)))
	t.RawSetString("usage", usageTable(L, &s.Usage))
	return t
}

func itemsOf(messages []*session.Message) []session.Item {
	items := make([]session.Item, len(messages))
	for i, m := range messages {
		items[i] = session.Item{Message: m, Index: -1}
	}
	return items
}

func buildTurnStart(_ *instance, L *lua.LState, e agent.Event) *lua.LTable {
	s := e.(*agent.TurnStart)
	t := record(L, s.Kind(), 2)
	t.RawSetString("turn_index", lua.LNumber(s.TurnIndex))
	t.RawSetString("timestamp", lua.LNumber(s.Timestamp))
	return t
}

func buildTurnEnd(in *instance, L *lua.LState, e agent.Event) *lua.LTable {
	s := e.(*agent.TurnEnd)
	t := record(L, s.Kind(), 5)
	t.RawSetString("turn_index", lua.LNumber(s.TurnIndex))
	t.RawSetString("message", in.message(session.Item{Message: s.Message, Index: -1}))
	t.RawSetString("tool_results", in.messages(L, itemsOf(s.ToolResults)))
	ids := L.CreateTable(len(s.EntryIDs), 0)
	for _, id := range s.EntryIDs {
		ids.Append(lua.LString(id))
	}
	t.RawSetString("entry_ids", ids)
	t.RawSetString("usage", usageTable(L, &s.Usage.Usage))
	return t
}

func buildContext(in *instance, L *lua.LState, e agent.Event) *lua.LTable {
	s := e.(*agent.Context)
	t := record(L, s.Kind(), 2)
	t.RawSetString("entries", in.entries(L, s.Entries))
	t.RawSetString("messages", in.messages(L, s.Items))
	return t
}

func mergeContext(in *instance, L *lua.LState, e agent.Event, r *lua.LTable) (func(), bool, error) {
	s := e.(*agent.Context)
	list, ok := r.RawGetString("messages").(*lua.LTable)
	if !ok {
		if r.RawGetString("messages") == lua.LNil {
			return nil, false, nil
		}
		return nil, false, fmt.Errorf("messages: expected a list, got %s", r.RawGetString("messages").Type())
	}
	items, err := in.itemsFrom(L, list, s)
	if err != nil {
		return nil, false, err
	}
	return func() { s.Items = items }, false, nil
}
