package record

import (
	"fmt"
	"reflect"
	"slices"

	"pi/luavm"
	"pi/session"
	"pi/session/message"

	lua "github.com/yuin/gopher-lua"
)

// Session data on its way back from Lua. What a hook did not touch is the same
// Go value as before; what it changed becomes a new one, on top of the original
// where there is one, so that fields nobody here knows survive.

// ItemsFrom reads the list of messages that a handler returned. It may hold messages it
// was given, new ones, and {message = m, entry_index = i}, where i is the place of an
// entry on the branch.
func (c *Converter) ItemsFrom(L *lua.LState, list *lua.LTable, branch []*session.Entry) ([]session.Item, error) {
	luavm.Materialise(L, list)
	n, err := ListLen(list)
	if err != nil {
		return nil, fmt.Errorf("messages: %w", err)
	}
	var size Size
	items := make([]session.Item, 0, n)
	for i := 1; i <= n; i++ {
		t, ok := list.RawGetInt(i).(*lua.LTable)
		if !ok {
			return nil, fmt.Errorf("messages[%d]: expected a message, got %s", i, list.RawGetInt(i).Type())
		}
		item, changed, err := c.ItemFrom(L, t, branch)
		if err == nil && changed {
			err = size.Add(SizeOf(item.Message.Content...) + len(item.Message.Details) + len(item.Message.Output))
		}
		if err != nil {
			return nil, fmt.Errorf("messages[%d]: %w", i, err)
		}
		items = append(items, item)
	}
	return items, nil
}

// ItemFrom reads one element; changed is false for a message that the hook did not
// look at.
func (c *Converter) ItemFrom(L *lua.LState, t *lua.LTable, branch []*session.Entry) (item session.Item, changed bool, err error) {
	if item, ok := untouchedItem(t); ok {
		return item, false, nil
	}
	luavm.Materialise(L, t)
	inner, wrapped := t.RawGetString("message").(*lua.LTable)
	if !wrapped {
		item, err = c.changedItem(L, t, branch)
		return item, true, err
	}
	item, untouched := untouchedItem(inner)
	if !untouched {
		luavm.Materialise(L, inner)
		if item, err = c.changedItem(L, inner, branch); err != nil { // a wrapper in a wrapper is no message
			return item, true, fmt.Errorf("message: %w", err)
		}
	}
	item, err = placed(item, t.RawGetString("entry_index"), branch)
	return item, !untouched, err
}

func untouchedItem(t *lua.LTable) (session.Item, bool) {
	if ref, ok := luavm.StubRef(t); ok {
		return itemOf(ref)
	}
	return session.Item{}, false
}

// placed sets the entry that a wrapped message stands for.
func placed(item session.Item, index lua.LValue, branch []*session.Entry) (session.Item, error) {
	switch index := index.(type) {
	case lua.LNumber:
		i := int(index) - 1
		if i < 0 || i >= len(branch) || lua.LNumber(i+1) != index {
			return item, fmt.Errorf("entry_index: %v is not in 1..%d", index, len(branch))
		}
		item.Index, item.Entry = i, branch[i]
	case *lua.LNilType:
		item.Index, item.Entry = -1, nil
	default:
		return item, fmt.Errorf("entry_index: expected an integer, got %s", index.Type())
	}
	return item, nil
}

// changedItem reads a message that a hook looked at, changed or made.
func (c *Converter) changedItem(L *lua.LState, t *lua.LTable, branch []*session.Entry) (session.Item, error) {
	item := session.Item{Index: -1}
	if ref, ok := luavm.StubOrigin(t); ok {
		if was, ok := itemOf(ref); ok {
			item = was
		}
	} else if i, ok := t.RawGetString("entry_index").(lua.LNumber); ok && i >= 1 && i <= lua.LNumber(len(branch)) {
		item.Index, item.Entry = int(i)-1, branch[int(i)-1]
	}
	m, err := c.messageFrom(L, t, item.Message)
	item.Message = m
	return item, err
}

// messageFrom reads a message table on top of base, which may be nil. A message
// that says the same as base is base.
func (c *Converter) messageFrom(L *lua.LState, t *lua.LTable, base *message.Message) (*message.Message, error) {
	role, _ := t.RawGetString("role").(lua.LString)
	if err := knownRole(message.Role(role)); err != nil {
		return nil, err
	}
	m := &message.Message{Role: message.Role(role)}
	if base != nil && base.Role == m.Role {
		m = base.Clone()
	}
	if ts, ok := t.RawGetString("timestamp").(lua.LNumber); ok {
		m.Timestamp = int64(ts)
	}
	if err := c.readContent(L, t, m); err != nil {
		return nil, err
	}
	if err := c.readRole(L, t, m); err != nil {
		return nil, err
	}
	if base != nil && sameMessage(m, base) {
		return base, nil
	}
	return m, nil
}

