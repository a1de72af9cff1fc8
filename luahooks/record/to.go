package record

import (
	"encoding/json"
	"slices"
	"sync/atomic"

	"pi/luavm"
	"pi/session"
	"pi/session/message"

	lua "github.com/yuin/gopher-lua"
)

// Session data on its way into Lua. Lists are real tables; their elements are
// stubs, filled when Lua first touches them, so that ten thousand messages cost
// a handler only what it looks at. The fields that most of them have are set by
// RawSetString itself: inlined, it keeps the key as a constant, where luavm.Set
// makes one for each table.

// Converter makes tables of session data for one VM, and reads them back. It is used
// only while the VM is held.
type Converter struct {
	vm     *luavm.VM
	valid  *ValidJSON
	branch entryList
	style  Style
	itself *lua.LTable // the metatable of messages, if style.Wrapped
}

// NewConverter returns the converter of a VM. The converters of a chain share valid,
// because all hooks of a chain get the same texts.
func NewConverter(vm *luavm.VM, valid *ValidJSON) *Converter { return &Converter{vm: vm, valid: valid} }

// Messages makes a fresh list; a handler may do with it what it likes. The items
// must not change any more.
func (c *Converter) Messages(L *lua.LState, items []session.Item) *lua.LTable {
	return c.vm.NewStubList(L, len(items), func(i int) any { return (*shownItem)(&items[i]) }, c.fillMessage)
}

// shownItem is what the table of a message of a context is made of.
type shownItem session.Item

// Peek makes a shownItem a [luavm.Peeker]: a hook that looks for the messages of a role reads
// no more than that of most of them.
func (i *shownItem) Peek(field string) (lua.LValue, bool) {
	switch {
	case field == "role":
		return lua.LString(i.Message.Role), true
	case field == "timestamp":
		return lua.LNumber(i.Message.Timestamp), true
	case field == "entry_id" && i.Entry != nil:
		return lua.LString(i.Entry.ID), true
	case field == "entry_index" && i.Entry != nil:
		return lua.LNumber(i.Index + 1), true
	}
	return nil, false
}

// Item makes the table of one message of a context. item must not change any more; as long
// as Lua does not touch the table, ItemFrom returns the same message.
func (c *Converter) Item(item *session.Item) *lua.LTable {
	return c.vm.NewStub((*shownItem)(item), c.fillMessage)
}

// Entries makes a fresh list of entries. For the session's branch see CurrentBranch.
func (c *Converter) Entries(L *lua.LState, entries []*session.Entry) *lua.LTable {
	return c.vm.NewStubList(L, len(entries), func(i int) any { return inList(entries, i) }, c.fillEntry)
}

// listed is a compaction in a list, where the entry that it keeps first has a position.
type listed struct {
	entry  *session.Entry
	before []*session.Entry // in the list
}

// inList is what the table of the i-th entry of a list is made of: the entry, or a *listed.
func inList(entries []*session.Entry, i int) any {
	if entries[i].Type == session.TypeCompaction {
		return &listed{entries[i], entries[:i]}
	}
	return entries[i]
}

// kept is the position, from 1, of the entry that the compaction keeps first; its own if it
// keeps none, or one that is not in the list.
func (l *listed) kept() int {
	body, _ := session.Body[session.Compaction](l.entry)
	i := -1
	if body.FirstKeptEntryID != "" {
		i = slices.IndexFunc(l.before, func(e *session.Entry) bool { return e.ID == body.FirstKeptEntryID })
	}
	if i < 0 {
		i = len(l.before)
	}
	return i + 1
}

// Entry makes the table of one entry; nil for nil.
func (c *Converter) Entry(e *session.Entry) lua.LValue {
	if e == nil {
		return lua.LNil
	}
	return c.vm.NewStub(e, c.fillEntry)
}

// Message makes the table of a message that has no entry; nil for nil.
func (c *Converter) Message(m *message.Message) lua.LValue {
	if m == nil {
		return lua.LNil
	}
	return c.Item(&session.Item{Message: m, Index: -1})
}

// ItemsOf makes items of a context of messages that have no entries.
func ItemsOf(messages []*message.Message) []session.Item {
	items := make([]session.Item, len(messages))
	for i, m := range messages {
		items[i] = session.Item{Message: m, Index: -1}
	}
	return items
}

func (c *Converter) fillMessage(L *lua.LState, ref any) *lua.LTable {
	item := ref.(*shownItem)
	m := item.Message
	t := luavm.NewRecord(L, 8)
	t.RawSetString("role", lua.LString(m.Role))
	t.RawSetString("timestamp", lua.LNumber(m.Timestamp))
	if item.Entry != nil {
		t.RawSetString("entry_id", lua.LString(item.Entry.ID))
		t.RawSetString("entry_index", lua.LNumber(item.Index+1))
	}
	c.fillRole(L, t, m)
	c.applyStyle(t, m)
	return t
}

