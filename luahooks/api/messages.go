package api

import (
	"context"

	"pi/luavm"
	"pi/session"

	lua "github.com/yuin/gopher-lua"
)

// messages is ctx.messages: what the model would see now, made once per handler.
type messages struct {
	*bridge

	// Only while the VM is held.
	job   context.Context // of the handler that they were made for
	items []session.Item
	made  []*lua.LTable // of each item, the last
}

// current lists them for the job that runs.
func (m *messages) current(L *lua.LState, host Host) *lua.LTable {
	if m.job != m.vm.Context() {
		m.replace(host.Seen())
	}
	return m.list(L)
}

// replace makes items those of the job that runs.
func (m *messages) replace(items []session.Item) {
	m.job, m.items, m.made = m.vm.Context(), items, nil
}

// drop has them asked for anew.
func (m *messages) drop() { m.job, m.items, m.made = nil, nil, nil }

// list makes a table of them; what a handler wrote into an earlier one is not in it.
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
