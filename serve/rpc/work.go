package rpc

import (
	"context"
	"errors"

	"pi/agent"
	"pi/serve/record"
	"pi/session"
	"pi/session/compaction"
)

// openAbort ends the run, the wait for a retry, the compaction and the summary of a branch
// that are in progress when it is read, and the prompts and compactions that were read before
// and have not begun. It is answered when all that has ended; what is read behind it is not
// touched and not waited for.
func (s *Server) openAbort(*request) work {
	before, ended := interrupt(s.opened(false)), s.agent.Interrupt().Work()
	return func(ctx context.Context, _ func()) (any, error) {
		waitFree(ctx, before...)
		waitClosed(ctx, ended)
		return nil, nil
	}
}

// openAbortRetry ends the wait for another attempt, and with it the call.
func (s *Server) openAbortRetry(*request) work {
	return func(context.Context, func()) (any, error) {
		s.agent.Interrupt().Retry()
		return nil, nil
	}
}

// openCompact is the command compact. It interrupts what the agent does, a compaction before
// it too, and does not go on with it.
func (s *Server) openCompact(r *request) work {
	o := agent.CompactOptions{Instructions: r.optionalText("customInstructions")}
	if r.err != nil {
		return nil
	}
	before, mine := s.opened(false), s.open(s.work, false)
	return func(_ context.Context, begun func()) (any, error) {
		defer s.close(mine)
		s.note(func(f *facts) { f.compacting++ })
		interrupt(before)
		about, ended := s.agent.Session(), s.agent.Interrupt().Work()
		begun() // what comes behind is not interrupted
		waitFree(mine.ctx, before...)
		waitClosed(mine.ctx, ended)
		done, err := s.compact(mine.ctx, about, o)
		s.note(func(f *facts) { f.compacting-- }) // before the client reads that it is over
		var unsaved *session.SaveError
		if errors.As(err, &unsaved) && done != nil {
			s.user.tellError(err)
			err = nil
		}
		if err != nil {
			return nil, wording(compactionText(err))
		}
		return record.Compaction(done), nil
	}
}

// compact compacts the context of a session, unless that is left. A compaction that fails
// before it begins has the records of one that begins and ends, too.
func (s *Server) compact(ctx context.Context, about *session.Session, o agent.CompactOptions) (done *agent.Compacted, err error) {
	for {
		before := s.now().compacted
		if err = agent.ErrAborted; s.agent.Session() == about {
			done, err = s.agent.Compact(ctx, o)
		}
		if errors.Is(err, agent.ErrNotIdle) { // something else has begun meanwhile
			if err = agent.ErrAborted; s.now().exclusive == nil {
				if s.agent.Abort(); s.agent.WaitIdle(ctx) == nil {
					continue
				}
			}
		}
		if err != nil && s.now().compacted == before {
			s.out.noCompaction(&agent.CompactionEnd{Reason: agent.CompactManual, ErrorMessage: compactionText(err), Aborted: isCancelled(err)})
		}
		return done, err
	}
}

// isCancelled reports whether a hook or an interrupt ended something.
func isCancelled(err error) bool {
	return errors.Is(err, agent.ErrCancelled) || errors.Is(err, agent.ErrAborted) || errors.Is(err, context.Canceled)
}

// compactionText says why nothing was compacted, in the words that clients know.
func compactionText(err error) string {
	switch {
	case isCancelled(err):
		return "Compaction cancelled"
	case errors.Is(err, compaction.ErrNothingToCompact):
		return "Nothing to compact (session too small)"
	case errors.Is(err, compaction.ErrJustCompacted):
		return "Already compacted"
	}
	return errorText(err)
}

// bashResult is the data of bash.
type bashResult struct {
	Output         string `json:"output"`
	ExitCode       *int   `json:"exitCode,omitempty"`
	Cancelled      bool   `json:"cancelled"`
	Truncated      bool   `json:"truncated"`
	FullOutputPath string `json:"fullOutputPath,omitempty"`
}

// openBash is the command bash. Any number may run at a time, also while the agent works.
func (s *Server) openBash(r *request) work {
	c := agent.UserCommand{Line: r.text("command"), Exclude: r.optionalFlag("excludeFromContext"), Detached: true}
	if r.err != nil {
		return nil
	}
	e := s.open(s.work, true)
	c.Output = func(piece string) { s.out.write(record.BashUpdate(r.id, piece)) }
	return func(_ context.Context, begun func()) (any, error) {
		defer s.close(e)
		begun()
		outcome, err := s.agent.Bash(e.ctx, c)
		switch {
		case err != nil && e.ctx.Err() != nil:
			outcome.Cancelled = true
		case err != nil:
			return nil, err
		}
		data := bashResult{outcome.Output, outcome.ExitCode, outcome.Cancelled, outcome.Truncated, outcome.FullOutputPath}
		if outcome.Cancelled {
			data.ExitCode = nil
		}
		return data, nil
	}
}

// openAbortBash ends all commands of bash that were read before.
func (s *Server) openAbortBash(*request) work {
	interrupt(s.opened(true))
	return func(context.Context, func()) (any, error) { return nil, nil }
}
