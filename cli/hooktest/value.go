package hooktest

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// longest is how many bytes of a value a message shows.
const longest = 600

// shown is a Lua value as its author would write it, cut where it is long.
func shown(L *lua.LState, v lua.LValue) string {
	text := written(L, v, 0)
	if len(text) > longest {
		text = strings.ToValidUTF8(text[:longest], "") + "…"
	}
	return text
}

// deepest is how many tables are shown inside each other.
const deepest = 8

func written(L *lua.LState, v lua.LValue, depth int) string {
	switch v := v.(type) {
	case lua.LString:
		return strconv.Quote(string(v))
	case *lua.LTable:
		if depth == deepest {
			return "{ … }"
		}
		return writtenTable(L, v, depth)
	}
	return L.ToStringMeta(v).String()
}

func writtenTable(L *lua.LState, t *lua.LTable, depth int) string {
	luavm.Materialise(L, t)
	var parts []string
	n := t.Len()
	for i := 1; i <= n; i++ {
		parts = append(parts, written(L, t.RawGetInt(i), depth+1))
	}
	var named []string
	t.ForEach(func(k, e lua.LValue) {
		if i, ok := k.(lua.LNumber); ok && float64(i) == math.Trunc(float64(i)) && i >= 1 && int(i) <= n {
			return // it is a place in the list
		}
		name := "[" + written(L, k, depth+1) + "]"
		if s, ok := k.(lua.LString); ok && isWord(string(s)) {
			name = string(s)
		}
		named = append(named, name+" = "+written(L, e, depth+1))
	})
	slices.Sort(named)
	if parts = append(parts, named...); len(parts) == 0 {
		return "{}"
	}
	return "{ " + strings.Join(parts, ", ") + " }"
}

func isWord(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789") == "" && (s[0] < '0' || s[0] > '9')
}

// same reports whether two values are the same, tables by what is in them. depth is how deep
// in others they are.
func same(L *lua.LState, a, b lua.LValue, depth int) bool {
	ta, aIsTable := a.(*lua.LTable)
	tb, bIsTable := b.(*lua.LTable)
	switch {
	case aIsTable && bIsTable && depth < 50:
		return sameTable(L, ta, tb, depth)
	case aIsTable || bIsTable:
		return false
	}
	return a == b || L.Equal(a, b)
}

func sameTable(L *lua.LState, a, b *lua.LTable, depth int) bool {
	if a == b {
		return true
	}
	luavm.Materialise(L, a)
	luavm.Materialise(L, b)
	n, all := 0, true
	a.ForEach(func(k, v lua.LValue) {
		n++
		all = all && same(L, v, b.RawGet(k), depth+1)
	})
	b.ForEach(func(_, _ lua.LValue) { n-- })
	return all && n == 0
}

// plain makes a Go value of settings in Lua: texts, numbers, booleans, lists and tables.
func plain(L *lua.LState, v lua.LValue) (any, error) {
	switch v := v.(type) {
	case lua.LString:
		return string(v), nil
	case lua.LNumber:
		return float64(v), nil
	case lua.LBool:
		return bool(v), nil
	case *lua.LTable:
		luavm.Materialise(L, v)
		if first, _ := v.Next(lua.LNil); v.Len() > 0 || first == lua.LNil {
			list := []any{}
			for i := 1; i <= v.Len(); i++ {
				e, err := plain(L, v.RawGetInt(i))
				if err != nil {
					return nil, err
				}
				list = append(list, e)
			}
			return list, nil
		}
		return plainTable(L, v)
	}
	return nil, fmt.Errorf("a %s cannot be a setting", v.Type())
}

func plainTable(L *lua.LState, t *lua.LTable) (map[string]any, error) {
	values := map[string]any{}
	for k, v := t.Next(lua.LNil); k != lua.LNil; k, v = t.Next(k) {
		name, ok := k.(lua.LString)
		if !ok {
			return nil, fmt.Errorf("%s is no name of a setting", k)
		}
		value, err := plain(L, v)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		values[string(name)] = value
	}
	return values, nil
}
