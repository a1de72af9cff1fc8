package luavm

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode"

	lua "github.com/yuin/gopher-lua"
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

// structValue makes the Lua value of a struct. All values of a type have one metatable,
// which is made with the first.
func structValue(L *lua.LState, r reflect.Value) lua.LValue {
	ud := L.NewUserData()
	ud.Value, ud.Metatable = r.Interface(), structMeta(L, r.Type())
	return ud
}

// structMetas are the metatables of struct types, in the registry of a VM: two types may
// have one name.
type structMetas struct {
	opaque
	of map[reflect.Type]*lua.LTable
}

// structMeta is the metatable of a struct type in a VM.
func structMeta(L *lua.LState, t reflect.Type) *lua.LTable {
	const key = "pi.values"
	registry := L.Get(lua.RegistryIndex).(*lua.LTable)
	metas, ok := registry.RawGetString(key).(*structMetas)
	if !ok {
		metas = &structMetas{of: map[reflect.Type]*lua.LTable{}}
		registry.RawSetString(key, metas)
	}
	if metas.of[t] == nil {
		metas.of[t] = newStructMeta(L, t)
	}
	return metas.of[t]
}

// newStructMeta makes a metatable whose values can be read, and nothing else.
func newStructMeta(L *lua.LState, t reflect.Type) *lua.LTable {
	meta, fields := L.NewTable(), fieldsOf(t)
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
	meta.Metatable = &valueMark{fields: fields}
	return meta
}

// valueMark hides behind the metatable of a struct type.
type valueMark struct {
	opaque
	fields *structFields
}

// structFields are the fields of a struct type under their names in Lua.
type structFields struct {
	names []string         // in the order of the struct
	index map[string][]int // for reflect.Value.FieldByIndexErr
}

// fieldsOf finds the exported fields of a struct type, those of embedded structs too. Of
// fields with one name the first counts.
func fieldsOf(t reflect.Type) *structFields {
	fields := &structFields{index: map[string][]int{}}
	for _, f := range reflect.VisibleFields(t) {
		name := fieldName(f)
		if _, known := fields.index[name]; known || name == "" || !f.IsExported() {
			continue
		}
		fields.names = append(fields.names, name)
		fields.index[name] = f.Index
	}
	return fields
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
	t := NewRecord(L, len(m.fields.names))
	for _, name := range m.fields.names {
		Set(t, name, fieldOf(L, ud, m.fields.index[name]))
	}
	return t
}

// structField is __index of a value: it raises for an unknown field.
func structField(L *lua.LState, fields *structFields) int {
	ud, ok := L.Get(1).(*lua.LUserData)
	name, isName := L.Get(2).(lua.LString)
	if !ok || !isName {
		return 0
	}
	index, known := fields.index[string(name)]
	if !known {
		Raise(L, "this value has no field %q%s", name, Meant(string(name), slices.Sorted(slices.Values(fields.names))))
	}
	L.Push(fieldOf(L, ud, index))
	return 1
}

// fieldOf is a field of a struct, by its index.
func fieldOf(L *lua.LState, of *lua.LUserData, index []int) lua.LValue {
	field, err := reflect.ValueOf(of.Value).FieldByIndexErr(index)
	if err != nil { // the field is in an embedded pointer that is nil
		return lua.LNil
	}
	return toLua(L, field)
}

// fieldName is the name that a struct field has in Lua; "" hides the field.
func fieldName(f reflect.StructField) string {
	switch tag := f.Tag.Get("lua"); tag {
	case "-":
		return ""
	case "":
		return snakeCase(f.Name)
	default:
		return tag
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
