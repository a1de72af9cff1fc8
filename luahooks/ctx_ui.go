package luahooks

import (
	"context"
	"fmt"
	"time"

	"pi/agent"
	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// newUI makes ctx.ui.
func (in *instance) newUI(L *lua.LState) *lua.LTable {
	t := luavm.NewRecord(L, 16)
	in.addRaw(t, map[string]lua.LGFunction{
		"select": in.uiSelect, "confirm": in.uiConfirm, "input": in.uiInput, "editor": in.uiEditor, "custom": in.uiCustom,
		"notify": in.uiNotify, "set_widget": in.uiSetWidget,
	})
	in.addFuncs(t, map[string]any{"get_editor_text": in.uiEditorText})
	for name, fn := range map[string]any{
		"set_status": in.uiSetStatus, "set_title": in.uiSetTitle, "set_working_message": in.uiSetWorking,
		"set_editor_text": in.uiSetEditorText,
	} {
		luavm.Set(t, name, in.vm.Proc(name, fn))
	}
	in.theme = in.newTheme(L)
	luavm.Set(t, "theme", in.theme)
	return in.vm.StrictTable("ctx.ui", t)
}

// dialogUI is the person to ask; nil means nobody is there.
func (in *instance) dialogUI(L *lua.LState, function string) agent.UI {
	if in.vm.Loading() {
		luavm.Raise(L, "%s: %v", function, errLoading)
	}
	if ui := in.chain.uiNow(); ui != nil && ui.HasUI() {
		return ui
	}
	return nil
}

func dialogOptions(L *lua.LState, n int, function string) agent.DialogOptions {
	var timeout time.Duration
	luavm.Unpack(L, n, function, luavm.Opt("timeout", &timeout))
	if timeout < 0 {
		luavm.Raise(L, "%s: option \"timeout\" must be a positive number of milliseconds", function)
	}
	return agent.DialogOptions{TimeoutMS: int(timeout / time.Millisecond)}
}

// uiConfirm is ctx.ui.confirm(title, message?, opts?) → bool; No without a person.
func (in *instance) uiConfirm(L *lua.LState) int {
	title, message, o := L.CheckString(1), L.OptString(2, ""), dialogOptions(L, 3, "confirm")
	yes := false
	if ui := in.dialogUI(L, "confirm"); ui != nil {
		in.dialog(L, "confirm", title, func(ctx context.Context) (err error) {
			yes, err = ui.Confirm(ctx, title, message, o)
			return err
		})
	}
	if yes {
		in.heardPerson()
	}
	L.Push(lua.LBool(yes))
	return 1
}

// uiSelect is ctx.ui.select(title, options, opts?) → string?
func (in *instance) uiSelect(L *lua.LState) int {
	title, o := L.CheckString(1), dialogOptions(L, 3, "select")
	options, ok := luavm.Strings(L, L.Get(2))
	if !ok {
		luavm.RaiseArg(L, 2, "select", "list of strings expected, got %s", whatOf(L, L.Get(2)))
	}
	return in.answer(L, "select", title, func(ctx context.Context, ui agent.UI) (string, bool, error) {
		return ui.Select(ctx, title, options, o)
	})
}

// whatOf says what stands where a list of strings should.
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

// uiInput is ctx.ui.input(title, placeholder?, opts?) → string?
func (in *instance) uiInput(L *lua.LState) int {
	title, placeholder, o := L.CheckString(1), L.OptString(2, ""), dialogOptions(L, 3, "input")
	return in.answer(L, "input", title, func(ctx context.Context, ui agent.UI) (string, bool, error) {
		return ui.Input(ctx, title, placeholder, o)
	})
}

// uiEditor is ctx.ui.editor(title, prefill?) → string?
func (in *instance) uiEditor(L *lua.LState) int {
	title, prefill := L.CheckString(1), L.OptString(2, "")
	return in.answer(L, "editor", title, func(ctx context.Context, ui agent.UI) (string, bool, error) {
		return ui.Editor(ctx, title, prefill)
	})
}

// answer asks for a string and pushes it, or nil when there was no answer.
func (in *instance) answer(L *lua.LState, kind, title string, ask func(context.Context, agent.UI) (string, bool, error)) int {
	var text string
	var answered bool
	if ui := in.dialogUI(L, kind); ui != nil {
		in.dialog(L, kind, title, func(ctx context.Context) (err error) {
			text, answered, err = ask(ctx, ui)
			return err
		})
	}
	if !answered {
		L.Push(lua.LNil)
		return 1
	}
	in.heardPerson()
	L.Push(lua.LString(text))
	return 1
}

// dialog waits for the person with the hook's clock stopped. A dialog that
// cannot be shown raises, so that nobody takes it for an answer.
func (in *instance) dialog(L *lua.LState, kind, title string, f func(context.Context) error) {
	if in.vm.Context().Value(componentKey{}) != nil && in.chain.asking() {
		luavm.Raise(L, "%s: a component cannot open a dialog while one is open; close it first", kind)
	}
	err := in.wait(L, kind, true, func(ctx context.Context) error { return in.chain.ask(ctx, kind, title, f) })
	if err != nil {
		luavm.Raise(L, "%s: %v", kind, err)
	}
}

// uiNotify is ctx.ui.notify(text, level?).
func (in *instance) uiNotify(L *lua.LState) int {
	text, level := L.CheckString(1), agent.Level(L.OptString(2, string(agent.LevelInfo)))
	switch level {
	case agent.LevelInfo, agent.LevelWarning, agent.LevelError:
	default:
		luavm.RaiseArg(L, 2, "notify", "info, warning or error expected, got %q", string(level))
	}
	_ = in.wait(L, "notify", false, func(ctx context.Context) error {
		in.chain.notify(ctx, level, text)
		return nil
	})
	return 0
}

// front is where things are shown; nil before there is a front end.
func (in *instance) front(L *lua.LState, function string) agent.UI {
	in.mustHost(L, function)
	return in.chain.uiNow()
}

// uiSetStatus is ctx.ui.set_status(key, text?); nil removes.
func (in *instance) uiSetStatus(L *lua.LState, key string, text *string) error {
	ui := in.front(L, "set_status")
	if key == "" {
		return luavm.Misusef("the key is empty")
	}
	if text == nil {
		text = new(string)
	}
	if in.shows(&in.shown.statuses, key, *text != "") {
		ui.SetStatus(key, *text)
	}
	return nil
}

// uiSetWidget is ctx.ui.set_widget(key, lines?); nil removes.
func (in *instance) uiSetWidget(L *lua.LState) int {
	ui, key := in.front(L, "set_widget"), L.CheckString(1)
	var lines []string
	if v := L.Get(2); v != lua.LNil {
		list, ok := luavm.Strings(L, v)
		if !ok {
			luavm.RaiseArg(L, 2, "set_widget", "list of lines expected, got %s", v.Type())
		}
		lines = list
	}
	if key == "" {
		luavm.RaiseArg(L, 1, "set_widget", "the key is empty")
	}
	if in.shows(&in.shown.widgets, key, lines != nil) {
		ui.SetWidget(key, lines)
	}
	return 0
}

func (in *instance) uiSetTitle(L *lua.LState, text string) { in.front(L, "set_title").SetTitle(text) }

// uiSetWorking is ctx.ui.set_working_message(text?); nil is the usual one.
func (in *instance) uiSetWorking(L *lua.LState, text *string) {
	ui := in.front(L, "set_working_message")
	if text == nil {
		text = new(string)
	}
	if in.shows(&in.shown.working, "", *text != "") {
		ui.SetWorking(*text)
	}
}

func (in *instance) uiSetEditorText(L *lua.LState, text string) {
	in.front(L, "set_editor_text").SetEditorText(text)
}

func (in *instance) uiEditorText(L *lua.LState) string {
	return in.front(L, "get_editor_text").EditorText()
}

// shownKeys is what an instance shows outside of the transcript.
type shownKeys struct{ statuses, widgets, working map[string]bool }

// shows notes what the instance shows under a key. It is false for one that was
// replaced: what it showed is taken back, and it shows nothing more.
func (in *instance) shows(where *map[string]bool, key string, on bool) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.behind.life.Err() != nil {
		return false
	}
	if *where == nil {
		*where = map[string]bool{}
	}
	(*where)[key] = on
	return true
}

// hideAll takes back what the instance shows.
func (in *instance) hideAll() {
	ui := in.chain.uiNow()
	in.mu.Lock()
	shown := in.shown
	in.shown = shownKeys{}
	in.mu.Unlock()
	if ui == nil || in.chain.behind.isEnding() {
		return
	}
	for key, on := range shown.statuses {
		if on {
			ui.SetStatus(key, "")
		}
	}
	for key, on := range shown.widgets {
		if on {
			ui.SetWidget(key, nil)
		}
	}
	if shown.working[""] {
		ui.SetWorking("")
	}
}
