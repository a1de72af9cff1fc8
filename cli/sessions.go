package cli

import (
	"errors"
	"fmt"
	"strings"

	"pi/agent/command"
	"pi/session"
	"pi/session/folder"
)

// sessionHint returns how the user can go on after a failure to open, find or write a
// session, by flags and subcommands; "" for another error.
func sessionHint(err error) string {
	if several, ok := errors.AsType[*folder.AmbiguousError](err); ok {
		return candidates(several)
	}
	switch {
	case wraps[*session.UnwritableError](err):
		return "with --fork pi goes on in a copy of it, with --read-only it only shows it"
	case wraps[*session.BusyError](err):
		return "with --fork pi goes on in a copy of it, with --read-only it only shows it, with --wait it waits until it is free"
	case errors.Is(err, session.ErrReadOnly):
		return "/branch here goes on in a copy that can be written; so does pi with --fork"
	case wraps[*folder.NotFoundError](err):
		return "`pi sessions list` shows the sessions of this directory, with --all those of others"
	}
	return ""
}

// candidates lists the sessions whose ids begin alike, for the user to choose one.
func candidates(e *folder.AmbiguousError) string {
	const most = 10
	lines := []string{"write more of the id:"}
	for _, path := range e.Paths[:min(len(e.Paths), most)] {
		info, err := folder.Describe(path)
		if err != nil {
			lines = append(lines, path)
			continue
		}
		lines = append(lines, fmt.Sprintf("%s  %s  %s", info.ID, written(info), command.Title(info)))
	}
	if more := len(e.Paths) - most; more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(lines, "\n")
}

// written is when something was last written to a session.
func written(i folder.Info) string { return i.Modified.Local().Format("2006-01-02 15:04") }
