package event

import (
	"encoding/json"
	"maps"
	"slices"

	"pi/agent"
	"pi/luahooks/record"
	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

func compactEvents() []Spec {
	return []Spec{
		{
			Kind: agent.KindSessionBeforeCompact, Asking: true, Clock: luavm.CountedLua,
			Fields: "preparation pi.CompactionPreparation; branch_entries pi.Entry[]; messages pi.Message[]; " +
				"custom_instructions string?; model pi.ModelRef?; reason string; will_retry boolean; signal pi.Signal",
			Results: "cancel boolean?; compaction pi.CompactionDraft?; summary string?",
			Rule:    firstCancel,
			build:   buildSessionBeforeCompact, Copy: copyOf[agent.SessionBeforeCompact], Merge: mergeSessionBeforeCompact,
		},
		{
			Kind: agent.KindSessionCompacting, Asking: true,
			Fields:  "session_id string; messages pi.Message[]",
			Results: "context string[]?; prompt string?; preserve_data table?",
			Rule:    "context: joined in order; prompt: the last one counts; preserve_data: merged",
			build:   buildSessionCompacting, Copy: copyOf[agent.SessionCompacting], Merge: mergeSessionCompacting,
		},
		{
			Kind:   agent.KindSessionCompact,
			Fields: "compaction_entry pi.Entry; summary string; from_hook boolean; reason string; will_retry boolean",
			Rule:   toldWithGrace, Wait: Graceful,
			build: buildSessionCompact,
		},
		{
			Kind:   agent.KindSessionCompactFailed,
			Fields: "reason string; error_message string?; aborted boolean; will_retry boolean; from_hook boolean",
			Rule:   toldWithGrace, Wait: Graceful,
			build: buildSessionCompactFailed,
		},
	}
}

func buildSessionBeforeCompact(src *Source, L *lua.LState, e agent.Event) *lua.LTable {
	s := e.(*agent.SessionBeforeCompact)
	p := newPayload(L, e, 8).Set("preparation", src.preparation(L, &s.Preparation)).
		Set("branch_entries", src.records.Entries(L, s.BranchEntries)).Set("messages", src.records.Messages(L, s.Messages)).
		Maybe("custom_instructions", s.CustomInstructions).Text("reason", s.Reason).Flag("will_retry", s.WillRetry).
		Set("signal", src.signal(L))
	if s.Model != nil {
		p.Set("model", record.NewPayload(L, 2).Text("provider", s.Model.Provider).Text("id", s.Model.ID).Table())
	}
	return p.Table()
}

func (src *Source) preparation(L *lua.LState, p *agent.Preparation) *lua.LTable {
	ops := record.NewPayload(L, 3).Texts("read", p.FileOps.Read).Texts("written", p.FileOps.Written).Texts("edited", p.FileOps.Edited)
	settings := record.NewPayload(L, 3).Flag("enabled", p.Settings.Enabled).Number("reserve_tokens", p.Settings.ReserveTokens).
		Number("keep_recent_tokens", p.Settings.KeepRecentTokens)
	return record.NewPayload(L, 9).
		Maybe("first_kept_entry_id", p.FirstKeptEntryID).Number("first_kept_entry_index", p.FirstKeptEntryIndex+1).
		Set("messages_to_summarize", src.records.Messages(L, p.MessagesToSummarize)).
		Set("turn_prefix_messages", src.records.Messages(L, p.TurnPrefixMessages)).Flag("is_split_turn", p.IsSplitTurn).
		Number("tokens_before", p.TokensBefore).Maybe("previous_summary", p.PreviousSummary).
		Set("file_ops", ops.Table()).Set("settings", settings.Table()).Table()
}

// mergeSessionBeforeCompact: a summary that is empty is no opinion.
func mergeSessionBeforeCompact(src *Source, L *lua.LState, e agent.Event, r *lua.LTable) (func(), bool, error) {
	s, a := e.(*agent.SessionBeforeCompact), src.records.NewAnswer(L, r)
	cancel := a.Flag("cancel")
	draft := &agent.CompactionDraft{Summary: a.Text("summary"), By: src.hook}
	if c, ok := a.Record("compaction", "summary", "first_kept_entry_id", "tokens_before", "details"); ok {
		if a.Has("summary") {
			a.Fail("summary", "it is given twice; compaction has one too")
		}
		draft = &agent.CompactionDraft{By: src.hook, Summary: c.Text("summary"), FirstKeptEntryID: c.Text("first_kept_entry_id"),
			TokensBefore: c.Natural("tokens_before"), Details: c.Data("details")}
		if err := agent.CanKeepFrom(s.BranchEntries, draft.FirstKeptEntryID); err != nil && draft.FirstKeptEntryID != "" {
			c.Fail("first_kept_entry_id", "%w", err)
		}
	}
	return func() {
		s.Cancel = cancel
		if draft.Summary != "" {
			s.Compaction = draft
		}
	}, cancel, a.Failed()
}

func buildSessionCompacting(src *Source, L *lua.LState, e agent.Event) *lua.LTable {
	s := e.(*agent.SessionCompacting)
	return newPayload(L, e, 2).Text("session_id", s.SessionID).Set("messages", src.records.Messages(L, s.Messages)).Table()
}

func mergeSessionCompacting(src *Source, L *lua.LState, e agent.Event, r *lua.LTable) (func(), bool, error) {
	s, a := e.(*agent.SessionCompacting), src.records.NewAnswer(L, r)
	context, prompt := a.Texts("context"), a.Text("prompt")
	var data map[string]json.RawMessage
	if raw := a.Data("preserve_data"); raw != nil {
		if json.Unmarshal(raw, &data) != nil && r.RawGetString("preserve_data").(*lua.LTable).Len() == 0 {
			data = nil // an empty table
		} else if data == nil {
			a.Fail("preserve_data", "expected a table with names as keys")
		}
	}
	return func() {
		s.Context = append(slices.Clip(s.Context), context...)
		if prompt != "" {
			s.Prompt = prompt
		}
		if len(data) > 0 {
			kept := maps.Clone(s.PreserveData)
			if kept == nil {
				kept = map[string]json.RawMessage{}
			}
			maps.Copy(kept, data)
			s.PreserveData = kept
		}
	}, false, a.Failed()
}

func buildSessionCompact(src *Source, L *lua.LState, e agent.Event) *lua.LTable {
	s := e.(*agent.SessionCompact)
	return newPayload(L, e, 5).Set("compaction_entry", src.records.Entry(s.Entry)).Text("summary", s.Summary).
		Flag("from_hook", s.FromHook).Text("reason", s.Reason).Flag("will_retry", s.WillRetry).Table()
}

func buildSessionCompactFailed(_ *Source, L *lua.LState, e agent.Event) *lua.LTable {
	s := e.(*agent.SessionCompactFailed)
	return newPayload(L, e, 5).Text("reason", s.Reason).Maybe("error_message", s.ErrorMessage).Flag("aborted", s.Aborted).
		Flag("will_retry", s.WillRetry).Flag("from_hook", s.FromHook).Table()
}

func treeEvents() []Spec {
	return []Spec{
		{
			Kind: agent.KindSessionBeforeTree, Asking: true, Clock: luavm.CountedLua,
			Fields: "preparation pi.TreePreparation; signal pi.Signal",
			Results: "cancel boolean?; summary pi.BranchSummaryDraft?; custom_instructions string?; " +
				"replace_instructions boolean?; label string?",
			Rule:  firstCancel + ", its summary only where the person wants one",
			build: buildSessionBeforeTree, Copy: copyOf[agent.SessionBeforeTree], Merge: mergeSessionBeforeTree,
		},
		{
			Kind:   agent.KindSessionTree,
			Fields: "new_leaf_id string?; old_leaf_id string?; summary_entry pi.Entry?; from_hook boolean",
			Rule:   toldWithGrace, Wait: Graceful,
			build: buildSessionTree,
		},
	}
}

func buildSessionBeforeTree(src *Source, L *lua.LState, e agent.Event) *lua.LTable {
	p := &e.(*agent.SessionBeforeTree).Preparation
	return newPayload(L, e, 2).Set("preparation", record.NewPayload(L, 5).
		Text("target_id", p.TargetID).Maybe("old_leaf_id", p.OldLeafID).Maybe("common_ancestor_id", p.CommonAncestorID).
		Set("entries_to_summarize", src.records.Entries(L, p.EntriesToSummarize)).
		Flag("user_wants_summary", p.UserWantsSummary).Table()).Set("signal", src.signal(L)).Table()
}

// mergeSessionBeforeTree: of several answers the last counts as a whole.
func mergeSessionBeforeTree(src *Source, L *lua.LState, e agent.Event, r *lua.LTable) (func(), bool, error) {
	s, a := e.(*agent.SessionBeforeTree), src.records.NewAnswer(L, r)
	next := agent.SessionBeforeTree{Preparation: s.Preparation, Cancel: a.Flag("cancel"), Label: a.Text("label"),
		CustomInstructions: a.Text("custom_instructions"), ReplaceInstructions: a.Flag("replace_instructions")}
	if draft, ok := a.Record("summary", "summary", "details"); ok {
		next.Summary = &agent.SummaryDraft{Summary: draft.Need("summary"), Details: draft.Data("details")}
	}
	if !s.Preparation.UserWantsSummary {
		next.Summary = nil
	}
	says := next.Cancel || next.Summary != nil || next.Label != "" || next.CustomInstructions != "" || next.ReplaceInstructions
	return func() {
		if says {
			*s = next
		}
	}, next.Cancel, a.Failed()
}

func buildSessionTree(src *Source, L *lua.LState, e agent.Event) *lua.LTable {
	s := e.(*agent.SessionTree)
	return newPayload(L, e, 4).Maybe("new_leaf_id", s.NewLeafID).Maybe("old_leaf_id", s.OldLeafID).
		Set("summary_entry", src.records.Entry(s.SummaryEntry)).Flag("from_hook", s.FromHook).Table()
}
