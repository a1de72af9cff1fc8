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

// unwritable is given the error of opening a file for writing. It returns an
// *[UnwritableError] if writing is not permitted but the file can be read, and otherwise
// err as it is.
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

// open opens the file at the path, locks it and leaves a hint about the lock. If another
// process replaced the file before it was locked (see replace), the lock of the old one
// is worth nothing, and it tries again. On failure nothing stays open.
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

// close releases the lock, removes the hint and closes the file; it does nothing if the
// file is not open. The lock is released first, for a process that is being started has
// a copy of the descriptor for a moment, which would keep it.
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

// create makes the file and the folders above it, locks it and leaves a hint. A file
// that exists is an error, unless it is empty: then it is ours, of an attempt that
// failed before its first line.
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

// fill writes lines with few large writes, without holding all of them, and syncs the
// file.
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

// moveTo renames the file to a path that must be free, goes on with it there, and syncs
// its folder.
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

// become takes over the open file and the lock of next, which has been renamed to our
// path, and leaves a hint about the lock. next must not be used any more.
func (st *store) become(next *store) {
	next.path, next.lockDir = st.path, st.lockDir
	*st = *next
	st.writeHint()
}
