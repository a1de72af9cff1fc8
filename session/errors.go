package session

import (
	"errors"
	"fmt"
	"io/fs"
	"time"
)

// GoneError says that the line of an entry was overwritten or cut off since its
// session was opened, before anybody had read it.
type GoneError struct{ ID string }

func (e *GoneError) Error() string {
	return fmt.Sprintf("entry %s can no longer be read from the file", e.ID)
}

// BusyError says that another process has the session open for appending. The
// fields about it are a hint and may be empty.
type BusyError struct {
	Path  string
	PID   int
	Host  string
	Since time.Time
}

func (e *BusyError) Error() string {
	by := "another process"
	if e.PID != 0 {
		by = fmt.Sprintf("process %d", e.PID)
	}
	if e.Host != "" {
		by += " on " + e.Host
	}
	if !e.Since.IsZero() {
		by += " since " + e.Since.Local().Format("2006-01-02 15:04:05")
	}
	return fmt.Sprintf("open session %q: in use by %s", e.Path, by)
}

// NotSessionError refuses a file that is no session. Such a file is never
// written to.
type NotSessionError struct {
	Path   string
	Reason string
}

func (e *NotSessionError) Error() string {
	return fmt.Sprintf("open session %q: not a session file: %s", e.Path, e.Reason)
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

// ErrReadOnly is returned for appending to a session opened by [Read], or one
// of a newer version.
var ErrReadOnly = errors.New("the session is open for reading only")

// SaveError says that an entry is part of the session but not of its file.
// It is tried again with the next one.
type SaveError struct {
	Path string
	Err  error
}

// Error names the file once, also where the cause names it too.
func (e *SaveError) Error() string {
	var cause *fs.PathError
	if errors.As(e.Err, &cause) && cause.Path == e.Path {
		return fmt.Sprintf("save session %q: %s: %v", e.Path, cause.Op, cause.Err)
	}
	return fmt.Sprintf("save session %q: %v", e.Path, e.Err)
}

func (e *SaveError) Unwrap() error { return e.Err }

// readError says which file could not be read, if the error does not yet.
func readError(path string, err error) error {
	var not *NotSessionError
	if err == nil || errors.As(err, &not) {
		return err
	}
	return fmt.Errorf("read session %q: %w", path, err)
}
