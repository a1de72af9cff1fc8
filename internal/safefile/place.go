package safefile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Create makes a file of mode 0600 with these contents, which appears whole; if there is
// something at path, the error is an [fs.ErrExist].
func Create(path string, contents []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(contents)
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return Place(f.Name(), path)
}

// Place gives the file next, which is finished, the name path in the same folder. If there is
// something at path, the error is an [fs.ErrExist], and next stays.
func Place(next, path string) error {
	err := os.Link(next, path)
	if err == nil {
		return os.Remove(next)
	} else if errors.Is(err, fs.ErrExist) {
		return err
	}
	// A file system without hard links: the name is taken first.
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if err := errors.Join(f.Close(), os.Rename(next, path)); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}
