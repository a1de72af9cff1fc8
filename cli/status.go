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
	exitProvider    = 3
	exitRefused     = 4
	exitLimit       = 5
	exitSession     = 6
	exitUntrusted   = 7
	exitInterrupted = 130
	exitTerminated  = 143
)

func exitStatus(err error) int {
	var (
		provider *llm.ProviderError
		keyless  *app.NoKeyError
		limit    *agent.LimitError
		ended    *agent.TerminatedError
		usage    app.UsageError
		unknown  *command.UnknownError
		busy     *session.BusyError
		only     *session.UnwritableError
		not      *session.NotSessionError
		missing  *folder.NotFoundError
		several  *folder.AmbiguousError
		kept     app.SessionError
		mistrust *app.UntrustedError
	)
	switch {
	case err == nil:
		return exitDone
	case errors.Is(err, agent.ErrAborted), errors.Is(err, context.Canceled):
		return exitInterrupted
	case errors.As(err, &usage), errors.As(err, &unknown), errors.Is(err, llm.ErrNoModel):
		return exitUsage
	case errors.As(err, &provider), errors.As(err, &keyless):
		return exitProvider
	case errors.As(err, &limit):
		return exitLimit
	case errors.As(err, &mistrust):
		return exitUntrusted
	case errors.As(err, &ended), errors.Is(err, agent.ErrCancelled):
		return exitRefused
	case errors.As(err, &busy), errors.As(err, &only), errors.As(err, &not), errors.As(err, &missing), errors.As(err, &several), errors.As(err, &kept),
		errors.Is(err, session.ErrReadOnly):
		return exitSession
	}
	return exitFailed
}
