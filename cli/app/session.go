package app

import (
	"context"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"pi/agent/command"
	"pi/cli/config"
	"pi/session"
	"pi/session/folder"
)

// Sessions is where sessions of a directory are kept, and how they are found and
// opened there.
type Sessions struct {
	Root string // the folder of the sessions of all directories; "": none is kept
	Cwd  string // the directory that tools of a session work in

	lockDir  string
	syncEach bool
}

// Sessions returns where sessions are saved and how, from the command line, the settings,
// or the defaults. An empty Root means that nothing is saved.
func (p *Place) Sessions() Sessions {
	s := Sessions{Cwd: p.Cwd, lockDir: filepath.Join(p.AgentDir, "locks"), syncEach: p.Config.Session.Durability == "entry"}
	switch {
	case p.Session.None:
	case p.Session.Dir != "":
		s.Root = absolute(p.Cwd, p.Session.Dir) // tools and hooks are told of it, wherever they are
	case p.Config.Session.Dir != "":
		s.Root = p.Config.Session.Dir
	default:
		s.Root = filepath.Join(p.AgentDir, "sessions")
	}
	return s
}

// Options returns the options with which a session is opened or begun here.
func (s Sessions) Options() session.Options {
	o := session.Options{Dir: s.Root, Cwd: s.Cwd, SyncEach: s.syncEach}
	if o.Dir != "" {
		o.LockDir = s.lockDir
	}
	return o
}

// Find returns the path of the session that a person named: a path if ref has a separator
// or ends in .jsonl, else the file whose id begins with ref. A path need not exist.
func (s Sessions) Find(ref string) (string, error) {
	if strings.ContainsAny(ref, "/"+string(filepath.Separator)) || strings.HasSuffix(ref, ".jsonl") {
		return absolute(s.Cwd, config.Expand(ref, config.Home(os.Getenv))), nil
	}
	return folder.Find(s.Root, ref)
}

// FindExisting is Find for a session that has to be there, else the error is a
// *folder.NotFoundError.
func (s Sessions) FindExisting(ref string) (string, error) {
	path, err := s.Find(ref)
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return "", &folder.NotFoundError{Prefix: ref}
	}
	return path, nil
}

// Remove moves the session at path to the trash and returns where it is now, or
// deletes it for good. A session that a process has open stays.
func (s Sessions) Remove(path string, forGood bool) (to string, err error) {
	if forGood {
		return "", folder.Delete(path, s.Options())
	}
	return folder.UserTrash(runtime.GOOS, os.Getenv).Put(path, s.Options())
}

// cwdUnless is the directory whose sessions are listed; "" for all.
func (s Sessions) cwdUnless(all bool) string {
	if all {
		return ""
	}
	return s.Cwd
}

// forResume returns what /resume may do with the sessions of this place.
func (s Sessions) forResume() *command.Sessions {
	const completed = 100 // ids that completion offers
	return &command.Sessions{
		Scan:      func(all bool) iter.Seq2[folder.Info, error] { return folder.Scan(s.Root, s.cwdUnless(all)) },
		ScanWords: func(all bool) iter.Seq2[folder.Info, error] { return folder.ScanWords(s.Root, s.cwdUnless(all)) },
		IDs:       func(prefix string) []string { return folder.IDs(s.Root, s.Cwd, prefix, completed) },
		Find:      s.FindExisting,
		Open: func(ctx context.Context, path string, as session.Access, waiting func(*session.BusyError)) (*session.Session, error) {
			return session.OpenAs(ctx, path, s.Options(), as, waiting)
		},
		Remove: s.Remove,
	}
}
