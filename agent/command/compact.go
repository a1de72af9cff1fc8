package command

import (
	"context"
	"errors"
	"fmt"

	"pi/agent"
	"pi/session/compaction"
)

func compactCommand(a *agent.Agent) Command {
	return Command{
		Name: "compact", Topic: TopicSession, Args: "[instructions]", Help: "put a summary in the place of the conversation so far", Title: "Compaction",
		Run: func(ctx context.Context, args string) (Outcome, error) {
			o := agent.CompactOptions{Instructions: args, IfSmaller: true}
			done, err := a.Compact(ctx, o)
			switch {
			case errors.Is(err, agent.ErrNotIdle):
				return compactLater(ctx, a, o), nil
			case errors.Is(err, compaction.ErrNothingToCompact):
				return Outcome{Status: "nothing to compact: the conversation is short enough as it is"}, nil
			case errors.Is(err, compaction.ErrJustCompacted):
				return Outcome{Status: "nothing to compact: nothing was said since the last compaction"}, nil
			case errors.Is(err, compaction.ErrNotSmaller):
				return Outcome{Status: err.Error()}, nil
			case done == nil:
				return Outcome{}, err
			}
			return Outcome{Status: done.String()}, err
		},
	}
}

// compactLater leaves the compaction to the run in progress and says so. The user is
// told later if it fails.
func compactLater(ctx context.Context, a *agent.Agent, o agent.CompactOptions) Outcome {
	ctx = context.WithoutCancel(ctx)
	status := "the context is compacted before the next request, or at the end of the work"
	a.RequestCompact(o, func(done *agent.Compacted, err error) {
		switch {
		case errors.Is(err, agent.ErrCompactionWaits):
			status = err.Error()
		case done == nil:
			a.Notify(ctx, agent.LevelWarning, fmt.Sprintf("/compact: %v", err))
		}
	})
	return Outcome{Status: status}
}

func uncompactCommand(a *agent.Agent) Command {
	return Command{
		Name: "uncompact", Topic: TopicSession, Help: "go back to before the last compaction",
		Run: withoutArgument("uncompact", func(ctx context.Context) (Outcome, error) {
			undone, err := a.Uncompact(ctx)
			switch {
			case errors.Is(err, agent.ErrNotCompacted):
				return Outcome{Status: "nothing to undo: this branch has no compaction"}, nil
			case undone == nil:
				return Outcome{}, err
			}
			return Outcome{Status: undone.String()}, err
		}),
	}
}
