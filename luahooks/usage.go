package luahooks

import (
	"pi/luavm"
	"pi/session"

	lua "github.com/yuin/gopher-lua"
)

func usageTable(L *lua.LState, u *session.Usage) *lua.LTable {
	t := L.CreateTable(0, 6)
	t.RawSetString("input", lua.LNumber(u.Input))
	t.RawSetString("output", lua.LNumber(u.Output))
	t.RawSetString("cache_read", lua.LNumber(u.CacheRead))
	t.RawSetString("cache_write", lua.LNumber(u.CacheWrite))
	t.RawSetString("total", lua.LNumber(u.TotalTokens))
	cost := L.CreateTable(0, 5)
	cost.RawSetString("input", lua.LNumber(u.Cost.Input))
	cost.RawSetString("output", lua.LNumber(u.Cost.Output))
	cost.RawSetString("cache_read", lua.LNumber(u.Cost.CacheRead))
	cost.RawSetString("cache_write", lua.LNumber(u.Cost.CacheWrite))
	cost.RawSetString("total", lua.LNumber(u.Cost.Total))
	t.RawSetString("cost", cost)
	return t
}

// usageFrom is the inverse; a total that is not given is the sum. Misuse raises.
func usageFrom(L *lua.LState, t *lua.LTable) *session.Usage {
	var u session.Usage
	var cost *lua.LTable
	luavm.UnpackTable(L, t, "usage", luavm.Opt("input", &u.Input), luavm.Opt("output", &u.Output),
		luavm.Opt("cache_read", &u.CacheRead), luavm.Opt("cache_write", &u.CacheWrite),
		luavm.Opt("total", &u.TotalTokens), luavm.Opt("cost", &cost))
	if u.TotalTokens == 0 {
		u.TotalTokens = u.Input + u.Output + u.CacheRead + u.CacheWrite
	}
	if cost != nil {
		luavm.UnpackTable(L, cost, "usage: cost", luavm.Opt("input", &u.Cost.Input), luavm.Opt("output", &u.Cost.Output),
			luavm.Opt("cache_read", &u.Cost.CacheRead), luavm.Opt("cache_write", &u.Cost.CacheWrite), luavm.Opt("total", &u.Cost.Total))
	}
	return &u
}
