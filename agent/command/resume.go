package command

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"slices"
	"strings"
	"time"

	"pi/agent"
	"pi/internal/printable"
	"pi/session"
	"pi/session/folder"
)

// Sessions is the place where sessions are kept, as /resume needs it.
type Sessions struct {
	// Scan yields the sessions of this directory, or of all, newest first.
	Scan func(all bool) iter.Seq2[folder.Info, error]
	// IDs returns ids that begin with prefix, of this directory.
	IDs func(prefix string) []string
	// Find returns the path of the session that a person names by its id, the
	// beginning of it, or a path.
	Find func(ref string) (path string, err error)
	// Open is session.OpenAs with the options of the program.
	Open func(ctx context.Context, path string, as session.Access, waiting func(*session.BusyError)) (*session.Session, error)
	// Remove moves a session to the trash and says where it is, or deletes it for
	// good; the error is a *folder.NoTrashError if there is no trash for it.
	Remove func(path string, forGood bool) (to string, err error)
}

// WaitNotice says what happens while another process has a session.
const WaitNotice = "waiting until it is free; Ctrl+C ends the wait"

// removeWord is what /resume has to be told to remove a session.
const removeWord = "rm"

func resumeCommand(o Options) Command {
	r := resumer{Options: o, store: *o.Sessions}
	return Command{
		Name: "resume", Args: "[id|path] | rm id", Help: "go on with another session; pick one, also to delete it, if none is named",
		More: "/resume        pick a session, of this directory or of all; without a person: list them\n" +
			"/resume ID     the session whose id begins so, or the file; model and thinking level as it was left\n" +
			"/resume rm ID  delete it, after a question, to the trash where there is one\n" +
			"One that another process has open can be copied, only looked at, or waited for.",
		Complete: func(prefix string) []string {
			current := o.Agent.Session().ID()
			return slices.DeleteFunc(o.Sessions.IDs(prefix), func(id string) bool { return id == current })
		},
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

// resumer is the command /resume.
type resumer struct {
	Options
	store Sessions
}

// others are the sessions but the current one.
func (r resumer) others(all bool) iter.Seq2[folder.Info, error] {
	current := r.Agent.Session().ID()
	return func(yield func(folder.Info, error) bool) {
		for i, err := range r.store.Scan(all) {
			if (err != nil || i.ID != current) && !yield(i, err) {
				return
			}
		}
	}
}

// list is the answer where nobody can pick.
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
		lines = append(lines, fmt.Sprintf("%s  %10s  %8s  %4d messages  %s", i.ID, age(i.Modified, now), Size(i.Size), i.Messages, Title(i)))
	}
	if more {
		lines = append(lines, "… `pi sessions list` lists them all")
	}
	if len(lines) == 0 {
		lines = append(lines, nothingToResume)
	}
	return Outcome{Status: strings.Join(lines, "\n")}, errors.Join(problems...)
}

const nothingToResume = "no other session in this directory"

// existing is the path of a session that is there.
func (r resumer) existing(ref string) (string, error) {
	path, err := r.store.Find(ref)
	var several *folder.AmbiguousError
	switch {
	case errors.As(err, &several) && r.UI.HasUI(): // elsewhere they are listed
		return "", fmt.Errorf("%w: write more of it, or pick one with /resume", err)
	case err != nil:
		return "", err
	}
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return "", &folder.NotFoundError{Prefix: ref}
	}
	return path, nil
}

// open switches to the session at path. If another process has it, the person says
// what to do.
func (r resumer) open(ctx context.Context, path string) (Outcome, error) {
	if leave, err := r.mayLeave(ctx); err != nil || !leave {
		return r.stays(), err
	}
	out, err := r.switchTo(ctx, path, session.ToWrite)
	var busy *session.BusyError
	if !errors.As(err, &busy) || !r.UI.HasUI() {
		return out, err
	}
	ways := []string{"go on in a copy of it", "only look at it", "wait until it is free"}
	choice, ok, asked := r.UI.Select(ctx, busy.Error(), ways, agent.DialogOptions{})
	if asked != nil || !ok {
		return r.stays(), asked
	}
	for i, as := range []session.Access{session.ToCopy, session.ToRead, session.InTurn} {
		if choice == ways[i] {
			return r.switchTo(ctx, path, as)
		}
	}
	return r.stays(), nil
}

func (r resumer) switchTo(ctx context.Context, path string, as session.Access) (Outcome, error) {
	before := r.Agent.Session()
	err := r.Agent.SwitchWith(ctx, path, func(ctx context.Context) (*session.Session, error) {
		return r.store.Open(ctx, path, as, func(busy *session.BusyError) {
			r.UI.Notify(busy.Error()+"\n"+WaitNotice, agent.LevelInfo)
		})
	})
	if err != nil {
		return Outcome{}, err
	}
	s := r.Agent.Session()
	if s == before {
		return Outcome{Status: "session " + s.ID() + " is the current one"}, nil
	}
	return Outcome{Status: strings.Join(r.arrived(s, as), "\n")}, nil
}

// arrived says where the person is now.
func (r resumer) arrived(s *session.Session, as session.Access) []string {
	messages, _ := s.Glance()
	lines := []string{fmt.Sprintf("session %s, %s", s.ID(), printable.Count(messages, "message"))}
	if as == session.ToCopy {
		lines = append(lines, "it is a copy of "+s.Header().ParentSession+", which stays as it is")
	} else if s.ReadOnly() {
		lines = append(lines, "it is open for reading only: prompts are refused; /branch here goes on in a copy")
	}
	if cwd := s.Cwd(); cwd != "" && cwd != r.Agent.Cwd() && as != session.ToCopy {
		lines = append(lines, fmt.Sprintf("it was started in %s; the tools work in %s", cwd, r.Agent.Cwd()))
	}
	for _, problem := range append(s.Problems(), s.UnknownTypes()) {
		if problem != "" {
			lines = append(lines, problem)
		}
	}
	return lines
}
