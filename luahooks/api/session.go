package api

import (
	"context"
	"fmt"
	"strings"

	"pi/agent"
	"pi/luavm"
	"pi/session"

	lua "github.com/yuin/gopher-lua"
)

// sessionView is ctx.session, which only reads.
type sessionView struct{ *bridge }

func (s sessionView) part() part {
	return part{
		"entries": s.entries, "branch": s.branch, "entry": s.entry, "tree": s.tree, "header": s.header,
		"label":   func(L *lua.LState, id string) lua.LValue { return luavm.TextOrNil(s.session(L, "label").Labels()[id]) },
		"leaf_id": func(L *lua.LState) lua.LValue { return luavm.TextOrNil(s.session(L, "leaf_id").Leaf()) },
		"file":    func(L *lua.LState) lua.LValue { return luavm.TextOrNil(s.session(L, "file").File()) },
		"id":      func(L *lua.LState) string { return s.session(L, "id").ID() },
		"name":    func(L *lua.LState) lua.LValue { return luavm.TextOrNil(s.session(L, "name").Name()) },
	}
}

func (s sessionView) session(L *lua.LState, function string) *session.Session {
	return s.mustHost(L, function).Session()
}

// entries is ctx.session.entries(): those of all branches, in the order of the file.
func (s sessionView) entries(L *lua.LState) *lua.LTable {
	return s.list(L, s.session(L, "entries").Entries())
}

// list makes a list of the records of entries, which Lua may change: it is a table of its
// own each time.
func (s sessionView) list(L *lua.LState, entries []*session.Entry) *lua.LTable {
	list := s.records.Entries(L, entries)
	luavm.MarkList(list)
	return list
}

// branch is ctx.session.branch(from_id?): from the root to an entry, or to the leaf.
func (s sessionView) branch(L *lua.LState, from *string) (*lua.LTable, error) {
	now := s.session(L, "branch")
	if from == nil {
		return s.list(L, now.Branch()), nil
	}
	if now.Entry(*from) == nil {
		return nil, fmt.Errorf("no entry %q", *from)
	}
	return s.list(L, now.Path(*from)), nil
}

// entry is ctx.session.entry(id) → entry, or nil and a message.
func (s sessionView) entry(L *lua.LState, id string) (lua.LValue, error) {
	e := s.session(L, "entry").Entry(id)
	if e == nil {
		return nil, fmt.Errorf("no entry %q", id)
	}
	return s.records.Entry(e), nil
}

// tree is ctx.session.tree(): the roots, each {entry, children, label?}.
func (s sessionView) tree(L *lua.LState) *lua.LTable {
	now := s.session(L, "tree")
	entries, names, children := now.Entries(), now.Labels(), map[string]*lua.LTable{}
	newList := func() *lua.LTable {
		list := L.CreateTable(0, 0)
		luavm.MarkList(list)
		return list
	}
	for _, e := range entries {
		children[e.ID] = newList()
	}
	roots := newList()
	for _, e := range entries {
		node := luavm.NewRecord(L, 3)
		luavm.Set(node, "entry", s.records.Entry(e))
		luavm.Set(node, "children", children[e.ID])
		luavm.SetText(node, "label", names[e.ID])
		if above := children[e.ParentID]; above != nil {
			above.Append(node)
		} else {
			roots.Append(node)
		}
	}
	return roots
}

// header is ctx.session.header(): the first line of the file.
func (s sessionView) header(L *lua.LState) *lua.LTable {
	h := s.session(L, "header").Header()
	t := luavm.NewRecord(L, 6)
	luavm.Set(t, "type", lua.LString(session.TypeSession))
	luavm.Set(t, "version", lua.LNumber(h.Version))
	luavm.Set(t, "id", lua.LString(h.ID))
	luavm.Set(t, "timestamp", lua.LString(h.Timestamp))
	luavm.Set(t, "cwd", lua.LString(h.Cwd))
	luavm.SetText(t, "parent_session", h.ParentSession)
	return t
}

// sessionEdits are the functions that write into the session, and those that change
// the context of the model.
type sessionEdits struct {
	*bridge
	messages *messages
}

// ofPi and ofContext are the functions of pi and of ctx.
func (s *sessionEdits) ofPi() part {
	return part{"append_entry": s.appendEntry, "set_session_name": s.setName, "session_name": s.name, "set_label": s.setLabel}
}

func (s *sessionEdits) ofContext() part {
	return part{"save_entry": s.saveEntry, "edit_context": s.editContext, "rebuild_context": s.rebuildContext}
}

// setName is pi.set_session_name(s); "" removes the name.
func (s *sessionEdits) setName(L *lua.LState, name string) error {
	host := s.mustHost(L, "set_session_name")
	return s.wait(L, "set_session_name", func(ctx context.Context) error {
		return host.SetSessionName(ctx, strings.Join(strings.Fields(name), " "))
	})
}

// name is pi.session_name(); nil for a session without a name.
func (s *sessionEdits) name(L *lua.LState) lua.LValue {
	return luavm.TextOrNil(s.mustHost(L, "session_name").Session().Name())
}

// setLabel is pi.set_label(entry_id, label?); nil removes the label.
func (s *sessionEdits) setLabel(L *lua.LState, id string, label *string) error {
	host := s.mustHost(L, "set_label")
	return s.wait(L, "set_label", func(ctx context.Context) error { return host.SetLabel(ctx, id, textOf(label)) })
}

