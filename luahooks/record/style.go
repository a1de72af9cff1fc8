package record

import (
	"pi/luavm"
	"pi/session"
	"pi/session/message"

	lua "github.com/yuin/gopher-lua"
)

// Style is how the tables of messages differ from the usual ones, for hooks that were
// written for another program. The zero value is the usual style.
type Style struct {
	// PlainText: the content of a user's message that is one block of text is that text.
	PlainText bool
	// Wrapped: a message is also what holds one: its field message is the message itself.
	// Lua does not find that field among the others.
	Wrapped bool
}

// In returns a converter of the same VM that makes tables in a style.
func (c *Converter) In(style Style) *Converter {
	s := &Converter{vm: c.vm, valid: c.valid, style: style}
	if style.Wrapped { // their field message is the message
		s.itself = luavm.NewRecord(c.vm.State(), 2)
		luavm.Set(s.itself, "__index", c.vm.GFunc("message", func(L *lua.LState) int {
			if L.Get(2) != lua.LString("message") {
				return 0
			}
			L.Push(L.Get(1))
			return 1
		}))
		luavm.Set(s.itself, "__metatable", lua.LFalse)
	}
	return s
}

// Restyle returns what a converter made, a message, an entry, or a list of either, in the
// style of c. What a hook has changed in it is not in the new table; elements that no
// converter made, and values that are none, are there as they are. With branch the list is
// that of the session's branch: the result is then the same table as long as the branch only
// grows and Lua only reads it.
func (c *Converter) Restyle(L *lua.LState, v lua.LValue, branch bool) lua.LValue {
	list, ok := v.(*lua.LTable)
	if !ok {
		return v
	}
	if one := c.restyled(list); one != list {
		return one
	}
	n := list.Len()
	entries := entriesOf(list, n)
	switch {
	case entries != nil && branch:
		return c.CurrentBranch(L, entries)
	case entries != nil:
		list = c.Entries(L, entries)
	default:
		list = luavm.NewList(L, n, func(i int) lua.LValue { return c.restyled(list.RawGetInt(i + 1)) })
	}
	luavm.MarkList(list)
	return list
}

// entriesOf returns the entries that the n elements of a list were made of; nil if there are
// none, or one is no entry.
func entriesOf(list *lua.LTable, n int) []*session.Entry {
	entries := make([]*session.Entry, 0, n)
	for i := 1; i <= n; i++ {
		t, ok := list.RawGetInt(i).(*lua.LTable)
		if !ok {
			return nil
		}
		switch ref, _ := luavm.StubOrigin(t); ref := ref.(type) {
		case *session.Entry:
			entries = append(entries, ref)
		case *listed:
			entries = append(entries, ref.entry)
		default:
			return nil
		}
	}
	if len(entries) == 0 {
		return nil
	}
	return entries
}

// restyled makes the table of what v was made of, in the style of c; v itself if it was made
// of nothing that has a style.
func (c *Converter) restyled(v lua.LValue) lua.LValue {
	t, ok := v.(*lua.LTable)
	if !ok {
		return v
	}
	switch ref, _ := luavm.StubOrigin(t); ref := ref.(type) {
	case *shownItem: // of a message
		return c.Item((*session.Item)(ref))
	case entryMessage:
		return c.vm.NewStub(ref, c.fillEntryMessage)
	case *session.Entry, *listed:
		return c.vm.NewStub(ref, c.fillEntry)
	}
	return v
}

// applyStyle changes the table of a message, which has its usual fields, to the style of c.
func (c *Converter) applyStyle(t *lua.LTable, m *message.Message) {
	if c.style.PlainText && m.Role == message.RoleUser && isOneText(m.Content) {
		t.RawSetString("content", lua.LString(m.Content[0].Text))
	}
	if c.itself != nil {
		t.Metatable = c.itself
	}
}

// isOneText reports whether a text can stand for content: it is one block, of text.
func isOneText(content []message.Block) bool {
	return len(content) == 1 && content[0].Type == message.BlockText
}