func knownRole(r message.Role) error {
	switch r {
	case message.RoleUser, message.RoleAssistant, message.RoleToolResult, message.RoleBashExecution,
		message.RoleCustom, message.RoleBranchSummary, message.RoleCompactionSummary:
		return nil
	case "":
		return fmt.Errorf("role is missing")
	}
	return fmt.Errorf("unknown role %q", r)
}

func (c *Converter) readContent(L *lua.LState, t *lua.LTable, m *message.Message) error {
	switch m.Role {
	case message.RoleBashExecution, message.RoleBranchSummary, message.RoleCompactionSummary:
		return nil
	}
	given := t.RawGetString("content")
	text, plain := given.(lua.LString)
	if plain && m.Plain && string(text) == m.Text() {
		return nil
	}
	blocks, err := c.Content(L, given, "content")
	if err != nil {
		return err
	}
	m.Content = blocks
	m.Plain = plain && m.Role != message.RoleAssistant && m.Role != message.RoleToolResult && text != ""
	return nil
}

// roleReader reads the fields of a role; the first that is wrong is its error.
type roleReader struct {
	t   *lua.LTable
	err error
}

func (r *roleReader) wrong(name, want string, v lua.LValue) {
	if r.err == nil {
		r.err = fmt.Errorf("%s: expected a %s, got %s", name, want, v.Type())
	}
}

// text reads a string; one that is not there is empty.
func (r *roleReader) text(name string, into *string) {
	switch v := r.t.RawGetString(name).(type) {
	case *lua.LNilType:
		*into = ""
	case lua.LString:
		*into = string(v)
	default:
		r.wrong(name, "string", v)
	}
}

func (r *roleReader) flag(name string, into *bool) {
	switch v := r.t.RawGetString(name).(type) {
	case *lua.LNilType:
		*into = false
	case lua.LBool:
		*into = bool(v)
	default:
		r.wrong(name, "boolean", v)
	}
}

// number reads an integer and reports whether it is there.
func (r *roleReader) number(name string, into *int) bool {
	switch v := r.t.RawGetString(name).(type) {
	case *lua.LNilType:
		return false
	case lua.LNumber:
		*into = int(v)
		return true
	default:
		r.wrong(name, "number", v)
	}
	return false
}

func (c *Converter) readRole(L *lua.LState, t *lua.LTable, m *message.Message) error {
	r := &roleReader{t: t}
	switch m.Role {
	case message.RoleAssistant:
		readAssistant(r, m)
	case message.RoleToolResult:
		r.text("tool_call_id", &m.ToolCallID)
		r.text("tool_name", &m.ToolName)
		r.flag("is_error", &m.IsError)
	case message.RoleBashExecution:
		readBash(r, m)
	case message.RoleBranchSummary:
		r.text("summary", &m.Summary)
		r.text("from_id", &m.FromID)
	case message.RoleCompactionSummary:
		r.text("summary", &m.Summary)
		r.number("tokens_before", &m.TokensBefore)
	case message.RoleCustom:
		r.text("custom_type", &m.CustomType)
		r.flag("display", &m.Display)
	}
	if r.err != nil {
		return r.err
	}
	if m.Role != message.RoleToolResult && m.Role != message.RoleCustom {
		return nil
	}
	return c.readDetails(L, t, m)
}

// readAssistant leaves the usage as it was: that is what the call cost, whatever
// a hook makes of the message.
func readAssistant(r *roleReader, m *message.Message) {
	r.text("api", &m.API)
	r.text("provider", &m.Provider)
	r.text("model", &m.Model)
	r.text("error_message", &m.ErrorMessage)
	reason := ""
	r.text("stop_reason", &reason)
	if reason == "" {
		reason = string(message.StopEnd)
	}
	m.StopReason = message.StopReason(reason)
}

func readBash(r *roleReader, m *message.Message) {
	r.text("command", &m.Command)
	r.text("output", &m.Output)
	r.text("full_output_path", &m.FullOutputPath)
	r.flag("cancelled", &m.Cancelled)
	r.flag("truncated", &m.Truncated)
	r.flag("exclude_from_context", &m.ExcludeFromContext)
	code := 0
	if !r.number("exit_code", &code) {
		m.ExitCode = nil
	} else if m.ExitCode == nil || *m.ExitCode != code {
		m.ExitCode = &code
	}
}

func (c *Converter) readDetails(_ *lua.LState, t *lua.LTable, m *message.Message) error {
	v := t.RawGetString("details")
	if v == lua.LNil {
		m.Details = nil
		return nil
	}
	raw, err := c.DetailsFrom(m.ToolName, v)
	if err == nil {
		m.Details = raw
	}
	return err
}

// sameMessage reports whether m, which was made on top of base, says the same.
func sameMessage(m, base *message.Message) bool {
	x, y := *m, *base.Clone()
	x.Content, y.Content = nil, nil
	return slices.EqualFunc(m.Content, base.Content, sameBlock) && reflect.DeepEqual(x, y)
}
