package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"time"

	"pi/agent/command"
	"pi/session"
	"pi/session/folder"
)

// opening is how a run gets the session that it works on.
type opening struct {
	sessions Sessions
	flags    SessionFlags
	attended bool // a user can be asked
	user     User
	later    *messages // what is unusual about the session
	// knowsType reports whether entries of a type are those of a hook; nil: none are.
	knowsType func(typ string) bool
}

// open opens the session that the command line names, or makes a new one. With a bare
// --resume it makes a new, empty one, because the user picks a session as the first
// thing they do.
func (o opening) open(ctx context.Context) (*session.Session, error) {
	path, err := o.path()
	if err == nil {
		err = o.checkCopyID()
	}
	if err != nil {
		return nil, SessionError{Err: err}
	}
	if path == "" {
		fresh := o.sessions.Options()
		fresh.ID = o.flags.ID
		return session.New(fresh), nil
	}
	s, err := o.openAt(ctx, path)
	if err != nil {
		return nil, SessionError{Err: err}
	}
	o.later.warn(s.Problems()...)
	if line := s.UnknownTypes(o.knowsType); line != "" {
		o.later.warn(line)
	}
	return s, nil
}

// path returns the file of the session that the command line names; "" if a new one is to
// be begun.
func (o opening) path() (string, error) {
	switch {
	case o.flags.Resume.Ref != "":
		return o.sessions.FindExisting(o.flags.Resume.Ref)
	case o.flags.Ref != "" && o.flags.access() == session.ToWrite:
		return o.sessions.Find(o.flags.Ref)
	case o.flags.Ref != "":
		return o.sessions.FindExisting(o.flags.Ref)
	case o.flags.ID != "":
		return o.withID()
	case !o.flags.Last:
		return "", nil
	}
	path, err := folder.Latest(o.sessions.Root, o.sessions.Cwd)
	switch {
	case err != nil && path != "":
		o.later.warn(err.Error() + "; this is the last of those that can be read")
		return path, nil
	case err == nil && path == "" && o.flags.ReadOnly:
		return "", errors.New("no session in this directory yet, so there is none to look at")
	case err == nil && path == "":
		o.later.warn("no session in this directory yet; this is a new one")
	}
	return path, err
}

// withID returns the file of the session of --session-id; "" if one of that id is to be begun.
func (o opening) withID() (string, error) {
	if o.flags.None {
		return "", nil
	}
	path, err := folder.FindID(o.sessions.Root, o.sessions.Cwd, o.flags.ID)
	if err == nil && path == "" && o.flags.ReadOnly {
		return "", &folder.NotFoundError{Prefix: o.flags.ID}
	}
	if err == nil && path == "" && !o.flags.Given {
		o.later.warn("no session " + o.flags.ID + " in this directory yet; this is a new one of that id")
	}
	return path, err
}

// checkCopyID returns an error if a copy is to get the id of a session that is there.
func (o opening) checkCopyID() error {
	if !o.flags.Fork || o.flags.Ref == "" || o.flags.ID == "" || o.flags.None {
		return nil
	}
	path, err := folder.FindID(o.sessions.Root, o.sessions.Cwd, o.flags.ID)
	if err == nil && path != "" {
		err = fmt.Errorf("there is a session %s already: %s", o.flags.ID, path)
	}
	return err
}

// openAt opens the session at path as the command line says. If another process has it
// open, the user chooses how to go on. The messages for later say what kind of session
// it is now.
func (o opening) openAt(ctx context.Context, path string) (*session.Session, error) {
	as := o.flags.access()
	s, err := o.openAs(ctx, path, as)
	if busy, ok := errors.AsType[*session.BusyError](err); ok && o.attended {
		var anew bool
		switch as, anew, err = o.user.askBusy(ctx, busy, err); {
		case err != nil:
			return nil, err
		case anew:
			o.later.inform("this is a new session; the other one stays as it is")
			return session.New(o.sessions.Options()), nil
		}
		s, err = o.openAs(ctx, path, as)
	}
	if err != nil {
		return nil, err
	}
	switch {
	case as == session.ToCopy:
		o.later.inform(fmt.Sprintf("going on in a copy, session %s; %s stays as it is", s.ID(), path))
		if h, err := session.ReadHeader(path); err == nil && h.Version > session.Version {
			o.later.inform(fmt.Sprintf("that has version %d: what only newer programs know is in the copy too, without an effect here", h.Version))
		}
	case s.ReadOnly():
		o.later.inform("the session is open for reading only: prompts are refused; /branch here goes on in a copy")
	}
	if cwd := s.Cwd(); o.flags.Resume.Ref+o.flags.Ref != "" && as != session.ToCopy && cwd != "" && cwd != o.sessions.Cwd {
		o.later.inform(fmt.Sprintf("the session was started in %s; the tools work in %s", cwd, o.sessions.Cwd))
	}
	return s, nil
}

// openAs opens a session. Where it has to wait until another process closes it, Ctrl+C
// ends that.
func (o opening) openAs(ctx context.Context, path string, as session.Access) (*session.Session, error) {
	if as == session.InTurn {
		var stop context.CancelFunc
		ctx, stop = signal.NotifyContext(ctx, os.Interrupt)
		defer stop()
	}
	options := o.sessions.Options()
	if as == session.ToCopy && o.flags.Ref != "" {
		options.ID = o.flags.ID
	}
	return session.OpenAs(ctx, path, options, as, func(busy *session.BusyError) {
		fmt.Fprintf(os.Stderr, "%s\n%s\n", command.BusyRow(busy, time.Now()), command.WaitNotice)
	})
}
