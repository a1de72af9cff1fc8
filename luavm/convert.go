package luavm

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"time"

	lua "github.com/yuin/gopher-lua"
)

var (
	typeState    = reflect.TypeFor[*lua.LState]()
	typeContext  = reflect.TypeFor[context.Context]()
	typeError    = reflect.TypeFor[error]()
	typeValue    = reflect.TypeFor[lua.LValue]()
	typeTable    = reflect.TypeFor[*lua.LTable]()
	typeFunction = reflect.TypeFor[*lua.LFunction]()
	typeStrings  = reflect.TypeFor[[]string]()

	typeDuration  = reflect.TypeFor[time.Duration]()
	typeStringMap = reflect.TypeFor[map[string]string]()
)

// wantedType returns the name of the Lua type that a parameter or option of a Go type
// takes, for messages; "" if it can be none.
func wantedType(t reflect.Type) string {
	switch t {
	case typeValue:
		return "value"
	case typeTable:
		return "table"
	case typeFunction:
		return "function"
	case typeStrings:
		return "list of strings"
	case typeStringMap:
		return "table of strings"
	case typeDuration:
		return "number of milliseconds"
	}
	switch k := t.Kind(); {
	case k == reflect.String:
		return "string"
	case k == reflect.Bool:
		return "boolean"
	case isNumber(k):
		return "number"
	case k == reflect.Pointer && (t.Elem().Kind() == reflect.String || t.Elem().Kind() == reflect.Bool || isNumber(t.Elem().Kind())):
		return wantedType(t.Elem())
	}
	return ""
}

func isNumber(k reflect.Kind) bool {
	return k >= reflect.Int && k <= reflect.Uint64 || k == reflect.Float32 || k == reflect.Float64
}

// toGo converts a Lua value to a Go type that wantedType knows; false if it is of
// another type. Numbers do not become strings or the other way round, except in lists
// and maps of strings.
func toGo(L *lua.LState, v lua.LValue, t reflect.Type) (reflect.Value, bool) {
	switch t {
	case typeValue:
		return reflect.ValueOf(&v).Elem(), true
	case typeTable:
		tb, ok := v.(*lua.LTable)
		if ok {
			Materialise(L, tb)
		}
		return reflect.ValueOf(tb), ok
	case typeFunction:
		fn, ok := v.(*lua.LFunction)
		return reflect.ValueOf(fn), ok
	case typeStrings:
		list, ok := Strings(L, v)
		return reflect.ValueOf(list), ok
	case typeStringMap:
		m, ok := StringMap(L, v)
		return reflect.ValueOf(m), ok
	case typeDuration:
		n, ok := v.(lua.LNumber)
		return reflect.ValueOf(time.Duration(float64(n) * float64(time.Millisecond))), ok
	}
	if t.Kind() == reflect.Pointer {
		if v == lua.LNil {
			return reflect.Zero(t), true
		}
		e, ok := toGo(L, v, t.Elem())
		if !ok {
			return reflect.Value{}, false
		}
		p := reflect.New(t.Elem())
		p.Elem().Set(e)
		return p, true
	}
	k, got := t.Kind(), v.Type()
	if got == lua.LTString && k == reflect.String || got == lua.LTBool && k == reflect.Bool || got == lua.LTNumber && isNumber(k) {
		return reflect.ValueOf(v).Convert(t), true
	}
	return reflect.Value{}, false
}

// toLua converts a result or a field of a struct to Lua. Lists and maps are copied;
// functions and channels are nil.
func toLua(L *lua.LState, r reflect.Value) lua.LValue {
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
	case reflect.String:
		if r.Len() > maxString {
			raiseTooLong(L)
		}
		return lua.LString(r.String())
	case reflect.Pointer, reflect.Interface:
		return toLua(L, r.Elem())
	case reflect.Struct:
		return structValue(L, r)
	case reflect.Slice, reflect.Array:
		if r.Kind() == reflect.Slice && r.Type().Elem().Kind() == reflect.Uint8 {
			if r.Len() > maxString {
				raiseTooLong(L)
			}
			return lua.LString(r.Bytes())
		}
		return NewList(L, r.Len(), func(i int) lua.LValue { return toLua(L, r.Index(i)) })
	case reflect.Map:
		t, keys := L.CreateTable(0, r.Len()), r.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		for _, k := range keys {
			t.RawSet(toLua(L, k), toLua(L, r.MapIndex(k)))
		}
		return t
	case reflect.Bool:
		return lua.LBool(r.Bool())
	case reflect.Float32, reflect.Float64:
		return lua.LNumber(r.Float())
	}
	switch {
	case r.CanInt():
		return lua.LNumber(r.Int())
	case r.CanUint():
		return lua.LNumber(r.Uint())
	}
	return lua.LNil // functions for Lua are made by Func
}
