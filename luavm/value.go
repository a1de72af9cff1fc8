package luavm

import (
	"fmt"
	"reflect"
	"strings"
	"unicode"

	lua "github.com/yuin/gopher-lua"
	luar "layeh.com/gopher-luar"
)

// Value makes a read-only Lua value of a struct: its exported fields under
// their snake_case names (or the name in a `lua:"name"` tag; "-" hides one),
// without its methods. Assignment raises. Fields that are lists or maps come
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
	L := vm.main
	config := luar.GetConfig(L)
	if config.FieldNames == nil {
		config.FieldNames = func(_ reflect.Type, f reflect.StructField) []string { return fieldNames(f) }
		config.MethodNames = func(reflect.Type, reflect.Method) []string { return nil }
	}
	meta := luar.MT(L, r.Interface())
	if meta.RawGetString("__newindex") == lua.LNil {
		vm.sealStruct(meta)
	}
	return luar.New(L, r.Interface())
}

// sealStruct makes luar's metatable of a struct type read-only, also below its
// fields.
func (vm *VM) sealStruct(meta *luar.Metatable) {
	fields := meta.RawGetString("fields").(*lua.LTable)
	vm.setAll(meta.LTable, map[string]lua.LGFunction{
		"__newindex": func(L *lua.LState) int {
			Raise(L, "cannot set %s: this value is read-only", L.Get(2).String())
			return 0
		},
		"__index": func(L *lua.LState) int {
			ud, ok := L.Get(1).(*lua.LUserData)
			index, _ := fields.RawGet(L.Get(2)).(*lua.LUserData)
			if !ok || index == nil {
				return 0
			}
			field, err := reflect.ValueOf(ud.Value).FieldByIndexErr(index.Value.([]int))
			if err != nil {
				return 0
			}
			L.Push(vm.toLua(L, field))
			return 1
		},
		"__tostring": func(L *lua.LState) int {
			L.Push(lua.LString("read-only value"))
			return 1
		},
	})
	Set(meta.LTable, "__metatable", lua.LFalse)
}

func fieldNames(f reflect.StructField) []string {
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
