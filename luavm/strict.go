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
	// Make makes a field when it is first looked for, and the table stores it then; nil for any other
	// name. Of a hundred functions a hook calls few. The fields belong to one table then. It may be nil.
	Make func(name string) lua.LValue
	// ReadOnly is what is raised where Lua writes a field that the table has not stored; "": nothing.
	ReadOnly string

	taken     map[string]bool              // fields that Make has made, or Lua has written before
	elsewhere func(of, name string) string // Options.Elsewhere
	modules   func(of, name string) string // Options.Modules
}

// strictMark is a strict metatable, and hides behind it.
type strictMark struct {
	opaque
	meta   lua.LTable
	fields *Fields
}

// newStrict makes what all strict metatables of a VM share.
func (vm *VM) newStrict() *lua.LTable {
	t := NewRecord(vm.main, 3)
	Set(t, "__index", vm.GFunc("index", func(L *lua.LState) int {
		t := L.CheckTable(1)
		return strictOf(t).index(L, t)
	}))
	Set(t, "__newindex", vm.GFunc("newindex", func(L *lua.LState) int {
		t := L.CheckTable(1)
		strictOf(t).write(L, t)
		return 0
	}))
	Set(t, "__metatable", lua.LFalse)
	return t
}

// Strict makes a metatable for tables with these fields. It may be shared by any
// number of them, unless fields are made.
func (vm *VM) Strict(f *Fields) *lua.LTable {
	f.elsewhere, f.modules = vm.opts.Elsewhere, vm.opts.Modules
	m := &strictMark{meta: *vm.strict, fields: f} // the hash part is that of all
	m.meta.Metatable = m
	return &m.meta
}

// StrictTable makes a table strict: its fields are those that it has now.
func (vm *VM) StrictTable(of string, t *lua.LTable) *lua.LTable {
	names := Keys(t)
	t.Metatable = vm.Strict(&Fields{Of: of, Names: func() []string { return names }})
	return t
}

// NewTable makes a strict table that stores nothing yet.
func (vm *VM) NewTable(f *Fields) *lua.LTable {
	t := NewRecord(vm.main, 4)
	t.Metatable = vm.Strict(f)
	return t
}

// index is called when Lua reads a field that a strict table does not store: it pushes one that is
// made now or live, nil for one that is empty, and raises for a name that the table does not
// have.
func (f *Fields) index(L *lua.LState, t *lua.LTable) int {
	name, ok := L.Get(2).(lua.LString)
	if !ok {
		return 0
	}
	if f.take(t, string(name)) {
		L.Push(t.RawGetString(string(name)))
		return 1
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

// write is called when Lua writes a field that a strict table does not store. One that was to be made
// is as one that is stored, and is not made any more.
func (f *Fields) write(L *lua.LState, t *lua.LTable) {
	name, isName := L.Get(2).(lua.LString)
	if stored := isName && f.take(t, string(name)); !stored && f.ReadOnly != "" {
		Raise(L, "%s", f.ReadOnly)
	}
	L.RawSet(t, L.Get(2), L.Get(3))
}

// take has the table store a field that was not made before; false if there is none of that name.
func (f *Fields) take(t *lua.LTable, name string) bool {
	if f.Make == nil || f.taken[name] || t.RawGetString(name) != lua.LNil {
		return false
	}
	v := f.Make(name)
	if v == nil {
		return false
	}
	if f.taken == nil {
		f.taken = map[string]bool{}
	}
	f.taken[name] = true
	Set(t, name, v)
	return true
}

// takeAll has the table store all fields that are made.
func (f *Fields) takeAll(t *lua.LTable) {
	if f == nil || f.Make == nil {
		return
	}
	for _, name := range f.Names() {
		f.take(t, name)
	}
}

// Stored is the field that a table stores, nil for none, as Lua would find it: it may be made just now.
func Stored(t *lua.LTable, name string) lua.LValue {
	if f := strictOf(t); f != nil {
		f.take(t, name)
	}
	return t.RawGetString(name)
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
	fill(L, t)
	name, isName := key.(lua.LString)
	if !isName {
		L.Push(t.RawGet(key))
		return 1
	}
	v := Stored(t, string(name))
	if f := strictOf(t); v == lua.LNil && f != nil && f.Live != nil {
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
