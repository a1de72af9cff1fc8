package luahooks

import (
	"fmt"

	"pi/luahooks/record"
	"pi/luavm"
	"pi/session"

	lua "github.com/yuin/gopher-lua"
)

// newSessionView makes ctx.session, which only reads.
func (in *instance) newSessionView(L *lua.LState) *lua.LTable {
	t := luavm.NewRecord(L, 10)
	in.addFuncs(t, map[string]any{
		"entries": in.allEntries, "branch": in.branchEntries, "entry": in.entry, "tree": in.tree, "label": in.label,
		"header":  in.header,
		"leaf_id": func(L *lua.LState) lua.LValue { return record.TextOrNil(in.sessionOf(L, "leaf_id").Leaf()) },
		"file":    func(L *lua.LState) lua.LValue { return record.TextOrNil(in.sessionOf(L, "file").File()) },
		"id":      func(L *lua.LState) string { return in.sessionOf(L, "id").ID() },
		"name":    func(L *lua.LState) lua.LValue { return record.TextOrNil(in.sessionOf(L, "name").Name()) },
	})
	return in.vm.StrictTable("ctx.session", t)
}

func (in *instance) sessionOf(L *lua.LState, function string) *session.Session {
	return in.mustHost(L, function).Session()
}

// allEntries is ctx.session.entries(): those of all branches, in the order of
// the file.
func (in *instance) allEntries(L *lua.LState) *lua.LTable {
	return in.entryStubs(L, in.sessionOf(L, "entries").Entries())
}

// entryStubs makes a fresh list; the entries of a session never change.
func (in *instance) entryStubs(L *lua.LState, entries []*session.Entry) *lua.LTable {
	list := in.records.Entries(L, entries)
	luavm.MarkList(list)
	return list
}

// branchEntries is ctx.session.branch(from_id?): from the root to an entry, or
// to the leaf.
func (in *instance) branchEntries(L *lua.LState, from *string) (*lua.LTable, error) {
	s := in.sessionOf(L, "branch")
	if from == nil {
		return in.entryStubs(L, s.Branch()), nil
	}
	if s.Entry(*from) == nil {
		return nil, fmt.Errorf("no entry %q", *from)
	}
	return in.entryStubs(L, s.Path(*from)), nil
}

// entry is ctx.session.entry(id) → entry, or nil and a message.
func (in *instance) entry(L *lua.LState, id string) (*lua.LTable, error) {
	e := in.sessionOf(L, "entry").Entry(id)
	if e == nil {
		return nil, fmt.Errorf("no entry %q", id)
	}
	return in.records.Entry(e).(*lua.LTable), nil
}

// label is ctx.session.label(id) → string or nil.
func (in *instance) label(L *lua.LState, id string) lua.LValue {
	return record.TextOrNil(in.sessionOf(L, "label").Labels()[id])
}

// tree is ctx.session.tree(): the roots, each {entry, children, label?}.
func (in *instance) tree(L *lua.LState) *lua.LTable {
	s := in.sessionOf(L, "tree")
	entries, names, children := s.Entries(), s.Labels(), map[string]*lua.LTable{}
	for _, e := range entries {
		list := L.CreateTable(0, 0)
		luavm.MarkList(list)
		children[e.ID] = list
	}
	roots := L.CreateTable(0, 0)
	luavm.MarkList(roots)
	for _, e := range entries {
		node := luavm.NewRecord(L, 3)
		luavm.Set(node, "entry", in.records.Entry(e))
		luavm.Set(node, "children", children[e.ID])
		record.SetText(node, "label", names[e.ID])
		if above := children[e.ParentID]; above != nil {
			above.Append(node)
		} else {
			roots.Append(node)
		}
	}
	return roots
}

// header is ctx.session.header(): the first line of the file.
func (in *instance) header(L *lua.LState) *lua.LTable {
	h := in.sessionOf(L, "header").Header()
	t := luavm.NewRecord(L, 6)
	luavm.Set(t, "type", lua.LString(session.TypeSession))
	luavm.Set(t, "version", lua.LNumber(h.Version))
	luavm.Set(t, "id", lua.LString(h.ID))
	luavm.Set(t, "timestamp", lua.LString(h.Timestamp))
	luavm.Set(t, "cwd", lua.LString(h.Cwd))
	record.SetText(t, "parent_session", h.ParentSession)
	return t
}
