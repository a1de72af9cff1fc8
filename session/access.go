package session

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"
)

// Access is how to open a session that another process may have open.
type Access int

const (
	ToWrite Access = iota // as [Open]: a *[BusyError] if another process has it
	ToRead                // as [Read]: nothing can be appended
	ToCopy                // its branch in a new session, as [Session.CopyPath] makes it; the file itself is only read
	InTurn                // as [OpenWait]: when it is free
)

// OpenAs opens the session at path. waiting, which may be nil, is called once
// if there is a wait.
func OpenAs(ctx context.Context, path string, o Options, as Access, waiting func(*BusyError)) (*Session, error) {
	switch as {
	case ToRead:
		return Read(path)
	case ToCopy:
		return openCopy(path, o)
	case InTurn:
		return OpenWait(ctx, path, o, waiting)
	}
	return Open(path, o)
}

// OpenWait is [Open] for somebody who would rather wait than be told that
// another process has the session. waiting, which may be nil, is called once if
// there is a wait, with who has it. When ctx ends first, the error wraps why.
//
// There is no wait for a lock that can be given up, so it is tried again and
// again: soon at first, and at least twice a second.
func OpenWait(ctx context.Context, path string, o Options, waiting func(*BusyError)) (*Session, error) {
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, 500*time.Millisecond) {
		s, err := Open(path, o)
		var busy *BusyError
		if !errors.As(err, &busy) {
			return s, err
		}
		if waiting != nil {
			waiting(busy)
			waiting = nil
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for session %q: %w", path, context.Cause(ctx))
		case <-time.After(pause):
		}
	}
}

// openCopy makes a new session of the branch of the one at path, which may have a newer
// version: its entries are lines that a file of our version may have too, and types that
// only the newer one knows have no effect. The problems of the old file are those of the
// copy.
func openCopy(path string, o Options) (*Session, error) {
	s, err := Read(path)
	if err != nil {
		return nil, err
	}
	defer s.closeBodies()
	next, err := s.CopyPath(s.Leaf(), o)
	if err != nil {
		return nil, err
	}
	broken := slices.DeleteFunc(s.Problems(), func(p string) bool { return p == s.loader.newerProblem() })
	next.problems.texts = append(broken, next.problems.texts...) // that the version is newer is not true of the copy
	return next, nil
}

// WithLock does something to the file of a session that nobody has open, and keeps
// it from being opened meanwhile, where that can be: on Windows, where an open file
// can neither be moved nor removed, the lock is released first. The error is a
// *[BusyError] if a process has the session open, a *[NotSessionError] if it is none,
// or what do returns.
func WithLock(path string, o Options, do func() error) error {
	if _, err := ReadHeader(path); err != nil {
		return err
	}
	st := &store{path: path, lockDir: o.LockDir}
	if err := st.open(); err != nil {
		return err
	}
	if runtime.GOOS == "windows" {
		st.close()
		return do()
	}
	err := do()
	return errors.Join(err, st.close())
}