// fillRole sets the fields that messages of this role have besides the common ones.
func (c *Converter) fillRole(L *lua.LState, t *lua.LTable, m *message.Message) {
	switch m.Role {
	case message.RoleBashExecution:
		luavm.Set(t, "command", lua.LString(m.Command))
		luavm.Set(t, "output", lua.LString(m.Output))
		if m.ExitCode != nil {
			luavm.Set(t, "exit_code", lua.LNumber(*m.ExitCode))
		}
		luavm.Set(t, "cancelled", lua.LBool(m.Cancelled))
		luavm.Set(t, "truncated", lua.LBool(m.Truncated))
		luavm.SetText(t, "full_output_path", m.FullOutputPath)
		if m.ExcludeFromContext {
			luavm.Set(t, "exclude_from_context", lua.LTrue)
		}
	case message.RoleBranchSummary:
		luavm.Set(t, "summary", lua.LString(m.Summary))
		luavm.SetText(t, "from_id", m.FromID)
	case message.RoleCompactionSummary:
		luavm.Set(t, "summary", lua.LString(m.Summary))
		luavm.Set(t, "tokens_before", lua.LNumber(m.TokensBefore))
	default:
		if m.Plain {
			t.RawSetString("content", lua.LString(m.Text()))
		} else {
			t.RawSetString("content", c.Blocks(L, m.Content))
		}
	}
	switch m.Role {
	case message.RoleAssistant:
		t.RawSetString("api", lua.LString(m.API))
		t.RawSetString("provider", lua.LString(m.Provider))
		t.RawSetString("model", lua.LString(m.Model))
		t.RawSetString("stop_reason", lua.LString(m.StopReason))
		luavm.SetText(t, "error_message", m.ErrorMessage)
		if m.Usage != nil {
			t.RawSetString("usage", Usage(L, m.Usage))
		}
	case message.RoleToolResult:
		t.RawSetString("tool_call_id", lua.LString(m.ToolCallID))
		t.RawSetString("tool_name", lua.LString(m.ToolName))
		t.RawSetString("is_error", lua.LBool(m.IsError))
		t.RawSetString("details", c.Details(m.ToolName, m.Details))
	case message.RoleCustom:
		luavm.Set(t, "custom_type", lua.LString(m.CustomType))
		luavm.Set(t, "display", lua.LBool(m.Display))
		luavm.Set(t, "details", c.JSON(m.Details))
	}
}

// Blocks makes a list of content blocks, which must not change any more.
func (c *Converter) Blocks(L *lua.LState, content []message.Block) *lua.LTable {
	list := c.vm.NewStubList(L, len(content), func(i int) any { return &content[i] }, c.fillBlock)
	luavm.MarkList(list)
	return list
}

func (c *Converter) fillBlock(L *lua.LState, ref any) *lua.LTable {
	b := ref.(*message.Block)
	t := luavm.NewRecord(L, 4)
	t.RawSetString("type", lua.LString(b.Type))
	switch b.Type {
	case message.BlockText:
		t.RawSetString("text", lua.LString(b.Text))
		luavm.SetText(t, "text_signature", b.Signature)
	case message.BlockThinking:
		luavm.Set(t, "thinking", lua.LString(b.Text))
		luavm.SetText(t, "thinking_signature", b.Signature)
		if b.Redacted {
			luavm.Set(t, "redacted", lua.LTrue)
		}
	case message.BlockToolCall:
		t.RawSetString("id", lua.LString(b.ID))
		t.RawSetString("name", lua.LString(b.Name))
		t.RawSetString("arguments", c.Input(b.Name, b.Arguments))
		luavm.SetText(t, "thought_signature", b.Signature)
	case message.BlockImage:
		luavm.Set(t, "data", lua.LString(b.Data))
		luavm.Set(t, "mime_type", lua.LString(b.MimeType))
	default: // a block that the program knows nothing of
		if whole, ok := luavm.TableOf(L, c.JSON(b.Raw)); ok {
			whole.ForEach(t.RawSet)
		}
	}
	return t
}

// entryList is the list of a branch, kept per VM and grown with the session.
type entryList struct {
	table  *lua.LTable
	stubs  []*lua.LTable // what table holds, unless Lua changed it
	branch []*session.Entry
}

