package stdlib

import (
	"fmt"
	"net/url"

	"pi/internal/printable"
	"pi/internal/unmarkup"
	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// maxMarkdown is how long the Markdown of a page may be: lists in lists are longer than their tags.
const maxMarkdown = 16 << 20

// openHTML makes pi.html: markdown(page, {base, main}?) → text, {title}. The page has at most 8 MiB. base is
// where its relative addresses begin; main leaves out what stands around the content.
func openHTML(vm *luavm.VM, L *lua.LState, env *Env) lua.LValue {
	m := newModule(vm, env, "html")
	m.fn("markdown", func(L *lua.LState, page string, opts lua.LValue) (lua.LValue, lua.LValue, error) {
		base := ""
		o := unmarkup.Options{Most: maxMarkdown, Look: func() { luavm.Building(L, looksApart) }}
		luavm.Unpack(L, 2, "html.markdown", luavm.Opt("base", &base), luavm.Opt("main", &o.Main))
		if base != "" {
			u, err := url.Parse(base)
			if err != nil || u.Scheme == "" {
				return nil, nil, luavm.Misusef("option \"base\" is an address such as https://example.com/, not %q", base)
			}
			o.Base = u
		}
		if len(page) > maxData {
			return nil, nil, fmt.Errorf("the page is larger than %s", printable.Bytes(maxData))
		}
		luavm.Building(L, 2*len(page))
		found, err := unmarkup.Markdown(page, o)
		if err != nil {
			return nil, nil, err
		}
		return lua.LString(found.Text), record(L, "title", lua.LString(found.Title)), nil
	})
	return m.table()
}
