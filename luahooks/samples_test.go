package luahooks

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"pi/agent"
	"pi/agent/llm"
	"pi/session"
	"pi/session/compaction"
	"pi/session/message"
)

// anEntry is an entry of a session, for events that carry one.
func anEntry(t testing.TB) *session.Entry {
	t.Helper()
	s := session.New(session.Options{Cwd: "/"})
	e, err := s.AppendMessage(&message.Message{Role: message.RoleUser, Content: []message.Block{message.TextBlock("x")}})
	mustDo(t, err)
	return e
}

// patient makes the agent wait for handlers of telling events.
func patient(o *Options) { o.Grace = 5 * time.Second }

// emitAll emits events, and waits for handlers that the agent does not wait for
// before its answer has ended.
func (r *rig) emitAll(events ...agent.Event) {
	r.t.Helper()
	for _, e := range events {
		r.emit(e)
		if e.Kind() == agent.KindMessageUpdate {
			r.emit(agent.NewMessageUpdate(llm.Delta{Kind: llm.DeltaStop}, nil, nil))
		}
	}
}

// samples is one event of each kind, with every field set.
func samples(t testing.TB) []agent.Event {
	m := &message.Message{Role: message.RoleAssistant, Content: []message.Block{message.TextBlock("x")}, Usage: &message.Usage{}}
	result := agent.Result{Content: m.Content, Details: json.RawMessage(`{"n":1}`), IsError: true, Usage: &message.Usage{Input: 1}}
	entry := anEntry(t)
	items := []session.Item{{Message: m, Index: -1}}
	model, other := &llm.Model{Provider: "p", ID: "m"}, &llm.Model{Provider: "q", ID: "n"}
	text := "new"
	return []agent.Event{
		&agent.ProjectTrust{Cwd: "/c", Files: []agent.TrustFile{{Path: "/c/a.lua", SHA256: "aa", Size: 7, Kind: agent.TrustServers, Servers: []string{"s  x"}}}},
		&agent.AppStart{},
		&agent.SessionDirectory{Cwd: "/c"},
		&agent.SessionStart{Reason: "new", SessionID: "i", SessionFile: "f", PreviousSessionFile: "p"},
		&agent.SessionBeforeSwitch{Reason: "resume", TargetSessionFile: "t"},
		&agent.SessionSwitch{Reason: "new", PreviousSessionFile: "p"},
		&agent.SessionBeforeNew{SessionID: "id"},
		&agent.SessionNew{SessionID: "i"},
		&agent.SessionBeforeBranch{EntryID: "e", EntryIndex: 2},
		&agent.SessionBranch{PreviousSessionFile: "p"},
		&agent.SessionBeforeCompact{
			Preparation: agent.Preparation{FirstKeptEntryID: entry.ID, FirstKeptEntryIndex: 0, MessagesToSummarize: items,
				TurnPrefixMessages: items, IsSplitTurn: true, TokensBefore: 9, PreviousSummary: "ps",
				FileOps:  compaction.FileOps{Read: []string{"r"}, Written: []string{"w"}, Edited: []string{"e1", "e2"}},
				Settings: agent.CompactionSettings{Enabled: true, ReserveTokens: 5, KeepRecentTokens: 6}},
			BranchEntries: []*session.Entry{entry}, Messages: items, CustomInstructions: "ci", Model: model, Reason: "manual", WillRetry: true},
		&agent.SessionCompacting{SessionID: "i", Messages: items},
		&agent.SessionCompact{Entry: entry, Summary: "s", FromHook: true, Reason: "manual", WillRetry: true},
		&agent.SessionCompactFailed{Reason: "overflow", ErrorMessage: "e", Aborted: true, WillRetry: true, FromHook: true},
		&agent.SessionInfoChanged{Name: "n"},
		&agent.SessionBeforeTree{Preparation: agent.TreePreparation{TargetID: "t", OldLeafID: "o", CommonAncestorID: "c",
			EntriesToSummarize: []*session.Entry{entry}, UserWantsSummary: true}},
		&agent.SessionTree{NewLeafID: "n", OldLeafID: "o", SummaryEntry: entry, FromHook: true},
		&agent.SessionShutdown{Reason: "new", TargetSessionFile: "t"},
		&agent.Line{Text: "t", Attachments: m.Content, Source: "rpc", StreamingBehavior: "steer"},
		&agent.Input{Text: "t", Attachments: m.Content, Source: "rpc", StreamingBehavior: "steer"},
		&agent.BeforeAgentStart{Prompt: "p", Attachments: m.Content, SystemPrompt: "s",
			Sections: []agent.Section{{Name: "role", Text: "you"}, {Name: "tools", Text: "t"}}, Changed: map[string]*string{"role": &text, "tools": nil}},
		&agent.AgentStart{},
		&agent.AgentEnd{Messages: []*message.Message{m}, Usage: message.Usage{Input: 3}, WillRetry: true},
		&agent.AgentBeforeSettle{Outcome: "completed", Messages: []*message.Message{m}},
		&agent.AgentSettled{},
		&agent.TurnStart{TurnIndex: 1, Timestamp: 2},
		&agent.TurnEnd{TurnIndex: 1, Message: m, ToolResults: []*message.Message{m}, EntryIDs: []string{"e"}, Usage: used(agent.TurnUsage{
			Usage: message.Usage{Input: 3, TotalTokens: 4}, ContextUsage: agent.ContextUsage{Tokens: 50, Window: 200, Percent: 25}})},
		&agent.Context{Entries: []*session.Entry{entry}, Items: items},
		&agent.ContinuationLimit{Hook: "h", Used: 8, Limit: 8, Answer: "more"},
		&agent.BeforeProviderRequest{Provider: "p", Model: "m", Payload: json.RawMessage(`{"model":"x","n":12345678901234567890}`)},
		&agent.BeforeProviderHeaders{Provider: "p", Model: "m", Headers: map[string]string{"X-Api-Key": "…", "X-A": "1"}, Changed: map[string]*string{"X-B": &text}},
		&agent.AfterProviderResponse{Provider: "p", Model: "m", Status: 429, Headers: http.Header{"Retry-After": {"2"}, "X-Many": {"a", "b"}}},
		&agent.MessageStart{Message: m},
		agent.NewMessageUpdate(llm.Delta{Kind: llm.DeltaText, Index: 1, Text: "d"}, func() *message.Message { return m }, nil),
		&agent.MessageEnd{Message: m},
		&agent.ModelSelect{Model: model, Previous: other, ThinkingLevel: "off", Source: "set"},
		&agent.ThinkingLevelSelect{Level: "high", Previous: "off"},
		&agent.ModeSelect{Name: "plan", Previous: "ask", Source: "key"},
		&agent.UIPromptStart{PromptKind: "confirm", Title: "t"},
		&agent.UIPromptEnd{PromptKind: "confirm", Title: "t"},
		&agent.Focus{Focused: true},
		&agent.UIPrompt{ID: "1", PromptKind: "select", Title: "t", Message: "m", Choices: []agent.Choice{{Value: "1", Label: "a", Description: "d"}}, Multi: true, Hook: "h"},
		&agent.HookFailed{Hook: "h", Path: "/h.lua", Event: "input", Message: "m", Traceback: "t", Count: 2},
		&agent.CompactionStart{Reason: "manual"},
		&agent.CompactionEnd{Result: entry, Aborted: true, WillRetry: true, ErrorMessage: "e"},
		&agent.CompactionStart{Reason: "threshold", Auto: true},
		&agent.CompactionEnd{Result: entry, Aborted: true, WillRetry: true, ErrorMessage: "e", Auto: true},
		&agent.AutoRetryStart{Attempt: 1, MaxAttempts: 3, DelayMS: 100, ErrorMessage: "e"},
		&agent.AutoRetryEnd{Success: true, Attempt: 2, FinalError: "f"},
		&agent.ToolCall{ID: "c", Name: "edit", Annotations: agent.Annotations{Destructive: true, Kind: "edit"}, Input: json.RawMessage(`{"oldText":"o"}`)},
		&agent.ToolResult{ID: "c", Name: "bash", Input: json.RawMessage(`{}`), Result: result},
		&agent.ToolExecutionStart{ID: "c", Name: "edit", Input: json.RawMessage(`{"oldText":"o"}`)},
		&agent.ToolExecutionUpdate{ID: "c", Name: "edit", Input: json.RawMessage(`{"oldText":"o"}`), Partial: result},
		&agent.ToolExecutionEnd{ID: "c", Name: "edit", Input: json.RawMessage(`{"oldText":"o"}`), Result: result},
		&agent.UserBash{Command: "ls", ExcludeFromContext: true, Cwd: "/c"},
		&agent.ShellCommand{Command: "ls", Cwd: "/c", Source: "tool"},
		&agent.MCPServer{Server: "s", State: "failed", Tools: 3, Error: "e"},
		&agent.MCPChange{Server: "s", Tool: "t", Before: &agent.Definition{Name: "mcp__s__t", Description: "d", Parameters: json.RawMessage(`{"type":"object"}`),
			Claims: agent.Annotations{ReadOnly: true, Claimed: true}, Hash: "h"}, After: &agent.Definition{Description: "other"}},
		&agent.ChildStart{Name: "reviewer", Depth: 1, Prompt: "p"},
		&agent.ChildEnd{Name: "reviewer", StopReason: "completed", Usage: message.Usage{Input: 1}, Text: "t"},
	}
}
