package record

import (
	"context"
	"encoding/json"
	"fmt"
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

// everyRole is a message of each role, all fields set.
func everyRole() map[string]*message.Message {
	code, blocks := 3, []message.Block{message.TextBlock("x")}
	return map[string]*message.Message{
		`content = "x"`: {Role: message.RoleUser, Content: blocks, Plain: true},
		`api = "a", provider = "p", model = "m", stop_reason = "toolUse", error_message = "e", content = { { type = "toolCall", id = "i", name = "edit", arguments = { old_text = "o" } } }`: {
			Role: message.RoleAssistant, API: "a", Provider: "p", Model: "m", StopReason: message.StopToolUse, ErrorMessage: "e",
			Content: []message.Block{{Type: message.BlockToolCall, ID: "i", Name: "edit", Arguments: json.RawMessage(`{"oldText":"o"}`)}}},
		`tool_call_id = "i", tool_name = "bash", is_error = true, details = { exit_code = 3 }, content = { { type = "text", text = "x" } }`: {
			Role: message.RoleToolResult, ToolCallID: "i", ToolName: "bash", IsError: true, Details: json.RawMessage(`{"exitCode":3}`), Content: blocks},
		`command = "c", output = "o", exit_code = 3, cancelled = true, truncated = true, full_output_path = "f", exclude_from_context = true`: {
			Role: message.RoleBashExecution, Command: "c", Output: "o", ExitCode: &code, Cancelled: true, Truncated: true, FullOutputPath: "f", ExcludeFromContext: true},
		`custom_type = "n", display = true, details = { a_b = 1 }, content = { { type = "image", data = "d", mime_type = "image/png" } }`: {
			Role: message.RoleCustom, CustomType: "n", Display: true, Details: json.RawMessage(`{"a_b":1}`),
			Content: []message.Block{{Type: message.BlockImage, Data: "d", MimeType: "image/png"}}},
		`summary = "s", from_id = "f"`:     {Role: message.RoleBranchSummary, Summary: "s", FromID: "f"},
		`summary = "s", tokens_before = 4`: {Role: message.RoleCompactionSummary, Summary: "s", TokensBefore: 4},
	}
}

// What Lua sees of a message is what it writes to make the same.
func TestAMessageWrittenInLuaIsTheOneThatLuaSees(t *testing.T) {
	withConverter(t, func(c *Converter, L *lua.LState) error {
		for fields, m := range everyRole() {
			list := c.Messages(L, ItemsOf([]*message.Message{m}))
			code := `l[2] = { role = "` + string(m.Role) + `", ` + fields + ` }
				local function same(a, b, at)
					if type(b) ~= "table" then assert(a == b, at .. ": " .. tostring(a)) return end
					for k, v in pairs(b) do same(a[k], v, at .. "." .. k) end
				end
				same(l[1], l[2], "m")`
			if err := edited(L, list, code); err != nil {
				return err
			}
			got, err := c.ItemsFrom(L, list, nil)
			if err != nil {
				return fmt.Errorf("%s: %w", m.Role, err)
			}
			if got[0].Message != m {
				t.Errorf("%s: a message that was read is another one", m.Role)
			}
			if x, y := encoded(t, got[1].Message), encoded(t, m); x != y {
				t.Errorf("became %s, not %s", x, y)
			}
		}
		return nil
	})
}

func encoded(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestAWrongMessageNamesItsField(t *testing.T) {
	withConverter(t, func(c *Converter, L *lua.LState) error {
		for code, want := range map[string]string{
			`{}`:                "messages[1]: role is missing",
			`{ role = "nun" }`:  `messages[1]: unknown role "nun"`,
			`5`:                 "messages[1]: expected a message, got number",
			`{ role = "user" }`: "messages[1]: content: expected a string or a list of blocks, got nil",
			`{ role = "user", content = { type = "text" } }`:                                            "messages[1]: content: expected a list of blocks, got one block; put it into { }",
			`{ role = "user", content = { { text = "x" } } }`:                                           "messages[1]: content[1]: type is missing",
			`{ role = "user", content = { { type = "text" } } }`:                                        "messages[1]: content[1]: text: expected a string, got nil",
			`{ role = "user", content = { { type = "image", data = "d" } } }`:                           "messages[1]: content[1]: mime_type: expected a string, got nil",
			`{ role = "toolResult", content = "x", is_error = 1 }`:                                      "messages[1]: is_error: expected a boolean, got number",
			`{ role = "custom", content = "x", details = { f = print } }`:                               "messages[1]: details: ",
			`{ role = "bashExecution", exit_code = "x" }`:                                               "messages[1]: exit_code: expected a number, got string",
			`{ message = { role = "user", content = "x" }, entry_index = 2 }`:                           "messages[1]: entry_index: 2 is not in 1..0",
			`{ message = { role = "user", content = "x" }, entry_index = "x" }`:                         "messages[1]: entry_index: expected an integer, got string",
			`{ message = { message = { role = "user", content = "x" } } }`:                              "messages[1]: message: role is missing",
			`{ role = "user", content = { { type = "toolCall", id = "", name = "", arguments = 1 } } }`: "messages[1]: content[1]: input: expected a table, got number",
		} {
			list := L.NewTable()
			if err := edited(L, list, "l[1] = "+code); err != nil {
				return err
			}
			if _, err := c.ItemsFrom(L, list, nil); err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%s: %v, want %s", code, err, want)
			}
		}
		return nil
	})
}

// The list of a branch stays the same table while the branch grows and Lua only reads;
// fields of the core have the names of Lua, those of others stay.
func TestTheBranchIsOneTableWhileItGrows(t *testing.T) {
	s := session.New(session.Options{Cwd: "/"})
	grow := func() []*session.Entry {
		if _, err := s.AppendMessage(&message.Message{Role: message.RoleUser, Content: []message.Block{message.TextBlock("x")}}); err != nil {
			t.Fatal(err)
		}
		return s.Branch()
	}
	if _, err := s.Append(session.TypeCustom, session.Custom{CustomType: "n", Data: json.RawMessage(`{"camelCase":1}`)}); err != nil {
		t.Fatal(err)
	}
	withConverter(t, func(c *Converter, L *lua.LState) error {
		list := c.CurrentBranch(L, grow())
		if c.CurrentBranch(L, grow()) != list || list.Len() != 3 {
			t.Errorf("%d entries, or another table", list.Len())
		}
		if err := edited(L, list, `assert(l[1].custom_type == "n" and l[1].data.camelCase == 1 and l[1].parentId == nil)
			assert(l[2].parent_id == l[1].id and l[2].message.content[1].text == "x", "the message") l[1] = false`); err != nil {
			return err
		}
		if again := c.CurrentBranch(L, s.Branch()); again == list || again.RawGetInt(1).Type() != lua.LTTable {
			t.Error("what Lua wrote into the list stays in it")
		}
		return nil
	})
}

func TestACompactionInAListSaysWhereWhatItKeepsBegins(t *testing.T) {
	s := session.New(session.Options{Cwd: "/"})
	user := func() string {
		e, err := s.AppendMessage(&message.Message{Role: message.RoleUser, Content: []message.Block{message.TextBlock("x")}})
		if err != nil {
			t.Fatal(err)
		}
		return e.ID
	}
	compact := func(kept string) {
		if _, err := s.Append(session.TypeCompaction, session.Compaction{Summary: "s", FirstKeptEntryID: kept}); err != nil {
			t.Fatal(err)
		}
	}
	user()
	kept := user()
	user()
	compact(kept) // 4
	compact("")   // 5: keeps nothing
	all := s.Branch()
	withConverter(t, func(c *Converter, L *lua.LState) error {
		if err := edited(L, c.CurrentBranch(L, all[:2]), `assert(#l == 2)`); err != nil {
			return err
		}
		const indexes = `assert(l[4].first_kept_entry_index == 2 and l[5].first_kept_entry_index == 5 and l[1].first_kept_entry_index == nil)
			assert(l[4].type == "compaction" and l[4].first_kept_entry_id == l[2].id)`
		if err := edited(L, c.CurrentBranch(L, all), indexes); err != nil {
			return err
		}
		if err := edited(L, c.Entries(L, all), indexes); err != nil {
			return err
		}
		if err := edited(L, c.Entries(L, all[2:]), `assert(l[2].first_kept_entry_index == 2, "the entry is not in the list")`); err != nil {
			return err
		}
		L.SetGlobal("one", c.Entry(all[3]))
		return edited(L, c.Entries(L, nil), `assert(one.first_kept_entry_index == nil and one.summary == "s")`)
	})
}

func TestUsageComesBack(t *testing.T) {
	u := &message.Usage{Input: 1, Output: 2, CacheRead: 3, CacheWrite: 4, TotalTokens: 10, Cost: message.Cost{Input: 1, Total: 2}}
	withConverter(t, func(_ *Converter, L *lua.LState) error {
		if got := UsageFrom(L, Usage(L, u)); *got != *u {
			t.Errorf("became %+v", got)
		}
		part := L.NewTable()
		part.RawSetString("input", lua.LNumber(5))
		part.RawSetString("output", lua.LNumber(6))
		if got := UsageFrom(L, part); got.TotalTokens != 11 {
			t.Errorf("%d together", got.TotalTokens)
		}
		return nil
	})
}

func TestWhatAnAnswerHolds(t *testing.T) {
	withConverter(t, func(c *Converter, L *lua.LState) error {
		table := L.NewTable()
		if err := edited(L, table, `l.text = "t" l.flag = true l.n = 3 l.data = { a = 1 } l.texts = { "a", "b" } l.switches = { on = "x", off = false }
			l.m = { custom_type = "n", content = "c", display = false }`); err != nil {
			return err
		}
		a := c.NewAnswer(L, table)
		switches, _ := a.Switches("switches")
		m, _ := a.Record("m", "custom_type", "content", "display")
		custom := m.CustomMessage()
		if a.Text("text") != "t" || !a.Flag("flag") || a.Natural("n") != 3 || string(a.Data("data")) != `{"a":1}` || a.Need("text") != "t" ||
			strings.Join(a.Texts("texts"), " ") != "a b" || *switches["on"] != "x" || switches["off"] != nil ||
			custom.CustomType != "n" || custom.Text() != "c" || custom.Display || a.Failed() != nil {
			t.Errorf("read wrongly: %v", a.Failed())
		}
		_, number := a.Number("no")
		_, record := a.Record("no")
		if a.Has("no") || a.Text("no") != "" || a.Flag("no") || a.Integer("no") != 0 || number || record || a.Texts("no") != nil || a.Data("no") != nil || a.Failed() != nil {
			t.Errorf("what is absent is there: %v", a.Failed())
		}
		return nil
	})
}

func TestAnAnswerNamesWhereItIsWrong(t *testing.T) {
	for code, c := range map[string]struct {
		read func(a Answer)
		want string
	}{
		`l.a = { b = 1 }`:           {func(a Answer) { in, _ := a.Record("a", "b"); in.Text("b") }, "a.b: expected a string, got number"},
		`l.a = { bb = "x" }`:        {func(a Answer) { a.Record("a", "b") }, `a.bb: unknown key, did you mean "b"?`},
		`l.a = "x"`:                 {func(a Answer) { a.Record("a", "b") }, "a: expected a table, got string"},
		`l.b = 1 l.c = 1`:           {func(a Answer) { a.Text("b"); a.Flag("c") }, "b: expected a string, got number"},
		`l.b = ""`:                  {func(a Answer) { a.Need("b") }, "b: it is empty"},
		`l.x = 1`:                   {func(a Answer) { a.Need("b") }, "b: it is missing"},
		`l.b = -1`:                  {func(a Answer) { a.Natural("b") }, "b: expected an integer from 0, got -1"},
		`l.b = 1.5`:                 {func(a Answer) { a.Integer("b") }, "b: expected an integer, got 1.5"},
		`l.b = { f = print }`:       {func(a Answer) { a.Data("b") }, "b: at .f: a function cannot be JSON"},
		`l.b = { "x", 1 }`:          {func(a Answer) { a.Texts("b") }, "b[2]: expected a string, got number"},
		`l.b = { "x", n = 1 }`:      {func(a Answer) { a.Texts("b") }, "b: expected a list, it has the key n"},
		`l.b = { n = true }`:        {func(a Answer) { a.Switches("b") }, "b.n: expected a string or false, got true"},
		`l.b = { 1 }`:               {func(a Answer) { a.Switches("b") }, "b: expected names as keys, got 1"},
		`l.custom_type = "pi.leaf"`: {func(a Answer) { a.CustomType() }, `custom_type: "pi.leaf" is the program's own`},
		`l.b = 5`:                   {func(a Answer) { a.Content("b") }, "b: expected a string or a list of blocks, got number"},
		`local s = ("x"):rep(40 * 2^20) l.b = { s, s }`: {func(a Answer) { a.Texts("b") }, "b[2]: it is larger than 64 MiB"},
	} {
		withConverter(t, func(conv *Converter, L *lua.LState) error {
			table := L.NewTable()
			if err := edited(L, table, code); err != nil {
				return err
			}
			a := conv.NewAnswer(L, table)
			if c.read(a); a.Failed() == nil || !strings.HasPrefix(a.Failed().Error(), c.want) {
				t.Errorf("%s: %v, want %q", code, a.Failed(), c.want)
			}
			return nil
		})
	}
}
