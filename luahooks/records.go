package luahooks

import (
	"encoding/json"
	"maps"
	"slices"

	"pi/luavm"
	"pi/session"

	lua "github.com/yuin/gopher-lua"
)

// Session data on its way into Lua. Lists are real tables; their elements are
// stubs, filled when Lua first touches them, so that ten thousand messages cost
// a handler only what it looks at.

// messages makes a fresh list; a handler may do with it what it likes.
func (in *instance) messages(L *lua.LState, items []session.Item) *lua.LTable {
	list := L.CreateTable(len(items), 0)
	for i := range items {
		list.Append(in.message(L, items[i]))
	}
	return list
}

// message is the stub of one message; an untouched one leads back to its item.
func (in *instance) message(_ *lua.LState, item session.Item) *lua.LTable {
	return in.vm.NewStub(item, in.fillMessage)
}

func (in *instance) fillMessage(L *lua.LState, ref any) *lua.LTable {
	item := ref.(session.Item)
	m := item.Message
	t := L.CreateTable(0, 8)
	t.RawSetString("role", lua.LString(m.Role))
	t.RawSetString("timestamp", lua.LNumber(m.Timestamp))
	if item.Entry != nil {
		t.RawSetString("entry_id", lua.LString(item.Entry.ID))
		t.RawSetString("entry_index", lua.LNumber(item.Index+1))
	}
	in.fillRole(L, t, m)
	return t
}

func (in *instance) fillRole(L *lua.LState, t *lua.LTable, m *session.Message) {
	switch m.Role {
	case session.RoleBashExecution:
		fillBash(t, m)
	case session.RoleBranchSummary:
		t.RawSetString("summary", lua.LString(m.Summary))
		setText(t, "from_id", m.FromID)
	case session.RoleCompactionSummary:
		t.RawSetString("summary", lua.LString(m.Summary))
		t.RawSetString("tokens_before", lua.LNumber(m.TokensBefore))
	default:
		in.fillContent(L, t, m)
	}
	switch m.Role {
	case session.RoleAssistant:
		fillAssistant(L, t, m)
	case session.RoleToolResult:
		t.RawSetString("tool_call_id", lua.LString(m.ToolCallID))
		t.RawSetString("tool_name", lua.LString(m.ToolName))
		t.RawSetString("is_error", lua.LBool(m.IsError))
		t.RawSetString("details", in.json(m.Details))
	case session.RoleCustom:
		t.RawSetString("custom_type", lua.LString(m.CustomType))
		t.RawSetString("display", lua.LBool(m.Display))
		t.RawSetString("details", in.json(m.Details))
	}
}

func (in *instance) fillContent(L *lua.LState, t *lua.LTable, m *session.Message) {
	if m.Plain {
		t.RawSetString("content", lua.LString(m.Text()))
		return
	}
	t.RawSetString("content", in.blocks(L, m.Content))
}

func fillBash(t *lua.LTable, m *session.Message) {
	t.RawSetString("command", lua.LString(m.Command))
	t.RawSetString("output", lua.LString(m.Output))
	if m.ExitCode != nil {
		t.RawSetString("exit_code", lua.LNumber(*m.ExitCode))
	}
	t.RawSetString("cancelled", lua.LBool(m.Cancelled))
	t.RawSetString("truncated", lua.LBool(m.Truncated))
	setText(t, "full_output_path", m.FullOutputPath)
	if m.ExcludeFromContext {
		t.RawSetString("exclude_from_context", lua.LTrue)
	}
}

func fillAssistant(L *lua.LState, t *lua.LTable, m *session.Message) {
	t.RawSetString("api", lua.LString(m.API))
	t.RawSetString("provider", lua.LString(m.Provider))
	t.RawSetString("model", lua.LString(m.Model))
	t.RawSetString("stop_reason", lua.LString(m.StopReason))
	setText(t, "error_message", m.ErrorMessage)
	if m.Usage != nil {
		t.RawSetString("usage", usageTable(L, m.Usage))
	}
}

// blocks makes a list of content blocks.
func (in *instance) blocks(L *lua.LState, content []session.Block) *lua.LTable {
	list := L.CreateTable(len(content), 0)
	for i := range content {
		list.Append(in.block(L, &content[i]))
	}
	return list
}

