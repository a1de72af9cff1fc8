package stdlib

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"

	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// fsWrite is fs.write.
func (m *module) fsWrite(L *lua.LState, path, text string, opts lua.LValue) error {
	mkdir, adds, exclusive := false, false, false
	luavm.Unpack(L, 3, "fs.write", luavm.Opt("mkdir", &mkdir), luavm.Opt("append", &adds), luavm.Opt("exclusive", &exclusive))
	if adds && exclusive {
		return luavm.Misusef("append and exclusive exclude each other")
	}
	target := m.env.path(path)
	if mkdir && path != "" {
		if err := os.MkdirAll(filepath.Dir(target), 0o777); err != nil {
			return plain("write", path, err)
		}
	}
	switch {
	case adds:
		return plain("write", path, appendText(target, text))
	case exclusive:
		if err := writeNew(target, text); !errors.Is(err, fs.ErrExist) {
			return plain("write", path, err)
		}
		return errExists
	}
	return plain("write", path, replaceText(target, text))
}

// writeNew writes a file where nothing is, not even a link to nowhere. Of several that do so at
// the same time one succeeds, and nobody sees a part of the text.
func writeNew(path, text string) error {
	temp, err := newFileNextTo(path)
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(temp.Name()) }()
	_, err = temp.WriteString(text)
	if err = errors.Join(err, temp.Close()); err != nil {
		return err
	}
	err = os.Link(temp.Name(), path)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666) // a disk without hard links
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Close()); err != nil {
		_ = os.Remove(path)
	}
	return err
}

// appendText adds to the end of a file, or makes it.
func appendText(path, text string) error {
	if err := writable(path); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// replaceText writes a new file beside path and renames it to path, with the mode of the
// old one. If path is a link, what it leads to is replaced. On failure the old file
// stays.
func replaceText(path, text string) error {
	return replaceFile(path, 0, func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
}

// replaceFile is replaceText for what write writes; mode is that of a file which is new, 0: the
// usual one.
func replaceFile(path string, mode fs.FileMode, write func(io.Writer) error) error {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if err := writable(path); err != nil {
		return err
	}
	f, err := newFileNextTo(path)
	if err != nil {
		return err
	}
	err = write(f)
	if info, statErr := os.Stat(path); statErr == nil {
		mode = info.Mode().Perm()
	}
	if err == nil && mode != 0 {
		err = f.Chmod(mode)
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// writable returns an error if there is something at path that is no regular file, or a
// file that nobody may write to: renaming over it would not be refused by the system.
func writable(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return notRegular(info.Mode())
	case info.Mode().Perm()&0o222 == 0:
		return fs.ErrPermission
	}
	return nil
}

// newFileNextTo makes an empty file of a new name in the directory of path, with the
// mode that new files have. The name is made of at most 100 bytes of that of path, so
// that it is not too long.
func newFileNextTo(path string) (*os.File, error) {
	base := filepath.Base(path)
	for tries := 0; ; tries++ {
		name := filepath.Join(filepath.Dir(path), fmt.Sprintf(".%s.%08x.tmp", base[:min(len(base), 100)], rand.Uint32()))
		f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
		if !errors.Is(err, fs.ErrExist) || tries == 100 {
			return f, err
		}
	}
}
