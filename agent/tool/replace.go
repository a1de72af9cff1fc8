package tool

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// replace gives the file at p new content, all or nothing: readers see the old
// file or the new one. A symlink stays one, since p.real is where it leads.
// Mode and, as far as permitted, owner stay. Hard links to the old file keep
// the old content.
//
// There is no sync to the disk: the rename orders old and new on the file
// systems in use, and a power cut within seconds may take the change back.
func (p location) replace(_ context.Context, content []byte) (note string, err error) {
	root, name, err := p.parent()
	if err != nil {
		return "", plain(err)
	}
	defer root.Close()
	old, err := writable(root, name)
	if err != nil {
		return "", err
	}
	err = replaceIn(root, name, old, content)
	if old != nil && (errors.Is(err, fs.ErrPermission) || isBusy(err)) {
		// The directory may not be written, or the file is a mount of its
		// own: it can only be changed in place.
		err = overwrite(root, name, content)
	}
	return "", plain(err)
}

// writable describes the file that is there, nil if there is none. It fails for what is
// no regular file, and for one that may not be written: a rename would replace that
// too.
func writable(root *os.Root, name string) (fs.FileInfo, error) {
	info, err := root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, plain(err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("it is %s, not a regular file", kindOf(info.Mode()))
	}
	f, err := root.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return nil, plain(err)
	}
	return info, f.Close()
}

// replaceIn writes a new file beside the old one, gives it the owner and mode of that,
// and renames it. If anything fails, the new file is removed.
func replaceIn(root *os.Root, name string, old fs.FileInfo, content []byte) error {
	temp := filepath.Join(filepath.Dir(name), ".pi-"+rand.Text()[:12]+".tmp")
	mode := fs.FileMode(0o666)
	if old != nil {
		mode = 0o600 // nobody may read through a file that was private
	}
	f, err := root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil && old != nil {
		copyOwner(root, temp, old)
		err = root.Chmod(temp, old.Mode()&(fs.ModePerm|fs.ModeSetuid|fs.ModeSetgid|fs.ModeSticky))
	}
	if err == nil {
		err = root.Rename(temp, name)
	}
	if err != nil {
		root.Remove(temp)
	}
	return err
}

// overwrite writes into the file that is there. A failure on the way may leave it
// incomplete.
func overwrite(root *os.Root, name string, content []byte) error {
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	return errors.Join(err, f.Close())
}

// kindOf says what a file that is not regular is, for an error.
func kindOf(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "a directory"
	case m&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case m&fs.ModeSocket != 0:
		return "a socket"
	case m&fs.ModeDevice != 0:
		return "a device"
	case m&fs.ModeSymlink != 0:
		return "a symbolic link"
	}
	return "a special file"
}
