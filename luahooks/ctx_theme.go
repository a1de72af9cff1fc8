package luahooks

import (
	"slices"
	"strings"

	"pi/agent"
	"pi/internal/suggest"
	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// newTheme makes ctx.ui.theme, which is also what renderers get. It paints for
// the front end that is there; without one, nothing.
func (in *instance) newTheme(L *lua.LState) *lua.LTable {
	t := luavm.NewRecord(L, 5)
	luavm.Set(t, "fg", in.vm.Func("fg", func(name, text string) (string, error) {
		if colors := agent.ThemeColors(); !slices.Contains(colors, name) {
			if near := suggest.Hint(name, colors); near != "" {
				return "", luavm.Misusef("unknown colour %q%s", name, near)
			}
			return "", luavm.Misusef("unknown colour %q; colours are %s", name, strings.Join(colors, ", "))
		}
		return in.chain.paint(name, text), nil
	}))
	for _, style := range agent.ThemeStyles() {
		luavm.Set(t, style, in.vm.Func(style, func(text string) string { return in.chain.paint(style, text) }))
	}
	return in.vm.StrictTable("theme", t)
}
