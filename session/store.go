package session

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// store is the file of a session. Only the holder of its lock writes, and only
// at its end.
type store struct {
	path    string
	lockDir string
	f       *os.File // nil until the file is made
	locked  bool
	hint    string // path of our hint about the lock
	size    int64  // of the file as far as we know it
	torn    bool   // the file does not end in a newline
	dirty   bool   // written since the last sync
	made    bool   // the file is new: its folder wants a sync too

	testOnlyWrite func(*os.File, []byte) (int, error)
	testOnlySync  func(*os.File) error
}

var (
	errGone      = errors.New("the file was deleted or replaced")
	errTruncated = errors.New("the file was shortened by another program")
)

// openRegular refuses what is no file: reading a pipe might wait forever.
func openRegular(path string, flag int) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("open session: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, &NotSessionError{Path: path, Reason: "it is not a regular file"}
	}
	f, err := os.OpenFile(path, flag, 0)
	if err != nil {
		return nil, fmt.Errorf("open session: %w", err)
	}
	return f, nil
}

// readAll reads from the start; the size is known, so the buffer is made once.
func readAll(f *os.File) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	buf := make([]byte, info.Size())
	n, err := io.ReadFull(io.NewSectionReader(f, 0, info.Size()), buf)
	if errors.Is(err, io.ErrUnexpectedEOF) || err == io.EOF {
		err = nil // the file became shorter meanwhile
	}
	return buf[:n], err
}

func (st *store) open() error {
	f, err := openRegular(st.path, os.O_RDWR|os.O_APPEND)
	if err != nil {
		return err
	}
	st.f = f
	if err := st.lock(); err != nil {
		f.Close()
		st.f = nil
		return err
	}
	return nil
}

// create makes the file. One that somebody else made meanwhile is left alone.
func (st *store) create() error {
	if err := makeDirs(filepath.Dir(st.path)); err != nil {
		return err
	}
	f, err := os.OpenFile(st.path, os.O_RDWR|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	st.f, st.made = f, true
	if err := f.Chmod(0o600); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	return st.lock()
}

// makeDirs makes missing folders with mode 0700 whatever the umask, and leaves
// those that are there as they are.
func makeDirs(dir string) error {
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	if parent := filepath.Dir(dir); parent != dir {
		if err := makeDirs(parent); err != nil {
			return err
		}
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return nil
		}
		return err
	}
	return os.Chmod(dir, 0o700)
}

// check compares the file with what we know of it. It returns how many bytes
// somebody else has added.
func (st *store) check() (foreign int64, err error) {
	here, err := st.f.Stat()
	if err != nil {
		return 0, err
	}
	there, err := os.Stat(st.path)
	if err != nil || !os.SameFile(here, there) {
		return 0, errGone
	}
	if here.Size() < st.size {
		return 0, errTruncated
	}
	return here.Size() - st.size, nil
}

// readForeign returns what others added and counts it as known.
func (st *store) readForeign(n int64) ([]byte, error) {
	buf := make([]byte, n)
	got, err := st.f.ReadAt(buf, st.size)
	if err != nil && err != io.EOF {
		return nil, err
	}
	buf = buf[:got]
	st.size += int64(got)
	if got > 0 {
		st.torn = buf[got-1] != '\n'
	}
	return buf, nil
}

// write appends whole lines with one write and returns how many bytes of them
// are in the file for good. After a short write the file is cut back to its
// last whole line, if nobody else wrote meanwhile.
func (st *store) write(lines []byte) (int, error) {
	buf, lead := lines, 0
	if st.torn {
		buf, lead = append([]byte{'\n'}, lines...), 1
	}
	n, err := st.writeFile(buf)
	if n > 0 {
		st.dirty = true
	}
	if n == len(buf) && err == nil {
		st.size, st.torn = st.size+int64(n), false
		return len(lines), nil
	}
	if err == nil {
		err = io.ErrShortWrite
	}
	whole := bytes.LastIndexByte(buf[:n], '\n') + 1
	if st.cutBack(st.size+int64(n), st.size+int64(whole)) {
		st.size += int64(whole)
		st.torn = st.torn && whole == 0
	} else {
		st.size += int64(n)
		st.torn = st.torn && n == 0 || n > whole
	}
	return max(whole-lead, 0), err
}

func (st *store) writeFile(b []byte) (int, error) {
	if st.testOnlyWrite != nil {
		return st.testOnlyWrite(st.f, b)
	}
	return st.f.Write(b)
}

func (st *store) cutBack(from, to int64) bool {
	info, err := st.f.Stat()
	if err != nil || !st.locked || info.Size() != from {
		return false
	}
	return from == to || st.f.Truncate(to) == nil
}

// sync brings the file to the disk, and its folder after the file was made.
func (st *store) sync() error {
	if st.f == nil || !st.dirty {
		return nil
	}
	doSync := st.testOnlySync
	if doSync == nil {
		doSync = (*os.File).Sync
	}
	if err := doSync(st.f); err != nil {
		return err
	}
	st.dirty = false
	if !st.made {
		return nil
	}
	st.made = false
	return syncDir(filepath.Dir(st.path))
}

func (st *store) close() error {
	if st.f == nil {
		return nil
	}
	if st.hint != "" {
		os.Remove(st.hint)
	}
	err := st.f.Close() // drops the lock
	st.f, st.locked = nil, false
	return err
}
