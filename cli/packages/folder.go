package packages

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"

	"pi/internal/printable"
	"pi/internal/safefile"
)

// LookAt says what is at a path, for [ParseSource].
func LookAt(path string) What {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return Nothing
	case !info.IsDir():
		return AFile
	case isRepository(path):
		return ARepository
	}
	return AFolder
}

// isRepository reports whether a folder is a repository itself, as git makes it with --bare.
func isRepository(dir string) bool {
	for _, part := range []string{"objects", "refs"} {
		if info, err := os.Stat(filepath.Join(dir, part)); err != nil || !info.IsDir() {
			return false
		}
	}
	info, err := os.Stat(filepath.Join(dir, "HEAD"))
	return err == nil && info.Mode().IsRegular()
}

// ReadFolder reads the files of a folder as they are, each once. A repository of git in it, which an author has there, is
// no part of the package; everything else is held to the rules of packages.
func ReadFolder(dir string) (Tree, error) { return readFolder(dir, nil) }

// readFolder is ReadFolder without the files and folders that are left out, by their paths in it.
func readFolder(dir string, leftOut map[string]bool) (Tree, error) {
	b := newBuilder()
	if err := walk(b, dir, "", leftOut); err != nil {
		return Tree{}, err
	}
	return b.tree(), nil
}

// walk adds what is below a folder of a package; at is its path there, "" for the package itself.
func walk(b *builder, dir, at string, leftOut map[string]bool) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	entries, err := f.ReadDir(maxFiles + maxFolders + 2)
	f.Close()
	if err != nil && len(entries) == 0 && !errors.Is(err, io.EOF) {
		return err
	}
	for _, e := range entries {
		name := path.Join(at, e.Name())
		if name == ".git" || leftOut[name] {
			continue
		}
		if err := walkOne(b, filepath.Join(dir, e.Name()), name, e, leftOut); err != nil {
			return err
		}
	}
	return nil
}

// walkOne adds an entry of a folder.
func walkOne(b *builder, at, name string, e fs.DirEntry, leftOut map[string]bool) error {
	shown := printable.Short(printable.VisibleLine(name))
	switch {
	case e.Type()&fs.ModeSymlink != 0:
		return fmt.Errorf("%s %w", shown, errLink)
	case e.IsDir():
		if err := checkPath(name); err != nil {
			return err
		}
		if err := b.take(name, true); err != nil {
			return err
		}
		return walk(b, at, name, leftOut)
	case !e.Type().IsRegular():
		return fmt.Errorf("%s %w", shown, errOddFile)
	}
	info, err := e.Info()
	if err != nil {
		return err
	}
	if err := b.announce(name, info.Size()); err != nil {
		return err
	}
	code, err := safefile.Read(at, maxFile)
	if err != nil {
		return fmt.Errorf("%s: %w", shown, err)
	}
	b.bytes += int64(len(code)) - info.Size() // it may have grown
	if b.bytes > maxBytes {
		return fmt.Errorf("a package has at most %s, and %s makes it more", printable.Bytes(maxBytes), shown)
	}
	b.add(TreeFile{Path: name, Code: code, Executable: knowsExecutable && info.Mode()&0o100 != 0})
	return nil
}

// knowsExecutable: the files of a folder say whether they can be executed.
const knowsExecutable = runtime.GOOS != "windows"

// readHook reads a single hook, and its test if that lies beside it, as the package that they are.
func readHook(s Source) (Tree, error) {
	name := filepath.Base(s.Address)
	code, err := safefile.Read(s.Address, maxFile)
	if err != nil {
		return Tree{}, err
	}
	files := []TreeFile{{Path: "hooks/" + name, Code: code}}
	test := name[:len(name)-len(".lua")] + "_test.lua"
	if code, err := safefile.Read(filepath.Join(filepath.Dir(s.Address), test), maxFile); err == nil {
		files = append(files, TreeFile{Path: "hooks/" + test, Code: code})
	}
	return newTree(files)
}
