package command

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"pi/agent"
	"pi/internal/printable"
	"pi/session"
	"pi/session/folder"
)

// removeWord is what /resume has to be told to remove a session.
const removeWord = "rm"

func resumeCommand(o Options) Command {
	r := resumer{Options: o, store: *o.Sessions}
	recent := &recentSessions{read: r.others}
	return Command{
		Name: "resume", Topic: TopicSession, Args: "[id|name|path] | rm id", Help: "go on with another session; pick one, also to delete it, if none is named",
		More: "/resume        pick a session, of this directory or of all; without a person: list them\n" +
			"/resume ID     the session whose id begins so, or the file; model and thinking level as it was left\n" +
			"/resume NAME   the session of this directory that has this name\n" +
			"/resume rm ID  delete it, after a question, to the trash where there is one\n" +
			"One that another process has open can be copied, only looked at, or waited for.",
		Complete: func(prefix string) []string {
			current := o.Agent.Session().ID()
			prefix = strings.TrimPrefix(prefix, removeWord+" ")
			ids := slices.DeleteFunc(o.Sessions.IDs(prefix), func(id string) bool { return id == current })
			return append(ids, recent.names()...)
		},
		Describe: recent.describe,
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

// list returns the sessions of this directory as text, for a front end where nobody can
// pick one.
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
		lines = append(lines, fmt.Sprintf("%s  %10s  %8s  %4d messages  %s", i.ID, age(i.Modified, now), printable.Size(i.Size), i.Messages, Title(i)))
	}
	if more {
		lines = append(lines, "… `pi sessions list` lists them all")
	}
	if len(lines) == 0 {
		lines = append(lines, nothingToResume)
	}
	return Outcome{Status: strings.Join(lines, "\n")}, errors.Join(problems...)
}

// WaitNotice says what happens while another process has a session.
const WaitNotice = "waiting until it is free; Ctrl+C ends the wait"

// resumer is the command /resume.
type resumer struct {
	Options
	store Sessions
}

// others yields the sessions of this directory, or of all, except the current one, as they
// are read from the disk.
func (r resumer) others(all bool) iter.Seq2[folder.Info, error] {
	return r.except(func() iter.Seq2[folder.Info, error] { return r.store.Scan(all) })
}

// except yields what scan does, except the current session.
func (r resumer) except(scan func() iter.Seq2[folder.Info, error]) iter.Seq2[folder.Info, error] {
	current := r.Agent.Session().ID()
	return func(yield func(folder.Info, error) bool) {
		for i, err := range scan() {
			if (err != nil || i.ID != current) && !yield(i, err) {
				return
			}
		}
	}
}

const nothingToResume = "no other session in this directory"

// existing returns the path of the session that ref names: an id, the beginning of one, a
// file, or the name of a session of this directory. It is an error if there is none, or if
// several fit.
func (r resumer) existing(ref string) (string, error) {
	path, err := r.store.Find(ref)
	if _, none := errors.AsType[*folder.NotFoundError](err); none {
		switch paths := r.named(ref); len(paths) {
		case 0:
		case 1:
			return paths[0], nil
		default:
			err = &folder.AmbiguousError{Prefix: ref, Paths: paths}
		}
	}
	if _, several := errors.AsType[*folder.AmbiguousError](err); several && r.UI.HasUI() { // elsewhere they are listed
		err = fmt.Errorf("%w: write more of it, or pick one with /resume", err)
	}
	return path, err
}

// named returns the paths of the sessions of this directory that have a name, case aside.
func (r resumer) named(name string) (paths []string) {
	for info, err := range r.others(false) {
		if err == nil && info.Name != "" && strings.EqualFold(printable.Line(info.Name), printable.Line(name)) {
			paths = append(paths, info.Path)
		}
	}
	return paths
}

// open switches to the session at path. If another process has it, the user says
// what to do.
func (r resumer) open(ctx context.Context, path string) (Outcome, error) {
	if leave, err := r.mayLeave(ctx); err != nil || !leave {
		return r.stays(), err
	}
	out, err := r.switchTo(ctx, path, session.ToWrite)
	busy, ok := errors.AsType[*session.BusyError](err)
	if !ok || !r.UI.HasUI() {
		return out, err
	}
	ways := []string{"go on in a copy of it", "only look at it", "wait until it is free"}
	anew := "begin a new one"
	choice, ok, asked := selectOne(ctx, r.UI, BusyRow(busy, time.Now()), agent.Choices(append(ways, anew)...), agent.DialogOptions{})
	switch {
	case asked != nil || !ok:
		return r.stays(), asked
	case choice == anew:
		return r.beginNew(ctx)
	}
	for i, as := range []session.Access{session.ToCopy, session.ToRead, session.InTurn} {
		if choice == ways[i] {
			return r.switchTo(ctx, path, as)
		}
	}
	return r.stays(), nil
}

// switchTo opens the session at path and makes it the current one. With session.InTurn it
// waits until another process has closed it, and tells the user so.
func (r resumer) switchTo(ctx context.Context, path string, as session.Access) (Outcome, error) {
	before := r.Agent.Session()
	err := r.Agent.SwitchWith(ctx, path, func(ctx context.Context) (*session.Session, error) {
		return r.store.Open(ctx, path, as, func(busy *session.BusyError) {
			r.UI.Notify(BusyRow(busy, time.Now())+"\n"+WaitNotice, agent.LevelInfo)
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

// arrived returns the lines that tell the user about s, the session that they are in
// now: its size, how it is open, and what is wrong with it.
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
	for _, problem := range append(s.Problems(), s.UnknownTypes(r.KnowsType)) {
		if problem != "" {
			lines = append(lines, problem)
		}
	}
	return lines
}
