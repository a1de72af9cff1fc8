package api

import (
	"context"
	"fmt"
	"strings"

	"pi/agent"
	"pi/luavm"
	"pi/session"

	lua "github.com/yuin/gopher-lua"
)

// sessionEdits are the functions that write into the session, and those that change
// the context of the model.
type sessionEdits struct {
	*bridge
	messages *messages
}

// ofPi and ofContext are the functions of pi and of ctx.
func (s *sessionEdits) ofPi() part {
	return part{"append_entry": s.appendEntry, "set_session_name": s.setName, "session_name": s.name, "set_label": s.setLabel}
}

func (s *sessionEdits) ofContext() part {
	return part{"save_entry": s.saveEntry, "edit_context": s.editContext, "rebuild_context": s.rebuildContext}
}

// setName is pi.set_session_name(s); "" removes the name.
func (s *sessionEdits) setName(L *lua.LState, name string) error {
	host := s.mustHost(L, "set_session_name")
	return s.wait(L, "set_session_name", func(ctx context.Context) error {
		return host.SetSessionName(ctx, strings.Join(strings.Fields(name), " "))
	})
}

// name is pi.session_name(); nil for a session without a name.
func (s *sessionEdits) name(L *lua.LState) lua.LValue {
	return luavm.TextOrNil(s.mustHost(L, "session_name").Session().Name())
}

// setLabel is pi.set_label(entry_id, label?); nil removes the label.
func (s *sessionEdits) setLabel(L *lua.LState, id string, label *string) error {
	host := s.mustHost(L, "set_label")
	return s.wait(L, "set_label", func(ctx context.Context) error { return host.SetLabel(ctx, id, textOf(label)) })
}

// saveEntry is ctx.save_entry{type = …, …} → id. It appends an entry of a type of the hook's
// own to the session, with all fields of the table, and raises for a type of the program.
func (s *sessionEdits) saveEntry(L *lua.LState) int {
	host := s.mustHost(L, "save_entry")
	t := L.CheckTable(1)
	luavm.Materialise(L, t)
	kind, _ := t.RawGetString("type").(lua.LString)
	switch {
	case kind == "":
		luavm.Raise(L, "save_entry: entry must have a type")
	case session.Reserved(string(kind)):
		luavm.Raise(L, "save_entry: entry type %q is reserved for the program; prefix yours with the name of your hook", string(kind))
	}
	own := luavm.NewRecord(L, 8)
	t.ForEach(func(k, v lua.LValue) {
		if k != lua.LString("parent_id") { // the session writes its own
			own.RawSet(k, v)
		}
	})
	raw, err := s.records.Encode(own, "entry")
	must(L, "save_entry", err)
	return s.append(L, host, "save entry", string(kind), raw)
}

// appendEntry is pi.append_entry(custom_type, data?) → id: state that the model
// does not see.
func (s *sessionEdits) appendEntry(L *lua.LState) int {
	host := s.mustHost(L, "append_entry")
	body := session.Custom{CustomType: L.CheckString(1)}
	switch {
	case body.CustomType == "":
		luavm.RaiseArg(L, 1, "append_entry", "it is empty")
	case session.ReservedCustom(body.CustomType):
		luavm.Raise(L, "append_entry: type %q is reserved for the program", body.CustomType)
	}
	body.Data = s.encodeArg(L, 2, "append_entry", "data")
	return s.append(L, host, "append entry", session.TypeCustom, body)
}

// append adds an entry and pushes its id. In a command it is written at once: a
// person who asks for it wants it stored, also in a session without messages.
func (s *sessionEdits) append(L *lua.LState, host Host, doing, kind string, body any) int {
	entry, err := host.Session().Append(kind, body)
	if err == nil && s.isCommand() {
		err = host.Session().Flush()
	}
	if entry == nil {
		return pushResult(L, nil, fmt.Errorf("%s: %w", doing, err))
	}
	if err != nil {
		s.notify(s.vm.Context(), agent.LevelError, err.Error())
	}
	return pushResult(L, lua.LString(entry.ID), nil)
}

// editContext is ctx.edit_context(entry_id, nil|{content = …}) → id; nil removes the
// entry from the context.
func (s *sessionEdits) editContext(L *lua.LState) int {
	host, id := s.mustHost(L, "edit_context"), L.CheckString(1)
	var replacement *session.Replacement
	if L.Get(2) != lua.LNil {
		var content lua.LValue
		luavm.Unpack(L, 2, "edit_context", luavm.Opt("content", &content).Required())
		blocks, plain := s.content(L, "edit_context", content)
		replacement = &session.Replacement{Content: blocks, Plain: plain}
	}
	var edit string
	err := s.wait(L, "edit_context", func(ctx context.Context) (err error) {
		edit, err = host.EditContext(ctx, id, replacement)
		return err
	})
	s.messages.drop()
	if edit != "" && err != nil {
		s.notify(s.vm.Context(), agent.LevelError, err.Error())
		err = nil
	}
	return pushResult(L, lua.LString(edit), err)
}

type contextEventKey struct{}

// WithContextEvent marks the Go context of what a handler of the event context does,
// however deep below it is called.
func WithContextEvent(ctx context.Context) context.Context {
	return context.WithValue(ctx, contextEventKey{}, true)
}

// rebuildContext is ctx.rebuild_context() → messages. It passes the context along the hooks
// anew, and returns what the model would see. In a handler of that event it raises.
func (s *sessionEdits) rebuildContext(L *lua.LState) int {
	host := s.mustHost(L, "rebuild_context")
	if s.vm.Context().Value(contextEventKey{}) != nil {
		luavm.Raise(L, "rebuild_context: not inside a context handler")
	}
	var items []session.Item
	_ = s.wait(L, "rebuild_context", func(ctx context.Context) error {
		items = host.Context(ctx)
		return nil
	})
	s.messages.replace(items)
	L.Push(s.messages.list(L))
	return 1
}
