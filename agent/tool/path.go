package tool

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// location is a path that a tool was asked for.
type location struct {
	name string // for people and models: relative to the working directory if below it, with slashes
	path string // absolute and clean, symlinks as they are
	real string // the same with symlinks followed; need not exist
	root string // "" or the real directory it must stay in
}

// errOutside is the cause of a refusal by confinement.
var errOutside = errors.New("outside the working directory")

// locate finds out which path an argument of a tool means. The path need not exist; in
// confinement it must be in the working directory.
func (k *kit) locate(arg string) (location, error) {
	if arg == "" {
		return location{}, errors.New("the path is empty")
	}
	if strings.IndexByte(arg, 0) >= 0 {
		return location{}, errors.New("the path holds a NUL byte")
	}
	p, err := k.absolute(arg)
	if err != nil {
		return location{}, err
	}
	return k.locationAt(p)
}

// locationAt is locate for a path that is absolute already. In confinement it fails for
// one that leads out of the working directory, symlinks followed.
func (k *kit) locationAt(path string) (location, error) {
	pl := location{path: path, name: k.display(path)}
	var err error
	if pl.real, err = realPath(path); err != nil {
		return location{}, plain(err)
	}
	if err := k.checkSecret(pl); err != nil || !k.Confine {
		return pl, err
	}
	if pl.root, err = realPath(k.Cwd); err != nil {
		return location{}, plain(err)
	}
	if _, ok := below(pl.root, pl.real); !ok {
		return location{}, fmt.Errorf("%s is really %s, which is %w %s; tools are confined to it",
			pl.name, pl.real, errOutside, pl.root)
	}
	return pl, nil
}

// locateExisting is locate for something that must exist. A name that differs
// from an existing one only by its kind of spaces, quotes or dashes or by its
// Unicode form is that one: models cannot tell them apart.
func (k *kit) locateExisting(arg string) (location, fs.FileInfo, error) {
	pl, err := k.locate(arg)
	if err != nil {
		return pl, nil, err
	}
	info, err := pl.stat()
	if errors.Is(err, fs.ErrNotExist) {
		twin, hint := lookAlike(pl.real)
		if twin == "" {
			return pl, nil, missingError(fmt.Sprintf("%s does not exist%s", pl.name, hint))
		}
		if pl, err = k.locationAt(filepath.Join(filepath.Dir(pl.path), twin)); err != nil {
			return pl, nil, err
		}
		info, err = pl.stat()
	}
	if err != nil {
		return pl, nil, fmt.Errorf("%s: %w", pl.name, plain(err))
	}
	return pl, info, nil
}

// missingError says that there is no such file.
type missingError string

func (e missingError) Error() string        { return string(e) }
func (e missingError) Is(target error) bool { return target == fs.ErrNotExist }

// absolute makes a path argument absolute: ~ is the home directory, @ in front is
// dropped unless a file is named so, and what is relative is below the working
// directory.
func (k *kit) absolute(arg string) (string, error) {
	if rest, ok := strings.CutPrefix(arg, "@"); ok && rest != "" {
		first, _, _ := strings.Cut(filepath.ToSlash(arg), "/")
		if _, err := os.Lstat(filepath.Join(k.Cwd, first)); err != nil {
			arg = rest
		}
	}
	if arg == "~" || strings.HasPrefix(arg, "~/") || strings.HasPrefix(arg, "~"+string(filepath.Separator)) {
		home := k.Home
		if home == "" {
			var err error
			if home, err = os.UserHomeDir(); err != nil {
				return "", fmt.Errorf("%s: the home directory is not known: %w", arg, err)
			}
		}
		arg = filepath.Join(home, arg[1:])
	}
	arg = filepath.FromSlash(arg)
	if !filepath.IsAbs(arg) {
		arg = filepath.Join(k.Cwd, arg)
	}
	return filepath.Clean(arg), nil
}

// display names a path as a model would write it.
func (k *kit) display(path string) string {
	if rel, ok := below(k.Cwd, path); ok {
		path = rel
	}
	return filepath.ToSlash(path)
}

// below gives path relative to dir, if it is dir or something in it.
func below(dir, path string) (string, bool) {
	rel, err := filepath.Rel(dir, path)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", false
	}
	return rel, true
}

