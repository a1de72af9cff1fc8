package stdlib

import (
	"crypto/hmac"
	"crypto/md5"
	"crypto/rand"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"fmt"
	"hash"

	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

const maxRandom = 1 << 20

// openHash makes pi.hash. Sums are lower-case hexadecimal text.
//
//	sha256(bytes)  sha512(bytes)  sha1(bytes)  md5(bytes)
//	hmac_sha256(key, bytes)
//	hex(bytes) → text      unhex(text) → bytes
//	random(n) → bytes      that nobody can guess
//
// sha1 and md5 are there to talk to others; they protect nothing.
func openHash(vm *luavm.VM, L *lua.LState, env *Env) lua.LValue {
	m := newModule(vm, env, "hash")
	for name, sum := range map[string]func() hash.Hash{"sha256": sha256.New, "sha512": sha512.New, "sha1": sha1.New, "md5": md5.New} {
		m.fn(name, func(L *lua.LState, s string) string { return hashed(sum(), s, looking(L)) })
	}
	m.fn("hmac_sha256", func(L *lua.LState, key, s string) string {
		luavm.Room(L, len(key))
		return hashed(hmac.New(sha256.New, []byte(key)), s, looking(L))
	})
	m.fn("hex", func(L *lua.LState, s string) string {
		luavm.Building(L, 5*len(s)) // its bytes, and twice the result
		return hex.EncodeToString([]byte(s))
	})
	m.fn("random", func(n int) (string, error) {
		if n < 0 || n > maxRandom {
			return "", luavm.Misusef("so many bytes: 0 to %d, not %d", maxRandom, n)
		}
		b := make([]byte, n)
		_, _ = rand.Read(b) // it never fails
		return string(b), nil
	})
	m.fn("unhex", func(L *lua.LState, s string) (string, error) {
		luavm.Building(L, 2*len(s)) // its bytes, and twice the result, which is half of it
		b, err := hex.DecodeString(s)
		if err != nil {
			return "", fmt.Errorf("decode hexadecimal: %w", err)
		}
		return string(b), nil
	})
	return m.table()
}

// hashed returns the sum of a text in hexadecimal, which is read piece by piece.
func hashed(sum hash.Hash, s string, look func(n int)) string {
	const apart = 8 << 10
	for len(s) > 0 {
		n := min(len(s), apart)
		look(n)
		sum.Write([]byte(s[:n]))
		s = s[n:]
	}
	return hex.EncodeToString(sum.Sum(nil))
}
