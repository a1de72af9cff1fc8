package luahooks

import (
	"slices"

	"pi/agent"
	"pi/session"
	"pi/session/message"

	lua "github.com/yuin/gopher-lua"
)

// Drafts are the entries that a handler of turn_end or agent_before_settle wants
// to be appended.

// continuation reads entries and continue. tokens is the size of the context, for
// a compaction that does not say it.
func (in *instance) continuation(L *lua.LState, r *lua.LTable, into *agent.Continuation, tokens int) (func(), bool, error) {
	a := in.newAnswer(L, r)
	goOn := a.flag("continue")
	drafts := a.drafts("entries", max(tokens, 0))
	return func() {
		into.Entries = append(slices.Clip(into.Entries), drafts...)
		if goOn {
			into.Continue, into.ContinuedBy = true, in.hook.Name
		}
	}, false, a.failed()
}

func (a answer) drafts(name string, tokens int) []session.Draft {
	var drafts []session.Draft
	a.list(name, func(v lua.LValue, at string) {
		if d, ok := a.draft(v, at, tokens); ok {
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

func (a answer) draft(v lua.LValue, at string, tokens int) (session.Draft, bool) {
	t, ok := v.(*lua.LTable)
	if !ok {
		a.fail(at, "expected a table, got %s", v.Type())
		return session.Draft{}, false
	}
	kind, _ := t.RawGetString("type").(lua.LString)
	keys := draftKeys(string(kind))
	if keys == nil {
		a.fail(at+".type", "expected custom, custom_message, context_edit or compaction, got %q", string(kind))
		return session.Draft{}, false
	}
	d, ok := a.open(t, at, append(keys, "type")...)
	if !ok {
		return session.Draft{}, false
	}
	return session.Draft{Type: string(kind), Body: d.body(string(kind), tokens)}, *a.err == nil
}

func (a answer) body(kind string, tokens int) any {
	switch kind {
	case session.TypeCustom:
		return session.Custom{CustomType: a.customType(), Data: a.data("data")}
	case session.TypeCustomMessage:
		m := a.customMessage()
		return session.CustomMessage{CustomType: m.CustomType, Content: m.Content, Plain: m.Plain, Display: m.Display, Details: m.Details}
	case session.TypeContextEdit:
		return session.ContextEdit{TargetID: a.target(), Replacement: a.replacement()}
	}
	c := session.Compaction{Summary: a.need("summary"), FirstKeptEntryID: a.need("first_kept_entry_id"),
		TokensBefore: tokens, Details: a.data("details"), FromHook: true}
	if a.has("tokens_before") {
		c.TokensBefore = a.natural("tokens_before")
	}
	if host := a.in.chain.hostNow(); host != nil && c.FirstKeptEntryID != "" {
		if err := agent.CanKeepFrom(host.Session().Branch(), c.FirstKeptEntryID); err != nil {
			a.fail("first_kept_entry_id", "%w", err)
		}
	}
	return c
}

func (a answer) customType() string {
	kind := a.need("custom_type")
	if kind == session.LeafMove {
		a.fail("custom_type", "%q is the program's own", kind)
	}
	return kind
}

// customMessage reads {custom_type, content, display?, details?}.
func (a answer) customMessage() *message.Message {
	m := &message.Message{Role: message.RoleCustom, CustomType: a.customType(), Display: true, Details: a.data("details")}
	if a.has("display") {
		m.Display = a.flag("display")
	}
	m.Content, m.Plain = a.content("content")
	return m
}

// content reads a string or a list of blocks.
func (a answer) content(name string) (blocks []message.Block, plain bool) {
	v := a.t.RawGetString(name)
	if v == lua.LNil {
		a.fail(name, "it is missing")
		return nil, false
	}
	blocks, err := a.in.content(a.L, v, a.path+name)
	if err != nil && *a.err == nil {
		*a.err = err
	}
	a.count(name, sizeOf(blocks...))
	_, plain = v.(lua.LString)
	return blocks, plain
}

// target is an entry of the branch whose content can be edited.
func (a answer) target() string {
	id := a.need("target_id")
	host := a.in.chain.hostNow()
	if host == nil || id == "" {
		return id
	}
	for _, e := range host.Session().Branch() {
		if e.ID != id {
			continue
		}
		if m := e.Message(); m == nil || !hasContent(m.Role) {
			a.fail("target_id", "a %s entry has no content to edit", e.Type)
		}
		return id
	}
	a.fail("target_id", "entry %q is not on the branch", id)
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
func (a answer) replacement() *session.Replacement {
	r, ok := a.record("replacement", "content")
	if !ok {
		return nil
	}
	blocks, plain := r.content("content")
	return &session.Replacement{Content: blocks, Plain: plain}
}
