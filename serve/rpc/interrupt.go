package rpc

import "context"

// openAbort ends the run, the wait for a retry, the compaction and the summary of a branch
// that are in progress when it is read, and the prompts and compactions that were read before
// and have not begun. It is answered when all that has ended; what is read behind it is not
// touched and not waited for.
func (s *prompter) openAbort(_ *fields, r *request) work {
	before, ended := s.prompts.interrupt(), s.agent.Interrupt().Work()
	return func(ctx context.Context, _ func()) {
		waitFree(ctx, before)
		waitClosed(ctx, ended)
		s.out.succeed(r, nil)
	}
}

// waitClosed waits until c is closed, or until ctx is done.
func waitClosed(ctx context.Context, c <-chan struct{}) {
	select {
	case <-c:
	case <-ctx.Done():
	}
}

// openAbortRetry ends the wait for another attempt, and with it the call.
func (s *prompter) openAbortRetry(_ *fields, r *request) work {
	return func(context.Context, func()) {
		s.agent.Interrupt().Retry()
		s.out.succeed(r, nil)
	}
}
