package safefile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// MakeDirs makes missing folders with mode 0700 whatever the umask, and leaves
// those that are there as they are. It returns the folders that it made others
// in, which want a [SyncDir]; also with an error.
func MakeDirs(dir string) (changed []string, err error) {
	if _, err := os.Stat(dir); err == nil {
		return nil, nil
	}
	parent := filepath.Dir(dir)
	if parent != dir {
		if changed, err = MakeDirs(parent); err != nil {
			return changed, err
		}
	}
	if err := os.Mkdir(dir, 0o700); errors.Is(err, fs.ErrExist) {
		return changed, nil
	} else if err != nil {
		return changed, err
	}
	return append(changed, parent), os.Chmod(dir, 0o700)
}
