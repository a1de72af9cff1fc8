package record

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"pi/agent"
	"pi/agent/llm"
	"pi/session"
	"pi/session/message"
)

// The orders of records, each as what the agent does and what programs read, for what the
// tests of the whole program do not bring about. Theirs have the usual ones.

// said is an answer that ended for a reason, with a text.
func said(reason message.StopReason, text string, blocks ...message.Block) *message.Message {
	m := &message.Message{Role: message.RoleAssistant, API: "x", Provider: "p", Model: "m", StopReason: reason, Timestamp: 7, Usage: &message.Usage{}}
	if text != "" {
		m.Content = append(m.Content, message.TextBlock(text))
	}
	m.Content = append(m.Content, blocks...)
	if isFailed(m) {
		m.ErrorMessage = "bad"
	}
	return m
}

func user(text string) *message.Message {
	return &message.Message{Role: message.RoleUser, Content: []message.Block{message.TextBlock(text)}, Timestamp: 1}
}

func custom(text string) *message.Message {
	return &message.Message{Role: message.RoleCustom, CustomType: "note", Plain: true, Content: []message.Block{message.TextBlock(text)}}
}

func resultOf(id string) *message.Message {
	return &message.Message{Role: message.RoleToolResult, ToolCallID: id, ToolName: "bash", Content: []message.Block{message.TextBlock("out")}}
}

func toolCall(id string) message.Block {
	return message.Block{Type: message.BlockToolCall, ID: id, Name: "bash", Arguments: json.RawMessage(`{"command":"x"}`)}
}

func in(m *message.Message) *agent.EntryAppended {
	return &agent.EntryAppended{Entry: &session.Entry{Type: session.TypeMessage}, Message: m}
}

func entry(t *testing.T, kind string, body any) *agent.EntryAppended {
	t.Helper()
	e, err := session.New(session.Options{}).Append(kind, body)
	if err != nil {
		t.Fatal(err)
	}
	return &agent.EntryAppended{Entry: e}
}

func start() *agent.MessageStart {
	m := said("", "")
	m.Timestamp = 5
	return &agent.MessageStart{Message: m}
}

func delta(kind llm.DeltaKind, index int, text string) *agent.MessageUpdate {
	return agent.NewMessageUpdate(llm.Delta{Kind: kind, Index: index, Text: text}, func() *message.Message { return said("", "") }, nil)
}

func callDelta(index int, id, text string) *agent.MessageUpdate {
	d := llm.Delta{Kind: llm.DeltaToolCall, Index: index, Text: text, ID: id, Name: "bash"}
	return agent.NewMessageUpdate(d, func() *message.Message { return said("", "") }, nil)
}

// answered are the events of an answer with its storing.
func answered(m *message.Message, updates ...agent.Event) []agent.Event {
	all := append([]agent.Event{start()}, updates...)
	return append(all, in(m))
}

// events joins events and lists of them.
func events(all ...any) (list []agent.Event) {
	for _, e := range all {
		switch e := e.(type) {
		case agent.Event:
			list = append(list, e)
		case []agent.Event:
			list = append(list, e...)
		}
	}
	return list
}

// translated returns the records of events, each decoded.
func translated(t *testing.T, list []agent.Event) (records []map[string]any, raw []string) {
	t.Helper()
	tr := NewTranslator(func(record []byte) {
		var r map[string]any
		if err := json.Unmarshal(record, &r); err != nil {
			t.Fatalf("%s: %v", record, err)
		}
		records, raw = append(records, r), append(raw, string(record))
	})
	for _, e := range list {
		isTwin := e.Kind() == agent.KindAutoCompactionStart || e.Kind() == agent.KindAutoCompactionEnd
		if tr.Wants(e.Kind()) == isTwin {
			t.Errorf("%s is not wanted", e.Kind())
		}
		tr.Handle(e)
	}
	return records, raw
}

