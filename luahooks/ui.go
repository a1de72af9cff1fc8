package luahooks

import (
	"context"
	"time"

	"pi/agent"
	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// newUI makes ctx.ui.
func (in *instance) newUI(L *lua.LState) *lua.LTable {
	t := L.CreateTable(0, 5)
	for name, fn := range map[string]lua.LGFunction{
		"select": in.uiSelect, "confirm": in.uiConfirm, "input": in.uiInput,
		"notify": in.uiNotify, "set_status": in.uiSetStatus,
	} {
		t.RawSetString(name, in.vm.GFunc(name, fn))
	}
	return t
}

// dialogUI is the person to ask; nil means nobody is there.
func (in *instance) dialogUI(L *lua.LState, function string) agent.UI {
	in.mustHost(L, function)
	if ui := in.chain.uiNow(); ui != nil && ui.HasUI() {
		return ui
	}
	return nil
}

func dialogOptions(L *lua.LState, n int, function string) agent.DialogOptions {
	var timeout time.Duration
	luavm.Unpack(L, n, function, luavm.Opt("timeout", &timeout))
	return agent.DialogOptions{TimeoutMS: int(timeout / time.Millisecond)}
}

// uiConfirm is ctx.ui.confirm(title, message?, opts?) → bool; No without a person.
func (in *instance) uiConfirm(L *lua.LState) int {
	title, message, o := L.CheckString(1), L.OptString(2, ""), dialogOptions(L, 3, "confirm")
	yes := false
	if ui := in.dialogUI(L, "confirm"); ui != nil {
		in.dialog(L, "confirm", func(ctx context.Context) (err error) {
			yes, err = ui.Confirm(ctx, title, message, o)
			return err
		})
	}
	L.Push(lua.LBool(yes))
	return 1
}

// uiSelect is ctx.ui.select(title, options, opts?) → string?
func (in *instance) uiSelect(L *lua.LState) int {
	title, o := L.CheckString(1), dialogOptions(L, 3, "select")
	options, ok := luavm.Strings(L, L.Get(2))
	if !ok {
		luavm.RaiseArg(L, 2, "select", "list of strings expected, got %s", L.Get(2).Type())
	}
	return in.answer(L, "select", func(ctx context.Context, ui agent.UI) (string, bool, error) {
		return ui.Select(ctx, title, options, o)
	})
}

// uiInput is ctx.ui.input(title, placeholder?, opts?) → string?
func (in *instance) uiInput(L *lua.LState) int {
	title, placeholder, o := L.CheckString(1), L.OptString(2, ""), dialogOptions(L, 3, "input")
	return in.answer(L, "input", func(ctx context.Context, ui agent.UI) (string, bool, error) {
		return ui.Input(ctx, title, placeholder, o)
	})
}

// answer asks for a string and pushes it, or nil when there was no answer.
func (in *instance) answer(L *lua.LState, function string, ask func(context.Context, agent.UI) (string, bool, error)) int {
	var text string
	var answered bool
	if ui := in.dialogUI(L, function); ui != nil {
		in.dialog(L, function, func(ctx context.Context) (err error) {
			text, answered, err = ask(ctx, ui)
			return err
		})
	}
	if !answered {
		L.Push(lua.LNil)
		return 1
	}
	L.Push(lua.LString(text))
	return 1
}

// dialog waits for the person with the hook's clock stopped. A dialog that
// cannot be shown raises, so that nobody takes it for an answer.
func (in *instance) dialog(L *lua.LState, function string, f func(context.Context) error) {
	if err := in.wait(L, function, true, f); err != nil {
		luavm.Raise(L, "%s: %v", function, err)
	}
}

// uiNotify is ctx.ui.notify(text, level?).
func (in *instance) uiNotify(L *lua.LState) int {
	host, text, level := in.mustHost(L, "notify"), L.CheckString(1), agent.Level(L.OptString(2, string(agent.LevelInfo)))
	switch level {
	case agent.LevelInfo, agent.LevelWarning, agent.LevelError:
	default:
		luavm.RaiseArg(L, 2, "notify", "info, warning or error expected, got %q", string(level))
	}
	_ = in.wait(L, "notify", false, func(ctx context.Context) error {
		host.Notify(ctx, level, text)
		return nil
	})
	return 0
}

// uiSetStatus is ctx.ui.set_status(key, text?); nil removes.
func (in *instance) uiSetStatus(L *lua.LState) int {
	in.mustHost(L, "set_status")
	key, text := L.CheckString(1), L.OptString(2, "")
	if ui := in.chain.uiNow(); ui != nil {
		ui.SetStatus(key, text)
	}
	return 0
}
