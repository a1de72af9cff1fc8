package stdlib

import (
	"slices"

	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// openSchema makes pi.schema, which builds JSON Schema as the tables that
// pi.tool takes for parameters:
//
//	parameters = schema.object{
//	  path = schema.string("which file"),
//	  mode = schema.enum({ "fast", "slow" }, { default = "fast" }),
//	  limit = schema.optional(schema.integer{ minimum = 1 }),
//	}
//
//	object(properties, opts?)   all are required but the optional ones
//	string(opts?) number(opts?) integer(opts?) boolean(opts?) null(opts?) any(opts?)
//	enum(values, opts?)  const(value, opts?)  array(items?, opts?)
//	map(values?, opts?)         an object with any keys
//	any_of(schemas, opts?)      optional(schema)
//	check(schema, value) → true, or nil and {{path, message}, …}
//
// Instead of opts a description may be given. All take description, title,
// default and examples; further string: min_length, max_length, pattern, format,
// enum, secret (of pi.declare_settings); number and integer: minimum, maximum, exclusive_minimum,
// exclusive_maximum, multiple_of, enum; array: min_items, max_items,
// unique_items; object: additional_properties; map: min_properties,
// max_properties.
func openSchema(vm *luavm.VM, L *lua.LState, env *Env) lua.LValue {
	m := newModule(vm, env, "schema")
	for _, s := range []struct {
		name     string
		keywords []keyword
	}{
		{"string", []keyword{{"min_length", lua.LTNumber}, {"max_length", lua.LTNumber}, {"pattern", lua.LTString}, {"format", lua.LTString}, {"enum", lua.LTTable}, {"secret", lua.LTBool}}},
		{"number", numeric()}, {"integer", numeric()},
		{"boolean", nil}, {"null", nil}, {"any", nil},
	} {
		m.fn(s.name, func(L *lua.LState, opts lua.LValue) lua.LValue {
			t := typed(L, s.name)
			annotate(L, t, 1, "schema."+s.name, s.keywords)
			return t
		})
	}
	m.schemaOfParts()
	m.schemaOfChoices()
	m.stack("check", func(L *lua.LState) int {
		schema := L.CheckTable(1)
		if L.GetTop() > 2 {
			luavm.Raise(L, "'schema.check' takes at most 2 arguments, got %d", L.GetTop())
		}
		return m.schemaCheck(L, schema, L.Get(2))
	})
	return m.table()
}

// numeric lists the options of number and integer.
func numeric() []keyword {
	return []keyword{{"minimum", lua.LTNumber}, {"maximum", lua.LTNumber}, {"exclusive_minimum", lua.LTNumber},
		{"exclusive_maximum", lua.LTNumber}, {"multiple_of", lua.LTNumber}, {"enum", lua.LTTable}}
}

// typed returns a new schema for values of one type; for "any" an empty one, which fits
// all.
func typed(L *lua.LState, name string) *lua.LTable {
	if name == "any" {
		return L.NewTable()
	}
	return record(L, "type", lua.LString(name))
}

// schemaOfParts adds object, array, map and optional to the module.
func (m *module) schemaOfParts() {
	m.fn("object", func(L *lua.LState, properties *lua.LTable, opts lua.LValue) lua.LValue {
		t := typed(L, "object")
		fields, required := objectFields(L, properties)
		luavm.Set(t, "properties", fields)
		if len(required) > 0 {
			luavm.Set(t, "required", stringList(L, required))
		}
		annotate(L, t, 2, "schema.object", []keyword{{"additional_properties", lua.LTNil}})
		return t
	})
	m.fn("array", func(L *lua.LState, items, opts lua.LValue) lua.LValue {
		t := typed(L, "array")
		setSchema(L, t, "items", items, "schema.array")
		annotate(L, t, 2, "schema.array", []keyword{{"min_items", lua.LTNumber}, {"max_items", lua.LTNumber}, {"unique_items", lua.LTBool}})
		return t
	})
	m.fn("map", func(L *lua.LState, values, opts lua.LValue) lua.LValue {
		t := typed(L, "object")
		setSchema(L, t, "additionalProperties", values, "schema.map")
		annotate(L, t, 2, "schema.map", []keyword{{"min_properties", lua.LTNumber}, {"max_properties", lua.LTNumber}})
		return t
	})
	m.fn("optional", func(L *lua.LState, schema *lua.LTable) lua.LValue {
		return &lua.LUserData{Value: optional{schema}, Env: L.Env, Metatable: lua.LNil}
	})
}

// schemaOfChoices adds enum, const and any_of to the module.
func (m *module) schemaOfChoices() {
	m.fn("enum", func(L *lua.LState, values *lua.LTable, opts lua.LValue) (lua.LValue, error) {
		t := L.NewTable()
		if kind := kindOf(values); kind != "" {
			luavm.Set(t, "type", lua.LString(kind))
		}
		if values.Len() == 0 {
			return nil, luavm.Misusef("a list of values is needed")
		}
		luavm.Set(t, "enum", values)
		annotate(L, t, 2, "schema.enum", nil)
		return t, nil
	})
	m.fn("const", func(L *lua.LState, value, opts lua.LValue) (lua.LValue, error) {
		if value == lua.LNil {
			return nil, luavm.Misusef("a value is needed")
		}
		t := record(L, "const", value)
		annotate(L, t, 2, "schema.const", nil)
		return t, nil
	})
	m.fn("any_of", func(L *lua.LState, schemas *lua.LTable, opts lua.LValue) (lua.LValue, error) {
		for i := 1; i <= schemas.Len(); i++ {
			if _, ok := schemas.RawGetInt(i).(*lua.LTable); !ok {
				return nil, luavm.Misusef("element %d is no schema but a %s", i, schemas.RawGetInt(i).Type())
			}
		}
		if schemas.Len() == 0 {
			return nil, luavm.Misusef("a list of schemas is needed")
		}
		t := record(L, "anyOf", schemas)
		annotate(L, t, 2, "schema.any_of", nil)
		return t, nil
	})
}

// optional is what schema.optional returns: only object knows what to do with
// it.
type optional struct{ schema *lua.LTable }

// objectFields copies the properties of an object, and lists those that are not
// optional, in the order in which they were written. What is no schema raises.
func objectFields(L *lua.LState, properties *lua.LTable) (fields *lua.LTable, required []string) {
	fields = L.NewTable()
	for k, v := properties.Next(lua.LNil); k != lua.LNil; k, v = properties.Next(k) {
		name, ok := k.(lua.LString)
		if !ok {
			luavm.Raise(L, "schema.object: properties have names, not %s", k)
		}
		if ud, ok := v.(*lua.LUserData); ok {
			if o, ok := ud.Value.(optional); ok {
				luavm.Set(fields, string(name), o.schema)
				continue
			}
		}
		if _, ok := v.(*lua.LTable); !ok {
			luavm.Raise(L, "schema.object: property %q is no schema but a %s", string(name), v.Type())
		}
		luavm.Set(fields, string(name), v)
		required = append(required, string(name))
	}
	return fields, required
}

// setSchema sets a key of t to a schema; nil sets nothing, and anything else raises.
func setSchema(L *lua.LState, t *lua.LTable, key string, schema lua.LValue, function string) {
	switch schema.(type) {
	case *lua.LTable:
		luavm.Set(t, key, schema)
	case *lua.LNilType:
	default:
		luavm.RaiseArg(L, 1, function, "schema expected, got %s", schema.Type())
	}
}

// kindOf returns the JSON type of the values of a list if all have the same, else "".
func kindOf(values *lua.LTable) string {
	kind := ""
	for i := 1; i <= values.Len(); i++ {
		k := map[lua.LValueType]string{lua.LTString: "string", lua.LTNumber: "number", lua.LTBool: "boolean"}[values.RawGetInt(i).Type()]
		if k == "" || i > 1 && k != kind {
			return ""
		}
		kind = k
	}
	return kind
}

// keyword is an option of a schema: its name in Lua and the type of its value;
// LTNil is any.
type keyword struct {
	name string
	kind lua.LValueType
}

// annotate adds to the schema t what argument n of the function says: a text is its
// description, a table has options, which are description, title, default, examples and
// those of more.
func annotate(L *lua.LState, t *lua.LTable, n int, function string, more []keyword) {
	if s, ok := L.Get(n).(lua.LString); ok {
		luavm.Set(t, "description", s)
		return
	}
	keywords := append([]keyword{{"description", lua.LTString}, {"title", lua.LTString}, {"default", lua.LTNil}, {"examples", lua.LTTable}}, more...)
	values := make([]lua.LValue, len(keywords))
	options := make([]luavm.Option, len(keywords))
	for i, k := range keywords {
		options[i] = luavm.Opt(k.name, &values[i])
	}
	luavm.Unpack(L, n, function, options...)
	for i, k := range keywords {
		switch v := values[i]; {
		case v == nil:
		case k.kind != lua.LTNil && v.Type() != k.kind:
			luavm.Raise(L, "%s", luavm.WrongOption(function, k.name, k.kind.String(), v.Type().String()))
		default:
			luavm.Set(t, camelCase(k.name), v)
		}
	}
}

// camelCase turns min_length into minLength.
func camelCase(name string) string {
	b := []byte(name)
	for i := slices.Index(b, '_'); i >= 0 && i+1 < len(b); i = slices.Index(b, '_') {
		b[i+1] -= 'a' - 'A'
		b = slices.Delete(b, i, i+1)
	}
	return string(b)
}
