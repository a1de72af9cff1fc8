package api

import (
	"fmt"

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
