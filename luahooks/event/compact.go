package event

import (
	"encoding/json"
	"maps"
	"slices"

	"pi/agent"
	"pi/agent/llm"
	"pi/luavm"
	"pi/session/compaction"

	lua "github.com/yuin/gopher-lua"
)

func compactEvents() []Spec {
	return []Spec{
		asking(Spec{About: "Asks before the context is shortened. A hook may cancel, or bring the summary itself.",
			Rule: firstCancel, Clock: luavm.CountedLua},
			func(p *payload, e *agent.SessionBeforeCompact) {
				p.record("preparation", "pi.CompactionPreparation", func() { preparation(p, &e.Preparation) }).about("what would happen")
				p.entries("branch_entries", e.BranchEntries).about("the current branch")
				p.messages("messages", e.Messages).about("what the summary would be made of")
				p.optional("custom_instructions", e.CustomInstructions).about("what the user wants it to look at")
				p.value("model", "pi.ModelRef?", func() lua.LValue { return modelRef(p.L, e.Model) }).about("who would write it")
				p.text("reason", e.Reason).about("`manual`, `threshold` or `overflow`")
				p.flag("will_retry", e.WillRetry).about("the request that was too long is sent again afterwards")
				p.value("signal", "pi.Signal", func() lua.LValue { return p.src.signal(p.L) }).about("ends when the user interrupts")
			}, readBeforeCompact),
		asking(Spec{About: "Asks what the model is told to summarise with.",
			Rule: "context: joined in order; prompt: the last one counts; preserve_data: merged"},
			func(p *payload, e *agent.SessionCompacting) {
				p.text("session_id", e.SessionID)
				p.messages("messages", e.Messages).about("what the summary is made of")
			}, readCompacting),
		graceful("The context was shortened.",
			func(p *payload, e *agent.SessionCompact) {
				p.entry("compaction_entry", "pi.Entry", e.Entry)
				p.text("summary", e.Summary)
				p.flag("from_hook", e.FromHook).about("a hook wrote the summary")
				p.text("reason", e.Reason).about("`manual`, `threshold` or `overflow`")
				p.flag("will_retry", e.WillRetry).about("the request that was too long is sent again now")
			}),
		graceful("The context was not shortened.",
			func(p *payload, e *agent.SessionCompactFailed) {
				p.text("reason", e.Reason).about("`manual`, `threshold` or `overflow`")
				p.optional("error_message", e.ErrorMessage)
				p.flag("aborted", e.Aborted).about("somebody interrupted, or a hook did not want it")
				p.flag("will_retry", e.WillRetry)
				p.flag("from_hook", e.FromHook).about("it was the summary of a hook")
			}),
	}
}

// preparation gives p the fields of what a compaction is about to do.
func preparation(p *payload, e *agent.Preparation) {
	p.optional("first_kept_entry_id", e.FirstKeptEntryID)
	p.integer("first_kept_entry_index", e.FirstKeptEntryIndex+1)
	p.messages("messages_to_summarize", e.MessagesToSummarize)
	p.messages("turn_prefix_messages", e.TurnPrefixMessages)
	p.flag("is_split_turn", e.IsSplitTurn)
	p.integer("tokens_before", e.TokensBefore)
	p.optional("previous_summary", e.PreviousSummary)
	p.record("file_ops", "pi.FileOps", func() {
		p.texts("read", e.FileOps.Read)
		p.texts("written", e.FileOps.Written)
		p.texts("edited", e.FileOps.Edited)
	})
	p.record("settings", "pi.CompactionSettings", func() {
		p.flag("enabled", e.Settings.Enabled)
		p.integer("reserve_tokens", e.Settings.ReserveTokens)
		p.integer("keep_recent_tokens", e.Settings.KeepRecentTokens)
	})
}

// modelRef returns {provider, id} of a model; nil for none.
func modelRef(L *lua.LState, m *llm.Model) lua.LValue {
	if m == nil {
		return lua.LNil
	}
	t := luavm.NewRecord(L, 2)
	luavm.Set(t, "provider", lua.LString(m.Provider))
	luavm.Set(t, "id", lua.LString(m.ID))
	return t
}