// short are the records in the notation of the page: u a t c for messages that begin and
// end at once, with the reason why an answer stopped.
func short(records []map[string]any) string {
	var words []string
	for i := 0; i < len(records); i++ {
		r := records[i]
		word := r["type"].(string)
		switch word {
		case "message_start":
			whole := i+1 < len(records) && records[i+1]["type"] == "message_end"
			word = "start(" + messageWord(r["message"]) + ")"
			if whole && messageWord(r["message"]) == messageWord(records[i+1]["message"]) {
				word = messageWord(r["message"])
				i++
			}
		case "message_end":
			word = "end(" + messageWord(r["message"]) + ")"
		case "message_update":
			word = r["assistantMessageEvent"].(map[string]any)["type"].(string)
		case "turn_end":
			word += fmt.Sprintf("(%s,%d)", r["message"].(map[string]any)["stopReason"], len(r["toolResults"].([]any)))
		case "agent_end":
			var inRun []string
			for _, m := range r["messages"].([]any) {
				inRun = append(inRun, messageWord(m)[:1])
			}
			word += fmt.Sprintf("(%s,%v)", strings.Join(inRun, ""), r["willRetry"])
		case "queue_update":
			word += fmt.Sprintf("(%d,%d)", len(r["steering"].([]any)), len(r["followUp"].([]any)))
		case "compaction_end", "auto_retry_end":
			word += fmt.Sprintf("(%v %v)", first(r["success"], r["willRetry"]), first(r["finalError"], r["errorMessage"]))
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

func first(values ...any) any {
	for _, v := range values {
		if v != nil {
			return v
		}
	}
	return "-"
}

func messageWord(m any) string {
	fields := m.(map[string]any)
	switch fields["role"] {
	case "assistant":
		return "a:" + fields["stopReason"].(string)
	case "toolResult":
		return "t"
	}
	return fields["role"].(string)[:1]
}

func TestRecordsComeInTheOrderOfTheProtocol(t *testing.T) {
	ends := []agent.Event{&agent.AgentEnd{}, &agent.AgentSettled{}}
	opens := []agent.Event{&agent.AgentStart{}, &agent.TurnStart{}, in(user("hi"))}
	text := delta(llm.DeltaText, 0, "yes")
	done := said(message.StopEnd, "yes")
	calls := said(message.StopToolUse, "", toolCall("c1"), toolCall("c2"))
	failed := said(message.StopError, "")
	aborted := said(message.StopAborted, "")
	retries := &agent.AutoRetryStart{Attempt: 1, MaxAttempts: 3, DelayMS: 20, ErrorMessage: "bad", Failed: failed}
	overflowing := []agent.Event{&agent.CompactionStart{Reason: "overflow", Failed: failed}, &agent.CompactionStart{Reason: "overflow", Auto: true}}
	stored := []agent.Event{&agent.MessageStart{Message: failed},
		&agent.EntryAppended{Entry: &session.Entry{Type: session.TypeMessage, ID: "e1"}, Message: failed}}
	failing := append(stored[:2:2], entry(t, session.TypeContextEdit, session.ContextEdit{TargetID: "e1"}))
	compacted := func(reason string, retry bool) []agent.Event {
		e := &agent.CompactionEnd{Reason: reason, Done: &agent.Compacted{}, WillRetry: retry}
		twin := *e
		twin.Auto = true
		return []agent.Event{e, &twin}
	}
	for _, tt := range []struct {
		name   string
		events []agent.Event
		want   string
	}{
		{"c: a message that comes between the turns stands behind the start of the next", events(opens, answered(done), &agent.TurnEnd{Message: done}, in(custom("x")),
			&agent.TurnStart{}, answered(done), &agent.TurnEnd{Message: done}, ends),
			"agent_start turn_start u start(a:pending) end(a:stop) turn_end(stop,0) turn_start c start(a:pending) end(a:stop) turn_end(stop,0) agent_end(uaca,false) agent_settled"},
		{"e: the wait is cancelled, and no message is stored", events(opens, start(), text, retries, &agent.AutoRetryWaited{Cancelled: true}, &agent.AutoRetryEnd{Attempt: 1, FinalError: "interrupted"}, &agent.TurnEnd{Message: aborted}, ends),
			"agent_start turn_start u start(a:pending) text_start text_delta end(a:error) turn_end(error,0) agent_end(ua,true) auto_retry_start auto_retry_end(false Retry cancelled) agent_settled"},
		{"f: an abort in the stream", events(opens, answered(aborted, text, callDelta(1, "c1", `{"command"`)), &agent.TurnEnd{Message: aborted}, ends),
			"agent_start turn_start u start(a:pending) text_start text_delta text_end toolcall_start toolcall_delta end(a:aborted) turn_end(aborted,0) agent_end(ua,false) agent_settled"},
		{"h: compaction between turns", events(opens, answered(calls, callDelta(0, "c1", "{}")), &agent.TurnEnd{Message: calls, ToolResults: []*message.Message{resultOf("c1")}}, &agent.TurnStart{},
			&agent.CompactionStart{Reason: "threshold"}, entry(t, session.TypeContextEdit, session.ContextEdit{TargetID: "x"}), compacted("threshold", false), answered(done), &agent.TurnEnd{Message: done}, ends),
			"agent_start turn_start u start(a:pending) toolcall_start toolcall_delta toolcall_end end(a:toolUse) t turn_end(toolUse,1) compaction_start entry_appended compaction_end(false -) turn_start start(a:pending) end(a:stop) turn_end(stop,0) agent_end(uata,false) agent_settled"},
		{"h: a message that comes in a compaction", events(&agent.AgentStart{}, &agent.TurnStart{}, &agent.CompactionStart{Reason: "threshold"}, in(custom("x")), compacted("threshold", false), answered(done), &agent.TurnEnd{Message: done}, ends),
			"agent_start compaction_start compaction_end(false -) turn_start c start(a:pending) end(a:stop) turn_end(stop,0) agent_end(ca,false) agent_settled"},
		{"i: overflow whose answer is not stored", events(opens, overflowing, compacted("overflow", true), answered(done), &agent.TurnEnd{Message: done}, ends),
			"agent_start turn_start u a:error turn_end(error,0) agent_end(ua,false) compaction_start compaction_end(true -) agent_start turn_start start(a:pending) end(a:stop) turn_end(stop,0) agent_end(a,false) agent_settled"},
		{"i: a hook edits another entry", events(opens, stored, entry(t, session.TypeContextEdit, session.ContextEdit{TargetID: "x"}), &agent.TurnEnd{Message: failed}, ends),
			"agent_start turn_start u a:error entry_appended turn_end(error,0) agent_end(ua,false) agent_settled"},
		{"i: and hooks go on", events(opens, failing, overflowing, &agent.CompactionEnd{Reason: "overflow", Aborted: true, ErrorMessage: "gone"}, &agent.TurnEnd{Message: failed}, &agent.TurnStart{}, answered(done), &agent.TurnEnd{Message: done}, ends),
			"agent_start turn_start u a:error turn_end(error,0) agent_end(ua,false) entry_appended compaction_start compaction_end(false -) agent_start turn_start start(a:pending) end(a:stop) turn_end(stop,0) agent_end(a,false) agent_settled"},
		{"k: a summary that is retried", events(&agent.CompactionStart{Reason: "manual"},
			&agent.AutoRetryStart{Aside: true, Attempt: 1}, &agent.AutoRetryWaited{Aside: true}, &agent.AutoRetryStart{Aside: true, Attempt: 2}, &agent.AutoRetryWaited{Aside: true}, &agent.AutoRetryEnd{Aside: true, Success: true},
			&agent.AutoRetryStart{Aside: true, Attempt: 1}, &agent.AutoRetryWaited{Aside: true, Cancelled: true}, &agent.AutoRetryEnd{Aside: true}, &agent.CompactionEnd{Reason: "manual", Aborted: true}),
			"compaction_start summarization_retry_scheduled summarization_retry_attempt_start summarization_retry_scheduled summarization_retry_attempt_start summarization_retry_scheduled summarization_retry_finished compaction_end(false -)"},
		{"k: a summary of a branch", events(&agent.SessionBeforeTree{Preparation: agent.TreePreparation{UserWantsSummary: true}},
			&agent.AutoRetryStart{Aside: true, Attempt: 1}, &agent.AutoRetryWaited{Aside: true}, &agent.AutoRetryEnd{Aside: true}, &agent.SessionTree{}),
			"summarization_retry_scheduled summarization_retry_attempt_start summarization_retry_finished"},
		{"k: a call of a hook behind a move that was interrupted", events(&agent.SessionBeforeTree{Preparation: agent.TreePreparation{UserWantsSummary: true}}, &agent.AgentStart{},
			&agent.AutoRetryStart{Aside: true, Attempt: 1}, &agent.AutoRetryWaited{Aside: true}, &agent.AutoRetryEnd{Aside: true}), "agent_start"},
		{"k: a call of a hook that is retried", events(&agent.AutoRetryStart{Aside: true, Attempt: 1}, &agent.AutoRetryWaited{Aside: true}, &agent.AutoRetryEnd{Aside: true}), ""},
		{"m: a length stop with calls", events(opens, answered(said(message.StopLength, "", toolCall("c1")), callDelta(0, "c1", `{"command`)), &agent.ToolExecutionStart{ID: "c1"},
			&agent.ToolExecutionEnd{ID: "c1", Result: agent.Result{IsError: true}}, &agent.TurnEnd{Message: said(message.StopLength, ""), ToolResults: []*message.Message{resultOf("c1")}}, &agent.TurnStart{}, answered(done), &agent.TurnEnd{Message: done}, ends),
			"agent_start turn_start u start(a:pending) toolcall_start toolcall_delta toolcall_end end(a:length) tool_execution_start tool_execution_end t turn_end(length,1) turn_start start(a:pending) end(a:stop) turn_end(stop,0) agent_end(uata,false) agent_settled"},
		{"n: one behind an answer that a hook stopped", events(opens, answered(aborted, text), in(custom("no")), answered(done), &agent.TurnEnd{Message: done}, ends),
			"agent_start turn_start u start(a:pending) text_start text_delta text_end end(a:aborted) turn_end(aborted,0) turn_start c start(a:pending) end(a:stop) turn_end(stop,0) agent_end(uaca,false) agent_settled"},
		{"n: one at the end", events(opens, answered(done), in(custom("x")), &agent.TurnEnd{Message: done}, ends),
			"agent_start turn_start u start(a:pending) end(a:stop) turn_end(stop,0) c agent_end(uac,false) agent_settled"},
		{"entries of hooks", events(entry(t, session.TypeCustom, session.Custom{CustomType: "mine"}), entry(t, session.TypeCustom, session.Custom{CustomType: session.LeafMove}), entry(t, session.TypeCustom, session.Custom{CustomType: session.GitBranch}), entry(t, "ours", nil),
			entry(t, session.TypeUsage, session.UsageEntry{}), entry(t, session.TypeLabel, session.Label{}), entry(t, session.TypeModelChange, session.ModelChange{}), entry(t, session.TypeSessionInfo, session.SessionInfo{})),
			"entry_appended entry_appended entry_appended"},
		{"a hook that fails in front of the event", events(&agent.AgentStart{}, &agent.HookFailed{Event: "turn_start"}, &agent.TurnStart{}, &agent.HookFailed{Event: "context"}, in(user("x")), answered(done), &agent.TurnEnd{Message: done}, ends),
			"agent_start extension_error turn_start extension_error u start(a:pending) end(a:stop) turn_end(stop,0) agent_end(ua,false) agent_settled"},
		{"an answer that cannot be stored", events(opens, start(), text, &agent.TurnEnd{Message: failed}, ends),
			"agent_start turn_start u start(a:pending) text_start text_delta end(a:error) turn_end(error,0) agent_end(ua,false) agent_settled"},
		{"a run that fails before its first request", events(&agent.AgentStart{}, in(user("x")), ends), "agent_start u agent_end(u,false) agent_settled"},
		{"a turn that fails before its request", events(opens, ends), "agent_start turn_start u turn_end(error,0) agent_end(u,false) agent_settled"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			records, raw := translated(t, tt.events)
			if got := short(records); got != tt.want {
				t.Errorf("\n%s\nwant\n%s\n%s", got, tt.want, strings.Join(raw, "\n"))
			}
		})
	}
}

func TestACompactionThatDoesNotBeginLeavesTheRestAlone(t *testing.T) {
	var records []map[string]any
	tr := NewTranslator(func(raw []byte) {
		var r map[string]any
		if err := json.Unmarshal(raw, &r); err != nil {
			t.Fatal(err)
		}
		records = append(records, r)
	})
	tr.Handle(&agent.SessionBeforeTree{Preparation: agent.TreePreparation{UserWantsSummary: true}})
	tr.NoCompaction(&agent.CompactionEnd{Reason: "manual", ErrorMessage: "no"})
	tr.Handle(&agent.AutoRetryStart{Aside: true, Attempt: 1})
	if got := short(records); got != "compaction_start compaction_end(false no) summarization_retry_scheduled" {
		t.Error(got)
	}
}

func TestRecordsOfARunWithATool(t *testing.T) {
	calls := said(message.StopToolUse, "", toolCall("c1"))
	calls.Timestamp = 9
	args := json.RawMessage(`{"command":"x"}`)
	counted := callDelta(0, "", `nd":"x"}`)
	counted.Delta.Usage = &message.Usage{Input: 3, TotalTokens: 3}
	out := agent.TextResult("a<b")
	_, raw := translated(t, events(&agent.AgentStart{}, &agent.TurnStart{}, in(user("how many?")),
		answered(calls, callDelta(0, "c1", `{"comma`), counted), &agent.QueueChanged{Steering: []string{"and b"}},
		&agent.ToolExecutionStart{ID: "c1", Name: "bash", Input: args}, &agent.ToolExecutionStart{ID: "c1/1", Name: "read", Input: args},
		&agent.ToolExecutionUpdate{ID: "c1/1", Name: "read", Input: args, Partial: out},
		&agent.ToolExecutionEnd{ID: "c1/1", Name: "read", Result: agent.Result{IsError: true, Content: out.Content}},
		&agent.ToolExecutionEnd{ID: "c1", Name: "bash", Result: agent.Result{Content: out.Content, Details: json.RawMessage(`{"n": 1}`), Terminate: true, Usage: &message.Usage{}}, Took: 1500 * time.Microsecond},
		&agent.ToolExecutionUpdate{ID: "c1", Name: "bash", Input: args, Partial: out}, // it has ended
		&agent.TurnEnd{Message: calls, ToolResults: []*message.Message{resultOf("c1")}}, &agent.AgentEnd{}, &agent.AgentSettled{Aborted: true}))
	zero := `{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"totalTokens":0,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}}`
	three := strings.NewReplacer(`"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"totalTokens":0`, `"input":3,"output":0,"cacheRead":0,"cacheWrite":0,"totalTokens":3`).Replace(zero)
	asked := `{"role":"user","content":[{"type":"text","text":"how many?"}],"timestamp":1}`
	pending := `{"role":"assistant","content":[],"api":"x","provider":"p","model":"m","usage":` + zero + `,"stopReason":"pending","timestamp":5}`
	block := `{"type":"toolCall","id":"c1","name":"bash","arguments":{"command":"x"}}`
	answer := `{"role":"assistant","content":[` + block + `],"api":"x","provider":"p","model":"m","usage":` + zero + `,"stopReason":"toolUse","timestamp":5}`
	toolResult := `{"role":"toolResult","toolCallId":"c1","toolName":"bash","content":[{"type":"text","text":"out"}],"isError":false,"timestamp":0}`
	want := []string{
		`{"type":"agent_start"}`,
		`{"type":"turn_start"}`,
		`{"type":"message_start","message":` + asked + `}`,
		`{"type":"message_end","message":` + asked + `}`,
		`{"type":"message_start","message":` + pending + `}`,
		`{"type":"message_update","usage":` + zero + `,"assistantMessageEvent":{"type":"toolcall_start","contentIndex":0,"id":"c1","toolName":"bash"}}`,
		`{"type":"message_update","usage":` + zero + `,"assistantMessageEvent":{"type":"toolcall_delta","contentIndex":0,"delta":"{\"comma"}}`,
		`{"type":"message_update","usage":` + three + `,"assistantMessageEvent":{"type":"toolcall_delta","contentIndex":0,"delta":"nd\":\"x\"}"}}`,
		`{"type":"message_update","usage":` + zero + `,"assistantMessageEvent":{"type":"toolcall_end","contentIndex":0,"toolCall":` + block + `}}`,
		`{"type":"message_end","message":` + answer + `}`,
		`{"type":"queue_update","steering":["and b"],"followUp":[]}`,
		`{"type":"tool_execution_start","toolCallId":"c1","toolName":"bash","args":{"command":"x"}}`,
		`{"type":"tool_execution_start","toolCallId":"c1/1","toolName":"read","args":{"command":"x"},"parentToolCallId":"c1"}`,
		`{"type":"tool_execution_update","toolCallId":"c1/1","toolName":"read","args":{"command":"x"},"partialResult":{"content":[{"type":"text","text":"a<b"}]},"parentToolCallId":"c1"}`,
		`{"type":"tool_execution_end","toolCallId":"c1/1","toolName":"read","result":{"content":[{"type":"text","text":"a<b"}],"details":{}},"isError":true,"durationMs":0,"parentToolCallId":"c1"}`,
		`{"type":"tool_execution_end","toolCallId":"c1","toolName":"bash","result":{"content":[{"type":"text","text":"a<b"}],"details":{"n":1},"usage":` + zero + `,"terminate":true},"isError":false,"durationMs":1}`,
		`{"type":"message_start","message":` + toolResult + `}`,
		`{"type":"message_end","message":` + toolResult + `}`,
		`{"type":"turn_end","message":` + answer + `,"toolResults":[` + toolResult + `]}`,
		`{"type":"agent_end","messages":[` + asked + `,` + answer + `,` + toolResult + `],"willRetry":false}`,
		`{"type":"agent_settled","aborted":true}`,
	}
	for i := range max(len(raw), len(want)) {
		if i >= len(raw) || i >= len(want) || raw[i] != want[i] {
			t.Fatalf("record %d of\n%s\nwant\n%s", i, strings.Join(raw, "\n"), strings.Join(want, "\n"))
		}
	}
}

func TestRecordsOutsideOfTurns(t *testing.T) {
	_, raw := translated(t, events(
		&agent.AutoRetryStart{Attempt: 1, MaxAttempts: 3, DelayMS: 2000, ErrorMessage: "busy"}, &agent.AutoRetryWaited{Cancelled: true}, &agent.AutoRetryEnd{Attempt: 1, FinalError: "interrupted"},
		&agent.SessionBeforeTree{Preparation: agent.TreePreparation{UserWantsSummary: true}}, &agent.AutoRetryStart{Aside: true, Attempt: 1, MaxAttempts: 3, ErrorMessage: "busy"}, &agent.AutoRetryWaited{Aside: true}, &agent.AutoRetryEnd{Aside: true},
		&agent.CompactionStart{Reason: "threshold"}, &agent.AutoRetryStart{Aside: true, Attempt: 1}, &agent.AutoRetryWaited{Aside: true},
		&agent.CompactionEnd{Reason: "threshold", Aborted: true, ErrorMessage: "secret"}, &agent.CompactionEnd{Reason: "manual", ErrorMessage: "no"},
		&agent.SessionInfoChanged{Name: "n"}, &agent.SessionInfoChanged{}, &agent.ThinkingLevelSelect{Level: "high"}, &agent.ThinkingLevelSelect{},
		&agent.HookFailed{Hook: "h", Path: "/h.lua", Event: "tool_call", Message: "h.lua:1: boom"}, &agent.HookFailed{Path: "/h.lua", Event: "/deploy", Message: "x"}))
	want := []string{
		`{"type":"auto_retry_start","attempt":1,"maxAttempts":3,"delayMs":2000,"errorMessage":"busy"}`,
		`{"type":"auto_retry_end","success":false,"attempt":1,"finalError":"Retry cancelled"}`,
		`{"type":"summarization_retry_scheduled","attempt":1,"maxAttempts":3,"delayMs":0,"errorMessage":"busy"}`,
		`{"type":"summarization_retry_attempt_start","source":"branchSummary"}`,
		`{"type":"summarization_retry_finished"}`,
		`{"type":"compaction_start","reason":"threshold"}`,
		`{"type":"summarization_retry_scheduled","attempt":1,"maxAttempts":0,"delayMs":0,"errorMessage":""}`,
		`{"type":"summarization_retry_attempt_start","source":"compaction","reason":"threshold"}`,
		`{"type":"summarization_retry_finished"}`,
		`{"type":"compaction_end","reason":"threshold","aborted":true,"willRetry":false}`,
		`{"type":"compaction_end","reason":"manual","aborted":false,"willRetry":false,"errorMessage":"no"}`,
		`{"type":"session_info_changed","name":"n"}`,
		`{"type":"session_info_changed"}`,
		`{"type":"thinking_level_changed","level":"high"}`,
		`{"type":"thinking_level_changed","level":"off"}`,
		`{"type":"extension_error","extensionPath":"/h.lua","event":"tool_call","error":"h.lua:1: boom"}`,
		`{"type":"extension_error","extensionPath":"command:deploy","event":"command","error":"x"}`,
	}
	for len(raw) > 0 && !strings.HasPrefix(raw[0], `{"type":"auto_retry_start"`) {
		raw = raw[1:] // what ends the attempt that the wait is for
	}
	if got := strings.Join(raw, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
}
