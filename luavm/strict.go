package luavm

import (
	"fmt"
	"slices"
	"strings"

	"pi/internal/suggest"

	lua "github.com/yuin/gopher-lua"
)

// A strict table raises where Lua reads a field that it does not have. In plain Lua
// that is nil, and then a gate that compares a mistyped event.toolName is open. A
// field that exists and is empty is nil as ever, and rawget asks without raising.

// Fields are the fields that the tables of a strict metatable have.
type Fields struct {
	Of    string          // what messages call such a table: "tool_call", "ctx.ui"
	Names func() []string // all its fields, those that are nil now among them
	// Live reads a field that is not stored in the table; ok is false for any other
	// name. It may be nil.
	Live func(L *lua.LState, name string) (v lua.LValue, ok bool, err error)

	elsewhere func(of, name string) string // Options.Elsewhere
	modules   func(of, name string) string // Options.Modules
}

// strictMark hides behind a strict metatable.
type strictMark struct {
	opaque
	fields *Fields
}

// Strict makes a metatable for tables with these fields. It may be shared by any
// number of them.
func (vm *VM) Strict(f *Fields) *lua.LTable {
	f.elsewhere, f.modules = vm.opts.Elsewhere, vm.opts.Modules
	meta := NewRecord(vm.main, 2)
	Set(meta, "__index", vm.GFunc("index", func(L *lua.LState) int { return f.index(L) }))
	Set(meta, "__metatable", lua.LFalse)
	meta.Metatable = &strictMark{fields: f}
	return meta
}

// StrictTable makes a table strict: its fields are those that it has now.
func (vm *VM) StrictTable(of string, t *lua.LTable) *lua.LTable {
	names := Keys(t)
	t.Metatable = vm.Strict(&Fields{Of: of, Names: func() []string { return names }})
	return t
}

// index is called when Lua reads a field that a strict table does not store: it pushes a
// live field, nil for one that is empty, and raises for a name that the table does not
// have.
func (f *Fields) index(L *lua.LState) int {
	name, ok := L.Get(2).(lua.LString)
	if !ok {
		return 0
	}
	if f.Live != nil {
		v, ok, err := f.Live(L, string(name))
		if err != nil {
			Raise(L, "%s.%s: %v", f.Of, name, err)
		}
		if ok {
			L.Push(v)
			return 1
		}
	}
	if names := f.Names(); !slices.Contains(names, string(name)) {
		Raise(L, "%s", NoField(f.Of, string(name), names, f.elsewhere, f.modules))
	}
	return 0
}

// NoField says that a table has no field of a name, and what was meant: a known one that shares words
// with it, one of another table, which elsewhere finds, or the nearest; and which modules have it.
// elsewhere and modules may be nil; see [Options].
func NoField(of, name string, known []string, elsewhere, modules func(of, name string) string) string {
	hint := meant(name, known)
	if elsewhere != nil && !suggest.SharesWords(name, known) {
		if other := elsewhere(of, name); other != "" {
			hint = "; it is " + other
		}
	}
	if modules != nil {
		hint += modules(of, name)
	}
	return fmt.Sprintf("%s has no field %q%s", of, name, hint)
}

// fewFields are as many as a message lists.
const fewFields = 12

// meant returns the end of a message about an unknown name: the nearest known one, or
// all if they are few, or "".
func meant(name string, known []string) string {
	if hint := suggest.Hint(name, known); hint != "" {
		return hint
	}
	if len(known) > fewFields {
		return ""
	}
	return "; it has " + strings.Join(known, ", ")
}

// strictOf returns what a table's fields are if it is strict.
func strictOf(t *lua.LTable) *Fields {
	switch m := markOf(t).(type) {
	case *strictMark:
		return m.fields
	case *origin:
		return m.fields
	}
	return nil
}

// rawGet is rawget: it never raises for an unknown field, and reads live fields too, so
// a hook can ask whether something exists.
func rawGet(L *lua.LState) int {
	t, key := L.CheckTable(1), L.CheckAny(2)
	Materialise(L, t)
	v := t.RawGet(key)
	name, isName := key.(lua.LString)
	if f := strictOf(t); v == lua.LNil && isName && f != nil && f.Live != nil {
		if live, ok, err := f.Live(L, string(name)); ok && err == nil {
			v = live
		}
	}
	L.Push(v)
	return 1
}

// StrictNames lists the fields that a strict table has, those that are nil now among them;
// nil for any other table.
func StrictNames(t *lua.LTable) []string {
	if f := strictOf(t); f != nil {
		return f.Names()
	}
	return nil
}
