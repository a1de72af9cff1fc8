package luahooks

import (
	"encoding/json"
	"fmt"

	"pi/agent"
	"pi/luavm"
	"pi/session"

	lua "github.com/yuin/gopher-lua"
)

// Session data on its way back from Lua. What a hook did not touch is the same
// Go value as before; what it changed becomes a new one, on top of the original
// where there is one, so that fields nobody here knows survive.

// itemsFrom reads the list of messages that a context handler returned. It may
// hold messages it was given, new ones, and {message = m, entry_index = i}.
func (in *instance) itemsFrom(L *lua.LState, list *lua.LTable, e *agent.Context) ([]session.Item, error) {
	n := list.Len()
	items := make([]session.Item, 0, n)
	for i := 1; i <= n; i++ {
		t, ok := list.RawGetInt(i).(*lua.LTable)
		if !ok {
			return nil, fmt.Errorf("messages[%d]: expected a message, got %s", i, list.RawGetInt(i).Type())
		}
		item, err := in.itemFrom(L, t, e)
		if err != nil {
			return nil, fmt.Errorf("messages[%d]: %w", i, err)
		}
		items = append(items, item)
	}
	return items, nil
}

func (in *instance) itemFrom(L *lua.LState, t *lua.LTable, e *agent.Context) (session.Item, error) {
	if ref, ok := luavm.StubRef(t); ok {
		if item, ok := ref.(session.Item); ok {
			return item, nil
		}
	}
	luavm.Materialise(L, t)
	inner, wrapped := t.RawGetString("message").(*lua.LTable)
	if !wrapped {
		return in.changedItem(L, t, e)
	}
	item, err := in.itemFrom(L, inner, e)
	if err != nil {
		return item, fmt.Errorf("message: %w", err)
	}
	return placed(item, t.RawGetString("entry_index"), e)
}

// placed sets the entry that a wrapped message stands for.
func placed(item session.Item, index lua.LValue, e *agent.Context) (session.Item, error) {
	switch index := index.(type) {
	case lua.LNumber:
		i := int(index) - 1
		if i < 0 || i >= len(e.Entries) || lua.LNumber(i+1) != index {
			return item, fmt.Errorf("entry_index: %v is not in 1..%d", index, len(e.Entries))
		}
		item.Index, item.Entry = i, e.Entries[i]
	case *lua.LNilType:
		item.Index, item.Entry = -1, nil
	default:
		return item, fmt.Errorf("entry_index: expected an integer, got %s", index.Type())
	}
	return item, nil
}

// changedItem reads a message that a hook touched or made.
func (in *instance) changedItem(L *lua.LState, t *lua.LTable, e *agent.Context) (session.Item, error) {
	item := session.Item{Index: -1}
	if ref, ok := luavm.StubOrigin(t); ok {
		item, _ = ref.(session.Item)
	} else if i, ok := t.RawGetString("entry_index").(lua.LNumber); ok && i >= 1 && int(i) <= len(e.Entries) {
		item.Index, item.Entry = int(i)-1, e.Entries[int(i)-1]
	}
	m, err := in.messageFrom(L, t, item.Message)
	item.Message = m
	return item, err
}

// messageFrom reads a message table on top of base, which may be nil.
func (in *instance) messageFrom(L *lua.LState, t *lua.LTable, base *session.Message) (*session.Message, error) {
	role, _ := t.RawGetString("role").(lua.LString)
	m := &session.Message{Role: session.Role(role), Timestamp: 0}
	if base != nil && base.Role == m.Role {
		m = base.Clone()
	}
	if err := knownRole(m.Role); err != nil {
		return nil, err
	}
	if ts, ok := t.RawGetString("timestamp").(lua.LNumber); ok {
		m.Timestamp = int64(ts)
	}
	if err := in.readContent(L, t, m); err != nil {
		return nil, err
	}
	return m, in.readRole(L, t, m)
}

func knownRole(r session.Role) error {
	switch r {
	case session.RoleUser, session.RoleAssistant, session.RoleToolResult, session.RoleBashExecution,
		session.RoleCustom, session.RoleBranchSummary, session.RoleCompactionSummary:
		return nil
	case "":
		return fmt.Errorf("role is missing")
	}
	return fmt.Errorf("unknown role %q", r)
}

func (in *instance) readContent(L *lua.LState, t *lua.LTable, m *session.Message) error {
	switch m.Role {
	case session.RoleBashExecution, session.RoleBranchSummary, session.RoleCompactionSummary:
		return nil
	}
	given := t.RawGetString("content")
	text, plain := given.(lua.LString)
	blocks, err := in.content(L, given, "content")
	if err != nil {
		return err
	}
	m.Content = blocks
	m.Plain = plain && m.Role != session.RoleAssistant && m.Role != session.RoleToolResult && text != ""
	return nil
}

func (in *instance) readRole(L *lua.LState, t *lua.LTable, m *session.Message) error {
	text := func(name string, into *string) {
		if s, ok := t.RawGetString(name).(lua.LString); ok {
			*into = string(s)
		}
	}
	switch m.Role {
	case session.RoleAssistant:
		text("api", &m.API)
		text("provider", &m.Provider)
		text("model", &m.Model)
		reason := string(m.StopReason)
		text("stop_reason", &reason)
		if reason == "" {
			reason = string(session.StopEnd)
		}
		m.StopReason = session.StopReason(reason)
	case session.RoleToolResult:
		text("tool_call_id", &m.ToolCallID)
		text("tool_name", &m.ToolName)
		m.IsError = lua.LVAsBool(t.RawGetString("is_error"))
	case session.RoleBashExecution:
		text("command", &m.Command)
		text("output", &m.Output)
	case session.RoleBranchSummary, session.RoleCompactionSummary:
		text("summary", &m.Summary)
	case session.RoleCustom:
		text("custom_type", &m.CustomType)
	}
	return in.readDetails(L, t, m)
}

