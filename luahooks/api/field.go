package api

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"pi/agent"
	"pi/internal/cells"
	"pi/internal/edit"
	"pi/internal/keys"
	"pi/internal/printable"
	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// mostInField is how large the text of a field may be, in bytes.
const mostInField = 1 << 20

// errLargeField says that a text has no room in a field.
func errLargeField() error { return fmt.Errorf("a field has room for %d MiB", mostInField>>20) }

// field is ctx.ui.field{text?, placeholder?, prompt?, rows?, on_submit?, on_change?}: a component
// for ctx.ui.custom, or a part of one, that is text and edited as the line being typed is, in one
// row or in several. Besides render, handle_input and cursor it has text() and set_text(text).
//
// Enter calls on_submit(text, handle); without that it closes the component with the text. A
// key that changes the text calls on_change(text, handle).
func (c *components) field(L *lua.LState) int {
	f := &field{home: c, rows: 1}
	var text, placeholder, prompt string
	luavm.Unpack(L, 1, "field", luavm.Opt("text", &text), luavm.Opt("placeholder", &placeholder), luavm.Opt("prompt", &prompt),
		luavm.Opt("rows", &f.rows), luavm.Opt("on_submit", &f.submit), luavm.Opt("on_change", &f.change))
	switch {
	case f.rows < 1:
		luavm.Raise(L, "field: option \"rows\" must be a positive number")
	case len(text) > mostInField:
		luavm.Raise(L, "field: option \"text\": %v", errLargeField())
	}
	prompt = strings.ReplaceAll(cutText(prompt), "\n", " ")
	placeholder = printable.Line(placeholder)
	faint := func(text string) string { return c.theme.paint("dim", text) }
	if f.rows > 1 {
		f.typed = &severalRows{edit.Box{Prompt: prompt, Placeholder: placeholder, Faint: faint}}
	} else {
		f.typed = &oneRow{edit.Field{Placeholder: placeholder, Faint: faint}, prompt}
	}
	f.set(text)

	t, more := luavm.NewRecord(L, 3), luavm.NewRecord(L, 2)
	c.add(t, part{"render": f.render, "handle_input": f.input})
	luavm.Set(t, "cursor", lua.LTrue)
	c.behind(L, t, "a field", more, part{"text": f.typed.Text, "set_text": f.setText})
	L.Push(t)
	return 1
}

// behind puts behind the table of a component, where custom does not look, what it has no use
// for: functions in a table of their own, whose name messages call it by.
func (c *components) behind(L *lua.LState, t *lua.LTable, name string, more *lua.LTable, functions part) {
	c.add(more, functions)
	meta := luavm.NewRecord(L, 1)
	luavm.Set(meta, "__index", c.vm.StrictTable(name, more))
	t.Metatable = meta
}

// typedText is the text of a field.
type typedText interface {
	Key(name, text string) edit.Outcome
	Text() string
	Set(text string)
	// draw returns at most so many rows, and where the cursor is in them.
	draw(width, height int) (rows []string, row, column int)
}

// oneRow is the text of a field in one row, behind a prompt.
type oneRow struct {
	edit.Field
	prompt string
}

func (x *oneRow) draw(width, _ int) (rows []string, row, column int) {
	prompt, used := x.prompt, cells.Width(x.prompt)
	if 2*used > width { // the text matters more
		prompt, used = "", 0
	}
	text, column := x.Field.Render(width - used)
	return []string{prompt + text}, 0, used + column
}

// severalRows is the text of a field in several rows.
type severalRows struct{ edit.Box }

func (x *severalRows) draw(width, height int) (rows []string, row, column int) {
	v := x.Box.Render(width, height)
	return v.Rows, v.Row, v.Column
}

// field is a text that is being edited, used only while the VM is held.
type field struct {
	home           *components
	typed          typedText
	text           string // as it was before the key that comes next
	rows           int
	submit, change *lua.LFunction // nil: Enter closes the component; nobody is told
}

// setText is field.set_text(text), which gives nil and a message for a text that is too large.
func (f *field) setText(text string) (bool, error) {
	if len(text) > mostInField {
		return false, errLargeField()
	}
	f.set(text)
	return true, nil
}

func (f *field) set(text string) {
	f.typed.Set(text)
	f.text = f.typed.Text()
}

// render is field.render(width): a list of the rows, with the mark of the cursor.
func (f *field) render(L *lua.LState) int {
	width := max(1, int(L.CheckNumber(1)))
	rows, row, column := f.typed.draw(width, f.rows)
	rows[row] = marked(rows[row], column)
	L.Push(luavm.NewList(L, len(rows), func(i int) lua.LValue { return lua.LString(rows[i]) }))
	return 1
}

// input is field.handle_input(key, handle, opts?): false for a key that a text has no use for,
// Esc among them.
func (f *field) input(L *lua.LState) int {
	key, handle := keyArgument(L), L.Get(2)
	used := true
	switch {
	case key.Release:
	case key.Name == "enter":
		f.submitted(L, handle)
	default:
		used = f.edited(L, key, handle)
	}
	L.Push(lua.LBool(used))
	return 1
}

// edited gives a key to the text, tells on_change if that is another one then, and reports
// whether the key was used. What has no room leaves the text as it is.
func (f *field) edited(L *lua.LState, key keys.Key, handle lua.LValue) bool {
	before := f.text
	if len(before)+len(key.Text) > mostInField && key.Text != "" {
		f.home.tellFull()
		return true
	}
	used := f.typed.Key(strings.ToLower(key.Name), printable.Text(key.Text)) == edit.Used
	after := f.typed.Text()
	if len(after) > mostInField { // it was put back from what was killed
		f.typed.Set(before)
		f.home.tellFull()
		return true
	}
	if f.text = after; f.change != nil && after != before {
		callLua(L, f.change, lua.LString(after), handle)
	}
	return used
}

// tellFull tells the user why a key did nothing.
func (c *components) tellFull() {
	if ui := c.UI(); ui != nil {
		ui.Notify(errLargeField().Error(), agent.LevelWarning)
	}
}

// submitted gives the text to on_submit or, without that, closes the component with it.
func (f *field) submitted(L *lua.LState, handle lua.LValue) {
	text := lua.LString(f.typed.Text())
	if f.submit != nil {
		callLua(L, f.submit, text, handle)
		return
	}
	closeWith(L, handle, text)
}

// closeWith closes the component whose handle the second argument of handle_input is.
func closeWith(L *lua.LState, handle, value lua.LValue) {
	if t, ok := handle.(*lua.LTable); ok {
		if end, ok := t.RawGetString("close").(*lua.LFunction); ok {
			callLua(L, end, value)
			return
		}
	}
	luavm.RaiseArg(L, 2, "handle_input", "the handle of a component expected, got %s", handle.Type())
}

// keyArgument reads the key that handle_input(key, handle, opts?) is given.
func keyArgument(L *lua.LState) keys.Key {
	k := keys.Key{Name: L.CheckString(1)}
	luavm.Unpack(L, 3, "handle_input", luavm.Opt("text", &k.Text), luavm.Opt("release", &k.Release))
	switch { // the name of a key that types says what
	case k.Text != "":
	case k.Name == "space":
		k.Text = " "
	case utf8.RuneCountInString(k.Name) == 1:
		k.Text = k.Name
	}
	return k
}

// marked is a row with the mark of the cursor in a column, in cells. Colours take none.
func marked(row string, column int) string {
	at := 0
	for piece, width := range cells.Pieces(row) {
		if column -= width; column < 0 {
			break
		}
		at += len(piece)
	}
	return row[:at] + cursorMark + row[at:]
}
