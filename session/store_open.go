package session

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"syscall"

	"pi/internal/safefile"
)

// openFile is [safefile.Open] for a session: reading a pipe might wait forever.
func openFile(path string, flag int) (*os.File, error) {
	f, err := safefile.Open(path, flag)
	if errors.Is(err, safefile.ErrNotRegular) {
		return nil, &NotSessionError{Path: path, Reason: "it is not a regular file"}
	}
	if err != nil {
		return nil, fmt.Errorf("open session: %w", err)
	}
	return f, nil
}

// unwritable returns an *[UnwritableError] in place of the error of opening a file for
// writing, if the file can be read.
func unwritable(path string, err error) error {
	if !errors.Is(err, fs.ErrPermission) && !errors.Is(err, syscall.EROFS) {
		return err
	}
	f, readErr := openFile(path, os.O_RDONLY)
	if readErr != nil {
		return err
	}
	f.Close()
	var cause *fs.PathError
	if errors.As(err, &cause) {
		err = cause.Err
	}
	return &UnwritableError{Path: path, Err: err}
}

// open opens and locks the file that has the path. While the lock was taken
// another process may have put a new file in its place (see replace): the lock
// of the old one is worth nothing.
func (st *store) open() error {
	for {
		f, err := openFile(st.path, os.O_RDWR|os.O_APPEND)
		if err != nil {
			return unwritable(st.path, err)
		}
		st.f = f
		st.step("opened")
		if err := st.lock(); err != nil {
			st.close()
			return err
		}
		if st.inPlace() {
			st.writeHint()
			return nil
		}
		st.close()
	}
}

// inPlace reports whether the open file is the one that has the path.
func (st *store) inPlace() bool {
	here, err := st.f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(st.path)
	return err == nil && os.SameFile(here, there)
}

// close closes the file, if it is open. The lock is not left to that: a process that is
// being started has a copy of the descriptor for a moment.
func (st *store) close() error {
	if st.f == nil {
		return nil
	}
	if st.locked {
		st.removeHint()
		safefile.Unlock(st.f)
		st.locked = false
	}
	err := st.f.Close()
	st.f = nil
	return err
}

// create makes the file. One that somebody else made meanwhile is left alone,
// unless there is nothing in it: then a failure was in our way before.
func (st *store) create() error {
	dir := filepath.Dir(st.path)
	folders, err := safefile.MakeDirs(dir)
	st.folders = append(st.folders, folders...)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(st.path, os.O_RDWR|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return st.adopt(err)
	} else if err != nil {
		return err
	}
	st.f = f
	st.step("made")
	if err := f.Chmod(0o600); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		st.close()
		return err
	}
	if err := st.lock(); err != nil {
		st.close()
		return err
	}
	st.folders = append(st.folders, dir)
	st.writeHint()
	return nil
}

// adopt opens a file that is there already if it is empty; else it returns cause, the
// error of making it.
func (st *store) adopt(cause error) error {
	if info, err := os.Stat(st.path); err != nil || !info.Mode().IsRegular() || info.Size() > 0 {
		return cause
	}
	if err := st.open(); err != nil {
		return err
	}
	if info, err := st.f.Stat(); err != nil || info.Size() > 0 {
		st.close()
		return cause
	}
	st.folders = append(st.folders, filepath.Dir(st.path))
	return nil
}

// createWith makes the file with these lines and brings it to the disk. It has its
// name only when it is whole: a process that is killed before leaves it under one
// that nobody looks for. On failure it is removed.
func (st *store) createWith(lines iter.Seq2[[]byte, error]) error {
	next := &store{path: st.path + ".new", seams: st.seams}
	if runtime.GOOS == "windows" { // an open file keeps its name there
		next.path = st.path
	}
	err := next.create()
	if err == nil {
		err = next.fill(lines)
	}
	if err == nil {
		err = next.moveTo(st.path)
	}
	if err != nil {
		if next.f != nil {
			next.close()
			os.Remove(next.path)
		}
		return err
	}
	st.become(next)
	return nil
}

// fill writes lines piece by piece, for all of them may be a lot, and syncs.
func (st *store) fill(lines iter.Seq2[[]byte, error]) error {
	const enough = 1 << 20
	var piece []byte
	for line, err := range lines {
		if err != nil {
			return err
		}
		if piece = append(piece, line...); len(piece) < enough {
			continue
		}
		if _, _, err := st.write(piece); err != nil {
			return err
		}
		piece = piece[:0]
	}
	if len(piece) > 0 {
		if _, _, err := st.write(piece); err != nil {
			return err
		}
	}
	return st.sync()
}

// moveTo gives the file another name that is free, for good.
func (st *store) moveTo(path string) error {
	if path == st.path {
		return nil
	}
	if _, err := os.Lstat(path); err == nil {
		return &fs.PathError{Op: "make", Path: path, Err: fs.ErrExist}
	}
	if err := os.Rename(st.path, path); err != nil {
		return err
	}
	st.step("renamed")
	st.path, st.dirty, st.folders = path, true, append(st.folders, filepath.Dir(path))
	return st.sync()
}

// become goes on with the file of another store, which has got our path.
func (st *store) become(next *store) {
	next.path, next.lockDir = st.path, st.lockDir
	*st = *next
	st.writeHint()
}