// readBeforeCompact reads what a handler of session_before_compact returned: cancel, or the
// draft of a compaction, in full or as its summary alone, in place of an earlier draft. A
// summary that is empty is no opinion.
func readBeforeCompact(r *result, e *agent.SessionBeforeCompact) {
	r.cancel(&e.Cancel, "leave the context as it is")
	draft := &agent.CompactionDraft{By: r.src.hook}
	if c, ok := r.record("compaction", "pi.CompactionDraft?", "the summary, and where what is kept begins", "summary", "first_kept_entry_id", "tokens_before", "details"); ok {
		if r.Has("summary") {
			r.Fail("summary", "it is given twice; compaction has one too")
		}
		draft.Summary, draft.FirstKeptEntryID = c.Text("summary"), c.Text("first_kept_entry_id")
		draft.TokensBefore, draft.Details = c.Natural("tokens_before"), c.Data("details")
		if err := compaction.CanKeepFrom(e.BranchEntries, draft.FirstKeptEntryID); err != nil && draft.FirstKeptEntryID != "" {
			c.Fail("first_kept_entry_id", "%w", err)
		}
	}
	if summary := r.text("summary", "only the summary; what is kept is as prepared"); summary != "" {
		draft.Summary = summary
	}
	if draft.Summary != "" {
		r.then(func() { e.Compaction = draft })
	}
}

// readCompacting reads what a handler of session_compacting returned: texts for the request
// that summarizes, a prompt in place of the standard one, and data for the details of
// the compaction, merged by name with that of earlier handlers.
func readCompacting(r *result, e *agent.SessionCompacting) {
	if r.has("context", "string[]?", "added to the request for the summary") {
		context := r.Texts("context")
		r.then(func() { e.Context = append(slices.Clip(e.Context), context...) })
	}
	if prompt := r.text("prompt", "the request for the summary, whole"); prompt != "" {
		r.then(func() { e.Prompt = prompt })
	}
	if !r.has("preserve_data", "table?", "kept in the details of the entry") {
		return
	}
	var data map[string]json.RawMessage
	if raw := r.Data("preserve_data"); raw != nil && string(raw) != "[]" && (json.Unmarshal(raw, &data) != nil || data == nil) {
		r.Fail("preserve_data", "expected a table with names as keys")
	}
	if len(data) > 0 {
		r.then(func() {
			both := map[string]json.RawMessage{}
			maps.Copy(both, e.PreserveData)
			maps.Copy(both, data)
			e.PreserveData = both
		})
	}
}

func treeEvents() []Spec {
	return []Spec{
		asking(Spec{About: "Asks before the session moves to another entry of its tree.",
			Rule: firstCancel + ", its summary only where the user wants one", Clock: luavm.CountedLua},
			func(p *payload, e *agent.SessionBeforeTree) {
				p.record("preparation", "pi.TreePreparation", func() {
					p.text("target_id", e.Preparation.TargetID)
					p.optional("old_leaf_id", e.Preparation.OldLeafID)
					p.optional("common_ancestor_id", e.Preparation.CommonAncestorID)
					p.entries("entries_to_summarize", e.Preparation.EntriesToSummarize)
					p.flag("user_wants_summary", e.Preparation.UserWantsSummary)
				}).about("what would happen")
				p.value("signal", "pi.Signal", func() lua.LValue { return p.src.signal(p.L) }).about("ends when the user interrupts")
			}, readBeforeTree),
		graceful("The session has moved to another entry of its tree.",
			func(p *payload, e *agent.SessionTree) {
				p.optional("new_leaf_id", e.NewLeafID).about("the entry that the conversation ends with now; nil if it is empty")
				p.optional("old_leaf_id", e.OldLeafID)
				p.entry("summary_entry", "pi.Entry?", e.SummaryEntry).about("of what was left behind")
				p.flag("from_hook", e.FromHook).about("a hook wrote the summary")
			}),
	}
}

// readBeforeTree reads what a handler of session_before_tree returned. It replaces all that
// earlier handlers answered; a summary counts only where the user wants one.
func readBeforeTree(r *result, e *agent.SessionBeforeTree) {
	next := agent.SessionBeforeTree{Preparation: r.seen.(*agent.SessionBeforeTree).Preparation, Cancel: r.flag("cancel", "stay here")}
	if draft, ok := r.record("summary", "pi.BranchSummaryDraft?", "the summary, if the user wants one", "summary", "details"); ok {
		summary := &agent.SummaryDraft{Summary: draft.Need("summary"), Details: draft.Data("details")}
		if next.Preparation.UserWantsSummary {
			next.Summary = summary
		}
	}
	next.CustomInstructions, next.ReplaceInstructions = r.text("custom_instructions", "what the summary should look at"), r.flag("replace_instructions", "they are the whole request for the summary")
	next.Label = r.text("label", "names the entry, or the summary if there is one")
	r.stop = next.Cancel
	if next.Cancel || next.Summary != nil || next.Label != "" || next.CustomInstructions != "" || next.ReplaceInstructions {
		r.then(func() { *e = next })
	}
}
