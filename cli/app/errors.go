package app

import (
	"errors"
)

// ErrReported is an error whose text the user has seen: only the exit status tells
// of it.
var ErrReported = errors.New("reported")

// UsageError is a mistake on the command line.
type UsageError struct{ Err error }

func (e UsageError) Error() string { return e.Err.Error() }

func (e UsageError) Unwrap() error { return e.Err }

// SessionError is a session that cannot be opened or read, for whatever reason.
type SessionError struct{ Err error }

func (e SessionError) Error() string { return e.Err.Error() }

func (e SessionError) Unwrap() error { return e.Err }
