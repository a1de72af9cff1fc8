package luavm

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode"

	lua "github.com/yuin/gopher-lua"
	luar "layeh.com/gopher-luar"
)

// Value makes a read-only Lua value of a struct: its exported fields under
// their snake_case names (or the name in a `lua:"name"` tag; "-" hides one),
// without its methods. Assignment raises, and so does reading what it has not, with
// the name that was probably meant. Fields that are lists or maps come out as fresh
// tables. The struct is copied; later changes are not seen. It is for what the program
// shows of itself (a model, usage, a hook), never for what belongs to a session. pairs
// and JSON treat it as a table of its fields.
//
// Value panics if v is not a struct or a pointer to one.
func (vm *VM) Value(v any) lua.LValue {
	r := reflect.ValueOf(v)
	if r.Kind() == reflect.Pointer {
		if r.IsNil() {
			return lua.LNil
		}
		r = r.Elem()
	}
	if r.Kind() != reflect.Struct {
		panic(fmt.Sprintf("luavm: %T is no struct", v))
	}
	return structValue(vm.main, r)
}

// structValue makes the Lua value of a struct with gopher-luar, which knows the fields
// and keeps one metatable for each type. At the first value of a type the functions in
// that are replaced.
func structValue(L *lua.LState, r reflect.Value) lua.LValue {
	config := luar.GetConfig(L)
	if config.FieldNames == nil {
		config.FieldNames = fieldNames
		config.MethodNames = func(reflect.Type, reflect.Method) []string { return nil }
	}
	v := r.Interface()
	if meta := luar.MT(L, v); meta.RawGetString("__newindex") == lua.LNil {
		makeReadOnly(L, meta.LTable)
	}
	return luar.New(L, v)
}

// makeReadOnly changes the metatable that gopher-luar has for a struct type. By itself
// it answers nil for an unknown field, hands out lists and maps that can be written and
// have no ipairs, and panics when two structs that have lists are compared.
func makeReadOnly(L *lua.LState, meta *lua.LTable) {
	fields := meta.RawGetString("fields").(*lua.LTable)
	setAll(L, meta, map[string]lua.LGFunction{
		"__index": func(L *lua.LState) int { return structField(L, fields) },
		"__newindex": func(L *lua.LState) int {
			Raise(L, "cannot set %s: this value is read-only", L.Get(2).String())
			return 0
		},
		"__eq": func(L *lua.LState) int {
			L.Push(lua.LBool(reflect.DeepEqual(L.CheckUserData(1).Value, L.CheckUserData(2).Value)))
			return 1
		},
		"__tostring": func(L *lua.LState) int {
			L.Push(lua.LString("read-only value"))
			return 1
		},
	})
	Set(meta, "__metatable", lua.LFalse)
	names := Keys(fields)
	slices.SortFunc(names, func(a, b string) int { return slices.Compare(indexOf(fields, a), indexOf(fields, b)) })
	meta.Metatable = &valueMark{fields: fields, names: names}
}

// valueMark hides behind the metatable of a struct type.
type valueMark struct {
	opaque
	fields *lua.LTable
	names  []string // of the fields, in the order of the struct
}

// indexOf is the index of a field among those that gopher-luar has of a type.
func indexOf(fields *lua.LTable, name string) []int {
	return fields.RawGetString(name).(*lua.LUserData).Value.([]int)
}

// valueTable returns the fields of a value made by [VM.Value] as a fresh table, in the
// order of the struct; nil for anything else.
func valueTable(L *lua.LState, v lua.LValue) *lua.LTable {
	ud, ok := v.(*lua.LUserData)
	if !ok {
		return nil
	}
	meta, ok := ud.Metatable.(*lua.LTable)
	if !ok {
		return nil
	}
	m, ok := meta.Metatable.(*valueMark)
	if !ok {
		return nil
	}
	t := NewRecord(L, len(m.names))
	for _, name := range m.names {
		Set(t, name, fieldOf(L, ud, m.fields.RawGetString(name)))
	}
	return t
}

// structField is __index of a value: it raises for an unknown field.
func structField(L *lua.LState, fields *lua.LTable) int {
	ud, ok := L.Get(1).(*lua.LUserData)
	name, isName := L.Get(2).(lua.LString)
	if !ok || !isName {
		return 0
	}
	index, known := fields.RawGetString(string(name)).(*lua.LUserData)
	if !known {
		Raise(L, "this value has no field %q%s", name, orList(string(name), Keys(fields)))
	}
	L.Push(fieldOf(L, ud, index))
	return 1
}

// fieldOf is a field of a struct, by the index that gopher-luar has of it.
func fieldOf(L *lua.LState, of *lua.LUserData, index lua.LValue) lua.LValue {
	field, err := reflect.ValueOf(of.Value).FieldByIndexErr(index.(*lua.LUserData).Value.([]int))
	if err != nil { // the field is in an embedded pointer that is nil
		return lua.LNil
	}
	return toLua(L, field)
}

// fieldNames returns the name that a struct field has in Lua, for gopher-luar; none
// hides the field.
func fieldNames(_ reflect.Type, f reflect.StructField) []string {
	switch tag := f.Tag.Get("lua"); tag {
	case "-":
		return nil
	case "":
		return []string{snakeCase(f.Name)}
	default:
		return []string{tag}
	}
}

// snakeCase turns SessionID into session_id and MaxTokens into max_tokens.
func snakeCase(name string) string {
	var b strings.Builder
	r := []rune(name)
	for i, c := range r {
		if unicode.IsUpper(c) && i > 0 && (!unicode.IsUpper(r[i-1]) || i+1 < len(r) && unicode.IsLower(r[i+1])) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(c))
	}
	return b.String()
}
