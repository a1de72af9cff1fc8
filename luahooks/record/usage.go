package record

import (
	"pi/luavm"
	"pi/session/message"

	lua "github.com/yuin/gopher-lua"
)

// Usage is the table of what a message, a run or a tool used.
func Usage(L *lua.LState, u *message.Usage) *lua.LTable {
	t := luavm.NewRecord(L, 6)
	luavm.Set(t, "input", lua.LNumber(u.Input))
	luavm.Set(t, "output", lua.LNumber(u.Output))
	luavm.Set(t, "cache_read", lua.LNumber(u.CacheRead))
	luavm.Set(t, "cache_write", lua.LNumber(u.CacheWrite))
	luavm.Set(t, "total", lua.LNumber(u.TotalTokens))
	cost := luavm.NewRecord(L, 5)
	luavm.Set(cost, "input", lua.LNumber(u.Cost.Input))
	luavm.Set(cost, "output", lua.LNumber(u.Cost.Output))
	luavm.Set(cost, "cache_read", lua.LNumber(u.Cost.CacheRead))
	luavm.Set(cost, "cache_write", lua.LNumber(u.Cost.CacheWrite))
	luavm.Set(cost, "total", lua.LNumber(u.Cost.Total))
	luavm.Set(t, "cost", cost)
	return t
}

// UsageFrom is the inverse of Usage; a total that is not given is the sum. Misuse raises.
func UsageFrom(L *lua.LState, t *lua.LTable) *message.Usage {
	var u message.Usage
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
