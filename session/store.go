package session

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"pi/internal/safefile"
)

// store is the file of a session. Only the holder of its lock writes, and only
// at its end.
type store struct {
	path    string
	lockDir string
	f       *os.File // nil until the file is made
	locked  bool
	hint    []byte // what we left about the lock
	end     fileEnd
	dirty   bool     // written since the last sync
	folders []string // new names in them: they want a sync too

	seams
}

// seams are where tests break the world.
type seams struct {
	testOnlyWrite func(*os.File, []byte) (int, error)
	testOnlySync  func(*os.File) error
	testOnlyLock  func(*os.File) error
	testOnlyStep  func(step string)
}

func (s *seams) step(name string) {
	if s.testOnlyStep != nil {
		s.testOnlyStep(name)
	}
}

func newStore(path, lockDir string, s seams) *store {
	return &store{path: path, lockDir: lockDir, seams: s}
}

var (
	errGone      = errors.New("the file was deleted or replaced")
	errTruncated = errors.New("the file was shortened by another program")
	errRewritten = errors.New("the file was rewritten by another program")
	errMixed     = errors.New("another program wrote a part of a line at the same moment")
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

// UnwritableError says that a session can be read but not appended to.
type UnwritableError struct {
	Path string
	Err  error
}

func (e *UnwritableError) Error() string {
	return fmt.Sprintf("open session %q: it cannot be written to: %v", e.Path, e.Err)
}

func (e *UnwritableError) Unwrap() error { return e.Err }

// unwritable is err, or what it comes to if the file can be read.
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
