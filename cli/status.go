package cli

import (
	"context"
	"errors"

	"pi/agent"
	"pi/agent/command"
	"pi/agent/llm"
	"pi/cli/app"
	"pi/session"
	"pi/session/folder"
)

// The exit statuses; scripts rely on them.
const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2
	exitProvider    = 3 // or the network, and it may pass
	exitRefused     = 4
	exitLimit       = 5
	exitSession     = 6
	exitUntrusted   = 7
	exitDenied      = 8                 // as exitProvider, but another time it would be the same
	exitTimeLimit   = 124               // as that of timeout(1)
	exitInterrupted = exitSignalled + 2 // by the user, with or without a signal
	exitSignalled   = 128               // and the number of the signal
)

// exitStatus returns the exit status of pi for the error that it ends with.
func exitStatus(err error) int {
	switch {
	case err == nil:
		return exitDone
	case wraps[*agent.TimeError](err):
		return exitTimeLimit
	case errors.Is(err, agent.ErrAborted), errors.Is(err, context.Canceled):
		return exitInterrupted
	case wraps[app.UsageError](err), wraps[*command.UnknownError](err), errors.Is(err, llm.ErrNoModel):
		return exitUsage
	case wraps[*app.NoKeyError](err):
		return exitDenied
	case wraps[*llm.ProviderError](err):
		if failed, _ := errors.AsType[*llm.ProviderError](err); failed.MayPass() {
			return exitProvider
		}
		return exitDenied
	case wraps[*agent.LimitError](err):
		return exitLimit
	case wraps[*app.UntrustedError](err):
		return exitUntrusted
	case wraps[*agent.TerminatedError](err), errors.Is(err, agent.ErrCancelled):
		return exitRefused
	case wraps[*session.BusyError](err), wraps[*session.UnwritableError](err), wraps[*session.NotSessionError](err), wraps[*folder.NotFoundError](err),
		wraps[*folder.AmbiguousError](err), wraps[app.SessionError](err), errors.Is(err, session.ErrReadOnly):
		return exitSession
	}
	return exitFailed
}

// wraps reports whether an error of type E is among those that err wraps, or is err.
func wraps[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}
