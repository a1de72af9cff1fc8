package record

import (
	"pi/luavm"
	"pi/session"
	"pi/session/message"

	lua "github.com/yuin/gopher-lua"
)

// Payload is the table of an event, or a record in it, while it is filled.
type Payload struct {
	*lua.LTable
	L *lua.LState
}

// NewPayload begins a table in a payload.
func NewPayload(L *lua.LState, size int) Payload { return PayloadOn(L, luavm.NewRecord(L, size)) }

// PayloadOn goes on with a table.
func PayloadOn(L *lua.LState, t *lua.LTable) Payload { return Payload{t, L} }

// Set sets a field; nil leaves it out.
func (p Payload) Set(name string, v lua.LValue) Payload {
	luavm.Set(p.LTable, name, v)
	return p
}

// Text sets a text.
func (p Payload) Text(name, s string) Payload { return p.Set(name, lua.LString(s)) }

// Maybe sets a text, or leaves the field nil when it is empty.
func (p Payload) Maybe(name, s string) Payload {
	SetText(p.LTable, name, s)
	return p
}

// Number sets an integer.
func (p Payload) Number(name string, n int) Payload { return p.Set(name, lua.LNumber(n)) }

// Flag sets a boolean.
func (p Payload) Flag(name string, b bool) Payload { return p.Set(name, lua.LBool(b)) }

// Texts sets a list of texts.
func (p Payload) Texts(name string, list []string) Payload {
	t := luavm.NewList(p.L, len(list), func(i int) lua.LValue { return lua.LString(list[i]) })
	luavm.MarkList(t)
	return p.Set(name, t)
}

// Table is the payload as fields of an event's row build it.
func (p Payload) Table() *lua.LTable { return p.LTable }

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
