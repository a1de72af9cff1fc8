package luavm

import (
	"fmt"
	"reflect"
	"slices"

	lua "github.com/yuin/gopher-lua"
)

// Option is one key of an option table; see Opt.
type Option struct {
	name     string
	into     reflect.Value
	required bool
}

// Opt names a key and where its value goes. into is a pointer to a string,
// bool, number, lua.LValue, *lua.LTable, *lua.LFunction, []string,
// map[string]string or time.Duration (milliseconds in Lua), or a pointer to a
// pointer to a string, bool or number, which stays nil when the key is absent.
// What is absent keeps its value.
func Opt(name string, into any) Option {
	v := reflect.ValueOf(into)
	if v.Kind() != reflect.Pointer || v.IsNil() || wantedType(v.Type().Elem()) == "" {
		panic(fmt.Sprintf("luavm: option %s cannot be put into a %T", name, into))
	}
	return Option{name: name, into: v.Elem()}
}

// Required makes the absence of an option an error.
func (o Option) Required() Option {
	o.required = true
	return o
}

// Unpack reads the option table at argument n of a function. nil or nothing
// there counts as an empty table. Unknown keys, wrong types and missing
// required options raise at the caller's line.
func Unpack(L *lua.LState, n int, function string, options ...Option) {
	switch v := L.Get(n).(type) {
	case *lua.LTable:
		UnpackTable(L, v, function, options...)
	case *lua.LNilType:
		UnpackTable(L, NewRecord(L, 0), function, options...)
	default:
		RaiseArg(L, n, function, "table expected, got %s", v.Type())
	}
}

// UnpackTable is Unpack for a table that is not an argument itself.
func UnpackTable(L *lua.LState, t *lua.LTable, function string, options ...Option) {
	Materialise(L, t)
	rejectUnknown(L, t, function, options)
	for _, o := range options {
		v := t.RawGetString(o.name)
		switch {
		case v != lua.LNil:
			r, ok := toGo(L, v, o.into.Type())
			if !ok {
				Raise(L, "%s", WrongOption(function, o.name, wantedType(o.into.Type()), v.Type().String()))
			}
			o.into.Set(r)
		case o.required:
			Raise(L, "%s", MissingOption(function, o.name))
		}
	}
}

// rejectUnknown raises if a table has a key that is no option.
func rejectUnknown(L *lua.LState, t *lua.LTable, function string, options []Option) {
	for k, _ := t.Next(lua.LNil); k != lua.LNil; k, _ = t.Next(k) {
		known := func(o Option) bool { return lua.LString(o.name) == k }
		if slices.ContainsFunc(options, known) {
			continue
		}
		names := make([]string, len(options))
		for i, o := range options {
			names[i] = o.name
		}
		name := k.String()
		Raise(L, "%s", UnknownOption(function, name, names))
	}
}

// UnknownOption, WrongOption and MissingOption are what is said of a table of options, also by who
// reads it in the text of a hook.
func UnknownOption(function, name string, known []string) string {
	return fmt.Sprintf("%s: unknown option %q%s", function, name, meant(name, known))
}

// WrongOption is said of an option that is no want but a value of another type.
func WrongOption(function, name, want, got string) string {
	return fmt.Sprintf("%s: option %q must be a %s, not a %s", function, name, want, got)
}

// MissingOption is said of an option that has to be given.
func MissingOption(function, name string) string {
	return fmt.Sprintf("%s: option %q is missing", function, name)
}

// Strings returns a list of strings and numbers as strings; false for anything else. One
// that is larger than any string may be raises.
func Strings(L *lua.LState, v lua.LValue) ([]string, bool) {
	t, ok := v.(*lua.LTable)
	if !ok {
		return nil, false
	}
	Materialise(L, t)
	list, size := make([]string, 0, t.Len()), 0
	for k, e := t.Next(lua.LNil); k != lua.LNil; k, e = t.Next(k) {
		if k != lua.LNumber(len(list)+1) || !lua.LVCanConvToString(e) {
			return nil, false
		}
		list = append(list, e.String())
		if size += len(list[len(list)-1]); size > maxString {
			Raise(L, "the strings of a list are together larger than %d MiB", maxString>>20)
		}
	}
	return list, true
}

// StringMap returns a table of names and strings or numbers as a map; false for anything
// else.
func StringMap(L *lua.LState, v lua.LValue) (map[string]string, bool) {
	t, ok := v.(*lua.LTable)
	if !ok {
		return nil, false
	}
	Materialise(L, t)
	m := map[string]string{}
	for k, e := t.Next(lua.LNil); k != lua.LNil; k, e = t.Next(k) {
		s, isString := k.(lua.LString)
		if !isString || !lua.LVCanConvToString(e) {
			return nil, false
		}
		m[string(s)] = e.String()
	}
	return m, true
}
