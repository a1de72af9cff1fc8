package api

import (
	"context"
	"fmt"
	"strings"
	"time"

	"pi/agent"
	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// Dialogs shows one dialog at a time.
type Dialogs interface {
	// Ask runs f, which shows a dialog, when those before it have ended.
	Ask(ctx context.Context, kind, title string, f func(context.Context) error) error
	// IsOpen reports whether a dialog is shown.
	IsOpen() bool
}

// dialogs ask the person for a hook.
type dialogs struct {
	*bridge
	ui   func() agent.UI // nil before there is a front end
	open Dialogs
}

func (d *dialogs) part() part {
	return part{"select": d.choose, "confirm": d.confirm, "input": d.input, "editor": d.editor}
}

// person returns the front end, or nil if nobody is there to answer. It raises while the
// hook's file loads.
func (d *dialogs) person(L *lua.LState, function string) agent.UI {
	if d.vm.Loading() {
		luavm.Raise(L, "%s: %v", function, errLoading)
	}
	if ui := d.ui(); ui != nil && ui.HasUI() {
		return ui
	}
	return nil
}

// options reads {timeout?}, the n-th argument of a dialog.
func (d *dialogs) options(L *lua.LState, n int, function string) agent.DialogOptions {
	var timeout time.Duration
	luavm.Unpack(L, n, function, luavm.Opt("timeout", &timeout))
	if timeout < 0 {
		luavm.Raise(L, "%s: option \"timeout\" must be a positive number of milliseconds", function)
	}
	return agent.DialogOptions{From: d.hook, TimeoutMS: int(timeout / time.Millisecond)}
}

// confirm is ctx.ui.confirm(title, message?, opts?) → bool; false without a person. A No
// cannot be told from a dialog that timed out, so both are no answer for ask.
func (d *dialogs) confirm(L *lua.LState) int {
	title, message, o := L.CheckString(1), L.OptString(2, ""), d.options(L, 3, "confirm")
	return d.ask(L, "confirm", title, lua.LFalse, func(ctx context.Context, ui agent.UI) (lua.LValue, bool, error) {
		answer, err := ui.Confirm(ctx, title, message, o)
		return lua.LBool(answer != agent.No), answer != agent.No, err
	})
}

// choose is ctx.ui.select(title, options, opts?) → string?
func (d *dialogs) choose(L *lua.LState) int {
	title, o := L.CheckString(1), d.options(L, 3, "select")
	options, ok := luavm.Strings(L, L.Get(2))
	if !ok {
		luavm.RaiseArg(L, 2, "select", "list of strings expected, got %s", whatOf(L, L.Get(2)))
	}
	return d.ask(L, "select", title, lua.LNil, func(ctx context.Context, ui agent.UI) (lua.LValue, bool, error) {
		values, ok, err := ui.Select(ctx, title, agent.Choices(options...), o)
		return textAnswer(strings.Join(values, ""), ok, err)
	})
}

// whatOf describes an argument that is no list of strings.
func whatOf(L *lua.LState, v lua.LValue) string {
	t, ok := v.(*lua.LTable)
	if !ok {
		return v.Type().String()
	}
	luavm.Materialise(L, t)
	if t.Len() == 0 {
		return "a table without a list"
	}
	return fmt.Sprintf("a list of values such as a %s; hand in their texts, and look up which was chosen", t.RawGetInt(1).Type())
}

// input is ctx.ui.input(title, placeholder?, opts?) → string?
func (d *dialogs) input(L *lua.LState) int {
	title, placeholder, o := L.CheckString(1), L.OptString(2, ""), d.options(L, 3, "input")
	return d.ask(L, "input", title, lua.LNil, func(ctx context.Context, ui agent.UI) (lua.LValue, bool, error) {
		return textAnswer(ui.Input(ctx, title, placeholder, o))
	})
}

// editor is ctx.ui.editor(title, prefill?) → string?
func (d *dialogs) editor(L *lua.LState) int {
	title, prefill := L.CheckString(1), L.OptString(2, "")
	return d.ask(L, "editor", title, lua.LNil, func(ctx context.Context, ui agent.UI) (lua.LValue, bool, error) {
		return textAnswer(ui.Editor(ctx, title, prefill, agent.DialogOptions{From: d.hook}))
	})
}

// textAnswer turns the result of a dialog for a text into what ask wants; ok is false if the
// person gave no text.
func textAnswer(s string, ok bool, err error) (lua.LValue, bool, error) {
	return lua.LString(s), ok, err
}

// ask shows a dialog with the function ask and pushes the value that this returns. Where ok
// is false, or nobody is there, it pushes none. With ok the person has answered, and the
// agent counts anew how much hooks send without a person (its brake).
func (d *dialogs) ask(L *lua.LState, kind, title string, none lua.LValue, ask func(context.Context, agent.UI) (v lua.LValue, ok bool, err error)) int {
	answer, ok := none, false
	if ui := d.person(L, kind); ui != nil {
		d.show(L, kind, title, func(ctx context.Context) (err error) {
			answer, ok, err = ask(ctx, ui)
			return err
		})
	}
	if host := d.host(); ok && host != nil {
		host.ResetBrake(agent.Origin{Kind: agent.FromPerson})
	}
	if !ok {
		answer = none
	}
	L.Push(answer)
	return 1
}

// componentKey is in the Go context of a component's functions.
type componentKey struct{}

// show runs f, which shows a dialog, after the dialogs before it, and waits with the hook's
// clock stopped. It raises if the dialog cannot be shown, so that this does not look like an
// answer, and in a component's function while another dialog is open: it might wait for itself.
func (d *dialogs) show(L *lua.LState, kind, title string, f func(context.Context) error) {
	if d.vm.Context().Value(componentKey{}) != nil && d.open.IsOpen() {
		luavm.Raise(L, "%s: a component cannot open a dialog while one is open; close it first", kind)
	}
	must(L, kind, d.waitFor(L, kind, true, func(ctx context.Context) error { return d.open.Ask(ctx, kind, title, f) }))
}
