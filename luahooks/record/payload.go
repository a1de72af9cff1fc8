package record

import (
	"pi/luavm"
	"pi/session"
	"pi/session/message"

	lua "github.com/yuin/gopher-lua"
)

// Entries is a list of entries that is not the current branch.
func (c *Converter) Entries(L *lua.LState, entries []*session.Entry) *lua.LTable {
	return c.vm.NewStubList(L, len(entries), func(i int) any { return entries[i] }, c.FillEntry)
}

// Entry is one entry, or nil.
func (c *Converter) Entry(e *session.Entry) lua.LValue {
	if e == nil {
		return lua.LNil
	}
	return c.vm.NewStub(e, c.FillEntry)
}

// Message is a message outside of the context, or nil.
func (c *Converter) Message(m *message.Message) lua.LValue {
	if m == nil {
		return lua.LNil
	}
	return c.Item(&session.Item{Message: m, Index: -1})
}

// ItemsOf are messages that are no entries, as a context has them.
func ItemsOf(messages []*message.Message) []session.Item {
	items := make([]session.Item, len(messages))
	for i, m := range messages {
		items[i] = session.Item{Message: m, Index: -1}
	}
	return items
}

// TextOrNil is what SetText puts into a table.
func TextOrNil(text string) lua.LValue {
	if text == "" {
		return lua.LNil
	}
	return lua.LString(text)
}

// SetText sets a field, or leaves it nil when the text is empty.
func SetText(t *lua.LTable, name, text string) {
	if text != "" {
		luavm.Set(t, name, lua.LString(text))
	}
}
