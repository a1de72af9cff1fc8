package record

import (
	"context"
	"strings"
	"testing"
	"time"

	"pi/luavm"
	"pi/session"
	"pi/session/message"

	lua "github.com/yuin/gopher-lua"
)

// withConverter runs f in a VM that serves no hook.
func withConverter(t *testing.T, f func(c *Converter, L *lua.LState) error) {
	t.Helper()
	vm := luavm.New(luavm.Options{})
	t.Cleanup(vm.Close)
	c := NewConverter(vm, new(ValidJSON))
	if err := vm.Run(context.Background(), luavm.Job{Name: "test", Timeout: time.Minute, Run: func(L *lua.LState) error { return f(c, L) }}); err != nil {
		t.Fatal(err)
	}
}

// edited runs Lua code with the list of items as l.
func edited(L *lua.LState, list *lua.LTable, code string) error {
	L.SetGlobal("l", list)
	fn, err := L.LoadString(code)
	if err == nil {
		L.Push(fn)
		L.Call(0, 0)
	}
	return err
}

func TestWhatLuaLeavesAloneIsTheSameMessage(t *testing.T) {
	blocks := []message.Block{message.TextBlock("one"), message.TextBlock("two")}
	items := []session.Item{{Message: &message.Message{Role: message.RoleUser, Content: blocks}, Index: -1}, {Message: &message.Message{Role: message.RoleUser, Content: blocks}, Index: -1}}
	withConverter(t, func(c *Converter, L *lua.LState) error {
		list := c.Messages(L, items)
		if err := edited(L, list, `assert(l[2].content[2].text == "two") l[2].content[2].text = "three" l[3] = { role = "user", content = "four" }`); err != nil {
			return err
		}
		got, err := c.ItemsFrom(L, list, nil)
		if err != nil {
			return err
		}
		if len(got) != 3 || got[0].Message != items[0].Message || got[1].Message == items[1].Message {
			t.Errorf("got %+v", got)
		}
		if s := got[1].Message.Text() + got[2].Message.Text(); !strings.Contains(s, "three") || !strings.Contains(s, "four") || strings.Contains(items[1].Message.Text(), "three") {
			t.Errorf("it says %q", s)
		}
		return nil
	})
}

func TestAnAnswerNamesWhereItIsWrong(t *testing.T) {
	withConverter(t, func(c *Converter, L *lua.LState) error {
		for code, want := range map[string]string{
			`l.a = { b = 1 }`:       "a.b: expected a string, got number",
			`l.a = { bb = "x" }`:    "a.bb: unknown key",
			`l.a = "x"`:             "a: expected a table, got string",
			`l.a = { b = "right" }`: "",
		} {
			table := L.NewTable()
			if err := edited(L, table, code); err != nil {
				return err
			}
			a := c.NewAnswer(L, table)
			inner, ok := a.Record("a", "b")
			if ok {
				inner.Text("b")
			}
			if err := a.Failed(); (err == nil) != (want == "") || err != nil && !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%s: %v, want %q", code, err, want)
			}
		}
		return nil
	})
}
