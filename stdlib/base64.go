package stdlib

import (
	"encoding/base64"
	"fmt"
	"strings"

	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// openBase64 makes pi.base64.
//
//	encode(bytes) → text       the standard alphabet, padded
//	decode(text) → bytes       line breaks are passed over; padding may be missing
//	url_encode(bytes) → text   - and _ for + and /, not padded
//	url_decode(text) → bytes   padded or not
func openBase64(vm *luavm.VM, L *lua.LState, env *Env) lua.LValue {
	m := newModule(vm, env, "base64")
	m.fn("encode", func(L *lua.LState, s string) string { return encode64(L, base64.StdEncoding, s) })
	m.fn("decode", func(L *lua.LState, s string) (string, error) { return decode64(L, base64.RawStdEncoding, s) })
	m.fn("url_encode", func(L *lua.LState, s string) string { return encode64(L, base64.RawURLEncoding, s) })
	m.fn("url_decode", func(L *lua.LState, s string) (string, error) { return decode64(L, base64.RawURLEncoding, s) })
	return m.table()
}

// encode64 encodes a text, for which its bytes are copied, and the result once more.
func encode64(L *lua.LState, e *base64.Encoding, s string) string {
	luavm.Building(L, len(s)+2*e.EncodedLen(len(s)))
	return e.EncodeToString([]byte(s))
}

// decode64 decodes base64 with or without padding at its end. Padding elsewhere is an
// error.
func decode64(L *lua.LState, raw *base64.Encoding, s string) (string, error) {
	luavm.Building(L, 2*raw.DecodedLen(len(s)))
	trimmed := strings.TrimRight(s, "=\r\n")
	if pad := strings.Count(s[len(trimmed):], "="); pad > 2 {
		return "", fmt.Errorf("decode base64: %d padding characters", pad)
	}
	b, err := raw.DecodeString(trimmed)
	if err != nil {
		return "", fmt.Errorf("decode base64: %w", err)
	}
	return string(b), nil
}
