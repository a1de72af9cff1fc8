package record

import (
	"testing"

	"pi/luavm"
	"pi/session"
	"pi/session/message"

	lua "github.com/yuin/gopher-lua"
)

func TestAStyleSaysHowMessagesLook(t *testing.T) {
	one := []message.Block{message.TextBlock("one")}
	two := []message.Block{message.TextBlock("one"), message.TextBlock("two")}
	items := ItemsOf([]*message.Message{
		{Role: message.RoleUser, Content: one}, {Role: message.RoleUser, Content: two}, {Role: message.RoleAssistant, Content: one, StopReason: message.StopEnd},
		{Role: message.RoleUser, Content: one, Plain: true},
	})
	withConverter(t, func(c *Converter, L *lua.LState) error {
		list := c.In(Style{PlainText: true, Wrapped: true}).Restyle(L, c.Messages(L, items), false).(*lua.LTable)
		err := edited(L, list, `
			assert(l[1].content == "one" and l[4].content == "one")
			assert(l[2].content[2].text == "two" and l[3].content[1].text == "one")
			for i, m in ipairs(l) do
				assert(m.message == m and m.message.message == m and rawget(m, "message") == nil and m.nothing == nil)
				for k in pairs(m) do assert(k ~= "message") end
			end
			l[5] = { message = l[2], entry_index = nil }`)
		if err != nil {
			return err
		}
		got, err := c.ItemsFrom(L, list, nil)
		for i := range items {
			if err == nil && got[i].Message != items[i].Message {
				t.Errorf("message %d was read as another one: %+v", i+1, got[i].Message)
			}
		}
		if err == nil && got[4].Message != items[1].Message {
			t.Errorf("the wrapped one was read as %+v", got[4].Message)
		}
		return err
	})
}

// What is told of a message before its table is filled is what the table says then.
func TestTheRoleOfAMessageIsReadWithoutItsTable(t *testing.T) {
	items := []session.Item{
		{Message: &message.Message{Role: message.RoleToolResult, Timestamp: 5}, Entry: &session.Entry{ID: "e"}, Index: 3},
		{Message: &message.Message{Role: message.RoleUser}, Index: -1},
	}
	withConverter(t, func(c *Converter, L *lua.LState) error {
		list := c.Messages(L, items)
		const read = `
			local a, b = l[1], l[2]
			assert(a.role == "toolResult" and a.timestamp == 5 and a.entry_id == "e" and a.entry_index == 4)
			assert(b.role == "user" and b.timestamp == 0)`
		if err := edited(L, list, read); err != nil {
			return err
		}
		for i := 1; i <= list.Len(); i++ {
			if _, untouched := luavm.StubRef(list.RawGetInt(i).(*lua.LTable)); !untouched {
				t.Errorf("the table of message %d was filled", i)
			}
		}
		return edited(L, list, `assert(#l[1].content == 0 and l[2].entry_id == nil and l[2].entry_index == nil)`+read)
	})
}

func TestAChangedTextOfAStyledMessageCounts(t *testing.T) {
	items := ItemsOf([]*message.Message{{Role: message.RoleUser, Content: []message.Block{message.TextBlock("one")}}})
	withConverter(t, func(c *Converter, L *lua.LState) error {
		list := c.In(Style{PlainText: true}).Restyle(L, c.Messages(L, items), false).(*lua.LTable)
		if err := edited(L, list, `l[1].content = l[1].content:sub(1, 2)`); err != nil {
			return err
		}
		got, err := c.ItemsFrom(L, list, nil)
		if err == nil && (got[0].Message.Text() != "on" || items[0].Message.Text() != "one") {
			t.Errorf("got %+v of %+v", got[0].Message, items[0].Message)
		}
		return err
	})
}

func TestOnlyWhatAConverterMadeIsRestyled(t *testing.T) {
	withConverter(t, func(c *Converter, L *lua.LState) error {
		own, styled := L.NewTable(), c.In(Style{Wrapped: true})
		list := L.NewTable()
		list.Append(own)
		list.Append(lua.LString("x"))
		again := styled.Restyle(L, list, true).(*lua.LTable)
		if again == list || again.RawGetInt(1) != own || again.RawGetInt(2) != lua.LString("x") {
			t.Error("a list of a hook's own is not there as it was")
		}
		for _, v := range []lua.LValue{lua.LNil, lua.LString("x"), lua.LNumber(1)} {
			if styled.Restyle(L, v, false) != v {
				t.Errorf("%v is another value", v)
			}
		}
		return nil
	})
}

func TestTheListOfABranchIsTheSameWhileItGrows(t *testing.T) {
	s := session.New(session.Options{Cwd: "/"})
	add := func(text string) {
		if _, err := s.AppendMessage(&message.Message{Role: message.RoleUser, Content: []message.Block{message.TextBlock(text)}}); err != nil {
			t.Fatal(err)
		}
	}
	add("one")
	withConverter(t, func(c *Converter, L *lua.LState) error {
		styled := c.In(Style{PlainText: true})
		restyle := func() *lua.LTable { return styled.Restyle(L, c.CurrentBranch(L, s.Branch()), true).(*lua.LTable) }
		first := restyle()
		n := first.Len()
		add("two")
		if second := restyle(); second != first || second.Len() != n+1 {
			t.Errorf("another list of %d, the first has %d", second.Len(), n)
		}
		if err := edited(L, first, `assert(l[#l].message.content == "two") l[#l] = "mine"`); err != nil {
			return err
		}
		if restyle() == first {
			t.Error("the list that a hook changed is given again")
		}
		return edited(L, restyle(), `assert(l[#l].message.content == "two")`)
	})
}
