package stdlib

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"pi/internal/printable"
	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// openFS makes pi.fs. Relative paths begin in the working directory.
//
//	read(path, {max_bytes}?) → text         a regular file of at most 64 MiB
//	write(path, text, {mkdir, append, exclusive}?)   whole or not at all; keeps the mode
//	exists(path) → boolean
//	stat(path, {follow}?) → {name, kind, size, mode, modified}
//	list(path?) → {{name, kind}, …}         sorted by name
//	glob(pattern, {dir, files}?) → {path, …}   sorted; ** is any depth
//	mkdir(path, {parents}?)
//	remove(path, {recursive}?)
//	real(path, {missing}?) → path           absolute, without symbolic links
//	watch(path, fn, {delay}?) → {close}     fn{path, kind = create|write|remove}
//	temp({dir, suffix}?) → path             an empty file or directory that goes with the hook
//	chmod(path, mode)                       octal text such as "600"
//	rename(from, to)                        in the place of a file that is there
//	copy(from, to, {recursive}?)            whole or not at all
//	locked(path, fn) → what fn returns      while nobody else who asks changes it
//
// kind is "file", "directory", "link" or "other"; mode is octal text such as
// "0644"; modified is a time of pi.time. A pattern that begins in no root is
// looked for below dir, and so are its results written. append adds to the end
// of a file in place. mkdir of write makes missing directories; exclusive fails with "exists" where
// something is, and so do rename and copy where a directory is. What exists
// only as a link to nowhere does not exist, but stat with follow = false sees it. real
// with missing answers for a path that does not exist where it would be made.
//
// What only looks works while the hook loads: rules that stand in a file of their own are
// there for the first event.
func openFS(vm *luavm.VM, L *lua.LState, env *Env) lua.LValue {
	m := newModule(vm, env, "fs")
	m.fn("read", m.fsRead)
	m.act("write", m.fsWrite)
	m.fn("exists", func(path string) bool {
		_, err := os.Stat(env.path(path))
		return err == nil
	})
	m.fn("stat", m.fsStat)
	m.fn("list", m.fsList)
	m.fn("glob", m.fsGlob)
	m.act("mkdir", func(L *lua.LState, path string, opts lua.LValue) error {
		parents := false
		luavm.Unpack(L, 2, "fs.mkdir", luavm.Opt("parents", &parents))
		if parents {
			return plain("make directory", path, os.MkdirAll(env.path(path), 0o777))
		}
		return plain("make directory", path, os.Mkdir(env.path(path), 0o777))
	})
	m.act("remove", func(L *lua.LState, path string, opts lua.LValue) error {
		recursive := false
		luavm.Unpack(L, 2, "fs.remove", luavm.Opt("recursive", &recursive))
		return plain("remove", path, remove(env.path(path), env.Cwd, recursive))
	})
	m.fn("real", m.fsReal)
	m.act("watch", m.fsWatch)
	m.act("temp", m.fsTemp(&temporary{}))
	m.act("chmod", m.fsChmod)
	m.act("rename", m.fsRename)
	m.act("copy", m.fsCopy)
	m.stack("locked", m.fsLocked)
	return m.table()
}

// plain returns the error of an operation on a path as "doing path: reason", with the
// path as the hook wrote it; nil for nil.
func plain(doing, path string, err error) error {
	if err == nil {
		return nil
	}
	if path == "" {
		return fmt.Errorf("%s: the path is empty", doing)
	}
	return fmt.Errorf("%s %s: %w", doing, path, bare(err))
}

// bare is an error of the system without the operation and the paths.
func bare(err error) error {
	if inner, ok := errors.AsType[*fs.PathError](err); ok {
		err = inner.Err
	}
	if link, ok := errors.AsType[*os.LinkError](err); ok {
		err = link.Err
	}
	return err
}

