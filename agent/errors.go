package agent

import (
	"context"
	"errors"
	"fmt"
	"time"

	"pi/agent/work"
)

var (
	// ErrBusy is returned when a prompt comes while another one runs.
	ErrBusy = work.ErrBusy
	// ErrCancelled is returned for what a listener did not want to happen.
	ErrCancelled = errors.New("cancelled by hook")
	// ErrNotIdle is returned for what cannot be done while a prompt runs.
	ErrNotIdle = errors.New("not while the agent is working")
	// ErrNoRun is returned for what needs a running prompt.
	ErrNoRun = errors.New("the agent is not working")
	// ErrEmptyPrompt is returned for a prompt without text and attachments.
	ErrEmptyPrompt = errors.New("the prompt is empty")
	// ErrAborted is returned by a run that was interrupted.
	ErrAborted = errors.New("interrupted")
	// ErrEnded is returned for a message that comes too late.
	ErrEnded = errors.New("the program ends, so nothing more is sent")
)

// LimitError ends a run at a limit: one that the user set, or "aborts", the one
// for answers that listeners stop.
type LimitError struct{ Limit, Message string }

func (e *LimitError) Error() string { return e.Message }

// TimeError is the cause of a context that ends because the time of the whole program is up, and the
// error of what that has interrupted. It is an end like any other that somebody asks for, so
// it is [context.Canceled] too.
type TimeError struct{ Limit time.Duration }

func (e *TimeError) Error() string {
	return fmt.Sprintf("stopped: the time limit of %v is over (--timeout)", e.Limit)
}

func (*TimeError) Unwrap() error { return context.Canceled }

// TerminatedError ends a run whose calls were blocked by listeners that want no
// more of it. Reason is what the model was told.
type TerminatedError struct{ Reason string }

func (e *TerminatedError) Error() string { return "a hook ended the run: " + e.Reason }

// hookName is the name of the hook by in messages; "" is a listener without a name.
func hookName(by string) string {
	if by == "" {
		return "a listener"
	}
	return "hook " + by
}
