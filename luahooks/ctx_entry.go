package luahooks

import (
	"context"
	"fmt"

	"pi/agent"
	"pi/luavm"
	"pi/session"

	lua "github.com/yuin/gopher-lua"
)

// What hooks write into the session, and what they change of the context.

// saveEntry is ctx.save_entry{type = …, …} → id.
func (in *instance) saveEntry(L *lua.LState) int {
	host := in.mustHost(L, "save_entry")
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
	raw, err := in.records.Encode(own, "entry")
	if err != nil {
		luavm.Raise(L, "save_entry: %v", err)
	}
	return in.append(L, host, "save entry", string(kind), raw)
}

// appendEntry is pi.append_entry(custom_type, data?) → id: state that the model
// does not see.
func (in *instance) appendEntry(L *lua.LState) int {
	host := in.mustHost(L, "append_entry")
	body := session.Custom{CustomType: L.CheckString(1)}
	switch body.CustomType {
	case "":
		luavm.RaiseArg(L, 1, "append_entry", "it is empty")
	case session.LeafMove:
		luavm.Raise(L, "append_entry: type %q is reserved for the program", body.CustomType)
	}
	if v := L.Get(2); v != lua.LNil {
		raw, err := in.records.Encode(v, "data")
		if err != nil {
			luavm.Raise(L, "append_entry: %v", err)
		}
		body.Data = raw
	}
	return in.append(L, host, "append entry", session.TypeCustom, body)
}

// append adds an entry and pushes its id. In a command it is written at once: a
// person who asks for it wants it kept, also in a session without messages.
func (in *instance) append(L *lua.LState, host Host, doing, kind string, body any) int {
	entry, err := host.Session().Append(kind, body)
	if err == nil && in.commandNow() {
		err = host.Session().Flush()
	}
	if entry == nil {
		return pushResult(L, nil, fmt.Errorf("%s: %w", doing, err))
	}
	if err != nil {
		in.chain.notify(in.vm.Context(), agent.LevelError, err.Error())
	}
	return pushResult(L, lua.LString(entry.ID), nil)
}

// editContext is ctx.edit_context(entry_id, nil|{content = …}) → id.
func (in *instance) editContext(L *lua.LState) int {
	host, id := in.mustHost(L, "edit_context"), L.CheckString(1)
	replacement := in.replacement(L, L.Get(2))
	var edit string
	err := in.wait(L, "edit_context", false, func(ctx context.Context) (err error) {
		edit, err = host.EditContext(ctx, id, replacement)
		return err
	})
	in.seen = jobMessages{}
	if edit != "" && err != nil {
		in.chain.notify(in.vm.Context(), agent.LevelError, err.Error())
		err = nil
	}
	return pushResult(L, lua.LString(edit), err)
}

// replacement reads {content = …}; nil takes the entry out of the context.
func (in *instance) replacement(L *lua.LState, v lua.LValue) *session.Replacement {
	if v == lua.LNil {
		return nil
	}
	var content lua.LValue
	luavm.Unpack(L, 2, "edit_context", luavm.Opt("content", &content).Required())
	blocks, err := in.records.Content(L, content, "content")
	if err != nil {
		luavm.Raise(L, "edit_context: %v", err)
	}
	_, plain := content.(lua.LString)
	return &session.Replacement{Content: blocks, Plain: plain}
}

// rebuildContext is ctx.rebuild_context() → messages.
func (in *instance) rebuildContext(L *lua.LState) int {
	host := in.mustHost(L, "rebuild_context")
	if insideContext(in.vm.Context()) {
		luavm.Raise(L, "rebuild_context: not inside a context handler")
	}
	var items []session.Item
	_ = in.wait(L, "rebuild_context", false, func(ctx context.Context) error {
		items = host.Context(ctx)
		return nil
	})
	in.seen = jobMessages{job: in.vm.Context(), items: items}
	L.Push(in.seen.list(L, in))
	return 1
}

// contextEventKey is in the Go context of what a context handler does, however
// deep below it is called.
type contextEventKey struct{}

func insideContext(ctx context.Context) bool { return ctx.Value(contextEventKey{}) != nil }