// fsRead is fs.read.
func (m *module) fsRead(L *lua.LState, path string, opts lua.LValue) (string, error) {
	limit := maxText
	luavm.Unpack(L, 2, "fs.read", luavm.Opt("max_bytes", &limit))
	if limit < 0 || limit > maxText {
		return "", luavm.Misusef("option \"max_bytes\" is at most %d", maxText)
	}
	if info, err := os.Stat(m.env.path(path)); err == nil {
		luavm.Room(L, int(min(info.Size(), int64(limit))))
	}
	text, err := readText(m.env.path(path), limit)
	return text, plain("read", path, err)
}

// readText reads a regular file of at most limit bytes.
func readText(path string, limit int) (string, error) {
	f, err := openRegular(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	if info.Size() > int64(limit) {
		return "", fmt.Errorf("it is larger than %s", printable.Bytes(limit))
	}
	var b strings.Builder
	b.Grow(int(info.Size()) + 1)
	n, err := io.Copy(&b, io.LimitReader(f, int64(limit)+1))
	if err == nil && n > int64(limit) { // it grew, or does not say its size, as in /proc
		err = fmt.Errorf("it is larger than %s", printable.Bytes(limit))
	}
	return b.String(), err
}

// fsStat is fs.stat.
func (m *module) fsStat(L *lua.LState, path string, opts lua.LValue) (lua.LValue, error) {
	follow, stat := true, os.Stat
	luavm.Unpack(L, 2, "fs.stat", luavm.Opt("follow", &follow))
	if !follow {
		stat = os.Lstat
	}
	info, err := stat(m.env.path(path))
	if err != nil {
		return nil, plain("stat", path, err)
	}
	return record(L, "name", lua.LString(info.Name()), "kind", lua.LString(kindOfMode(info.Mode())), "size", lua.LNumber(info.Size()),
		"mode", lua.LString(fmt.Sprintf("%04o", info.Mode().Perm())), "modified", lua.LNumber(info.ModTime().UnixMilli())), nil
}

// kindOfMode is "file", "directory", "link" or "other".
func kindOfMode(mode fs.FileMode) string {
	switch {
	case mode.IsRegular():
		return "file"
	case mode.IsDir():
		return "directory"
	case mode&fs.ModeSymlink != 0:
		return "link"
	}
	return "other"
}

// notRegular is the error that says what there is in place of a regular file.
func notRegular(mode fs.FileMode) error {
	kind := kindOfMode(mode)
	if kind == "other" {
		kind = "device, pipe or socket"
	}
	return fmt.Errorf("it is a %s", kind)
}

// fsList is fs.list; without a path it lists the working directory.
func (m *module) fsList(L *lua.LState, path *string) (lua.LValue, error) {
	dir := "."
	if path != nil {
		dir = *path
	}
	entries, err := os.ReadDir(m.env.path(dir))
	if err != nil {
		return nil, plain("list", dir, err)
	}
	return list(L, len(entries), func(i int) lua.LValue {
		return record(L, "name", lua.LString(entries[i].Name()), "kind", lua.LString(kindOfMode(entries[i].Type())))
	}), nil
}

// remove deletes a file or an empty directory, or with recursive a whole tree. Then it
// refuses the working directory cwd and directories that it lies in, which nobody means.
func remove(path, cwd string, recursive bool) error {
	if _, err := os.Lstat(path); err != nil {
		return err
	}
	if !recursive {
		return os.Remove(path)
	}
	if isInside(cwd, path) {
		return errors.New("the working directory lies in it")
	}
	return os.RemoveAll(path)
}

// isInside reports whether dir is outer or lies below it. Links in both paths are
// resolved, but not outer itself, which would be removed as a link.
func isInside(dir, outer string) bool {
	if real, err := filepath.EvalSymlinks(filepath.Dir(outer)); err == nil {
		outer = filepath.Join(real, filepath.Base(outer))
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	rel, err := filepath.Rel(outer, dir)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}
