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
	"pi/cli/config"
	"pi/internal/printable"
	"pi/session"
	"pi/session/folder"

	"github.com/spf13/cobra"
)

// SessionRoot is the folder that the sessions of all directories are kept in, ""
// where none is kept.
func (p *Place) SessionRoot() string {
	switch {
	case p.Session.None:
		return ""
	case p.Session.Dir != "":
		return p.abs(p.Session.Dir) // tools and hooks are told of it, wherever they are
	case p.Config.Session.Dir != "":
		return p.Config.Session.Dir
	}
	return filepath.Join(p.AgentDir, "sessions")
}

// SessionOptions are what a session that is opened or begun here is given.
func (p *Place) SessionOptions() session.Options {
	o := session.Options{Dir: p.SessionRoot(), Cwd: p.Cwd, SyncEach: p.Config.Session.Durability == "entry"}
	if o.Dir != "" {
		o.LockDir = filepath.Join(p.AgentDir, "locks")
	}
	return o
}

// FindSession turns what a person wrote into a path: with a separator or the
// ending .jsonl it is one, else the beginning of an id.
func (p *Place) FindSession(ref string) (string, error) {
	if strings.ContainsAny(ref, "/"+string(filepath.Separator)) || strings.HasSuffix(ref, ".jsonl") {
		return p.abs(config.Expand(ref, config.Home(os.Getenv))), nil
	}
	return folder.Find(p.SessionRoot(), ref)
}

// ExistingSession is FindSession for a session that has to be there, else the error
// is a *folder.NotFoundError.
func (p *Place) ExistingSession(ref string) (string, error) {
	path, err := p.FindSession(ref)
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return "", &folder.NotFoundError{Prefix: ref}
	}
	return path, nil
}

// SessionError is a session that cannot be opened or read, for whatever reason.
type SessionError struct{ Err error }

func (e SessionError) Error() string { return e.Err.Error() }
func (e SessionError) Unwrap() error { return e.Err }

// candidates is a hint that tells the sessions apart whose ids begin alike.
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

// firstLine is the beginning of a text that others wrote, safe for a terminal.
func firstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	r := []rune(printable.Short(s))
	if len(r) > 60 {
		return string(r[:59]) + "…"
	}
	return string(r)
}

func sessionsCommand(o *Options) *cobra.Command {
	c := &cobra.Command{Use: "sessions", Short: "List, show, export and remove sessions", Args: subcommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	c.AddCommand(sessionsList(o), sessionsShow(o), sessionsExport(o), sessionsRemove(o))
	return c
}

// completed is how many ids completion offers.
const completed = 100

// keptSessions is the place where sessions are kept, for /resume.
func (r *run) keptSessions() *command.Sessions {
	return &command.Sessions{
		Scan: func(all bool) iter.Seq2[folder.Info, error] {
			cwd := r.Cwd
			if all {
				cwd = ""
			}
			return folder.Scan(r.SessionRoot(), cwd)
		},
		IDs:  func(prefix string) []string { return folder.IDs(r.SessionRoot(), r.Cwd, prefix, completed) },
		Find: func(ref string) (string, error) { return r.FindSession(ref) },
		Open: func(ctx context.Context, path string, as session.Access, waiting func(*session.BusyError)) (*session.Session, error) {
			return session.OpenAs(ctx, path, r.SessionOptions(), as, waiting)
		},
		Remove: r.Remove,
	}
}
