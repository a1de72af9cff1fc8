package event

import (
	"fmt"
	"maps"
	"slices"

	"pi/agent"
	"pi/luahooks/record"
	"pi/luavm"
	"pi/session/message"

	lua "github.com/yuin/gopher-lua"
)

func promptEvents() []Spec {
	return []Spec{
		{
			Kind: agent.KindInput, Asking: true,
			Fields:  "text string; attachments pi.Block[]; source string; streaming_behavior string?",
			Results: "text string?; attachments pi.Block[]?; handled boolean?",
			Rule:    "chained: each sees the text as rewritten so far; handled stops the chain",
			build:   buildInput, Copy: copyOf[agent.Input], Merge: mergeInput,
		},
		{
			Kind: agent.KindBeforeAgentStart, Asking: true,
			Fields:  "prompt string; attachments pi.Block[]; system_prompt string; sections table<string, string>",
			Results: "message pi.CustomMessage?; sections table<string, string|false>?; system_prompt string?",
			Rule:    "messages: all, in order; sections: merged; system_prompt: chained",
			build:   buildBeforeAgentStart, Copy: copyOf[agent.BeforeAgentStart], Merge: mergeBeforeAgentStart,
		},
		{
			Kind: agent.KindAgentStart, Rule: toldAndWaitedFor,
			build: buildNothing,
		},
		{
			Kind:   agent.KindAgentEnd,
			Fields: "messages pi.Message[]; usage pi.Usage; will_retry boolean",
			Rule:   toldWithGrace, Wait: Graceful,
			build: buildAgentEnd,
		},
		{
			Kind: agent.KindAgentBeforeSettle, Asking: true, Clock: luavm.CountedLua, // a check may take its time
			Fields:  "outcome string; messages pi.Message[]",
			Results: continuationResults,
			Rule:    continuationRule,
			build:   buildAgentBeforeSettle, Copy: copyOf[agent.AgentBeforeSettle], Merge: mergeAgentBeforeSettle,
		},
		{
			Kind: agent.KindAgentSettled, Rule: toldWithGrace, Wait: Graceful,
			build: buildNothing,
		},
		{
			Kind:   agent.KindTurnStart,
			Fields: "turn_index integer; timestamp integer",
			Rule:   toldAndWaitedFor,
			build:  buildTurnStart,
		},
		{
			Kind: agent.KindTurnEnd, Asking: true, Clock: luavm.CountedLua,
			Fields:  "turn_index integer; message pi.Message; tool_results pi.Message[]; entry_ids string[]; usage pi.TurnUsage",
			Results: continuationResults,
			Rule:    continuationRule,
			build:   buildTurnEnd, Copy: copyOf[agent.TurnEnd], Merge: mergeTurnEnd,
		},
		{
			Kind: agent.KindContext, Asking: true,
			Fields:  "entries pi.Entry[]; messages pi.Message[]",
			Results: "messages (pi.Message|pi.PlacedMessage)[]?",
			Rule:    "chained: each sees the list of the one before; a failing handler leaves it in force",
			build:   buildContext, Copy: copyOf[agent.Context], Merge: mergeContext,
		},
	}
}

const continuationResults fieldList = "entries pi.EntryDraft[]?; continue boolean?"

const continuationRule = "entries: joined in order, appended all or none; continue: one is enough"

func buildInput(src *Source, L *lua.LState, e agent.Event) *lua.LTable {
	s := e.(*agent.Input)
	t := newEvent(L, s.Kind(), 4)
	luavm.Set(t, "text", lua.LString(s.Text))
	luavm.Set(t, "attachments", src.records.Blocks(L, s.Attachments))
	record.SetText(t, "source", s.Source)
	record.SetText(t, "streaming_behavior", s.StreamingBehavior)
	return t
}

func mergeInput(src *Source, L *lua.LState, e agent.Event, r *lua.LTable) (func(), bool, error) {
	s, a := e.(*agent.Input), src.records.NewAnswer(L, r)
	text, rewrites, handled := a.Text("text"), a.Has("text"), a.Flag("handled")
	var blocks []message.Block
	given := r.RawGetString("attachments")
	if given != lua.LNil {
		var err error
		blocks, err = src.records.BlocksFrom(L, given, "attachments")
		a.FailWith(err)
	}
	return func() {
		if rewrites {
			s.Text = text
		}
		if given != lua.LNil {
			s.Attachments = blocks
		}
		s.Handled = s.Handled || handled
	}, handled, a.Failed()
}

func buildBeforeAgentStart(src *Source, L *lua.LState, e agent.Event) *lua.LTable {
	s := e.(*agent.BeforeAgentStart)
	system, parts := s.Prompts()
	sections := record.NewPayload(L, len(parts))
	for _, part := range parts {
		sections.Text(part.Name, part.Text)
	}
	return newPayload(L, e, 4).Text("prompt", s.Prompt).Set("attachments", src.records.Blocks(L, s.Attachments)).
		Text("system_prompt", system).Set("sections", sections.Table()).Table()
}

