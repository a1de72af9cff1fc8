package api

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"pi/agent"
	"pi/internal/markdown"
	"pi/internal/suggest"
	"pi/luavm"
	"pi/session/message"

	lua "github.com/yuin/gopher-lua"
)

// theme is ctx.ui.theme, which is also what renderers get. It paints for the front
// end that is there; without one, nothing.
type theme struct {
	*bridge
	made *lua.LTable // nil: nobody has read it; only while the VM is held
}

// The most that theme.markdown draws.
const (
	mostMarkdown = 1 << 20 // bytes
	mostColumns  = 1000
)

// table is the theme for Lua.
func (t *theme) table() *lua.LTable {
	if t.made == nil {
		t.made = t.newTable("theme", t.parts)
	}
	return t.made
}

// parts are the functions of the theme, with one for each style.
func (t *theme) parts() []part {
	styles := part{}
	for _, style := range agent.ThemeStyles() {
		styles[style] = func(text string) string { return t.paint(style, text) }
	}
	return []part{{"fg": t.fg, "bg": t.bg, "rgb": t.rgb, "on_rgb": t.onRGB, "names": agent.ThemeColors, "markdown": t.markdown}, styles}
}

// fg is theme.fg(name, text): text in a colour, for the terminal. An unknown colour raises.
func (t *theme) fg(name, text string) (string, error) {
	return t.paint(name, text), checkColour(name)
}

// bg is theme.bg(name, text): text on a background. An unknown colour raises.
func (t *theme) bg(name, text string) (string, error) {
	if ui := t.UI(); ui != nil {
		text = ui.Theme().Background(name, text)
	}
	return text, checkColour(name)
}

// checkColour returns misuse unless the theme has a colour of that name.
func checkColour(name string) error {
	colors := agent.ThemeColors()
	if slices.Contains(colors, name) {
		return nil
	}
	if near := suggest.Hint(name, colors); near != "" {
		return luavm.Misusef("unknown colour %q%s", name, near)
	}
	return luavm.Misusef("unknown colour %q; colours are %s", name, strings.Join(colors, ", "))
}

// rgb is theme.rgb(red, green, blue, text): text in a colour by its parts, 0 to 255.
func (t *theme) rgb(red, green, blue float64, text string) (string, error) {
	return t.byParts(red, green, blue, text, agent.Theme.RGB)
}

// onRGB is theme.on_rgb(red, green, blue, text): text on a background by its parts.
func (t *theme) onRGB(red, green, blue float64, text string) (string, error) {
	return t.byParts(red, green, blue, text, agent.Theme.OnRGB)
}

// byParts paints a text in a colour that its parts, 0 to 255, make.
func (t *theme) byParts(red, green, blue float64, text string, paint func(_ agent.Theme, r, g, b uint8, text string) string) (string, error) {
	for _, v := range []float64{red, green, blue} {
		if !(v >= 0 && v <= 255) {
			return "", luavm.Misusef("red, green and blue are numbers from 0 to 255, not %v", v)
		}
	}
	if ui := t.UI(); ui != nil {
		return paint(ui.Theme(), uint8(red), uint8(green), uint8(blue), text), nil
	}
	return text, nil
}

// markdown is theme.markdown(text, width): the rows of a text in Markdown, as the program
// draws an answer.
func (t *theme) markdown(text string, width float64) ([]string, error) {
	switch {
	case !(width >= 1 && width <= mostColumns):
		return nil, luavm.Misusef("the width is a number from 1 to %d, not %v", mostColumns, width)
	case len(text) > mostMarkdown:
		return nil, fmt.Errorf("the text is larger than %d MiB", mostMarkdown>>20)
	}
	rows := markdown.Painter{Columns: int(width), Paint: t.paint}.Rows(text)
	if rows == nil {
		rows = []string{}
	}
	return rows, nil
}

func (t *theme) paint(style, text string) string {
	if ui := t.UI(); ui != nil {
		return ui.Theme().Paint(style, text)
	}
	return text
}

// Renderer draws the calls and results of one tool, or the messages of one type.
type Renderer struct {
	kind         string // see ToolRenderer and EntryRenderer
	call, result *lua.LFunction
	home         *renderers
}

