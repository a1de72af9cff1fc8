package event

import (
	"slices"

	"pi/agent"
	"pi/luahooks/record"
	"pi/session"
	"pi/session/compaction"
	"pi/session/message"

	lua "github.com/yuin/gopher-lua"
)

// readContinuation reads the keys entries, to be appended to the session, and continue, with
// which the agent goes on; about says what that does. tokens is the size of the context: a compaction among the entries
// that does not give tokens_before gets it.
func readContinuation(r *result, into *agent.Continuation, tokens int, about string) {
	if r.has("entries", "pi.EntryDraft[]?", "appended to the session, all or none") {
		var drafts []session.Draft
		reader := draftReader{max(tokens, 0), r.src.branch}
		r.List("entries", func(v lua.LValue, at string) { drafts = append(drafts, reader.draft(r.Answer, v, at)) })
		r.then(func() { into.Entries = append(slices.Clip(into.Entries), drafts...) })
	}
	if r.flag("continue", about) {
		by := r.src.cause
		r.then(func() {
			into.Continue, into.ContinuedBy, into.ContinuedAt, into.Limit = true, by.Hook, by.Path, by.Limit
		})
	}
}

// draftReader reads entries that are to be appended.
type draftReader struct {
	tokens int                                          // for a compaction that does not give tokens_before
	branch func() (branch []*session.Entry, known bool) // that they are appended to
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

// draft reads one entry by its type; at is what errors call it. A problem is reported to a,
// and what is returned then is not to be used.
func (r draftReader) draft(a record.Answer, v lua.LValue, at string) (d session.Draft) {
	t, ok := v.(*lua.LTable)
	if !ok {
		a.Fail(at, "expected a table, got %s", v.Type())
		return d
	}
	kind, _ := t.RawGetString("type").(lua.LString)
	keys := draftKeys(string(kind))
	if keys == nil {
		a.Fail(at+".type", "expected custom, custom_message, context_edit or compaction, got %q", string(kind))
		return d
	}
	return session.Draft{Type: string(kind), Body: r.body(a.Open(t, at, append(keys, "type")...), string(kind))}
}

// body reads the fields of an entry of a type that draftKeys knows. Where the branch is
// known, a compaction must name an entry of it from which messages can be kept.
func (r draftReader) body(a record.Answer, kind string) any {
	switch kind {
	case session.TypeCustom:
		return session.Custom{CustomType: a.CustomType(), Data: a.Data("data")}
	case session.TypeCustomMessage:
		m := a.CustomMessage()
		return session.CustomMessage{CustomType: m.CustomType, Content: m.Content, Plain: m.Plain, Display: m.Display, Details: m.Details}
	case session.TypeContextEdit:
		edit := session.ContextEdit{TargetID: r.target(a)}
		if given, ok := a.Record("replacement", "content"); ok { // without one the entry leaves the context
			blocks, plain := given.Content("content")
			edit.Replacement = &session.Replacement{Content: blocks, Plain: plain}
		}
		return edit
	}
	c := session.Compaction{Summary: a.Need("summary"), FirstKeptEntryID: a.Need("first_kept_entry_id"),
		TokensBefore: r.tokens, Details: a.Data("details"), FromHook: true}
	if a.Has("tokens_before") {
		c.TokensBefore = a.Natural("tokens_before")
	}
	if branch, known := r.branch(); known && c.FirstKeptEntryID != "" {
		if err := compaction.CanKeepFrom(branch, c.FirstKeptEntryID); err != nil {
			a.Fail("first_kept_entry_id", "%w", err)
		}
	}
	return c
}

// editable are the roles of messages that have content.
var editable = []message.Role{message.RoleUser, message.RoleAssistant, message.RoleToolResult, message.RoleCustom}

// target reads target_id, the entry that a context_edit is for. Where the branch is known,
// an id that is not on it, or whose entry has no content, is a problem.
func (r draftReader) target(a record.Answer) string {
	id := a.Need("target_id")
	branch, known := r.branch()
	if !known || id == "" {
		return id
	}
	if i := slices.IndexFunc(branch, func(e *session.Entry) bool { return e.ID == id }); i < 0 {
		a.Fail("target_id", "entry %q is not on the branch", id)
	} else if m := branch[i].Message(); m == nil || !slices.Contains(editable, m.Role) {
		a.Fail("target_id", "a %s entry has no content to edit", branch[i].Type)
	}
	return id
}
