package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"time"

	"pi/agent/command"
	"pi/cli/config"
	"pi/internal/githead"
	"pi/session"
	"pi/session/folder"
)

// Sessions is where sessions of a directory are kept, and how they are found and
// opened there.
type Sessions struct {
	Root string // the folder of the sessions of all directories; "": none is kept
	Cwd  string // the directory that tools of a session work in

	lockDir  string
	env      Environment
	syncEach bool
	now      func() time.Time // nil: the clock of the machine
}

// Sessions returns where sessions are saved and how, from the command line, the settings,
// or the defaults. An empty Root means that nothing is saved.
func (p *Place) Sessions() Sessions {
	s := Sessions{Cwd: p.Cwd, env: p.Env, lockDir: filepath.Join(p.AgentDir, "locks"), syncEach: p.Config.Session.Durability == "entry"}
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
	o := session.Options{Dir: s.Root, Cwd: s.Cwd, SyncEach: s.syncEach, Now: s.now}
	o.GitBranch = func() string { return githead.Branch(s.Cwd) }
	if o.Dir != "" {
		o.LockDir = s.lockDir
	}
	return o
}

// Find returns the path of the session that a user named: a path if ref has a separator
// or ends in .jsonl, else the file whose id begins with ref. A path need not exist.
func (s Sessions) Find(ref string) (string, error) {
	if isPath(ref) {
		return s.Path(ref), nil
	}
	return folder.Find(s.Root, ref)
}

// isPath reports whether a word that names a session is a path, and no id.
func isPath(ref string) bool {
	return strings.ContainsAny(ref, "/"+string(filepath.Separator)) || strings.HasSuffix(ref, ".jsonl")
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

// Path returns the path that a program named, which is never an id: ~ is the home
// directory, and what is relative is below the working directory.
func (s Sessions) Path(path string) string {
	return absolute(s.Cwd, config.Expand(path, s.env.home()))
}

// OpenOrBegin opens the session at a path of [Sessions.Path]. Where there is no file, or an
// empty one, a session begins, but only if the path ends in .jsonl: nobody means another
// file, such as one that was misspelled, to become a session. The errors are those of
// session.Open.
func (s Sessions) OpenOrBegin(path string) (*session.Session, error) {
	info, err := os.Stat(path)
	switch {
	case filepath.Ext(path) == ".jsonl":
	case errors.Is(err, os.ErrNotExist):
		return nil, fmt.Errorf("open session %q: it does not exist; a new one needs a path that ends in .jsonl", path)
	case err == nil && info.Size() == 0:
		return nil, &session.NotSessionError{Path: path, Reason: "it is empty, and its name does not end in .jsonl"}
	}
	return session.Open(path, s.Options())
}

// Remove moves the session at path to the trash and returns where it is now, or
// deletes it for good. A session that a process has open stays.
func (s Sessions) Remove(path string, forGood bool) (to string, err error) {
	if forGood {
		return "", folder.Delete(path, s.Options())
	}
	return folder.UserTrash(runtime.GOOS, s.env.getenv).Put(path, s.Options())
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

// resumeCommand is the command that goes on with a session from the working directory; ""
// if it has no file. The id is enough where sessions of this directory are found without
// flags; anywhere else it is the file.
func (p *Place) resumeCommand(file, id string) string {
	if file == "" {
		return ""
	}
	if _, err := os.Stat(file); err != nil {
		return ""
	}
	root := cmp.Or(p.Config.Session.Dir, filepath.Join(p.AgentDir, "sessions"))
	if filepath.Dir(file) == filepath.Join(root, session.FolderName(p.Cwd)) {
		return "pi --resume " + id
	}
	return "pi --resume " + shellWord(file)
}

// shellWord is a text as one word of a shell.
func shellWord(text string) string {
	if regexp.MustCompile(`^[\w./:=@%+,-]+$`).MatchString(text) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
