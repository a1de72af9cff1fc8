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
	m := newModule(vm, L, env, "hash")
	m.fn("sha256", func(s string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(s))) })
	m.fn("sha512", func(s string) string { return fmt.Sprintf("%x", sha512.Sum512([]byte(s))) })
	m.fn("sha1", func(s string) string { return fmt.Sprintf("%x", sha1.Sum([]byte(s))) })
	m.fn("md5", func(s string) string { return fmt.Sprintf("%x", md5.Sum([]byte(s))) })
	m.fn("hmac_sha256", func(key, s string) string {
		mac := hmac.New(sha256.New, []byte(key))
		mac.Write([]byte(s))
		return hex.EncodeToString(mac.Sum(nil))
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
	m.fn("unhex", func(s string) (string, error) {
		b, err := hex.DecodeString(s)
		if err != nil {
			return "", fmt.Errorf("decode hexadecimal: %w", err)
		}
		return string(b), nil
	})
	return m.table
}
