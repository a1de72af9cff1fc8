package api

import (
	"slices"
	"strings"

	"pi/agent"
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

// open makes the table of the theme, with a function for each style, and stores it for
// renderers.
func (t *theme) open(L *lua.LState) *lua.LTable {
	table := luavm.NewRecord(L, 5)
	t.add(table, part{"fg": t.fg})
	for _, style := range agent.ThemeStyles() {
		t.add(table, part{style: func(text string) string { return t.paint(style, text) }})
	}
	t.table = t.vm.StrictTable("theme", table)
	return t.table
}

// fg is theme.fg(name, text): text in a colour, for the terminal. An unknown colour raises.
func (t *theme) fg(name, text string) (string, error) {
	if colors := agent.ThemeColors(); !slices.Contains(colors, name) {
		if near := suggest.Hint(name, colors); near != "" {
			return "", luavm.Misusef("unknown colour %q%s", name, near)
		}
		return "", luavm.Misusef("unknown colour %q; colours are %s", name, strings.Join(colors, ", "))
	}
	return t.paint(name, text), nil
}

func (t *theme) paint(style, text string) string {
	if ui := t.ui(); ui != nil {
		return ui.Theme().Paint(style, text)
	}
	return text
}
