package event

import (
	"slices"

	"pi/agent"
	"pi/luahooks/record"
	"pi/session"
	"pi/session/message"

	lua "github.com/yuin/gopher-lua"
)

// Drafts are the entries that a handler of turn_end or agent_before_settle wants
// to be appended.

// readContinuation reads entries and continue. tokens is the size of the context, for a
// compaction that does not say it.
func readContinuation(r *result, into *agent.Continuation, tokens int) {
	if r.has("entries", "pi.EntryDraft[]?") {
		drafts := draftReader{max(tokens, 0), r.src.branch}.list(r.Answer, "entries")
		r.then(func() { into.Entries = append(slices.Clip(into.Entries), drafts...) })
	}
	if r.flag("continue") {
		r.then(func() { into.Continue, into.ContinuedBy = true, r.src.hook })
	}
}

// draftReader reads drafts.
type draftReader struct {
	tokens int                                          // the size of the context, for a compaction that does not say it
	branch func() (branch []*session.Entry, known bool) // that they are for
}

// list reads a list of drafts.
func (r draftReader) list(a record.Answer, name string) []session.Draft {
	var drafts []session.Draft
	a.List(name, func(v lua.LValue, at string) {
		if d, ok := r.draft(a, v, at); ok {
			drafts = append(drafts, d)
		}
	})
	return drafts
}

// draftKeys are the fields that each type of draft may have, besides its type.
func draftKeys(kind string) []string {
	switch kind {
	case session.TypeCustom:
		return []string{"custom_type", "data"}
	case session.TypeCustomMessage:
		return []string{"custom_type", "content", "display", "details"}
	case session.TypeContextEdit:
		return []string{"target_id", "replacement"}
	case session.TypeCompaction:
		return []string{"summary", "first_kept_entry_id", "tokens_before", "details"}
	}
	return nil
}

func (r draftReader) draft(a record.Answer, v lua.LValue, at string) (session.Draft, bool) {
	t, ok := v.(*lua.LTable)
	if !ok {
		a.Fail(at, "expected a table, got %s", v.Type())
		return session.Draft{}, false
	}
	kind, _ := t.RawGetString("type").(lua.LString)
	keys := draftKeys(string(kind))
	if keys == nil {
		a.Fail(at+".type", "expected custom, custom_message, context_edit or compaction, got %q", string(kind))
		return session.Draft{}, false
	}
	d, ok := a.Open(t, at, append(keys, "type")...)
	if !ok {
		return session.Draft{}, false
	}
	return session.Draft{Type: string(kind), Body: r.body(d, string(kind))}, a.Failed() == nil
}

func (r draftReader) body(a record.Answer, kind string) any {
	switch kind {
	case session.TypeCustom:
		return session.Custom{CustomType: a.CustomType(), Data: a.Data("data")}
	case session.TypeCustomMessage:
		m := a.CustomMessage()
		return session.CustomMessage{CustomType: m.CustomType, Content: m.Content, Plain: m.Plain, Display: m.Display, Details: m.Details}
	case session.TypeContextEdit:
		return session.ContextEdit{TargetID: r.target(a), Replacement: replacement(a)}
	}
	c := session.Compaction{Summary: a.Need("summary"), FirstKeptEntryID: a.Need("first_kept_entry_id"),
		TokensBefore: r.tokens, Details: a.Data("details"), FromHook: true}
	if a.Has("tokens_before") {
		c.TokensBefore = a.Natural("tokens_before")
	}
	if branch, known := r.branch(); known && c.FirstKeptEntryID != "" {
		if err := agent.CanKeepFrom(branch, c.FirstKeptEntryID); err != nil {
			a.Fail("first_kept_entry_id", "%w", err)
		}
	}
	return c
}

// target is an entry of the branch whose content can be edited.
func (r draftReader) target(a record.Answer) string {
	id := a.Need("target_id")
	branch, known := r.branch()
	if !known || id == "" {
		return id
	}
	for _, e := range branch {
		if e.ID != id {
			continue
		}
		if m := e.Message(); m == nil || !hasContent(m.Role) {
			a.Fail("target_id", "a %s entry has no content to edit", e.Type)
		}
		return id
	}
	a.Fail("target_id", "entry %q is not on the branch", id)
	return id
}

func hasContent(r message.Role) bool {
	switch r {
	case message.RoleUser, message.RoleAssistant, message.RoleToolResult, message.RoleCustom:
		return true
	}
	return false
}

// replacement is the new content of an entry; nil takes it out of the context.
func replacement(a record.Answer) *session.Replacement {
	r, ok := a.Record("replacement", "content")
	if !ok {
		return nil
	}
	blocks, plain := r.Content("content")
	return &session.Replacement{Content: blocks, Plain: plain}
}
