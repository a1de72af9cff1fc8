package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"pi/agent/command"
	"pi/internal/printable"
	"pi/session"

	"github.com/spf13/cobra"
)

// sessionRoot is where sessions are kept; "" when they are not.
func (a *app) sessionRoot() string {
	switch {
	case a.noSession:
		return ""
	case a.sessionDir != "":
		if abs, err := filepath.Abs(a.sessionDir); err == nil { // tools and hooks are told of it, wherever they are
			return abs
		}
		return a.sessionDir
	case a.hookDir != "":
		return a.hookDir
	case a.cfg.Session.Dir != "":
		return a.cfg.Session.Dir
	}
	return filepath.Join(a.agentDir, "sessions")
}

func (a *app) sessionOptions() session.Options {
	o := session.Options{Dir: a.sessionRoot(), Cwd: a.cwd, SyncEach: a.cfg.Session.Durability == "entry"}
	if o.Dir != "" {
		o.LockDir = filepath.Join(a.agentDir, "locks")
	}
	return o
}

// findSession turns what a person wrote into a path: with a separator or the
// ending .jsonl it is one, else the beginning of an id.
func findSession(ref, root string) (string, error) {
	if strings.ContainsAny(ref, "/"+string(filepath.Separator)) || strings.HasSuffix(ref, ".jsonl") {
		return filepath.Abs(expandHome(ref, homeDir(os.Getenv)))
	}
	return session.Find(root, ref)
}

// existingSession is findSession for a session that has to be there.
func existingSession(ref, root string) (string, error) {
	path, err := findSession(ref, root)
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return "", &session.NotFoundError{Prefix: ref}
	}
	return path, nil
}

// sessionError is a session that cannot be opened or read, for whatever reason.
type sessionError struct{ error }

func (e sessionError) Unwrap() error { return e.error }

// candidates is a hint that tells the sessions apart whose ids begin alike.
func candidates(e *session.AmbiguousError) string {
	const most = 10
	lines := []string{"write more of the id:"}
	for _, path := range e.Paths[:min(len(e.Paths), most)] {
		info, err := session.Describe(path)
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
func written(i session.Info) string { return i.Modified.Local().Format("2006-01-02 15:04") }

// firstLine is the beginning of a text that others wrote, safe for a terminal.
func firstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	r := []rune(printable.Short(s))
	if len(r) > 60 {
		return string(r[:59]) + "…"
	}
	return string(r)
}

func sessionsCommand(o *options) *cobra.Command {
	c := &cobra.Command{Use: "sessions", Short: "List, show, export and remove sessions", Args: subcommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	c.AddCommand(sessionsList(o), sessionsShow(o), sessionsExport(o), sessionsRemove(o))
	return c
}

// completed is how many ids completion offers.
const completed = 100

// keptSessions is the place where sessions are kept, for /resume.
func (a *app) keptSessions() *command.Sessions {
	return &command.Sessions{
		Scan: func(all bool) iter.Seq2[session.Info, error] {
			cwd := a.cwd
			if all {
				cwd = ""
			}
			return session.Scan(a.sessionRoot(), cwd)
		},
		IDs:  func(prefix string) []string { return session.IDs(a.sessionRoot(), a.cwd, prefix, completed) },
		Find: func(ref string) (string, error) { return findSession(ref, a.sessionRoot()) },
		Open: func(ctx context.Context, path string, as session.Access, waiting func(*session.BusyError)) (*session.Session, error) {
			return session.OpenAs(ctx, path, a.sessionOptions(), as, waiting)
		},
		Remove: a.removeSession,
	}
}
