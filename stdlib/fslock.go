package stdlib

import (
	"context"
	"errors"
	"path/filepath"

	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// fsLocked is fs.locked(path, fn): it calls fn while nobody else who asks changes what is at
// path, and returns what fn returns, or nil and a message when the lock cannot be had. What fn
// raises is raised.
func (m *module) fsLocked(L *lua.LState) int {
	m.env.Ready(L, "fs.locked")
	path, fn := L.CheckString(1), L.CheckFunction(2)
	if L.GetTop() > 2 {
		luavm.Raise(L, "'fs.locked' takes at most 2 arguments, got %d", L.GetTop())
	}
	var values []lua.LValue
	var failed error
	err := m.wait(L, "locked", func(ctx context.Context) error {
		var within context.Context
		var release func()
		if within, release, failed = m.lock(ctx, path); failed != nil {
			return nil
		}
		defer release()
		var err error
		values, err = m.env.Inside(within, "fs.locked", fn)
		return err
	})
	if failed != nil {
		values = []lua.LValue{lua.LNil, lua.LString(failed.Error())}
	}
	if raised, ok := errors.AsType[*luavm.Error](err); ok && raised.Value != nil {
		L.Error(raised.Value, 0) // as it was raised, with its place
	}
	if err != nil {
		luavm.Raise(L, "fs.locked: %v", err)
	}
	for _, v := range values {
		L.Push(v)
	}
	return len(values)
}

// lock locks the file that a path of a hook leads to, which need not be there.
func (m *module) lock(ctx context.Context, path string) (within context.Context, release func(), err error) {
	if path == "" {
		return nil, nil, errors.New("lock: the path is empty")
	}
	real, err := destination(filepath.Clean(m.env.path(path)))
	if err == nil {
		within, release, err = m.env.Locks.Lock(ctx, real)
	}
	return within, release, plain("lock", path, err)
}