// saveEntry is ctx.save_entry{type = …, …} → id. It appends an entry of a type of the hook's
// own to the session, with all fields of the table, and raises for a type of the program.
func (s *sessionEdits) saveEntry(L *lua.LState) int {
	host := s.mustHost(L, "save_entry")
	t := L.CheckTable(1)
	luavm.Materialise(L, t)
	kind, _ := t.RawGetString("type").(lua.LString)
	switch {
	case kind == "":
		luavm.Raise(L, "save_entry: entry must have a type")
	case session.Reserved(string(kind)):
		luavm.Raise(L, "save_entry: entry type %q is reserved for the program; prefix yours with the name of your hook", string(kind))
	}
	own := luavm.NewRecord(L, 8)
	t.ForEach(func(k, v lua.LValue) {
		if k != lua.LString("parent_id") { // the session writes its own
			own.RawSet(k, v)
		}
	})
	raw, err := s.records.Encode(own, "entry")
	must(L, "save_entry", err)
	return s.append(L, host, "save entry", string(kind), raw)
}

// appendEntry is pi.append_entry(custom_type, data?) → id: state that the model
// does not see.
func (s *sessionEdits) appendEntry(L *lua.LState) int {
	host := s.mustHost(L, "append_entry")
	body := session.Custom{CustomType: L.CheckString(1)}
	switch {
	case body.CustomType == "":
		luavm.RaiseArg(L, 1, "append_entry", "it is empty")
	case session.ReservedCustom(body.CustomType):
		luavm.Raise(L, "append_entry: type %q is reserved for the program", body.CustomType)
	}
	body.Data = s.encodeArg(L, 2, "append_entry", "data")
	return s.append(L, host, "append entry", session.TypeCustom, body)
}

// append adds an entry and pushes its id. In a command it is written at once: a
// user who asks for it wants it stored, also in a session without messages.
func (s *sessionEdits) append(L *lua.LState, host Host, doing, kind string, body any) int {
	entry, err := host.Session().Append(kind, body)
	if err == nil && s.isCommand() {
		err = host.Session().Flush()
	}
	if entry == nil {
		return pushResult(L, nil, fmt.Errorf("%s: %w", doing, err))
	}
	if err != nil {
		s.Notify(s.vm.Context(), agent.LevelError, err.Error())
	}
	return pushResult(L, lua.LString(entry.ID), nil)
}

// editContext is ctx.edit_context(entry_id, nil|{content = …}) → id; nil removes the
// entry from the context.
func (s *sessionEdits) editContext(L *lua.LState) int {
	host, id := s.mustHost(L, "edit_context"), L.CheckString(1)
	var replacement *session.Replacement
	if L.Get(2) != lua.LNil {
		var content lua.LValue
		luavm.Unpack(L, 2, "edit_context", luavm.Opt("content", &content).Required())
		blocks, plain := s.content(L, "edit_context", content)
		replacement = &session.Replacement{Content: blocks, Plain: plain}
	}
	var edit string
	err := s.wait(L, "edit_context", func(ctx context.Context) (err error) {
		edit, err = host.EditContext(ctx, id, replacement)
		return err
	})
	s.messages.drop()
	if edit != "" && err != nil {
		s.Notify(s.vm.Context(), agent.LevelError, err.Error())
		err = nil
	}
	return pushResult(L, lua.LString(edit), err)
}

type contextEventKey struct{}

// WithContextEvent marks the Go context of what a handler of the event context does,
// however deep below it is called.
func WithContextEvent(ctx context.Context) context.Context {
	return context.WithValue(ctx, contextEventKey{}, true)
}

// rebuildContext is ctx.rebuild_context() → messages. It passes the context along the hooks
// anew, and returns what the model would see. In a handler of that event it raises.
func (s *sessionEdits) rebuildContext(L *lua.LState) int {
	host := s.mustHost(L, "rebuild_context")
	if s.vm.Context().Value(contextEventKey{}) != nil {
		luavm.Raise(L, "rebuild_context: not inside a context handler")
	}
	var items []session.Item
	_ = s.wait(L, "rebuild_context", func(ctx context.Context) error {
		items = host.Context(ctx)
		return nil
	})
	s.messages.replace(items)
	L.Push(s.messages.list(L))
	return 1
}

// messages is ctx.messages: what the model would see now, made once per handler.
type messages struct {
	*bridge

	// Only while the VM is held.
	job   context.Context // of the handler that they were made for
	items []session.Item
	made  []*lua.LTable // of each item, the last
}

// current returns the list of messages for the job that runs; a job that asks for the first
// time gets those that the host has now.
func (m *messages) current(L *lua.LState, host Host) *lua.LTable {
	if m.job != m.vm.Context() {
		m.replace(host.Seen())
	}
	return m.list(L)
}

// replace makes items the messages of the job that runs, in place of those it had.
func (m *messages) replace(items []session.Item) {
	m.job, m.items, m.made = m.vm.Context(), items, nil
}

// drop forgets the messages, so that the next current asks the host again.
func (m *messages) drop() { m.job, m.items, m.made = nil, nil, nil }

// list returns a new table of the messages. Those that a handler did not touch in an earlier
// table are the same values; what it wrote into others is not in the new table.
func (m *messages) list(L *lua.LState) *lua.LTable {
	if m.made == nil {
		m.made = make([]*lua.LTable, len(m.items))
	}
	return luavm.NewList(L, len(m.items), func(i int) lua.LValue {
		if t := m.made[i]; t != nil {
			if _, untouched := luavm.StubRef(t); untouched {
				return t
			}
		}
		m.made[i] = m.records.Item(&m.items[i])
		return m.made[i]
	})
}
