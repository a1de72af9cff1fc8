package command

import (
	"context"
	"fmt"
	"iter"

	"pi/agent"
	"pi/session"
	"pi/session/folder"
)

// Options are what the commands work on.
type Options struct {
	Agent *agent.Agent
	UI    agent.UI // asked for what a user has to choose; without a user, as with nil, the choices are listed

	Blocks bool // bars may be drawn with block characters

	Sessions *Sessions // nil: there is no /resume
	Settings *Settings // nil: there is no /settings
	Prompts  *Prompts  // nil: there is no /skills

	// Copy copies a text to the user's clipboard and returns the way that it went;
	// nil: there is no /copy.
	Copy func(ctx context.Context, text string) (way string, err error)
}

// withoutArgument returns the Run function of a command that takes no arguments: with one
// it fails, because whoever gives one means something else.
func withoutArgument(name string, run func(context.Context) (Outcome, error)) func(context.Context, string) (Outcome, error) {
	return func(ctx context.Context, args string) (Outcome, error) {
		if args != "" {
			return Outcome{}, fmt.Errorf("/%s takes no argument", name)
		}
		return run(ctx)
	}
}

// mayLeave reports whether the session may be left. If a part of it could not be saved and
// would be lost, the user is asked; where nobody can be asked, the answer is yes.
func (o Options) mayLeave(ctx context.Context) (bool, error) {
	s := o.Agent.Session()
	err := s.Sync()
	if err == nil {
		err = s.Unsaved()
	}
	if err == nil || !o.UI.HasUI() {
		return true, nil
	}
	answer, err := o.UI.Confirm(ctx, "Part of this session is only in memory. Leave it, and lose that?",
		err.Error()+"\n/export FILE writes all of it elsewhere", agent.DialogOptions{})
	return answer == agent.Yes, err
}

// selectOne lets the user choose one of choices. It returns its value; ok is false if
// they chose none.
func selectOne(ctx context.Context, ui agent.UI, title string, choices []agent.Choice, o agent.DialogOptions) (value string, ok bool, err error) {
	values, ok, err := ui.Select(ctx, title, choices, o)
	if err != nil || !ok || len(values) != 1 {
		return "", false, err
	}
	return values[0], true, nil
}

// stays says that the session is the same as before.
func (o Options) stays() Outcome {
	s := o.Agent.Session()
	if len(s.Entries()) == 0 {
		return unchosen("session: still " + s.ID() + ", a new one")
	}
	return unchosen("session: still " + s.ID())
}

// Sessions is the place where sessions are kept, as /resume needs it.
type Sessions struct {
	// Scan yields the sessions of this directory, or of all, newest first.
	Scan func(all bool) iter.Seq2[folder.Info, error]
	// ScanWords is Scan with the words that each session is found by.
	ScanWords func(all bool) iter.Seq2[folder.Info, error]
	// IDs returns ids that begin with prefix, of this directory.
	IDs func(prefix string) []string
	// Find returns the path of the session that a user names by its id, the
	// beginning of it, or a path. It is there, else the error is a
	// *folder.NotFoundError.
	Find func(ref string) (path string, err error)
	// Open is session.OpenAs with the options of the program.
	Open func(ctx context.Context, path string, as session.Access, waiting func(*session.BusyError)) (*session.Session, error)
	// Remove moves a session to the trash and says where it is, or deletes it for
	// good; the error is a *folder.NoTrashError if there is no trash for it.
	Remove func(path string, forGood bool) (to string, err error)
}
