package luavm

import (
	"slices"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// openStrings replaces what gopher-lua's library does otherwise than Lua 5.1, or
// without bounds. Letters are those of ASCII, so that bytes that are no text
// stay what they are.
func openStrings(L *lua.LState, g *lua.LTable) {
	t := g.RawGetString("string").(*lua.LTable)
	Set(t, "dump", lua.LNil)
	setAll(L, t, map[string]lua.LGFunction{
		"find": stringFind, "match": stringMatch, "gmatch": stringGmatch, "gsub": stringGsub,
		"format": stringFormat, "rep": stringRep, "byte": stringByte, "char": stringChar, "reverse": stringReverse,
		"lower": func(L *lua.LState) int { return mapBytes(L, 'A', 'Z') },
		"upper": func(L *lua.LState) int { return mapBytes(L, 'a', 'z') },
	})
	Set(t, "gfind", t.RawGetString("gmatch"))
}

// stringRep is string.rep.
func stringRep(L *lua.LState) int {
	s := L.CheckString(1)
	n := L.CheckNumber(2)
	if !(n >= 1) || s == "" { // written so that NaN counts too
		L.Push(lua.LString(""))
		return 1
	}
	if float64(n)*float64(len(s)) > maxString {
		raiseTooLong(L)
	}
	Room(L, int(n)*len(s))
	L.Push(lua.LString(strings.Repeat(s, int(n))))
	return 1
}

// stringByte is string.byte. More results than maxResults raise before the Lua stack
// grows for them.
func stringByte(L *lua.LState) int {
	s := L.CheckString(1)
	from := L.OptInt(2, 1)
	to := L.OptInt(3, from)
	from, to = max(placeIn(s, from), 1), min(placeIn(s, to), len(s))
	if to-from >= maxResults {
		L.RaiseError("string slice too long")
	}
	for i := from; i <= to; i++ {
		L.Push(lua.LNumber(s[i-1]))
	}
	return max(0, to-from+1)
}

// placeIn returns a position in a text, counted from 1, for one that is negative if it
// counts from the end; 0 if that is before the beginning.
func placeIn(s string, i int) int {
	if i < 0 {
		return max(i+len(s)+1, 0)
	}
	return i
}

// stringChar is string.char.
func stringChar(L *lua.LState) int {
	b := make([]byte, L.GetTop())
	for i := range b {
		n := L.CheckNumber(i + 1)
		if n < 0 || n >= 256 {
			RaiseArg(L, i+1, "char", "invalid value")
		}
		b[i] = byte(n)
	}
	L.Push(lua.LString(b))
	return 1
}

// stringReverse is string.reverse.
func stringReverse(L *lua.LState) int {
	s := L.CheckString(1)
	b := bytesOf(L, s)
	slices.Reverse(b)
	L.Push(lua.LString(b))
	return 1
}

// bytesOf returns a copy of s as bytes, which become another string; it asks for room
// for both.
func bytesOf(L *lua.LState, s string) []byte {
	Room(L, len(s)) // for the bytes
	Room(L, len(s)) // and for the string
	return []byte(s)
}

// mapBytes is string.lower and upper: it changes the case of the ASCII letters from
// first to last.
func mapBytes(L *lua.LState, first, last byte) int {
	s := L.CheckString(1)
	i := 0
	for i < len(s) && (s[i] < first || s[i] > last) {
		i++
	}
	if i == len(s) {
		L.Push(lua.LString(s))
		return 1
	}
	b := bytesOf(L, s)
	for ; i < len(b); i++ {
		if b[i] >= first && b[i] <= last {
			b[i] ^= ' '
		}
	}
	L.Push(lua.LString(b))
	return 1
}