// ToolRenderer is what the renderer of a tool is registered under, EntryRenderer the one of
// a custom type.
func ToolRenderer(name string) string  { return "tool " + name }
func EntryRenderer(kind string) string { return "entry " + kind }

// renderers are those that a hook registers.
type renderers struct {
	*bridge
	theme  *theme
	result func(L *lua.LState, tool string, r agent.Result) *lua.LTable // for Lua
}

func (r *renderers) part() part {
	return part{"register_message_renderer": r.ofMessages, "renderer": r.register}
}

// ofMessages is pi.register_message_renderer(custom_type, fn).
func (r *renderers) ofMessages(kind string, fn *lua.LFunction) error {
	if kind == "" {
		return luavm.Misusef("custom_type is empty")
	}
	r.registered.Renderers.put(Renderer{kind: EntryRenderer(kind), result: fn, home: r})
	return nil
}

// register is pi.renderer{tool = name, call?, result?} or pi.renderer{entry = type, result}.
func (r *renderers) register(L *lua.LState) int {
	n := Renderer{home: r}
	var tool, entry string
	luavm.Unpack(L, 1, "renderer", luavm.Opt("tool", &tool), luavm.Opt("entry", &entry), luavm.Opt("call", &n.call), luavm.Opt("result", &n.result))
	switch {
	case (tool == "") == (entry == ""):
		luavm.Raise(L, "renderer: one of \"tool\" and \"entry\" must say what is drawn")
	case entry != "" && n.call != nil:
		luavm.Raise(L, "renderer: an entry is no call of a tool; it has \"result\" only")
	case n.call == nil && n.result == nil:
		luavm.Raise(L, "renderer: option \"result\" is missing")
	}
	n.kind = ToolRenderer(tool)
	if entry != "" {
		n.kind = EntryRenderer(entry)
	}
	r.registered.Renderers.put(n)
	return 0
}

func (r Renderer) id() string { return r.kind }

// Name is the tool or the custom type that it draws.
func (r Renderer) Name() string {
	_, name, _ := strings.Cut(r.kind, " ")
	return name
}

// Message draws a message of a custom type. It is false, and somebody else has to draw, if
// the function of the hook returned nil or failed.
func (r Renderer) Message(ctx context.Context, m *message.Message, expanded bool, width int) ([]string, bool) {
	return r.draw(ctx, r.result, func(L *lua.LState) (lua.LValue, *lua.LTable) {
		return r.home.records.Message(m), drawing(L, expanded, width)
	})
}

// Call is Message for a call of a tool.
func (r Renderer) Call(ctx context.Context, c agent.DrawnCall, expanded bool, width int) ([]string, bool) {
	return r.ofCall(ctx, r.call, c, expanded, width, func(_ *lua.LState, args lua.LValue) lua.LValue { return args })
}

// Result is Message for the result of a tool, or for what a running one has reported last.
func (r Renderer) Result(ctx context.Context, c agent.DrawnCall, result agent.Result, expanded bool, width int) ([]string, bool) {
	return r.ofCall(ctx, r.result, c, expanded, width, func(L *lua.LState, _ lua.LValue) lua.LValue { return r.home.result(L, c.Name, result) })
}

// ofCall draws a call with fn, which is given what returns for the arguments of the call.
func (r Renderer) ofCall(ctx context.Context, fn *lua.LFunction, c agent.DrawnCall, expanded bool, width int,
	what func(L *lua.LState, args lua.LValue) lua.LValue) ([]string, bool) {
	return r.draw(ctx, fn, func(L *lua.LState) (lua.LValue, *lua.LTable) {
		args := r.home.records.Input(c.Name, c.Input)
		return what(L, args), r.home.drawingOfCall(L, c, args, expanded, width)
	})
}

// draw calls fn with what it draws and the options.
func (r Renderer) draw(ctx context.Context, fn *lua.LFunction, given func(*lua.LState) (what lua.LValue, opts *lua.LTable)) ([]string, bool) {
	if fn == nil {
		return nil, false
	}
	return r.home.jobs.render(ctx, "renderer of "+r.Name(), func(L *lua.LState) lua.LValue {
		what, opts := given(L)
		return callLua(L, fn, what, opts, r.home.theme.table())
	})
}