// CurrentBranch returns the list of the session's branch. It is the same table as long as the
// branch only grows and Lua only reads it.
func (c *Converter) CurrentBranch(L *lua.LState, branch []*session.Entry) *lua.LTable {
	l := &c.branch
	have := len(l.branch)
	grows := l.table != nil && have <= len(branch) && (have == 0 || branch[have-1] == l.branch[have-1])
	if !grows || !l.intact() {
		*l, have = entryList{table: L.CreateTable(len(branch), 0)}, 0
	}
	for i := range branch[have:] {
		stub := c.vm.NewStub(inList(branch, have+i), c.fillEntry)
		l.table.Append(stub)
		l.stubs = append(l.stubs, stub)
	}
	l.branch = branch
	return l.table
}

// intact reports whether the list holds the elements that were put there, so that Lua changed
// nothing in it.
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

// entryMessage stands for the message of an entry, which is decoded only when Lua reads
// it.
type entryMessage struct{ entry *session.Entry }

// itemOf returns the message of ref, what a table of a message was made of; false for the
// table of anything else.
func itemOf(ref any) (session.Item, bool) {
	switch ref := ref.(type) {
	case *shownItem:
		return session.Item(*ref), true
	case entryMessage:
		return session.Item{Message: ref.entry.Message(), Index: -1}, ref.entry.Message() != nil
	}
	return session.Item{Index: -1}, false
}

func (c *Converter) fillEntryMessage(L *lua.LState, ref any) *lua.LTable {
	if item, ok := itemOf(ref); ok {
		return c.fillMessage(L, (*shownItem)(&item))
	}
	return luavm.NewRecord(L, 0) // its line cannot be read as a message
}

// fillEntry makes the table of an entry: the fields of its line, those of the
// core's types in snake_case, with the message itself as a record.
func (c *Converter) fillEntry(L *lua.LState, ref any) *lua.LTable {
	if l, ok := ref.(*listed); ok {
		t := c.fillEntry(L, l.entry)
		luavm.Set(t, "first_kept_entry_index", lua.LNumber(l.kept()))
		return t
	}
	e := ref.(*session.Entry)
	t := luavm.NewRecord(L, 6)
	core := session.Reserved(e.Type)
	if line, ok := luavm.TableOf(L, c.JSON(e.Raw())); ok {
		line.ForEach(func(k, v lua.LValue) {
			key := k.String()
			if core {
				key, v = snake(key), c.coreField(L, e, key, v)
			}
			luavm.Set(t, key, v)
		})
	}
	t.RawSetString("type", lua.LString(e.Type))
	t.RawSetString("id", lua.LString(e.ID))
	luavm.Set(t, "parent_id", lua.LNil)
	luavm.SetText(t, "parent_id", e.ParentID)
	luavm.Set(t, "parentId", lua.LNil)
	t.RawSetString("timestamp", lua.LString(e.Timestamp))
	return t
}

// coreField returns the value of a field of an entry whose type the program knows: of its
// message and usage the table that Lua has for those, of others v.
func (c *Converter) coreField(L *lua.LState, e *session.Entry, key string, v lua.LValue) lua.LValue {
	switch {
	case key == "message" && e.Type == session.TypeMessage:
		return c.vm.NewStub(entryMessage{e}, c.fillEntryMessage)
	case key == "usage":
		body, err := session.Body[struct{ Usage message.Usage }](e)
		if err == nil {
			return Usage(L, &body.Usage)
		}
	}
	return v
}

// JSON decodes JSON that hooks and models wrote; nil for none and for what is not valid.
func (c *Converter) JSON(raw json.RawMessage) lua.LValue { return c.decode(raw, luavm.JSON{}) }

// decode decodes JSON, with names as conv says; it returns nil for none and for what is not
// valid.
func (c *Converter) decode(raw json.RawMessage, conv luavm.JSON) lua.LValue {
	if len(raw) == 0 || !c.valid.check(raw) {
		return lua.LNil
	}
	return c.vm.DecodeValidJSON(raw, conv)
}

// ValidJSON remembers the last text that was valid, so that a text that all hooks of a
// chain get is checked once. It is safe for concurrent use.
type ValidJSON struct {
	last atomic.Pointer[json.RawMessage]
}

// check reports whether raw is valid JSON. It knows the last text that was valid by its
// address, without looking at the bytes.
func (v *ValidJSON) check(raw json.RawMessage) bool {
	if last := v.last.Load(); last != nil && len(*last) == len(raw) && &(*last)[0] == &raw[0] {
		return true
	}
	if !json.Valid(raw) {
		return false
	}
	kept := raw
	v.last.Store(&kept)
	return true
}

// Details decodes the details of a tool's result; for tools of the program, with the names
// that Lua uses.
func (c *Converter) Details(tool string, raw json.RawMessage) lua.LValue {
	return c.decode(raw, detailJSON(tool))
}

// Input decodes the arguments of a tool call, with the names that Lua uses.
func (c *Converter) Input(tool string, raw json.RawMessage) lua.LValue {
	return c.decode(raw, argumentJSON(tool))
}
