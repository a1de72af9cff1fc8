package rpc

import (
	"context"
	"errors"

	"pi/agent"
	"pi/serve/record"
	"pi/session"
	"pi/session/compaction"
)

// compactions are the command compact.
type compactions struct {
	*parts
	turns turns
}

// open is the command compact. It interrupts what the agent does, a compaction before
// it too, and does not go on with it.
func (s *compactions) open(f *fields, r *request) work {
	o := agent.CompactOptions{Instructions: f.optionalText("customInstructions")}
	if f.err != nil {
		return nil
	}
	prompts := s.prompts.list()
	return func(ctx context.Context, begun func()) {
		before, end := s.turns.take()
		defer end()
		begun()
		for _, e := range prompts {
			e.stop()
		}
		s.interrupt(ctx, prompts)
		if before != nil {
			<-before
		}
		done, err := s.compact(ctx, o)
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

// compact compacts the context. A compaction that fails before it begins has the records of
// one that begins and ends, too.
func (s *compactions) compact(ctx context.Context, o agent.CompactOptions) (*agent.Compacted, error) {
	for {
		before := s.state.compactionsSoFar()
		done, err := s.agent.Compact(ctx, o)
		if errors.Is(err, agent.ErrNotIdle) && ctx.Err() == nil {
			s.agent.Abort() // something else has begun meanwhile
			_ = s.agent.WaitIdle(ctx)
			continue
		}
		if err != nil && s.state.compactionsSoFar() == before {
			s.out.write(record.CompactionStart(agent.CompactManual))
			end := &agent.CompactionEnd{Reason: agent.CompactManual, ErrorMessage: compactionText(err), Aborted: isCancelled(err)}
			s.out.write(record.CompactionEnd(end))
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
