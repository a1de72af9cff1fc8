package luavm

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode"

	lua "github.com/yuin/gopher-lua"
)

// Value makes a read-only Lua value of a struct: its exported fields under
// their snake_case names (or the name in a `lua:"name"` tag; "-" hides one),
// without its methods. Assignment raises, and so does reading what it has not. Fields that are lists or maps come
// out as fresh tables. The struct is copied; later changes are not seen.
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
	return vm.structValue(r)
}

func (vm *VM) structValue(r reflect.Value) lua.LValue {
	ud := vm.main.NewUserData()
	ud.Value, ud.Metatable = r.Interface(), vm.structMeta(r.Type())
	return ud
}

// structMeta is the metatable of the values of a struct type. A library that
// does this for any Go value looks its methods up by number, and then the linker
// keeps every exported method of the whole program.
func (vm *VM) structMeta(typ reflect.Type) *lua.LTable {
	if meta := vm.structs[typ]; meta != nil {
		return meta
	}
	fields := fieldsOf(typ)
	meta := NewRecord(vm.main, 5)
	vm.setAll(meta, map[string]lua.LGFunction{
		"__index":    func(L *lua.LState) int { return vm.structField(L, fields) },
		"__newindex": structSealed,
		"__eq":       structEqual,
		"__tostring": structString,
	})
	Set(meta, "__metatable", lua.LFalse)
	if vm.structs == nil {
		vm.structs = map[reflect.Type]*lua.LTable{}
	}
	vm.structs[typ] = meta
	return meta
}

func (vm *VM) structField(L *lua.LState, fields map[string][]int) int {
	ud, ok := L.Get(1).(*lua.LUserData)
	name, isName := L.Get(2).(lua.LString)
	if !ok || !isName {
		return 0
	}
	index, known := fields[string(name)]
	if !known {
		names := slices.Sorted(maps.Keys(fields))
		Raise(L, "this value has no field %q%s", name, orList(string(name), names))
	}
	field, err := reflect.ValueOf(ud.Value).FieldByIndexErr(index)
	if err != nil { // of an embedded struct that is not there
		return 0
	}
	L.Push(vm.toLua(L, field))
	return 1
}

func structSealed(L *lua.LState) int {
	Raise(L, "cannot set %s: this value is read-only", L.Get(2).String())
	return 0
}

func structEqual(L *lua.LState) int {
	a, b := L.CheckUserData(1), L.CheckUserData(2)
	L.Push(lua.LBool(reflect.DeepEqual(a.Value, b.Value)))
	return 1
}

func structString(L *lua.LState) int {
	L.Push(lua.LString("read-only value"))
	return 1
}

// fieldsOf lists where the fields of a struct are, by their names in Lua, those
// of embedded structs among them.
func fieldsOf(typ reflect.Type) map[string][]int {
	fields := map[string][]int{}
	for _, f := range reflect.VisibleFields(typ) {
		if name := fieldName(f); name != "" && f.IsExported() {
			fields[name] = f.Index
		}
	}
	return fields
}

// fieldName is what Lua calls a field; "" hides it.
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

// toLua converts a result or a field. Lists and maps are copied.
func (vm *VM) toLua(L *lua.LState, r reflect.Value) lua.LValue {
	if !r.IsValid() {
		return lua.LNil
	}
	if r.Type().Implements(typeValue) {
		if (r.Kind() == reflect.Pointer || r.Kind() == reflect.Interface) && r.IsNil() {
			return lua.LNil
		}
		return r.Interface().(lua.LValue)
	}
	switch r.Kind() {
	case reflect.Bool:
		return lua.LBool(r.Bool())
	case reflect.String:
		if r.Len() > maxString {
			raiseTooLong(L)
		}
		return lua.LString(r.String())
	case reflect.Pointer, reflect.Interface:
		return vm.toLua(L, r.Elem())
	case reflect.Struct:
		return vm.structValue(r)
	case reflect.Slice, reflect.Array:
		return vm.sliceToLua(L, r)
	case reflect.Map:
		return vm.mapToLua(L, r)
	}
	return numberToLua(r)
}

func (vm *VM) sliceToLua(L *lua.LState, r reflect.Value) lua.LValue {
	if r.Kind() == reflect.Slice && r.Type().Elem().Kind() == reflect.Uint8 {
		if r.Len() > maxString {
			raiseTooLong(L)
		}
		return lua.LString(r.Bytes())
	}
	return NewList(L, r.Len(), func(i int) lua.LValue { return vm.toLua(L, r.Index(i)) })
}

func (vm *VM) mapToLua(L *lua.LState, r reflect.Value) lua.LValue {
	t := L.CreateTable(0, r.Len())
	for _, k := range sortedKeys(r) {
		t.RawSet(vm.toLua(L, k), vm.toLua(L, r.MapIndex(k)))
	}
	return t
}

func numberToLua(r reflect.Value) lua.LValue {
	switch {
	case r.CanInt():
		return lua.LNumber(r.Int())
	case r.CanUint():
		return lua.LNumber(r.Uint())
	case r.CanFloat():
		return lua.LNumber(r.Float())
	}
	return lua.LNil
}
