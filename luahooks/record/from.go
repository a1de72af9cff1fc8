package record

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"pi/luavm"
	"pi/session"
	"pi/session/message"

	lua "github.com/yuin/gopher-lua"
)

// Session data on its way back from Lua. A message that a hook did not change is the same
// Go value as before; a changed one is a new value that is based on the original, so that
// fields that this program does not know survive.

// ItemsFrom reads the list of messages that a handler returned. It may hold messages it
// was given, new ones, and {message = m, entry_index = i}, where i is the place of an
// entry on the branch.
func (c *Converter) ItemsFrom(L *lua.LState, list *lua.LTable, branch []*session.Entry) ([]session.Item, error) {
	n, err := luavm.ListLen(L, list)
	if err != nil {
		return nil, fmt.Errorf("messages: %w", err)
	}
	var size luavm.Size
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
	item, err = atEntry(item, t.RawGetString("entry_index"), branch)
	return item, !untouched, err
}

// untouchedItem returns the message that a table was made for, if Lua has not looked into
// the table since; false for any other table.
func untouchedItem(t *lua.LTable) (session.Item, bool) {
	if ref, ok := luavm.StubRef(t); ok {
		return itemOf(ref)
	}
	return session.Item{}, false
}

// atEntry returns item with the entry of the branch that index names, counted from 1; nil is
// no entry.
func atEntry(item session.Item, index lua.LValue, branch []*session.Entry) (session.Item, error) {
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

// changedItem reads a message that a hook looked at, changed or made. One that was made for
// Lua here keeps its entry; a new one may name it with entry_index.
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
	m := &message.Message{Role: message.Role(role)}
	if base != nil && base.Role == m.Role {
		m = base.Clone()
	}
	if ts, ok := t.RawGetString("timestamp").(lua.LNumber); ok {
		m.Timestamp = int64(ts)
	}
	r := c.NewAnswer(L, t)
	if c.readRole(r, m); r.Failed() != nil {
		return nil, r.Failed()
	}
	if base != nil && sameMessage(m, base) {
		return base, nil
	}
	return m, nil
}

// readRole reads the fields that messages of a role have. The usage of an answer stays
// as it was: that is what the call cost, whatever a hook makes of it.
func (c *Converter) readRole(r Answer, m *message.Message) {
	switch m.Role {
	case message.RoleUser:
		c.readContent(r, m, true)
	case message.RoleAssistant:
		c.readContent(r, m, false)
		m.API, m.Provider, m.Model, m.ErrorMessage = r.Text("api"), r.Text("provider"), r.Text("model"), r.Text("error_message")
		m.StopReason = message.StopReason(cmp.Or(r.Text("stop_reason"), string(message.StopEnd)))
	case message.RoleToolResult:
		c.readContent(r, m, false)
		m.ToolCallID, m.ToolName, m.IsError = r.Text("tool_call_id"), r.Text("tool_name"), r.Flag("is_error")
		c.readDetails(r, m)
	case message.RoleCustom:
		c.readContent(r, m, true)
		m.CustomType, m.Display = r.Text("custom_type"), r.Flag("display")
		c.readDetails(r, m)
	case message.RoleBashExecution:
		m.Command, m.Output, m.FullOutputPath = r.Text("command"), r.Text("output"), r.Text("full_output_path")
		m.Cancelled, m.Truncated = r.Flag("cancelled"), r.Flag("truncated")
		m.ExcludeFromContext = r.Flag("exclude_from_context")
		if code, given := r.Number("exit_code"); !given {
			m.ExitCode = nil
		} else if m.ExitCode == nil || *m.ExitCode != code {
			m.ExitCode = &code
		}
	case message.RoleBranchSummary:
		m.Summary, m.FromID = r.Text("summary"), r.Text("from_id")
	case message.RoleCompactionSummary:
		m.Summary = r.Text("summary")
		if n, given := r.Number("tokens_before"); given {
			m.TokensBefore = n
		}
	case "":
		r.FailWith(errors.New("role is missing"))
	default:
		r.FailWith(fmt.Errorf("unknown role %q", m.Role))
	}
}

// readContent reads a text or blocks; mayBePlain: the session file may have the text as
// it is.
func (c *Converter) readContent(r Answer, m *message.Message, mayBePlain bool) {
	given := r.t.RawGetString("content")
	text, plain := given.(lua.LString)
	if plain && string(text) == m.Text() && (m.Plain || isOneText(m.Content)) {
		return
	}
	blocks, err := c.Content(r.lua, given, "content")
	r.FailWith(err)
	m.Content, m.Plain = blocks, plain && mayBePlain && text != ""
}

// readDetails reads the details of m, which has none if the table has none.
func (c *Converter) readDetails(r Answer, m *message.Message) {
	m.Details = nil
	if r.Has("details") {
		raw, err := c.DetailsFrom(m.ToolName, r.t.RawGetString("details"))
		r.FailWith(err)
		m.Details = raw
	}
}

// sameMessage reports whether m, which was made on top of base, says the same.
func sameMessage(m, base *message.Message) bool {
	x, y := *m, *base.Clone()
	x.Content, y.Content = nil, nil
	return slices.EqualFunc(m.Content, base.Content, sameBlock) && reflect.DeepEqual(x, y)
}
