package stdlib

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"pi/luavm"

	"github.com/BurntSushi/toml"
	lua "github.com/yuin/gopher-lua"
)

// openTOML makes pi.toml: decode(text) → table, of at most 8 MiB, nested at most 256 deep. Dates and times are
// texts as they stand in ISO 8601, and keys come in the order of their names.
func openTOML(vm *luavm.VM, L *lua.LState, env *Env) lua.LValue {
	m := newModule(vm, env, "toml")
	m.fn("decode", func(L *lua.LState, text string) (lua.LValue, error) {
		if len(text) > maxData {
			return nil, fmt.Errorf("decode TOML: %w", errTooLarge)
		}
		if err := checkTOML(text); err != nil {
			return nil, fmt.Errorf("decode TOML: %w", err)
		}
		luavm.Building(L, tomlPart*len(text))
		var value map[string]any
		if _, err := toml.Decode(text, &value); err != nil {
			return nil, fmt.Errorf("decode TOML: %w", withLine(err))
		}
		return fromTOML(L, value), nil
	})
	return m.table()
}

// tomlPart is about what a byte of TOML takes while it is parsed, at most: a list of a digit and
// a comma has a value for each two.
const tomlPart = 32

// withLine puts the line into an error of the parser.
func withLine(err error) error {
	if parse, ok := errors.AsType[toml.ParseError](err); ok {
		return fmt.Errorf("line %d: %s", parse.Position.Line, parse.Message)
	}
	return err
}

// fromTOML makes a Lua value of one that the parser made.
func fromTOML(L *lua.LState, v any) lua.LValue {
	switch v := v.(type) {
	case string:
		return lua.LString(v)
	case int64:
		return lua.LNumber(v)
	case float64:
		return lua.LNumber(v)
	case bool:
		return lua.LBool(v)
	case time.Time:
		return lua.LString(v.Format(layoutOf(v)))
	case []any:
		return list(L, len(v), func(i int) lua.LValue { return fromTOML(L, v[i]) })
	case []map[string]any:
		return list(L, len(v), func(i int) lua.LValue { return fromTOML(L, v[i]) })
	case map[string]any:
		luavm.Building(L, len(v)*listSlot)
		t := luavm.NewRecord(L, len(v))
		for _, name := range slices.Sorted(maps.Keys(v)) {
			luavm.Set(t, name, fromTOML(L, v[name]))
		}
		return t
	}
	return lua.LNil // there is no other type
}

// layoutOf is how a date or time was written: the parser marks those without a zone.
func layoutOf(t time.Time) string {
	switch t.Location().String() {
	case "datetime-local":
		return "2006-01-02T15:04:05.999999999"
	case "date-local":
		return "2006-01-02"
	case "time-local":
		return "15:04:05.999999999"
	}
	return time.RFC3339Nano
}