func mergeBeforeAgentStart(src *Source, L *lua.LState, e agent.Event, r *lua.LTable) (func(), bool, error) {
	s, a := e.(*agent.BeforeAgentStart), src.records.NewAnswer(L, r)
	system, rewrites := a.Text("system_prompt"), a.Has("system_prompt")
	sections, _ := a.Switches("sections")
	var messages []*message.Message
	if m, ok := a.Record("message", "custom_type", "content", "display", "details"); ok {
		messages = append(messages, m.CustomMessage())
	}
	return func() {
		if rewrites {
			s.SystemPrompt = system
		}
		s.Changed = merged(s.Changed, sections)
		s.Messages = append(slices.Clip(s.Messages), messages...)
		if rewrites || sections != nil {
			now, _ := s.Prompts()
			s.Stages = append(slices.Clip(s.Stages), agent.PromptStage{By: src.hook, System: now})
		}
	}, false, a.Failed()
}

// merged is old with the names of changes; neither map changes.
func merged(old, changes map[string]*string) map[string]*string {
	if len(changes) == 0 {
		return old
	}
	both := make(map[string]*string, len(old)+len(changes))
	maps.Copy(both, old)
	maps.Copy(both, changes)
	return both
}

func buildAgentEnd(src *Source, L *lua.LState, e agent.Event) *lua.LTable {
	s := e.(*agent.AgentEnd)
	return newPayload(L, e, 3).Set("messages", src.records.Messages(L, record.ItemsOf(s.Messages))).
		Set("usage", record.Usage(L, &s.Usage)).Flag("will_retry", s.WillRetry).Table()
}

func buildAgentBeforeSettle(src *Source, L *lua.LState, e agent.Event) *lua.LTable {
	s := e.(*agent.AgentBeforeSettle)
	return newPayload(L, e, 2).Text("outcome", s.Outcome).Set("messages", src.records.Messages(L, record.ItemsOf(s.Messages))).Table()
}

func mergeAgentBeforeSettle(src *Source, L *lua.LState, e agent.Event, r *lua.LTable) (func(), bool, error) {
	return src.continuation(L, r, &e.(*agent.AgentBeforeSettle).Continuation, 0)
}

func buildTurnStart(_ *Source, L *lua.LState, e agent.Event) *lua.LTable {
	s := e.(*agent.TurnStart)
	return newPayload(L, e, 2).Number("turn_index", s.TurnIndex).Set("timestamp", lua.LNumber(s.Timestamp)).Table()
}

func buildTurnEnd(src *Source, L *lua.LState, e agent.Event) *lua.LTable {
	s := e.(*agent.TurnEnd)
	usage := s.Used()
	return newPayload(L, e, 5).Number("turn_index", s.TurnIndex).Set("message", src.records.Message(s.Message)).
		Set("tool_results", src.records.Messages(L, record.ItemsOf(s.ToolResults))).Texts("entry_ids", s.EntryIDs).
		Set("usage", turnUsage(L, &usage)).Table()
}

// turnUsage is what a turn cost, and how full the context is where that is known.
func turnUsage(L *lua.LState, u *agent.TurnUsage) *lua.LTable {
	t := record.PayloadOn(L, record.Usage(L, &u.Usage))
	if u.Tokens >= 0 {
		t.Number("context_tokens", u.Tokens)
	}
	if u.Window > 0 {
		t.Number("context_window", u.Window)
	}
	if u.Tokens >= 0 && u.Window > 0 {
		t.Set("percent", lua.LNumber(u.Percent))
	}
	return t.Table()
}

func mergeTurnEnd(src *Source, L *lua.LState, e agent.Event, r *lua.LTable) (func(), bool, error) {
	s := e.(*agent.TurnEnd)
	return src.continuation(L, r, &s.Continuation, s.Used().Tokens)
}

func buildContext(src *Source, L *lua.LState, e agent.Event) *lua.LTable {
	s := e.(*agent.Context)
	t := newEvent(L, s.Kind(), 2)
	luavm.Set(t, "entries", src.records.CurrentBranch(L, s.Entries))
	luavm.Set(t, "messages", src.records.Messages(L, s.Items))
	return t
}

func mergeContext(src *Source, L *lua.LState, e agent.Event, r *lua.LTable) (func(), bool, error) {
	s := e.(*agent.Context)
	list, ok := r.RawGetString("messages").(*lua.LTable)
	if !ok {
		if r.RawGetString("messages") == lua.LNil {
			return nil, false, nil
		}
		return nil, false, fmt.Errorf("messages: expected a list, got %s", r.RawGetString("messages").Type())
	}
	items, err := src.records.ItemsFrom(L, list, s.Entries)
	if err != nil {
		return nil, false, err
	}
	return func() {
		s.Items = items
		s.Stages = append(slices.Clip(s.Stages), agent.ContextStage{By: src.hook, Items: items})
	}, false, nil
}
