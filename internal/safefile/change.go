package safefile

import (
	"bytes"
	"errors"
	"io/fs"
)

// ErrBusy says that others wrote a file each time that it was about to be changed.
var ErrBusy = errors.New("another program writes the file all the time; try again")

// Change replaces the file at path, or the one that path leads to through links, by what
// change makes of its contents, which are nil if there is none. Its mode becomes 0600. Others
// that change it so wait (see [LockPath]); if somebody else writes the file meanwhile, change is
// called again with what it has then.
// read is given the path of the file itself. Contents that change returns as they were,
// and an error, write nothing.
func Change(path string, read func(path string) ([]byte, error), change func(old []byte) ([]byte, error)) error {
	const tries = 5
	path, err := Target(path)
	if err != nil {
		return err
	}
	release, err := LockPath(path)
	if err != nil {
		return err
	}
	defer release()
	for range tries { // an editor asks for no lock
		old, err := readOrNone(path, read)
		if err != nil {
			return err
		}
		changed, err := change(old)
		if err != nil || bytes.Equal(changed, old) {
			return err
		}
		if now, err := readOrNone(path, read); err == nil && bytes.Equal(now, old) {
			return Replace(path, changed, true)
		}
	}
	return ErrBusy
}

// readOrNone reads a file; of one that is not there it returns nil.
func readOrNone(path string, read func(string) ([]byte, error)) ([]byte, error) {
	data, err := read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return data, err
}
