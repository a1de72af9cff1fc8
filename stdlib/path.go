package stdlib

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"pi/internal/globs"
	"pi/luavm"

	"github.com/bmatcuk/doublestar/v4"
	lua "github.com/yuin/gopher-lua"
)

// openPath makes pi.path, which computes with the text of paths and looks at no
// file.
//
//	join(...)  dir(p)  base(p)  clean(p)  is_abs(p)
//	ext(p) → ".gz" of "a.tar.gz"     stem(p) → "a.tar"
//	abs(p, base?)                    base is the working directory
//	rel(p, base?)                    p as seen from base
//	split(p) → {"/", "usr", "bin"}
//	expand(p)                        a leading ~ is the home directory
//	match(p, pattern) → boolean      * ? [a-z] {a,b}, and ** for any depth
func openPath(vm *luavm.VM, L *lua.LState, env *Env) lua.LValue {
	m := newModule(vm, env, "path")
	m.fn("join", func(L *lua.LState, parts ...string) string {
		size := 0
		for _, part := range parts {
			size += len(part) + 1
		}
		luavm.Room(L, size) // joined
		luavm.Room(L, size) // and cleaned
		return filepath.Join(parts...)
	})
	m.fn("dir", filepath.Dir)
	m.fn("base", filepath.Base)
	m.fn("clean", filepath.Clean)
	m.fn("is_abs", filepath.IsAbs)
	m.fn("ext", extension)
	m.fn("stem", func(p string) string {
		base := filepath.Base(p)
		return strings.TrimSuffix(base, extension(base))
	})
	m.fn("abs", func(p string, base *string) string { return absolute(p, env.from(base)) })
	m.fn("rel", func(p string, base *string) (string, error) {
		from := env.from(base)
		return filepath.Rel(from, absolute(p, env.Cwd))
	})
	m.fn("split", func(L *lua.LState, p string) lua.LValue {
		luavm.Building(L, 2*listSlot*strings.Count(p, string(filepath.Separator)))
		return stringList(L, splitPath(p))
	})
	m.fn("expand", env.expandHome)
	m.fn("match", matchPath)
	return m.table()
}

// matchPath is path.match.
func matchPath(p, pattern string) (bool, error) {
	if err := globs.Check(pattern); err != nil {
		return false, luavm.Misusef("%v", err)
	}
	ok, err := doublestar.PathMatch(pattern, filepath.Clean(p))
	if err != nil {
		return false, luavm.Misusef("pattern %q: %v", pattern, err)
	}
	return ok, nil
}

// extension returns the ending of a name with its dot. A name such as .profile, which
// only begins with a dot, has none.
func extension(p string) string {
	base := filepath.Base(p)
	if ext := filepath.Ext(base); ext != base {
		return ext
	}
	return ""
}

// from returns an absolute path: base, which may be relative to the working directory,
// or the working directory itself if base is nil.
func (e *Env) from(base *string) string {
	if base == nil {
		return e.Cwd
	}
	return absolute(*base, e.Cwd)
}

// absolute returns p as it is if it is absolute, else joined to base; both cleaned.
func absolute(p, base string) string {
	if filepath.IsAbs(p) {
		return filepath.Clean(p)
	}
	return filepath.Join(base, p)
}

// splitPath splits a path into its parts. What makes it absolute, / or a volume, is the
// first.
func splitPath(p string) []string {
	p = filepath.Clean(p)
	volume := filepath.VolumeName(p)
	rest := p[len(volume):]
	var parts []string
	if strings.HasPrefix(rest, string(filepath.Separator)) {
		volume += string(filepath.Separator)
	}
	if volume != "" {
		parts = append(parts, volume)
	}
	for _, part := range strings.Split(rest, string(filepath.Separator)) {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return parts
}

// expandHome replaces a leading ~ by the home directory. ~name, of another user, is an
// error.
func (e *Env) expandHome(p string) (string, error) {
	if !strings.HasPrefix(p, "~") {
		return p, nil
	}
	rest := p[1:]
	if rest != "" && !os.IsPathSeparator(rest[0]) {
		return "", fmt.Errorf("expand %s: the home directory of another user is not known", p)
	}
	home, err := e.home()
	if err != nil {
		return "", fmt.Errorf("expand %s: %w", p, err)
	}
	return filepath.Join(home, rest), nil
}

// home returns the home directory of the user.
func (e *Env) home() (string, error) {
	if e.Getenv != nil {
		if home := e.Getenv("HOME"); home != "" {
			return home, nil
		}
	}
	return os.UserHomeDir()
}

// path returns p as an absolute path. An empty path stays empty, so that what is done
// with it fails.
func (e *Env) path(p string) string {
	if p == "" {
		return ""
	}
	return absolute(p, e.Cwd)
}
