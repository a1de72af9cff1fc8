package hooktest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"pi/cli/packages"
	"pi/internal/safefile"
)

// copies are the hooks under test: a copy of each, because a case may edit it, in a folder
// with what else is beside the hook. Hooks of one folder share one.
type copies struct {
	root    string
	read    func(path string) ([]byte, error) // the file of a hook
	folders map[string]string                 // of the hooks, and where their copies are
	paths   []string                          // of the copies, in chain order
}

// add copies the hook at path, a file or a folder with init.lua.
func (c *copies) add(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	dir, name := filepath.Split(path)
	if info.IsDir() {
		dir, name = path, "init.lua"
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	text, err := c.read(filepath.Join(dir, name))
	if err != nil {
		return err
	}
	folder, err := c.folder(filepath.Clean(dir), info.IsDir())
	to := filepath.Join(folder, name)
	if err == nil {
		err = replace(to, text)
	}
	c.paths = append(c.paths, to)
	return err
}

// folder returns the folder for copies of hooks in dir. named keeps the name of dir, which
// is that of the hook.
func (c *copies) folder(dir string, named bool) (string, error) {
	if folder, ok := c.folders[dir]; ok {
		return folder, nil
	}
	folder := filepath.Join(c.root, strconv.Itoa(len(c.folders)))
	if named {
		folder = filepath.Join(folder, filepath.Base(dir))
	}
	if c.folders == nil {
		c.folders = map[string]string{}
	}
	c.folders[dir] = folder
	if err := linkAll(dir, folder); err != nil {
		return "", err
	}
	return folder, linkPackage(dir, folder)
}

// linkPackage puts the files of the package that a folder of hooks belongs to where its hooks find
// them by its name, require "PACK.x", in a folder of copies.
func linkPackage(dir, folder string) error {
	root, name, ok := packages.Around(dir)
	if !ok {
		return nil
	}
	for from, to := range map[string]string{root: name, filepath.Join(root, "lib"): filepath.Join("lib", name)} {
		to = filepath.Join(folder, to)
		if _, err := os.Lstat(to); err == nil {
			continue // the hook has something of that name beside it
		}
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			return err
		}
		if err := linkAll(from, to); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// original names the originals where a text names their copies, as seen from dir.
func (c *copies) original(text, dir string) string {
	for from, folder := range c.folders {
		name, err := filepath.Rel(dir, from)
		if err != nil {
			name = from
		}
		if name += string(filepath.Separator); name == "./" {
			name = ""
		}
		text = strings.ReplaceAll(text, folder+string(filepath.Separator), name)
	}
	return text
}

// edit gives the copy of a hook, or of a file beside one, another text, unless that is nil, and
// returns its path.
func (c *copies) edit(original string, text *string) (path string, err error) {
	folder, inside := c.around(original)
	if folder == "" {
		return "", fmt.Errorf("%s is no hook of this case; t.hook adds one", filepath.Base(original))
	}
	if inside == "." {
		inside = "init.lua"
	}
	path = filepath.Join(folder, inside)
	if text == nil {
		return path, nil
	}
	for dir := filepath.Dir(inside); dir != "."; dir = filepath.Dir(dir) {
		if err := ownFolder(filepath.Join(folder, dir)); err != nil {
			return "", err
		}
	}
	return path, replace(path, []byte(*text))
}

// around returns the folder of copies that has the one of original, and its path in there;
// "" if none has.
func (c *copies) around(original string) (folder, inside string) {
	for dir := original; ; dir = filepath.Dir(dir) {
		if folder, ok := c.folders[dir]; ok {
			inside, _ = filepath.Rel(dir, original)
			return folder, inside
		}
		if dir == filepath.Dir(dir) {
			return "", ""
		}
	}
}

// ownFolder puts a folder of links instead of a link to a folder, so that what is
// written there does not reach the original.
func ownFolder(path string) error {
	to, err := os.Readlink(path)
	if err != nil {
		return nil // it is one already
	}
	if err := os.Remove(path); err != nil {
		return err
	}
	return linkAll(to, path)
}

// What is beside a hook is a link, but what the hook may write is a copy, as long as there is
// not too much of it: a test changes nothing that is there.
const (
	mostBeside = 300     // entries that are looked at in folders
	mostCopied = 1 << 20 // bytes of a file
)

// linkAll makes a folder with everything in another but tests, which hooks do not use.
func linkAll(from, to string) error {
	left := mostBeside
	return addAll(from, to, &left)
}

// addAll is linkAll for a folder at any depth. left is how many entries may still be looked at.
func addAll(from, to string, left *int) error {
	all, err := os.ReadDir(from)
	if err == nil {
		err = os.MkdirAll(to, 0o700)
	}
	for _, e := range all {
		if err == nil && !strings.HasSuffix(e.Name(), Suffix) {
			*left--
			err = addOne(filepath.Join(from, e.Name()), filepath.Join(to, e.Name()), e, left)
		}
	}
	return err
}

// addOne adds an entry of a folder.
func addOne(from, to string, e os.DirEntry, left *int) error {
	info, err := e.Info()
	switch {
	case err != nil || *left < 0:
	case info.IsDir() && !strings.HasPrefix(e.Name(), "."):
		return addAll(from, to, left)
	case info.Mode().IsRegular() && info.Size() <= mostCopied && filepath.Ext(e.Name()) != ".lua":
		if text, err := safefile.Read(from, mostCopied); err == nil {
			return os.WriteFile(to, text, info.Mode().Perm()|0o200)
		}
	}
	return os.Symlink(from, to)
}

// replace writes a file in place of whatever has that path, as an editor does.
func replace(path string, text []byte) error {
	next := path + ".tmp"
	err := os.WriteFile(next, text, 0o600)
	if err == nil {
		err = os.Rename(next, path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(next))
	}
	return nil
}
