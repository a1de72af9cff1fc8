package command

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"pi/internal/printable"
)

// removeWord is what /resume has to be told to remove a session.
const removeWord = "rm"

func resumeCommand(o Options) Command {
	r := resumer{Options: o, store: *o.Sessions}
	recent := &recentSessions{read: r.others}
	return Command{
		Name: "resume", Topic: TopicSession, Args: "[id|name|path] | rm id", Help: "go on with another session; pick one, also to delete it, if none is named",
		More: "/resume        pick a session, of this directory or of all; without a person: list them\n" +
			"/resume ID     the session whose id begins so, or the file; model and thinking level as it was left\n" +
			"/resume NAME   the session of this directory that has this name\n" +
			"/resume rm ID  delete it, after a question, to the trash where there is one\n" +
			"One that another process has open can be copied, only looked at, or waited for.",
		Complete: func(prefix string) []string {
			current := o.Agent.Session().ID()
			prefix = strings.TrimPrefix(prefix, removeWord+" ")
			ids := slices.DeleteFunc(o.Sessions.IDs(prefix), func(id string) bool { return id == current })
			return append(ids, recent.names()...)
		},
		Describe: recent.describe,
		Run: func(ctx context.Context, args string) (Outcome, error) {
			ref, removes := strings.CutPrefix(args, removeWord+" ")
			switch {
			case removes:
				return r.removeNamed(ctx, strings.TrimSpace(ref))
			case args != "":
				path, err := r.existing(args)
				if err != nil {
					return Outcome{}, err
				}
				return r.open(ctx, path)
			case !r.UI.HasUI():
				return r.list()
			}
			return r.pick(ctx)
		},
	}
}

// list returns the sessions of this directory as text, for a front end where nobody can
// pick one.
func (r resumer) list() (Outcome, error) {
	var lines []string
	var problems []error
	more, now := false, time.Now()
	for i, err := range r.others(false) {
		if more = len(lines) == pageSize; more {
			break
		}
		if err != nil {
			problems = append(problems, err)
			continue
		}
		lines = append(lines, fmt.Sprintf("%s  %10s  %8s  %4d messages  %s", i.ID, age(i.Modified, now), printable.Size(i.Size), i.Messages, Title(i)))
	}
	if more {
		lines = append(lines, "… `pi sessions list` lists them all")
	}
	if len(lines) == 0 {
		lines = append(lines, nothingToResume)
	}
	return Outcome{Status: strings.Join(lines, "\n")}, errors.Join(problems...)
}
