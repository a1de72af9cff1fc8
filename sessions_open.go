package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"

	"pi/agent/command"
	"pi/internal/printable"
	"pi/session"
	"pi/session/folder"

	"github.com/spf13/pflag"
)

// bareResume is what the flag library gives a flag without a value.
const bareResume = "true"

// resumeFlag is --resume, whose value may be left out.
type resumeFlag struct{ *Resume }

func (r resumeFlag) String() string { return "" }
func (r resumeFlag) Type() string   { return "bool" } // so that help shows no value that may be left out

func (r resumeFlag) Set(value string) error {
	if value == "" {
		return errors.New("the session has no name")
	}
	r.Pick, r.Ref = value == bareResume, value
	if r.Pick {
		r.Ref = ""
	}
	return nil
}

func addSessionFlags(f *pflag.FlagSet, o *Options) {
	f.BoolVarP(&o.Session.Last, "continue", "c", false, "go on with the last session of this directory")
	f.VarPF(resumeFlag{&o.Session.Resume}, "resume", "r", "go on with a session: the beginning of its `ID`, or its file; without, you pick one").NoOptDefVal = bareResume
	f.StringVar(&o.Session.Ref, "session", "", "as --resume; a file that is not there is begun")
	f.BoolVar(&o.Session.Fork, "fork", false, "with one of these: go on in a copy, and leave the session as it is")
	f.BoolVar(&o.Session.ReadOnly, "read-only", false, "with one of these: only look at the session")
	f.BoolVar(&o.Session.Wait, "wait", false, "with one of these: wait while another process has the session")
	f.BoolVar(&o.Session.None, "no-session", false, "save nothing")
}

// joinResume makes the word after --resume its value, if it can be one: an id
// has no blank in it, and a prompt hardly ever none.
func joinResume(args []string) []string {
	var out []string
	for i := 0; i < len(args); i++ {
		if args[i] == "--" {
			return append(out, args[i:]...)
		}
		if (args[i] == "--resume" || args[i] == "-r") && i+1 < len(args) && namesSession(args[i+1]) {
			out = append(out, "--resume="+args[i+1])
			i++
			continue
		}
		out = append(out, args[i])
	}
	return out
}

func namesSession(word string) bool {
	return word != "" && word[0] != '-' && (!strings.ContainsAny(word, " \t\n") || strings.HasSuffix(word, ".jsonl"))
}

// checkSessionFlags refuses flags that mean different sessions.
func checkSessionFlags(f *pflag.FlagSet, o *Options) error {
	var named []string
	for _, name := range []string{"continue", "resume", "session"} {
		if f.Changed(name) {
			named = append(named, "--"+name)
		}
	}
	var ways []string
	for _, name := range []string{"fork", "read-only", "wait"} {
		if f.Changed(name) {
			ways = append(ways, "--"+name)
		}
	}
	switch {
	case len(named) > 1:
		return UsageError{Err: fmt.Errorf("%s: each names a session; choose one", strings.Join(named, " and "))}
	case len(ways) > 1:
		return UsageError{Err: fmt.Errorf("%s do not go together", strings.Join(ways, " and "))}
	case o.Session.None && len(named) > 0:
		return UsageError{Err: fmt.Errorf("--no-session does not go with %s", named[0])}
	case f.Changed("session") && o.Session.Ref == "":
		return UsageError{Err: errors.New("--session wants a file or the beginning of an id")}
	case len(ways) > 0 && len(named) == 0:
		return UsageError{Err: fmt.Errorf("%s of which session? --continue, --resume ID or --session ID says it", ways[0])}
	case len(ways) > 0 && o.Session.Resume.Pick:
		return UsageError{Err: fmt.Errorf("%s wants --resume with the session; `pi sessions list` lists them", ways[0])}
	case o.Session.Resume.Pick && o.PrintMode():
		return UsageError{Err: errors.New("--resume wants the session where nobody can pick one: --resume ID; `pi sessions list` lists them")}
	}
	return nil
}

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
		if as, err = terminal().askBusy(ctx, busy, err); err != nil {
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

const busyHint = "with --fork pi goes on in a copy of it, with --read-only it only shows it, with --wait it waits until it is free"

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

// askBusy asks what to do about a session that another process has; err is the
// answer of somebody who wants nothing of it.
func (p person) askBusy(ctx context.Context, busy *session.BusyError, err error) (session.Access, error) {
	fmt.Fprintln(p.out, printable.Text(busy.Error()))
	for {
		line, failed := p.ask(ctx, "copy: go on in a copy, read: only look at it, wait: until it is free; Enter leaves: ")
		if failed != nil {
			return 0, err
		}
		switch strings.ToLower(line) {
		case "":
			return 0, err
		case "c", "copy":
			return session.ToCopy, nil
		case "r", "read":
			return session.ToRead, nil
		case "w", "wait":
			return session.InTurn, nil
		}
		fmt.Fprintln(p.out, "Please answer copy, read, wait, or nothing.")
	}
}
