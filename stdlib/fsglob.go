package stdlib

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"pi/internal/globs"
	"pi/luavm"

	"github.com/bmatcuk/doublestar/v4"
	lua "github.com/yuin/gopher-lua"
)

// maxMatches bounds what a pattern may find.
const maxMatches = 100_000

// fsGlob is fs.glob.
func (m *module) fsGlob(L *lua.LState, pattern string, opts lua.LValue) (lua.LValue, error) {
	dir, files := "", false
	luavm.Unpack(L, 2, "fs.glob", luavm.Opt("dir", &dir), luavm.Opt("files", &files))
	if !doublestar.ValidatePathPattern(pattern) {
		return nil, luavm.Misusef("pattern %q is not one", pattern)
	}
	if err := globs.Check(pattern); err != nil {
		return nil, luavm.Misusef("%v", err)
	}
	found, err := glob(m.vm.Context(), m.env.from(&dir), pattern, files)
	if err != nil {
		return nil, fmt.Errorf("find %s: %w", pattern, err)
	}
	return stringList(L, found), nil
}

// glob returns the paths that match a pattern, sorted; a relative pattern is looked for
// below dir, and its paths are relative too. Directories that cannot be read are
// skipped. More than maxMatches, a dir that is none, and a job that was stopped are
// errors.
func glob(ctx context.Context, dir, pattern string, files bool) ([]string, error) {
	base, rest := doublestar.SplitPattern(filepath.ToSlash(filepath.Clean(pattern)))
	root := absolute(filepath.FromSlash(base), dir)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("%s is no directory", dir)
	}
	options := []doublestar.GlobOption{doublestar.WithNoFollow()}
	if files {
		options = append(options, doublestar.WithFilesOnly())
	}
	var found []string
	err := doublestar.GlobWalk(&walkedFS{ctx, os.DirFS(root)}, rest, func(path string, _ fs.DirEntry) error {
		if len(found) == maxMatches {
			return fmt.Errorf("more than %d paths", maxMatches)
		}
		found = append(found, filepath.Join(filepath.FromSlash(base), filepath.FromSlash(path)))
		return nil
	}, options...)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	slices.Sort(found)
	return found, errors.Join(err, ctx.Err())
}

// walkedFS has nothing in it any more when the job is stopped, so that a walk
// through a large tree ends.
type walkedFS struct {
	ctx context.Context
	fs.FS
}

func (w *walkedFS) ReadDir(name string) ([]fs.DirEntry, error) {
	if err := w.ctx.Err(); err != nil {
		return nil, err
	}
	return fs.ReadDir(w.FS, name)
}

func (w *walkedFS) Stat(name string) (fs.FileInfo, error) {
	if err := w.ctx.Err(); err != nil {
		return nil, err
	}
	return fs.Stat(w.FS, name)
}
