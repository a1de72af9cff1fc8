package luavm

import (
	"fmt"

	lua "github.com/yuin/gopher-lua"
)

// What Lua hands in is read with bounds. A table may hold itself, and a list the
// same large text a million times: that costs a hook nothing, and what is made of
// it could end the program.

const (
	// maxListed is how many elements a list may have that is made into something.
	maxListed = 100_000
	// maxHanded is how many bytes of text there may be in it, however often it is
	// the same text.
	maxHanded = 64 << 20
)

// ListLen is the length of a list, which it fills if it is a stub; one that is too long is an
// error.
func ListLen(L *lua.LState, list *lua.LTable) (int, error) {
	Materialise(L, list)
	n := list.Len()
	if n > maxListed {
		return 0, fmt.Errorf("the list has %d elements, more than %d", n, maxListed)
	}
	return n, nil
}

// Size counts the bytes that were read.
type Size int

// Add counts n bytes; too many together are an error.
func (h *Size) Add(n int) error {
	if *h += Size(n); *h > maxHanded {
		return fmt.Errorf("it is larger than %d MiB", maxHanded>>20)
	}
	return nil
}
