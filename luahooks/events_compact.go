package luahooks

import (
	"encoding/json"
	"maps"
	"slices"

	"pi/agent"
	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

func compactEvents() []eventSpec {
	return []eventSpec{
		{
			Kind: agent.KindSessionBeforeCompact, Asking: true, Clock: luavm.CountedLua,
			Fields: "preparation pi.CompactionPreparation; branch_entries pi.Entry[]; messages pi.Message[]; " +
				"custom_instructions string?; model pi.ModelRef?; reason string; will_retry boolean; signal pi.Signal",
			Results: "cancel boolean?; compaction pi.CompactionDraft?; summary string?",
			Rule:    firstCancel,
			build:   buildSessionBeforeCompact, copy: copyOf[agent.SessionBeforeCompact], merge: mergeSessionBeforeCompact,
		},
		{
			Kind: agent.KindSessionCompacting, Asking: true,
			Fields:  "session_id string; messages pi.Message[]",
			Results: "context string[]?; prompt string?; preserve_data table?",
			Rule:    "context: joined in order; prompt: the last one counts; preserve_data: merged",
			build:   buildSessionCompacting, copy: copyOf[agent.SessionCompacting], merge: mergeSessionCompacting,
		},
		{
			Kind:   agent.KindSessionCompact,
			Fields: "compaction_entry pi.Entry; summary string; from_hook boolean; reason string; will_retry boolean",
			Rule:   toldWithGrace, Wait: graceful,
			build: buildSessionCompact,
		},
		{
			Kind:   agent.KindSessionCompactFailed,
			Fields: "reason string; error_message string?; aborted boolean; will_retry boolean; from_hook boolean",
			Rule:   toldWithGrace, Wait: graceful,
			build: buildSessionCompactFailed,
		},
	}
}

func buildSessionBeforeCompact(in *instance, L *lua.LState, e agent.Event) *lua.LTable {
	s := e.(*agent.SessionBeforeCompact)
	p := newPayload(L, e, 8).set("preparation", in.preparation(L, &s.Preparation)).
		set("branch_entries", in.records.entries(L, s.BranchEntries)).set("messages", in.records.messages(L, s.Messages)).
		maybe("custom_instructions", s.CustomInstructions).text("reason", s.Reason).flag("will_retry", s.WillRetry).
		set("signal", in.signalValue(L))
	if s.Model != nil {
		p.set("model", newRecord(L, 2).text("provider", s.Model.Provider).text("id", s.Model.ID).table())
	}
	return p.table()
}

func (in *instance) preparation(L *lua.LState, p *agent.Preparation) *lua.LTable {
	ops := newRecord(L, 3).texts("read", p.FileOps.Read).texts("written", p.FileOps.Written).texts("edited", p.FileOps.Edited)
	settings := newRecord(L, 3).flag("enabled", p.Settings.Enabled).number("reserve_tokens", p.Settings.ReserveTokens).
		number("keep_recent_tokens", p.Settings.KeepRecentTokens)
	return newRecord(L, 9).
		maybe("first_kept_entry_id", p.FirstKeptEntryID).number("first_kept_entry_index", p.FirstKeptEntryIndex+1).
		set("messages_to_summarize", in.records.messages(L, p.MessagesToSummarize)).
		set("turn_prefix_messages", in.records.messages(L, p.TurnPrefixMessages)).flag("is_split_turn", p.IsSplitTurn).
		number("tokens_before", p.TokensBefore).maybe("previous_summary", p.PreviousSummary).
		set("file_ops", ops.table()).set("settings", settings.table()).table()
}

// mergeSessionBeforeCompact: a summary that is empty is no opinion.
func mergeSessionBeforeCompact(in *instance, L *lua.LState, e agent.Event, r *lua.LTable) (func(), bool, error) {
	s, a := e.(*agent.SessionBeforeCompact), in.records.newAnswer(L, r)
	cancel := a.flag("cancel")
	draft := &agent.CompactionDraft{Summary: a.text("summary"), By: in.hook.Name}
	if c, ok := a.record("compaction", "summary", "first_kept_entry_id", "tokens_before", "details"); ok {
		if a.has("summary") {
			a.fail("summary", "it is given twice; compaction has one too")
		}
		draft = &agent.CompactionDraft{By: in.hook.Name, Summary: c.text("summary"), FirstKeptEntryID: c.text("first_kept_entry_id"),
			TokensBefore: c.natural("tokens_before"), Details: c.data("details")}
		if err := agent.CanKeepFrom(s.BranchEntries, draft.FirstKeptEntryID); err != nil && draft.FirstKeptEntryID != "" {
			c.fail("first_kept_entry_id", "%w", err)
		}
	}
	return func() {
		s.Cancel = cancel
		if draft.Summary != "" {
			s.Compaction = draft
		}
	}, cancel, a.failed()
}

func buildSessionCompacting(in *instance, L *lua.LState, e agent.Event) *lua.LTable {
	s := e.(*agent.SessionCompacting)
	return newPayload(L, e, 2).text("session_id", s.SessionID).set("messages", in.records.messages(L, s.Messages)).table()
}

func mergeSessionCompacting(in *instance, L *lua.LState, e agent.Event, r *lua.LTable) (func(), bool, error) {
	s, a := e.(*agent.SessionCompacting), in.records.newAnswer(L, r)
	context, prompt := a.texts("context"), a.text("prompt")
	var data map[string]json.RawMessage
	if raw := a.data("preserve_data"); raw != nil {
		if json.Unmarshal(raw, &data) != nil && r.RawGetString("preserve_data").(*lua.LTable).Len() == 0 {
			data = nil // an empty table
		} else if data == nil {
			a.fail("preserve_data", "expected a table with names as keys")
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
	}, false, a.failed()
}

func buildSessionCompact(in *instance, L *lua.LState, e agent.Event) *lua.LTable {
	s := e.(*agent.SessionCompact)
	return newPayload(L, e, 5).set("compaction_entry", in.records.entry(s.Entry)).text("summary", s.Summary).
		flag("from_hook", s.FromHook).text("reason", s.Reason).flag("will_retry", s.WillRetry).table()
}

func buildSessionCompactFailed(_ *instance, L *lua.LState, e agent.Event) *lua.LTable {
	s := e.(*agent.SessionCompactFailed)
	return newPayload(L, e, 5).text("reason", s.Reason).maybe("error_message", s.ErrorMessage).flag("aborted", s.Aborted).
		flag("will_retry", s.WillRetry).flag("from_hook", s.FromHook).table()
}

func treeEvents() []eventSpec {
	return []eventSpec{
		{
			Kind: agent.KindSessionBeforeTree, Asking: true, Clock: luavm.CountedLua,
			Fields: "preparation pi.TreePreparation; signal pi.Signal",
			Results: "cancel boolean?; summary pi.BranchSummaryDraft?; custom_instructions string?; " +
				"replace_instructions boolean?; label string?",
			Rule:  firstCancel + ", its summary only where the person wants one",
			build: buildSessionBeforeTree, copy: copyOf[agent.SessionBeforeTree], merge: mergeSessionBeforeTree,
		},
		{
			Kind:   agent.KindSessionTree,
			Fields: "new_leaf_id string?; old_leaf_id string?; summary_entry pi.Entry?; from_hook boolean",
			Rule:   toldWithGrace, Wait: graceful,
			build: buildSessionTree,
		},
	}
}

func buildSessionBeforeTree(in *instance, L *lua.LState, e agent.Event) *lua.LTable {
	p := &e.(*agent.SessionBeforeTree).Preparation
	return newPayload(L, e, 2).set("preparation", newRecord(L, 5).
		text("target_id", p.TargetID).maybe("old_leaf_id", p.OldLeafID).maybe("common_ancestor_id", p.CommonAncestorID).
		set("entries_to_summarize", in.records.entries(L, p.EntriesToSummarize)).
		flag("user_wants_summary", p.UserWantsSummary).table()).set("signal", in.signalValue(L)).table()
}

// mergeSessionBeforeTree: of several answers the last counts as a whole.
func mergeSessionBeforeTree(in *instance, L *lua.LState, e agent.Event, r *lua.LTable) (func(), bool, error) {
	s, a := e.(*agent.SessionBeforeTree), in.records.newAnswer(L, r)
	next := agent.SessionBeforeTree{Preparation: s.Preparation, Cancel: a.flag("cancel"), Label: a.text("label"),
		CustomInstructions: a.text("custom_instructions"), ReplaceInstructions: a.flag("replace_instructions")}
	if draft, ok := a.record("summary", "summary", "details"); ok {
		next.Summary = &agent.SummaryDraft{Summary: draft.need("summary"), Details: draft.data("details")}
	}
	if !s.Preparation.UserWantsSummary {
		next.Summary = nil
	}
	says := next.Cancel || next.Summary != nil || next.Label != "" || next.CustomInstructions != "" || next.ReplaceInstructions
	return func() {
		if says {
			*s = next
		}
	}, next.Cancel, a.failed()
}

func buildSessionTree(in *instance, L *lua.LState, e agent.Event) *lua.LTable {
	s := e.(*agent.SessionTree)
	return newPayload(L, e, 4).maybe("new_leaf_id", s.NewLeafID).maybe("old_leaf_id", s.OldLeafID).
		set("summary_entry", in.records.entry(s.SummaryEntry)).flag("from_hook", s.FromHook).table()
}
