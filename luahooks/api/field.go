package api

import (
	"strings"
	"unicode/utf8"

	"pi/internal/cells"
	"pi/internal/edit"
	"pi/internal/printable"
	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// field is ctx.ui.field{text?, placeholder?, on_submit?}: a component for ctx.ui.custom, or a
// part of one, that is one row of text and edited as the line being typed is. Besides render,
// handle_input and cursor it has text() and set_text(text).
//
// Enter calls on_submit(text, handle); without that it closes the component with the text.
func (c *components) field(L *lua.LState) int {
	f := &field{home: c}
	var text string
	luavm.Unpack(L, 1, "field", luavm.Opt("text", &text), luavm.Opt("placeholder", &f.row.Placeholder), luavm.Opt("on_submit", &f.submit))
	f.row.Placeholder = printable.Line(f.row.Placeholder)
	f.row.Faint = func(text string) string { return c.theme.paint("dim", text) }
	f.row.Set(text)

	t, more := luavm.NewRecord(L, 3), luavm.NewRecord(L, 2)
	c.add(t, part{"render": f.render, "handle_input": f.input})
	luavm.Set(t, "cursor", lua.LTrue)
	// What custom has no use for is behind the table.
	c.add(more, part{"text": f.row.Text, "set_text": proc{f.row.Set}})
	meta := luavm.NewRecord(L, 1)
	luavm.Set(meta, "__index", c.vm.StrictTable("a field", more))
	t.Metatable = meta
	L.Push(t)
	return 1
}

// field is a row of text that is being edited, used only while the VM is held.
type field struct {
	home   *components
	row    edit.Field
	submit *lua.LFunction // nil: Enter closes the component
}

// render is field.render(width): the row, with the mark of the cursor.
func (f *field) render(L *lua.LState) int {
	width := max(1, int(L.CheckNumber(1)))
	row, column := f.row.Render(width)
	at := cutAt(row, column)
	L.Push(lua.LString(row[:at] + cursorMark + row[at:]))
	return 1
}

// input is field.handle_input(key, handle, opts?): false for a key that a row of text has no
// use for, Esc among them.
func (f *field) input(L *lua.LState) int {
	key, handle := L.CheckString(1), L.Get(2)
	var text string
	var release bool
	luavm.Unpack(L, 3, "handle_input", luavm.Opt("text", &text), luavm.Opt("release", &release))
	switch { // the name of a key that types says what
	case text != "":
	case key == "space":
		text = " "
	case utf8.RuneCountInString(key) == 1:
		text = key
	}
	used := true
	switch {
	case release:
	case key == "enter":
		f.submitted(L, handle)
	default:
		used = f.row.Key(strings.ToLower(key), printable.Text(text)) == edit.Used
	}
	L.Push(lua.LBool(used))
	return 1
}

// submitted gives the text to on_submit or, without that, closes the component with it.
func (f *field) submitted(L *lua.LState, handle lua.LValue) {
	text := lua.LString(f.row.Text())
	if f.submit != nil {
		callLua(L, f.submit, text, handle)
		return
	}
	if t, ok := handle.(*lua.LTable); ok {
		if end, ok := t.RawGetString("close").(*lua.LFunction); ok {
			callLua(L, end, text)
			return
		}
	}
	luavm.RaiseArg(L, 2, "handle_input", "the handle of a component expected, got %s", handle.Type())
}

// cutAt is the position in a row, in bytes, of a column in cells.
func cutAt(row string, column int) (at int) {
	for cluster, width := range cells.Clusters(row) {
		if column -= width; column < 0 {
			break
		}
		at += len(cluster)
	}
	return at
}