func (in *instance) readDetails(_ *lua.LState, t *lua.LTable, m *session.Message) error {
	if v := t.RawGetString("details"); v != lua.LNil && (m.Role == session.RoleToolResult || m.Role == session.RoleCustom) {
		raw, err := in.encode(v, "details")
		if err != nil {
			return err
		}
		m.Details = raw
	}
	return nil
}

// content reads message content: a string, or a list of blocks.
func (in *instance) content(L *lua.LState, v lua.LValue, name string) ([]session.Block, error) {
	switch v := v.(type) {
	case lua.LString:
		return []session.Block{session.TextBlock(string(v))}, nil
	case *lua.LTable:
		return in.blocksFrom(L, v, name)
	}
	return nil, fmt.Errorf("%s: expected a string or a list of blocks, got %s", name, v.Type())
}

func (in *instance) blocksFrom(L *lua.LState, v lua.LValue, name string) ([]session.Block, error) {
	list, ok := v.(*lua.LTable)
	if !ok {
		return nil, fmt.Errorf("%s: expected a list of blocks, got %s", name, v.Type())
	}
	luavm.Materialise(L, list)
	if list.RawGetString("type") != lua.LNil {
		return nil, fmt.Errorf("%s: expected a list of blocks, got one block; put it into { }", name)
	}
	var blocks []session.Block
	for i := 1; i <= list.Len(); i++ {
		t, ok := list.RawGetInt(i).(*lua.LTable)
		if !ok {
			return nil, fmt.Errorf("%s[%d]: expected a block, got %s", name, i, list.RawGetInt(i).Type())
		}
		b, err := in.blockFrom(L, t)
		if err != nil {
			return nil, fmt.Errorf("%s[%d]: %w", name, i, err)
		}
		blocks = append(blocks, b)
	}
	return blocks, nil
}

func (in *instance) blockFrom(L *lua.LState, t *lua.LTable) (session.Block, error) {
	luavm.Materialise(L, t)
	text := func(name string) string {
		s, _ := t.RawGetString(name).(lua.LString)
		return string(s)
	}
	b := session.Block{Type: session.BlockType(text("type"))}
	var err error
	switch b.Type {
	case session.BlockText:
		if _, ok := t.RawGetString("text").(lua.LString); !ok {
			return b, fmt.Errorf("text: expected a string, got %s", t.RawGetString("text").Type())
		}
		b.Text, b.Signature = text("text"), text("text_signature")
	case session.BlockThinking:
		b.Text, b.Signature = text("thinking"), text("thinking_signature")
		b.Redacted = lua.LVAsBool(t.RawGetString("redacted"))
	case session.BlockToolCall:
		b.ID, b.Name, b.Signature = text("id"), text("name"), text("thought_signature")
		b.Arguments, err = in.inputFrom(L, b.Name, t.RawGetString("arguments"))
	case session.BlockImage:
		b.Data, b.MimeType = text("data"), text("mime_type")
	case "":
		return b, fmt.Errorf("type is missing")
	default:
		b.Raw, err = in.encode(t, "block")
	}
	return b, err
}

// customMessage reads {custom_type, content, display, details?}.
func (in *instance) customMessage(L *lua.LState, t *lua.LTable) (*session.Message, error) {
	m := &session.Message{Role: session.RoleCustom, Display: true}
	kind, ok := t.RawGetString("custom_type").(lua.LString)
	if !ok || kind == "" {
		return nil, fmt.Errorf("message: custom_type is missing")
	}
	m.CustomType = string(kind)
	if v := t.RawGetString("display"); v != lua.LNil {
		m.Display = lua.LVAsBool(v)
	}
	content, err := in.content(L, t.RawGetString("content"), "message.content")
	if err != nil {
		return nil, err
	}
	m.Content = content
	_, m.Plain = t.RawGetString("content").(lua.LString)
	return m, in.readDetails(L, t, m)
}

// encode turns a Lua value into JSON; the error names the place below name.
func (in *instance) encode(v lua.LValue, name string) (json.RawMessage, error) {
	raw, err := luavm.EncodeJSON(in.vm.State(), v, luavm.JSON{})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return raw, nil
}

// inputFrom is the inverse of input.
func (in *instance) inputFrom(L *lua.LState, tool string, v lua.LValue) (json.RawMessage, error) {
	t, ok := v.(*lua.LTable)
	if v == lua.LNil {
		return json.RawMessage(`{}`), nil
	}
	if !ok {
		return nil, fmt.Errorf("input: expected a table, got %s", v.Type())
	}
	raw, err := luavm.EncodeJSON(in.vm.State(), t, argumentJSON(tool))
	if err != nil {
		return nil, fmt.Errorf("input: %w", err)
	}
	return raw, nil
}

func optionalString(t *lua.LTable, name string) (string, bool, error) {
	switch v := t.RawGetString(name).(type) {
	case *lua.LNilType:
		return "", false, nil
	case lua.LString:
		return string(v), true, nil
	default:
		return "", false, fmt.Errorf("%s: expected a string, got %s", name, v.Type())
	}
}

func optionalBool(t *lua.LTable, name string) (bool, error) {
	switch v := t.RawGetString(name).(type) {
	case *lua.LNilType:
		return false, nil
	case lua.LBool:
		return bool(v), nil
	default:
		return false, fmt.Errorf("%s: expected a boolean, got %s", name, v.Type())
	}
}
