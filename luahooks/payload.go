package luahooks

import (
	"pi/luavm"
	"pi/session"
	"pi/session/message"

	lua "github.com/yuin/gopher-lua"
)

// payload is the table of an event, or a record in it, while it is filled.
type payload struct {
	*lua.LTable
	L *lua.LState
}

// newRecord begins a table in a payload.
func newRecord(L *lua.LState, size int) payload { return payloadOn(L, luavm.NewRecord(L, size)) }

// payloadOn goes on with a table.
func payloadOn(L *lua.LState, t *lua.LTable) payload { return payload{t, L} }

func (p payload) set(name string, v lua.LValue) payload {
	luavm.Set(p.LTable, name, v)
	return p
}

func (p payload) text(name, s string) payload { return p.set(name, lua.LString(s)) }

// maybe sets a text, or leaves the field nil when it is empty.
func (p payload) maybe(name, s string) payload {
	setText(p.LTable, name, s)
	return p
}

func (p payload) number(name string, n int) payload { return p.set(name, lua.LNumber(n)) }

func (p payload) flag(name string, b bool) payload { return p.set(name, lua.LBool(b)) }

func (p payload) texts(name string, list []string) payload {
	t := luavm.NewList(p.L, len(list), func(i int) lua.LValue { return lua.LString(list[i]) })
	luavm.MarkList(t)
	return p.set(name, t)
}

// table is the payload as fields of an event's row build it.
func (p payload) table() *lua.LTable { return p.LTable }

// entries is a list of entries that is not the current branch.
func (c *converter) entries(L *lua.LState, entries []*session.Entry) *lua.LTable {
	return c.vm.NewStubList(L, len(entries), func(i int) any { return entries[i] }, c.fillEntry)
}

// entry is one entry, or nil.
func (c *converter) entry(e *session.Entry) lua.LValue {
	if e == nil {
		return lua.LNil
	}
	return c.vm.NewStub(e, c.fillEntry)
}

// message is a message outside of the context, or nil.
func (c *converter) message(m *message.Message) lua.LValue {
	if m == nil {
		return lua.LNil
	}
	return c.item(&session.Item{Message: m, Index: -1})
}

func itemsOf(messages []*message.Message) []session.Item {
	items := make([]session.Item, len(messages))
	for i, m := range messages {
		items[i] = session.Item{Message: m, Index: -1}
	}
	return items
}

// textOrNil is what setText puts into a table.
func textOrNil(text string) lua.LValue {
	if text == "" {
		return lua.LNil
	}
	return lua.LString(text)
}

// setText sets a field, or leaves it nil when the text is empty.
func setText(t *lua.LTable, name, text string) {
	if text != "" {
		luavm.Set(t, name, lua.LString(text))
	}
}
