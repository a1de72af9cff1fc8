package api

import (
	"context"
	"sync"

	"pi/agent"
	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// display is what a hook shows outside of the transcript. It is removed with the
// hook's VM.
type display struct {
	*bridge
	ui   func() agent.UI // nil before there is a front end
	life context.Context // of the VM

	mu    sync.Mutex // guards what follows
	shown shownKeys
}

type shownKeys struct {
	statuses, widgets map[string]bool
	working           bool
}

func (d *display) part() part {
	return part{"notify": d.notice, "set_widget": d.setWidget, "get_editor_text": d.editorText,
		"set_status": proc{d.setStatus}, "set_title": proc{d.setTitle}, "set_working_message": proc{d.setWorking}, "set_editor_text": proc{d.setEditorText}}
}

// front returns the front end. It raises before there is a session, which brings the front
// end with it.
func (d *display) front(L *lua.LState, function string) agent.UI {
	d.mustHost(L, function)
	return d.ui()
}

// notice is ctx.ui.notify(text, level?): it shows a text to the person; level is info,
// warning or error.
func (d *display) notice(L *lua.LState) int {
	text, level := L.CheckString(1), agent.Level(L.OptString(2, string(agent.LevelInfo)))
	switch level {
	case agent.LevelInfo, agent.LevelWarning, agent.LevelError:
	default:
		luavm.RaiseArg(L, 2, "notify", "info, warning or error expected, got %q", string(level))
	}
	_ = d.wait(L, "notify", func(ctx context.Context) error {
		d.notify(ctx, level, text)
		return nil
	})
	return 0
}

// setStatus is ctx.ui.set_status(key, text?): it shows a short text under a key, in place of
// the one that the key had; nil removes that.
func (d *display) setStatus(L *lua.LState, key string, text *string) error {
	ui := d.front(L, "set_status")
	if key == "" {
		return luavm.Misusef("the key is empty")
	}
	if d.note(func(s *shownKeys) { s.statuses[key] = textOf(text) != "" }) {
		ui.SetStatus(key, textOf(text))
	}
	return nil
}

// setWidget is ctx.ui.set_widget(key, lines?): it shows lines under a key, in place of those
// that the key had; nil removes them.
func (d *display) setWidget(L *lua.LState) int {
	ui, key := d.front(L, "set_widget"), L.CheckString(1)
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
	if d.note(func(s *shownKeys) { s.widgets[key] = lines != nil }) {
		ui.SetWidget(agent.Above, key, lines)
	}
	return 0
}

// setTitle is ctx.ui.set_title(text).
func (d *display) setTitle(L *lua.LState, text string) { d.front(L, "set_title").SetTitle(text) }

// setWorking is ctx.ui.set_working_message(text?); nil is the usual one.
func (d *display) setWorking(L *lua.LState, text *string) {
	ui := d.front(L, "set_working_message")
	if d.note(func(s *shownKeys) { s.working = textOf(text) != "" }) {
		ui.SetWorking(textOf(text))
	}
}

// setEditorText is ctx.ui.set_editor_text(text).
func (d *display) setEditorText(L *lua.LState, text string) {
	d.front(L, "set_editor_text").SetEditorText(text)
}

// editorText is ctx.ui.get_editor_text().
func (d *display) editorText(L *lua.LState) string {
	return d.front(L, "get_editor_text").EditorText()
}

// note records with change what the hook shows from now on, for clear. It is false, and
// nothing is to be shown, if the VM has ended.
func (d *display) note(change func(*shownKeys)) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.life.Err() != nil {
		return false
	}
	if d.shown.statuses == nil {
		d.shown.statuses, d.shown.widgets = map[string]bool{}, map[string]bool{}
	}
	change(&d.shown)
	return true
}

// clear removes the statuses, the widgets and the working message that the hook shows.
func (d *display) clear() {
	ui := d.ui()
	d.mu.Lock()
	shown := d.shown
	d.shown = shownKeys{}
	d.mu.Unlock()
	if ui == nil {
		return
	}
	for key, on := range shown.statuses {
		if on {
			ui.SetStatus(key, "")
		}
	}
	for key, on := range shown.widgets {
		if on {
			ui.SetWidget(agent.Above, key, nil)
		}
	}
	if shown.working {
		ui.SetWorking("")
	}
}
