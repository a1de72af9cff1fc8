package app

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"

	"pi/agent/command"
	"pi/cli/config"
	"pi/internal/printable"
	"pi/session"
	"pi/session/folder"
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

// Remove moves the session at path to the trash and returns where it is now, or
// deletes it for good. A session that a process has open stays.
func (p *Place) Remove(path string, forGood bool) (to string, err error) {
	if forGood {
		return "", folder.Delete(path, p.SessionOptions())
	}
	return folder.UserTrash(runtime.GOOS, os.Getenv).Put(path, p.SessionOptions())
}

// ShortID is enough of the id of a session to find it again by.
func ShortID(id string) string { return id[:min(len(id), 13)] }

// openSession opens the session that the command line names, or begins one. With
// a bare --resume it is an empty one: picking is what the person does first.
func (r *run) openSession(ctx context.Context) (*session.Session, error) {
	path, err := r.namedSession()
	if err != nil {
		return nil, SessionError{Err: err}
	}
	if path == "" {
		return session.New(r.SessionOptions()), nil
	}
	s, err := r.openNamed(ctx, path)
	if err != nil {
		return nil, SessionError{Err: err}
	}
	r.warnings = append(r.warnings, s.Problems()...)
	if line := s.UnknownTypes(); line != "" {
		r.warnings = append(r.warnings, line)
	}
	return s, nil
}

// namedSession is the path of the session that the command line names; "" if
// there is none.
func (r *run) namedSession() (string, error) {
	switch {
	case r.Session.Resume.Ref != "":
		return r.ExistingSession(r.Session.Resume.Ref)
	case r.Session.Ref != "" && r.Session.access() == session.ToWrite:
		return r.FindSession(r.Session.Ref)
	case r.Session.Ref != "":
		return r.ExistingSession(r.Session.Ref)
	case r.Session.Last:
		return r.lastSession()
	}
	return "", nil
}

// lastSession is the newest session of this directory; "" if there is none.
func (r *run) lastSession() (string, error) {
	path, err := folder.Latest(r.SessionRoot(), r.Cwd)
	if err != nil && path != "" {
		r.warnings = append(r.warnings, err.Error()+"; this is the last of those that can be read")
		return path, nil
	}
	if err == nil && path == "" && r.Session.ReadOnly {
		return "", errors.New("no session in this directory yet, so there is none to look at")
	}
	if err == nil && path == "" {
		r.warnings = append(r.warnings, "no session in this directory yet; this is a new one")
	}
	return path, err
}

// openNamed opens a session the way the command line says, or the way that the
// person chooses if another process has it.
func (r *run) openNamed(ctx context.Context, path string) (*session.Session, error) {
	as := r.Session.access()
	s, err := r.openAs(ctx, path, as)
	var busy *session.BusyError
	if errors.As(err, &busy) && !r.PrintMode() {
		if as, err = Terminal().askBusy(ctx, busy, err); err != nil {
			return nil, err
		}
		s, err = r.openAs(ctx, path, as)
	}
	if err != nil {
		return nil, err
	}
	r.notices = append(r.notices, openedAs(s, path, as)...)
	if cwd := s.Cwd(); r.Session.Resume.Ref != "" && as != session.ToCopy && cwd != "" && cwd != r.Cwd {
		r.notices = append(r.notices, fmt.Sprintf("the session was started in %s; the tools work in %s", cwd, r.Cwd))
	}
	return s, nil
}

// openAs opens a session; Ctrl+C ends a wait.
func (r *run) openAs(ctx context.Context, path string, as session.Access) (*session.Session, error) {
	if as == session.InTurn {
		var stop context.CancelFunc
		ctx, stop = signal.NotifyContext(ctx, os.Interrupt)
		defer stop()
	}
	return session.OpenAs(ctx, path, r.SessionOptions(), as, func(busy *session.BusyError) {
		fmt.Fprintf(os.Stderr, "%s\n%s\n", printable.Text(busy.Error()), command.WaitNotice)
	})
}

// openedAs says what is unusual about a session that was opened.
func openedAs(s *session.Session, path string, as session.Access) []string {
	switch {
	case as == session.ToCopy:
		lines := []string{fmt.Sprintf("going on in a copy, session %s; %s stays as it is", s.ID(), path)}
		if h, err := session.ReadHeader(path); err == nil && h.Version > session.Version {
			lines = append(lines, fmt.Sprintf("that has version %d: what only newer programs know is in the copy too, without an effect here", h.Version))
		}
		return lines
	case s.ReadOnly():
		return []string{"the session is open for reading only: prompts are refused; /branch here goes on in a copy"}
	}
	return nil
}

// firstLines are what a person would type first: with a bare --resume they pick
// a session, whose model gives way to that of the command line.
func (r *run) firstLines() (lines []string) {
	if r.Session.Resume.Pick {
		lines = append(lines, "/resume")
		if r.Model != "" {
			lines = append(lines, "/model "+r.Model)
		}
		if r.Thinking != "" {
			lines = append(lines, "/thinking "+r.Thinking)
		}
	}
	return append(lines, r.Prompts...)
}

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

// completed is how many ids completion offers.
const completed = 100
