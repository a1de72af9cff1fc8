package rpc

import (
	"context"
	"errors"
	"sync/atomic"

	"pi/agent"
	"pi/serve/record"
	"pi/session"
	"pi/session/compaction"
)

// compactions are the command compact.
type compactions struct {
	*parts
	begun atomic.Int32 // that are not done
}

// isUnderWay reports whether the client has the context compacted.
func (s *compactions) isUnderWay() bool { return s.begun.Load() > 0 }

// open is the command compact. It interrupts what the agent does, a compaction before
// it too, and does not go on with it.
func (s *compactions) open(f *fields, r *request) work {
	o := agent.CompactOptions{Instructions: f.optionalText("customInstructions")}
	if f.err != nil {
		return nil
	}
	before, mine := s.prompts.list(), s.prompts.open(s.work)
	return func(_ context.Context, begun func()) {
		defer s.prompts.close(mine)
		s.begun.Add(1)
		for _, e := range before {
			e.stop()
		}
		about, ended := s.agent.Session(), s.agent.Interrupt().Work()
		begun() // what comes behind is not interrupted
		waitFree(mine.ctx, before)
		waitClosed(mine.ctx, ended)
		done, err := s.compact(mine.ctx, about, o)
		s.begun.Add(-1) // before the client reads that it is over
		var unsaved *session.SaveError
		if errors.As(err, &unsaved) && done != nil {
			s.person.tellError(err)
			err = nil
		}
		if err != nil {
			s.out.refuse(r, compactionText(err))
			return
		}
		s.out.succeed(r, record.Compaction(done))
	}
}

// compact compacts the context of a session, unless that is left. A compaction that fails
// before it begins has the records of one that begins and ends, too.
func (s *compactions) compact(ctx context.Context, about *session.Session, o agent.CompactOptions) (done *agent.Compacted, err error) {
	for {
		before := s.state.compactionsSoFar()
		if err = agent.ErrAborted; s.agent.Session() == about {
			done, err = s.agent.Compact(ctx, o)
		}
		if errors.Is(err, agent.ErrNotIdle) { // something else has begun meanwhile
			if err = agent.ErrAborted; s.order.barrier() == nil {
				if s.agent.Abort(); s.agent.WaitIdle(ctx) == nil {
					continue
				}
			}
		}
		if err != nil && s.state.compactionsSoFar() == before {
			s.out.event(&agent.CompactionStart{Reason: agent.CompactManual})
			s.out.event(&agent.CompactionEnd{Reason: agent.CompactManual, ErrorMessage: compactionText(err), Aborted: isCancelled(err)})
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
