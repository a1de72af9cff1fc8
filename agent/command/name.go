package command

import (
	"context"
	"strings"

	"pi/agent"
)

func nameCommand(a *agent.Agent) Command {
	return Command{
		Name: "name", Topic: TopicSession, Args: "[text]", Help: "show or set the name of the session",
		Run: func(ctx context.Context, args string) (Outcome, error) {
			if args == "" {
				if name := a.Session().Name(); name != "" {
					return Outcome{Status: "name: " + name}, nil
				}
				return Outcome{Status: "the session has no name"}, nil
			}
			args = strings.Join(strings.FieldsFunc(args, func(r rune) bool { return r == '\n' || r == '\r' }), " ") // lists have a row for it
			if err := a.SetSessionName(ctx, args); err != nil {
				return Outcome{}, err
			}
			return Outcome{Status: "name: " + args}, a.Session().Flush()
		},
	}
}
