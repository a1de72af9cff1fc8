package stdlib

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// fsReal is fs.real. Links are followed before ".." is, as the system does it:
// link/../x lies beside what link leads to.
func (m *module) fsReal(L *lua.LState, path string, opts lua.LValue) (string, error) {
	missing := false
	luavm.Unpack(L, 2, "fs.real", luavm.Opt("missing", &missing))
	if path == "" {
		return "", errors.New("resolve: the path is empty")
	}
	full := path
	if !filepath.IsAbs(full) {
		full = m.env.Cwd + string(filepath.Separator) + full
	}
	resolve := filepath.EvalSymlinks
	if missing {
		resolve = destination
	}
	real, err := resolve(full)
	return real, plain("resolve", path, err)
}

// maxLinks is how many links a path may lead through.
const maxLinks = 255

// destination returns the path without links at which something is, or would be made:
// parts that do not exist stay as they are, and a link to nowhere is followed.
func destination(path string) (string, error) {
	root := filepath.VolumeName(path) + string(filepath.Separator)
	at, parts := root, steps(path[len(root)-1:])
	for links := 0; len(parts) > 0; {
		part := parts[0]
		parts = parts[1:]
		if part == ".." {
			at = filepath.Dir(at)
			continue
		}
		next := filepath.Join(at, part)
		info, err := os.Lstat(next)
		missing := errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ENAMETOOLONG)
		if err != nil && !missing {
			return "", err
		}
		if missing || info.Mode()&os.ModeSymlink == 0 {
			at = next
			continue
		}
		target, err := os.Readlink(next)
		if err != nil {
			return "", err
		}
		if links++; links > maxLinks {
			return "", &os.PathError{Op: "resolve", Path: path, Err: fmt.Errorf("more than %d links", maxLinks)}
		}
		if filepath.IsAbs(target) {
			at, target = root, target[len(filepath.VolumeName(target)):]
		}
		parts = append(steps(target), parts...)
	}
	return at, nil
}

// steps splits a path into its parts, without empty ones and dots.
func steps(path string) []string {
	var parts []string
	for _, part := range strings.Split(filepath.ToSlash(path), "/") {
		if part != "" && part != "." {
			parts = append(parts, part)
		}
	}
	return parts
}
