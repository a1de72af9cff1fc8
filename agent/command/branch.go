package command

import (
	"context"
	"fmt"
	"strings"

	"pi/agent"
	"pi/internal/printable"
	"pi/session"
)

// branchHere names the end of the conversation.
const branchHere = "here"

// branchCommand returns /branch, which leaves the session and goes on in a new one that
// has a part of it.
func branchCommand(o Options) Command {
	return Command{
		Name: "branch", Topic: TopicBranches, Aliases: []string{"fork"}, Args: "[id|here]", Title: "Branch",
		Help: "go on in a new session, from an earlier prompt or from here",
		More: "/branch        pick one of your prompts; without a person: list them\n" +
			"/branch ID     the new session has what was before that prompt, which is in the line again;\n" +
			"               of another entry: everything up to and with it\n" +
			"/branch here   it has all of this branch\n" +
			"This session stays as it is; the new one names it as its parent. /tree moves inside of one session.",
		Run: func(ctx context.Context, args string) (Outcome, error) {
			s := o.Agent.Session()
			switch {
			case args == branchHere && s.Leaf() == "":
				return Outcome{Status: "the session is empty: there is nothing to branch off"}, nil
			case args == branchHere:
				return branchTo(ctx, o.Agent, s.Leaf())
			case args != "":
				e, err := needEntry(s, args)
				if err != nil {
					return Outcome{}, err
				}
				return branchTo(ctx, o.Agent, e.ID)
			}
			return pickBranch(ctx, o, s)
		},
	}
}

// branchTo goes on in a new session that has the branch up to the entry id, and gives back
// the prompt that was cut off there, if one was. If the agent stays in the session, only
// the error is returned.
func branchTo(ctx context.Context, a *agent.Agent, id string) (Outcome, error) {
	left := a.Session()
	r, err := a.Branch(ctx, id)
	s := a.Session()
	if s == left {
		return Outcome{}, err
	}
	status := fmt.Sprintf("session %s, %s, branched off %s", s.ID(), printable.Count(len(s.Context()), "message"), left.ID())
	return recalled(status, r), err
}

// pickBranch lets the user choose one of the prompts of the branch, the newest
// first, or all of it.
func pickBranch(ctx context.Context, o Options, s *session.Session) (Outcome, error) {
	choices := []agent.Choice{{Value: s.Leaf(), Label: branchHere + ", with all that was said"}}
	var lines []string
	path := s.Branch()
	for i := len(path) - 1; i >= 0; i-- {
		if text, kind := entryText(path[i], false); kind == kindUser {
			choices = append(choices, agent.Choice{Value: path[i].ID, Label: text, Description: path[i].ID})
			lines = append(lines, path[i].ID+"  "+text)
		}
	}
	if len(lines) == 0 {
		return Outcome{Status: "no prompt on this branch yet"}, nil
	}
	if !o.UI.HasUI() {
		return Outcome{Status: strings.Join(lines, "\n")}, nil
	}
	id, ok, err := selectOne(ctx, o.UI, "Branch off before which prompt?", choices, agent.DialogOptions{})
	if ok && err == nil {
		return branchTo(ctx, o.Agent, id)
	}
	return o.stays(), err
}
