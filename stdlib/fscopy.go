package stdlib

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// errExists is what fs.rename, fs.copy and an exclusive fs.write say of what is there already. It
// is the whole message, so that a hook can compare it.
var errExists = errors.New("exists")

// between is plain for an operation on two paths, with errExists as it is.
func between(doing, from, to string, err error) error {
	switch {
	case from == "" || to == "":
		return fmt.Errorf("%s: the path is empty", doing)
	case errors.Is(err, fs.ErrExist):
		return errExists
	case errors.Is(err, syscall.EXDEV):
		err = errors.New("it is on another disk: fs.copy, then fs.remove")
	}
	return plain(doing, from+" to "+to, err)
}

// fsRename is fs.rename: what is moved takes the place of a file, and of no directory.
func (m *module) fsRename(from, to string) error {
	source := m.env.path(from)
	if from != "" && isInside(m.env.Cwd, source) {
		return plain("rename", from, errors.New("the working directory lies in it"))
	}
	return between("rename", from, to, os.Rename(source, m.env.path(to)))
}

// fsCopy is fs.copy: a file, or with recursive a directory, whole or not at all.
func (m *module) fsCopy(L *lua.LState, from, to string, opts lua.LValue) error {
	recursive := false
	luavm.Unpack(L, 3, "fs.copy", luavm.Opt("recursive", &recursive))
	source, target := m.env.path(from), m.env.path(to)
	err := m.wait(L, "copy", func(ctx context.Context) error {
		info, err := os.Stat(source)
		switch {
		case err != nil:
			return err
		case !info.IsDir():
			return copyFile(ctx, source, target)
		case !recursive:
			return errors.New("it is a directory, which recursive = true copies")
		}
		return copyDirectory(ctx, source, target)
	})
	return between("copy", from, to, err)
}

// copyFile copies a regular file. One that is there is replaced and keeps its mode; a new one
// gets that of the source.
func copyFile(ctx context.Context, source, target string) error {
	f, err := openRegular(source)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	there, err := os.Stat(target)
	switch {
	case err == nil && os.SameFile(info, there):
		return errors.New("they are the same file")
	case err == nil && there.IsDir():
		return fs.ErrExist
	}
	return replaceFile(target, info.Mode().Perm(), func(w io.Writer) error {
		_, err := io.Copy(w, stoppable{ctx, f})
		return err
	})
}

// openRegular opens a file. Others are refused before they are opened, for a pipe or a device
// may make that wait for ever.
func openRegular(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, notRegular(info.Mode())
	}
	return os.Open(path)
}

// stoppable is a reader that ends with a context.
type stoppable struct {
	ctx context.Context
	io.Reader
}

func (s stoppable) Read(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	return s.Reader.Read(p)
}

// copyDirectory copies a directory with all that is in it to where nothing is. Links in it stay
// links; what is neither file, directory nor link is an error.
func copyDirectory(ctx context.Context, source, target string) error {
	if _, err := os.Lstat(target); err == nil {
		return fs.ErrExist
	}
	if parent, err := destination(filepath.Dir(target)); err == nil && isInside(parent, source) {
		return errors.New("it would lie in itself")
	}
	source, err := filepath.EvalSymlinks(source)
	if err != nil {
		return err
	}
	temp, err := os.MkdirTemp(filepath.Dir(target), ".copy-*.tmp")
	if err == nil {
		err = copyTree(ctx, source, temp)
	}
	if err == nil {
		err = os.Rename(temp, target)
	}
	if err != nil && temp != "" {
		_ = os.RemoveAll(temp)
	}
	return err
}

// copyTree copies what is in source into the empty directory target, which gets its mode last:
// in a directory that nobody may write nothing could be made.
func copyTree(ctx context.Context, source, target string) error {
	entries, err := os.ReadDir(source)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := copyEntry(ctx, e, filepath.Join(source, e.Name()), filepath.Join(target, e.Name())); err != nil {
			return err
		}
	}
	info, err := os.Stat(source)
	if err != nil {
		return err
	}
	return os.Chmod(target, info.Mode().Perm())
}

// copyEntry copies what is in a directory. The error names it.
func copyEntry(ctx context.Context, e fs.DirEntry, from, to string) error {
	err := ctx.Err()
	switch {
	case err != nil:
	case e.IsDir():
		if err = os.Mkdir(to, 0o700); err == nil {
			return copyTree(ctx, from, to)
		}
	case e.Type()&fs.ModeSymlink != 0:
		var leads string
		if leads, err = os.Readlink(from); err == nil {
			err = os.Symlink(leads, to)
		}
	default:
		err = copyFile(ctx, from, to)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", from, bare(err))
	}
	return nil
}
