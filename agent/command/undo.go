package command

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"pi/agent"
)

func undoCommand(a *agent.Agent) Command {
	return Command{
		Name: "undo", Topic: TopicBranches, Args: "[n]", Help: "go back to before your last prompt, or the n-th last; files stay as they are",
		Run: func(ctx context.Context, args string) (Outcome, error) {
			n := 1
			if args != "" {
				var err error
				if n, err = strconv.Atoi(args); err != nil || n < 1 {
					return Outcome{}, fmt.Errorf("how many prompts to go back is a number from 1, not %q", args)
				}
			}
			m, err := a.Undo(ctx, n)
			if errors.Is(err, agent.ErrNothingToUndo) {
				return Outcome{Status: "nothing to undo: no prompt on this branch"}, nil
			}
			return moved(a, m, "undone (/redo takes it back)"), err
		},
	}
}

func redoCommand(a *agent.Agent) Command {
	return Command{
		Name: "redo", Topic: TopicBranches, Help: "take the last /undo back",
		Run: withoutArgument("redo", func(ctx context.Context) (Outcome, error) {
			m, err := a.Redo(ctx)
			if errors.Is(err, agent.ErrNothingToRedo) {
				return Outcome{Status: "nothing to redo: nothing was undone since the last message"}, nil
			}
			return moved(a, m, "redone"), err
		}),
	}
}
