package luavm

import (
	"slices"

	lua "github.com/yuin/gopher-lua"
)

// View is what [VM.ViewOf] shows: fields that the program has, each made anew when it is
// read, so that nothing Lua does to one changes what the next look sees.
type View struct {
	Of    string   // what messages call it: "pi.settings"
	Names []string // the fields that there are, sorted
	// Known are all that there may be; reading another one raises. nil: any, and one that there
	// is not is nil.
	Known []string
	Read  func(name string) lua.LValue // the value of one of Names
}

// viewMark hides behind the metatable of a view.
type viewMark struct {
	opaque
	view View
}

// ViewOf makes a read-only Lua value of fields. Assignment raises; pairs and JSON treat it as
// a table of its fields, as they do a [VM.Value].
func (vm *VM) ViewOf(v View) lua.LValue {
	L := vm.main
	meta := NewRecord(L, 4)
	setAll(L, meta, map[string]lua.LGFunction{
		"__index": func(L *lua.LState) int {
			name, isName := L.Get(2).(lua.LString)
			switch {
			case isName && slices.Contains(v.Names, string(name)):
				L.Push(v.Read(string(name)))
				return 1
			case isName && v.Known != nil && !slices.Contains(v.Known, string(name)):
				Raise(L, "%s has no field %q%s", v.Of, string(name), meant(string(name), v.Known))
			}
			return 0
		},
		"__newindex": func(L *lua.LState) int {
			Raise(L, "cannot set %s: %s is read-only", L.Get(2).String(), v.Of)
			return 0
		},
		"__tostring": func(L *lua.LState) int {
			L.Push(lua.LString(v.Of))
			return 1
		},
	})
	Set(meta, "__metatable", lua.LFalse)
	meta.Metatable = &viewMark{view: v}
	return &lua.LUserData{Value: v.Of, Env: L.Env, Metatable: meta}
}

// table returns the fields of a view as a fresh table.
func (m *viewMark) table(L *lua.LState) *lua.LTable {
	t := NewRecord(L, len(m.view.Names))
	for _, name := range m.view.Names {
		Set(t, name, m.view.Read(name))
	}
	return t
}
