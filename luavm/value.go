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

// structValue makes the Lua value of a struct with gopher-luar, which finds and converts
// its fields and keeps one metatable for each type. That is made stricter with the first
// value of a type.
func structValue(L *lua.LState, r reflect.Value) lua.LValue {
	ud := luar.New(L, r.Interface()).(*lua.LUserData)
	if meta := ud.Metatable.(*lua.LTable); meta.Metatable == lua.LNil {
		makeStrictValues(L, meta, r.Type())
	}
	return ud
}

// nameFields tells gopher-luar which names the fields of structs have in a VM. Methods
// have none.
func nameFields(L *lua.LState) {
	config := luar.GetConfig(L)
	config.FieldNames = func(_ reflect.Type, f reflect.StructField) []string {
		switch tag := f.Tag.Get("lua"); tag {
		case "-":
			return nil // none hides the field
		case "":
			return []string{snakeCase(f.Name)}
		default:
			return []string{tag}
		}
	}
	config.MethodNames = func(reflect.Type, reflect.Method) []string { return nil }
}

// makeStrictValues changes the metatable that gopher-luar has for a struct type. By itself
// it gives nil for a field that there is not, hands out lists, maps and inner structs that
// can be written to, panics where an embedded pointer is nil or two structs with lists are
// compared, and asks a method for the text of a value.
func makeStrictValues(L *lua.LState, meta *lua.LTable, t reflect.Type) {
	m := newValueMark(meta, t)
	setAll(L, meta, map[string]lua.LGFunction{
		"__index": m.index,
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
	meta.Metatable = m
}

// valueMark hides behind the metatable of a struct type.
type valueMark struct {
	opaque
	names []string         // of the fields, in the order of the struct
	paths map[string][]int // of all fields, for reflect.Value.FieldByIndexErr
	parts map[string][]int // of those that gopher-luar must not read
	plain lua.LGFunction   // how gopher-luar reads the others
}

// newValueMark looks at the metatable that gopher-luar made for a struct type.
func newValueMark(meta *lua.LTable, t reflect.Type) *valueMark {
	m := &valueMark{paths: map[string][]int{}, parts: map[string][]int{}, plain: meta.RawGetString("__index").(*lua.LFunction).GFunction}
	fields := meta.RawGetString("fields").(*lua.LTable)
	m.names = Keys(fields)
	for _, name := range m.names {
		path := fields.RawGetString(name).(*lua.LUserData).Value.([]int)
		m.paths[name] = path
		if !isPlain(t, path) {
			m.parts[name] = path
		}
	}
	slices.SortFunc(m.names, func(a, b string) int { return slices.Compare(m.paths[a], m.paths[b]) })
	return m
}

// isPlain reports whether a field, by its path, is a boolean, a number or a string that is
// there in every struct of the type.
func isPlain(t reflect.Type, path []int) bool {
	for i, n := range path {
		if i > 0 && t.Kind() == reflect.Pointer {
			return false // an embedded one, which may be nil
		}
		t = t.Field(n).Type
	}
	k := t.Kind()
	return k == reflect.Bool || k == reflect.String || isNumber(k)
}

// index is __index of a value: it raises for an unknown field.
func (m *valueMark) index(L *lua.LState) int {
	name, isName := L.Get(2).(lua.LString)
	if !isName {
		return 0
	}
	if path, ok := m.parts[string(name)]; ok {
		L.Push(partOf(L, L.CheckUserData(1), path))
		return 1
	}
	if m.plain(L) == 0 {
		Raise(L, "this value has no field %q%s", name, meant(string(name), slices.Sorted(slices.Values(m.names))))
	}
	return 1
}

// partOf is a field of a struct as a value that Lua cannot change the struct by.
func partOf(L *lua.LState, of *lua.LUserData, path []int) lua.LValue {
	field, err := reflect.ValueOf(of.Value).FieldByIndexErr(path)
	if err != nil { // the field is in an embedded pointer that is nil
		return lua.LNil
	}
	return toLua(L, field)
}

// valueTable returns the fields of a value made by [VM.Value] or [VM.ViewOf] as a fresh
// table, in their order; nil for anything else.
func valueTable(L *lua.LState, v lua.LValue) *lua.LTable {
	ud, ok := v.(*lua.LUserData)
	if !ok {
		return nil
	}
	meta, ok := ud.Metatable.(*lua.LTable)
	if !ok {
		return nil
	}
	if view, ok := meta.Metatable.(*viewMark); ok {
		return view.table(L)
	}
	m, ok := meta.Metatable.(*valueMark)
	if !ok {
		return nil
	}
	t := NewRecord(L, len(m.names))
	for _, name := range m.names {
		Set(t, name, partOf(L, ud, m.paths[name]))
	}
	return t
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
