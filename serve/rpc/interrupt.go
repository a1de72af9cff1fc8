package rpc

import "context"

// openAbort ends the run, the wait for a retry, the compaction and the summary of a branch
// that are in progress, and the prompts that were read before and are not accepted yet. It is
// answered when all that has ended.
func (s *prompter) openAbort(_ *fields, r *request) work {
	prompts := s.prompts.interrupt()
	return func(ctx context.Context, _ func()) {
		s.interrupt(ctx, prompts)
		s.out.succeed(r, nil)
	}
}

// interrupt stops what the agent does, and waits until it is idle and the prompts are done.
func (s *parts) interrupt(ctx context.Context, prompts []*entry) {
	s.agent.Abort()
	waitFree(ctx, prompts)
	_ = s.agent.WaitIdle(ctx)
}

// openAbortRetry ends the wait for another attempt, and with it the call.
func (s *prompter) openAbortRetry(_ *fields, r *request) work {
	return func(context.Context, func()) {
		s.agent.Interrupt().Retry()
		s.out.succeed(r, nil)
	}
}
