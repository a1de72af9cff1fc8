package hooktest

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
)

// copies are the hooks under test: a copy of each, because a case may edit it, in a folder
// in which all else that is beside the hook is a link. Hooks of one folder share one.
type copies struct {
	root    string
	folders map[string]string // of the hooks, and where their copies are
	paths   []string          // of the copies, in chain order
}

func (c *copies) files() []string { return c.paths }

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
	folder, err := c.folder(filepath.Clean(dir), info.IsDir())
	if err != nil {
		return err
	}
	to := filepath.Join(folder, name)
	text, err := os.ReadFile(filepath.Join(dir, name))
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
	beside, err := os.ReadDir(dir)
	if err == nil {
		err = os.MkdirAll(folder, 0o700)
	}
	for _, e := range beside {
		if err == nil {
			err = os.Symlink(filepath.Join(dir, e.Name()), filepath.Join(folder, e.Name()))
		}
	}
	return folder, err
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
