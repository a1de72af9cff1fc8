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

// messages makes a fresh list; a handler may do with it what it likes. The items
// must not change any more.
func (in *instance) messages(L *lua.LState, items []session.Item) *lua.LTable {
	return in.vm.NewStubList(L, len(items), func(i int) any { return &items[i] }, in.fillMessage)
}

// message is the stub of one message; an untouched one leads back to its item.
func (in *instance) message(item session.Item) *lua.LTable {
	return in.vm.NewStub(&item, in.fillMessage)
}

func (in *instance) fillMessage(L *lua.LState, ref any) *lua.LTable {
	item := ref.(*session.Item)
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

// blocks makes a list of content blocks, which must not change any more.
func (in *instance) blocks(L *lua.LState, content []session.Block) *lua.LTable {
	list := in.vm.NewStubList(L, len(content), func(i int) any { return &content[i] }, in.fillBlock)
	luavm.MarkList(list)
	return list
}

func (in *instance) fillBlock(L *lua.LState, ref any) *lua.LTable {
	b := ref.(*session.Block)
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
		in.fillUnknown(L, t, b.Raw)
	}
	return t
}

// fillUnknown copies the fields of a block that the program knows nothing of.
func (in *instance) fillUnknown(L *lua.LState, t *lua.LTable, raw json.RawMessage) {
	if whole, ok := in.json(raw).(*lua.LTable); ok {
		luavm.Materialise(L, whole)
		whole.ForEach(t.RawSet)
	}
}

// entryList is the list of a branch, kept per VM and grown with the session.
type entryList struct {
	table  *lua.LTable
	stubs  []*lua.LTable // what table holds, unless Lua changed it
	branch []*session.Entry
}

// entries returns the list of a branch. It is the same table as long as the
// branch only grows and Lua only reads it.
func (in *instance) entries(L *lua.LState, branch []*session.Entry) *lua.LTable {
	l := &in.branch
	have := len(l.branch)
	grows := l.table != nil && have <= len(branch) && (have == 0 || branch[have-1] == l.branch[have-1])
	if !grows || !l.intact() {
		*l, have = entryList{table: L.CreateTable(len(branch), 0)}, 0
	}
	for _, e := range branch[have:] {
		stub := in.vm.NewStub(e, in.fillEntry)
		l.table.Append(stub)
		l.stubs = append(l.stubs, stub)
	}
	l.branch = branch
	return l.table
}

// intact reports whether the table still holds what was put there.
func (l *entryList) intact() bool {
	if l.table.Len() != len(l.stubs) {
		return false
	}
	for i, stub := range l.stubs {
		if l.table.RawGetInt(i+1) != stub {
			return false
		}
	}
	return true
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
		case key == "type" || key == "id" || key == "parentId" || key == "parent_id" || key == "timestamp":
		case key == "message" && e.Message() != nil:
			t.RawSetString(key, in.message(session.Item{Message: e.Message(), Index: -1}))
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