// maxLinks is how many symlinks a path may lead through.
const maxLinks = 255

// realPath follows every symlink of an absolute path. Unlike
// [filepath.EvalSymlinks] it accepts a path that ends to exist, so that it also
// tells where something new would be made, behind a dangling link too.
func realPath(path string) (string, error) {
	const sep = string(filepath.Separator)
	top := filepath.VolumeName(path) + sep
	done, todo := top, strings.Split(path[len(top)-1:], sep)
	for links := 0; len(todo) > 0; {
		part := todo[0]
		todo = todo[1:]
		switch part {
		case "", ".":
			continue
		case "..":
			done = filepath.Dir(done)
			continue
		}
		next := filepath.Join(done, part)
		info, err := os.Lstat(next)
		if errors.Is(err, fs.ErrNotExist) {
			return filepath.Join(append([]string{next}, todo...)...), nil
		}
		if err != nil {
			return "", err
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			done = next
			continue
		}
		if links++; links > maxLinks {
			return "", fmt.Errorf("%s: too many symbolic links", path)
		}
		target, err := os.Readlink(next)
		if err != nil {
			return "", err
		}
		if filepath.IsAbs(target) {
			done = filepath.VolumeName(target) + sep
			target = target[len(done)-1:]
		}
		todo = append(strings.Split(target, sep), todo...)
	}
	return done, nil
}

// open opens the place for reading. In confinement the kernel's answer counts,
// not the one locate got: a link put there meanwhile leads nowhere. A named pipe put
// there meanwhile is not waited for.
func (p location) open() (*os.File, error) {
	const flags = os.O_RDONLY | syscall.O_NONBLOCK
	if p.root == "" {
		return os.OpenFile(p.real, flags, 0)
	}
	root, rel, err := p.confined()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return root.OpenFile(rel, flags, 0)
}

// stat describes the place; in confinement as the kernel sees it below the root.
func (p location) stat() (fs.FileInfo, error) {
	if p.root == "" {
		return os.Stat(p.real)
	}
	root, rel, err := p.confined()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return root.Stat(rel)
}

// confined opens the directory that the place must stay in, and returns it with the
// path of the place in it.
func (p location) confined() (*os.Root, string, error) {
	rel, err := filepath.Rel(p.root, p.real)
	if err != nil {
		return nil, "", err
	}
	root, err := os.OpenRoot(p.root)
	return root, rel, err
}

// parent opens the directory that the file at the place is written in, and makes it if
// need be. In confinement it opens the root instead. The name is the path of the file
// in the opened directory.
func (p location) parent() (*os.Root, string, error) {
	if p.root == "" {
		dir := filepath.Dir(p.real)
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return nil, "", err
		}
		root, err := os.OpenRoot(dir)
		return root, filepath.Base(p.real), err
	}
	root, rel, err := p.confined()
	if err != nil {
		return nil, "", err
	}
	if err := root.MkdirAll(filepath.Dir(rel), 0o777); err != nil {
		root.Close()
		return nil, "", err
	}
	return root, rel, nil
}

// lookAlike searches the directory of a missing path for the name that was
// meant: one that only looks different in bytes, or else a hint at names like it.
func lookAlike(path string) (twin, hint string) {
	dir, base := filepath.Split(path)
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return "", ", nor does its directory; list what is there with ls or find"
	}
	want := fold(base)
	twins, near := 0, []string(nil)
	for _, e := range entries {
		name := e.Name()
		switch have := fold(name); {
		case have == want:
			twin = name
			twins++
		case strings.EqualFold(have, want) || similarity(have, want) > 0.7:
			near = append(near, name)
		}
	}
	if twins == 1 {
		return twin, ""
	}
	if len(near) == 0 {
		return "", "; list what is there with ls or find"
	}
	return "", "; did you mean " + strings.Join(near[:min(3, len(near))], " or ") + "?"
}

// plain drops the operation and path that an error of package os repeats.
func plain(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

// ctxReader ends a long read when its context does.
type ctxReader struct {
	ctx context.Context
	r   io.Reader
}

func (c *ctxReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}
