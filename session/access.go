package session

import (
	"context"
	"slices"
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

// openCopy also copies a session of a newer version: its entries are lines that
// version 3 may hold, those that only the newer one knows without an effect.
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
	broken := slices.DeleteFunc(s.Problems(), func(p string) bool { return p == s.loader.newer() })
	next.problems.texts = append(broken, next.problems.texts...) // it is not in the copy
	return next, nil
}
