package stdlib

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"sync"

	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// temporary are the files and directories of a hook that are removed when it ends.
type temporary struct {
	mu    sync.Mutex
	paths []string // nil: nothing waits for the end
}

// keep notes a path for the end of the hook. It is false, and the path is nobody's, if the
// hook has ended.
func (t *temporary) keep(env *Env, path string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.paths == nil && !env.Spawn(t.removeAtEnd) {
		return false
	}
	t.paths = append(t.paths, path)
	return true
}

// removeAtEnd waits for the end of the hook and removes what it made.
func (t *temporary) removeAtEnd(life context.Context) {
	<-life.Done()
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, path := range t.paths {
		_ = os.RemoveAll(path) // the hook may have removed it
	}
}

// fsTemp is fs.temp: it makes an empty file, or a directory, that only the user can read.
func (m *module) fsTemp(t *temporary) any {
	return func(L *lua.LState, opts lua.LValue) (string, error) {
		dir, suffix := false, ""
		luavm.Unpack(L, 1, "fs.temp", luavm.Opt("dir", &dir), luavm.Opt("suffix", &suffix))
		if strings.ContainsAny(suffix, `/\*`) {
			return "", luavm.Misusef("option \"suffix\" is the end of a name, such as \".md\", not %q", suffix)
		}
		path, err := makeTemp(dir, "pi-*"+suffix)
		if err == nil && !t.keep(m.env, path) {
			_ = os.RemoveAll(path)
			err = errors.New("the hook has ended")
		}
		return path, plain("make", "a temporary file", err)
	}
}

// makeTemp makes a file or a directory in the directory that the system has for those.
func makeTemp(dir bool, pattern string) (string, error) {
	if dir {
		return os.MkdirTemp("", pattern)
	}
	f, err := os.CreateTemp("", pattern)
	if err != nil {
		return "", err
	}
	return f.Name(), f.Close()
}

// fsChmod is fs.chmod. Only the nine bits of access can be set: a program that runs as
// another user is not made by accident.
func (m *module) fsChmod(path, mode string) error {
	bits, err := strconv.ParseUint(mode, 8, 32)
	if err != nil || len(mode) < 3 || bits > 0o777 {
		return luavm.Misusef("the mode is octal text such as \"600\", at most \"777\", not %q", mode)
	}
	return plain("change the mode of", path, os.Chmod(m.env.path(path), fs.FileMode(bits)))
}