func (in *instance) block(L *lua.LState, b *session.Block) *lua.LTable {
	t := L.CreateTable(0, 4)
	t.RawSetString("type", lua.LString(b.Type))
	switch b.Type {
	case session.BlockText:
		t.RawSetString("text", lua.LString(b.Text))
		setText(t, "text_signature", b.Signature)
	case session.BlockThinking:
		t.RawSetString("thinking", lua.LString(b.Text))
		setText(t, "thinking_signature", b.Signature)
		if b.Redacted {
			t.RawSetString("redacted", lua.LTrue)
		}
	case session.BlockToolCall:
		t.RawSetString("id", lua.LString(b.ID))
		t.RawSetString("name", lua.LString(b.Name))
		t.RawSetString("arguments", in.input(b.Name, b.Arguments))
		setText(t, "thought_signature", b.Signature)
	case session.BlockImage:
		t.RawSetString("data", lua.LString(b.Data))
		t.RawSetString("mime_type", lua.LString(b.MimeType))
	default:
		if whole, ok := in.json(b.Raw).(*lua.LTable); ok {
			return whole
		}
	}
	return t
}

func usageTable(L *lua.LState, u *session.Usage) *lua.LTable {
	t := L.CreateTable(0, 6)
	t.RawSetString("input", lua.LNumber(u.Input))
	t.RawSetString("output", lua.LNumber(u.Output))
	t.RawSetString("cache_read", lua.LNumber(u.CacheRead))
	t.RawSetString("cache_write", lua.LNumber(u.CacheWrite))
	t.RawSetString("total", lua.LNumber(u.TotalTokens))
	cost := L.CreateTable(0, 5)
	cost.RawSetString("input", lua.LNumber(u.Cost.Input))
	cost.RawSetString("output", lua.LNumber(u.Cost.Output))
	cost.RawSetString("cache_read", lua.LNumber(u.Cost.CacheRead))
	cost.RawSetString("cache_write", lua.LNumber(u.Cost.CacheWrite))
	cost.RawSetString("total", lua.LNumber(u.Cost.Total))
	t.RawSetString("cost", cost)
	return t
}

// entryList is the list of a branch, kept per VM and grown with the session.
type entryList struct {
	table *lua.LTable
	last  []*session.Entry
}

// entries returns the list of a branch. It is the same table as long as the
// branch only grows; Lua is asked to read it only.
func (in *instance) entries(L *lua.LState, branch []*session.Entry) *lua.LTable {
	have := len(in.branch.last)
	grows := in.branch.table != nil && have <= len(branch) && (have == 0 || branch[have-1] == in.branch.last[have-1])
	if !grows {
		in.branch.table, have = L.CreateTable(len(branch), 0), 0
	}
	for _, e := range branch[have:] {
		in.branch.table.Append(in.entry(L, e))
	}
	in.branch.last = branch
	return in.branch.table
}

func (in *instance) entry(_ *lua.LState, e *session.Entry) *lua.LTable {
	return in.vm.NewStub(e, in.fillEntry)
}

// fillEntry makes the table of an entry: the fields of its line, those of the
// core's types in snake_case, with the message itself as a record.
func (in *instance) fillEntry(L *lua.LState, ref any) *lua.LTable {
	e := ref.(*session.Entry)
	var line map[string]json.RawMessage
	_ = json.Unmarshal(e.Raw(), &line) // a loaded entry is an object
	t := L.CreateTable(0, len(line)+1)
	t.RawSetString("type", lua.LString(e.Type))
	t.RawSetString("id", lua.LString(e.ID))
	setText(t, "parent_id", e.ParentID)
	t.RawSetString("timestamp", lua.LString(e.Timestamp))
	core := session.Reserved(e.Type)
	for _, key := range slices.Sorted(maps.Keys(line)) {
		switch {
		case key == "type" || key == "id" || key == "parentId" || key == "timestamp":
		case key == "message" && e.Message() != nil:
			t.RawSetString(key, in.message(L, session.Item{Message: e.Message(), Index: -1}))
		case key == "usage" && core:
			var u session.Usage
			_ = json.Unmarshal(line[key], &u) // odd counts show as zero
			t.RawSetString(key, usageTable(L, &u))
		case core:
			t.RawSetString(snake(key), in.json(line[key]))
		default:
			t.RawSetString(key, in.json(line[key]))
		}
	}
	return t
}

// json decodes what hooks and models wrote; nil for nothing.
func (in *instance) json(raw json.RawMessage) lua.LValue { return in.decode(raw, luavm.JSON{}) }

func (in *instance) decode(raw json.RawMessage, conv luavm.JSON) lua.LValue {
	if len(raw) == 0 {
		return lua.LNil
	}
	v, err := in.vm.DecodeJSON(raw, conv)
	if err != nil {
		return lua.LNil
	}
	return v
}

// input is the arguments of a tool call, with the names Lua uses.
func (in *instance) input(tool string, raw json.RawMessage) lua.LValue {
	return in.decode(raw, argumentJSON(tool))
}
