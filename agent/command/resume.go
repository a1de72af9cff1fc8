package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
	"unicode"

	"pi/agent"
	"pi/session"
)

func resumeCommand(o Options) Command {
	return Command{
		Name: "resume", Args: "[id|path]", Help: "go on with another session of this directory",
		Complete: func(prefix string) []string { return completeSession(o, prefix) },
		Run: func(ctx context.Context, args string) (Outcome, error) {
			if args != "" {
				return resume(ctx, o, args)
			}
			infos, err := others(o)
			switch {
			case err != nil:
				return Outcome{}, err
			case len(infos) == 0:
				return Outcome{Status: "no other session in this directory"}, nil
			case o.UI == nil || !o.UI.HasUI():
				return Outcome{Status: strings.Join(sessionLines(infos), "\n")}, nil
			}
			return pickSession(ctx, o, infos)
		},
	}
}

// others are the sessions of this directory but the current one.
func others(o Options) ([]session.Info, error) {
	infos, err := o.Sessions()
	if err != nil {
		return nil, err
	}
	current := o.Agent.Session().ID()
	var found []session.Info
	for _, i := range infos {
		if i.ID != current {
			found = append(found, i)
		}
	}
	return found, nil
}

func completeSession(o Options, prefix string) []string {
	infos, err := others(o)
	if err != nil { // the command itself will say it
		return nil
	}
	var ids []string
	for _, i := range infos {
		ids = append(ids, i.ID)
	}
	return withPrefix(ids, prefix)
}

func resume(ctx context.Context, o Options, ref string) (Outcome, error) {
	path, err := o.Find(ref)
	if err != nil {
		return Outcome{}, err
	}
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return Outcome{}, &session.NotFoundError{Prefix: ref}
	}
	return switchTo(ctx, o.Agent, path)
}

func pickSession(ctx context.Context, o Options, infos []session.Info) (Outcome, error) {
	lines := sessionLines(infos)
	choice, ok, err := o.UI.Select(ctx, "Session to go on with", lines, agent.DialogOptions{})
	if err != nil {
		return Outcome{}, err
	}
	for i, line := range lines {
		if ok && line == choice {
			return switchTo(ctx, o.Agent, infos[i].Path)
		}
	}
	return Outcome{Status: "session: still " + o.Agent.Session().ID()}, nil
}

func switchTo(ctx context.Context, a *agent.Agent, path string) (Outcome, error) {
	before := a.Session()
	if err := a.SwitchSession(ctx, path); err != nil {
		return Outcome{}, err
	}
	s := a.Session()
	if s == before {
		return Outcome{Status: "session " + s.ID() + " is the current one"}, nil
	}
	status := fmt.Sprintf("session %s, %d messages", s.ID(), len(s.Context()))
	for _, problem := range append(s.Problems(), s.UnknownTypes()) {
		if problem != "" {
			status += "\n" + problem
		}
	}
	return Outcome{Status: status}, nil
}

// sessionLines describe sessions, one line each; no two are the same, for each
// begins with the id.
func sessionLines(infos []session.Info) []string {
	lines := make([]string, len(infos))
	for i, info := range infos {
		lines[i] = fmt.Sprintf("%s  %s  %4d messages  %s", info.ID, info.Modified.Local().Format(time.DateTime), info.Messages, title(info))
	}
	return lines
}

// titleLength is as much of a first prompt as a list has room for.
const titleLength = 60

// title is the name of a session, or the beginning of its first prompt.
func title(info session.Info) string {
	text := info.Name
	if text == "" {
		text = info.FirstPrompt
	}
	text, _, _ = strings.Cut(strings.TrimSpace(text), "\n")
	runes := []rune(strings.Map(visible, text))
	if len(runes) > titleLength {
		return string(runes[:titleLength-1]) + "…"
	}
	return string(runes)
}

// visible drops what could command a terminal or turn its reading direction.
func visible(r rune) rune {
	if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
		return -1
	}
	return r
}

func nameCommand(a *agent.Agent) Command {
	return Command{
		Name: "name", Args: "[text]", Help: "show or set the name of the session",
		Run: func(ctx context.Context, args string) (Outcome, error) {
			if args == "" {
				if name := a.Session().Name(); name != "" {
					return Outcome{Status: "name: " + name}, nil
				}
				return Outcome{Status: "the session has no name"}, nil
			}
			if err := a.SetSessionName(ctx, args); err != nil {
				return Outcome{}, err
			}
			return Outcome{Status: "name: " + args}, a.Session().Flush()
		},
	}
}
