package safefile

import (
	"os"
	"path/filepath"
)

// Replace puts a file of mode 0600 with these contents in the place of the one at
// path, or makes it, with the folders above it (0700). Readers see the old file or the
// new one, whole. durable: when it returns, the new one is on the disk, and at no
// moment is there neither.
func Replace(path string, contents []byte, durable bool) error {
	return ReplaceIf(path, contents, durable, func() bool { return true })
}

// ReplaceIf is Replace if may, which is asked last, when only the new name is missing, allows it.
// Otherwise the file stays as it is, and the error is [ErrBusy].
func ReplaceIf(path string, contents []byte, durable bool, may func() bool) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".new-*") // mode 0600; a name made of path's may be too long
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // gone if all went well
	_, err = f.Write(contents)
	if err == nil && durable {
		err = f.Sync()
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err == nil && !may() {
		err = ErrBusy
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err == nil && durable {
		err = SyncDir(dir)
	}
	return err
}
