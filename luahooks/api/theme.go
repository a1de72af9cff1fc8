package api

import (
	"fmt"
	"slices"
	"strings"

	"pi/agent"
	"pi/internal/markdown"
	"pi/internal/suggest"
	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// theme is ctx.ui.theme, which is also what renderers get. It paints for the front
// end that is there; without one, nothing.
type theme struct {
	*bridge
	ui    func() agent.UI // nil before there is a front end
	table *lua.LTable
}

// The most that theme.markdown draws.
const (
	mostMarkdown = 1 << 20 // bytes
	mostColumns  = 1000
)

// open makes the table of the theme, with a function for each style, and stores it for
// renderers.
func (t *theme) open(L *lua.LState) *lua.LTable {
	table := luavm.NewRecord(L, 10)
	t.add(table, part{"fg": t.fg, "bg": t.bg, "rgb": t.rgb, "names": agent.ThemeColors, "markdown": t.markdown})
	for _, style := range agent.ThemeStyles() {
		t.add(table, part{style: func(text string) string { return t.paint(style, text) }})
	}
	t.table = t.vm.StrictTable("theme", table)
	return t.table
}

// fg is theme.fg(name, text): text in a colour, for the terminal. An unknown colour raises.
func (t *theme) fg(name, text string) (string, error) {
	return t.paint(name, text), checkColour(name)
}

// bg is theme.bg(name, text): text on a background. An unknown colour raises.
func (t *theme) bg(name, text string) (string, error) {
	if ui := t.ui(); ui != nil {
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
	for _, v := range []float64{red, green, blue} {
		if !(v >= 0 && v <= 255) {
			return "", luavm.Misusef("red, green and blue are numbers from 0 to 255, not %v", v)
		}
	}
	if ui := t.ui(); ui != nil {
		return ui.Theme().RGB(uint8(red), uint8(green), uint8(blue), text), nil
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
	if ui := t.ui(); ui != nil {
		return ui.Theme().Paint(style, text)
	}
	return text
}
