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
