package agent

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"pi/session"
	"pi/session/message"
)

// Branch leaves the current session and goes on in a new one that has the path
// up to an entry: with the entry, or before it if it is a user message, which is
// returned then. The listeners are asked first (session_before_branch); the
// error is ErrCancelled if one does not want it. If one wants the conversation
// left as it is, the new session has all of the current branch, and nothing is
// returned. Model and thinking level stay. A failure to make the new session
// leaves the old one current; an error after that, of closing the old one, comes
// with what is recalled.
func (a *Agent) Branch(ctx context.Context, id string) (Recalled, error) {
	b := &branching{sessions: a.sessions, id: id}
	err := a.sessions.replace(ctx, b.change())
	return b.recalled, err
}

// Clone leaves the current session and goes on in a new one that has all of its current
// branch, and its name. The listeners are asked as for Branch, about the last entry. A
// session that has nothing to copy is refused.
func (i Interrupting) Clone(ctx context.Context) error {
	s := i.sessions.conversation.current()
	if s.File() != "" {
		if _, err := os.Stat(s.File()); errors.Is(err, fs.ErrNotExist) {
			return errors.New("clone: the session has not been saved yet, so there is nothing to copy")
		}
	}
	if s.Leaf() == "" {
		return errors.New("clone: there is no current entry, so there is nothing to copy")
	}
	b := &branching{sessions: i.sessions, id: s.Leaf(), whole: true}
	return b.replaceNamed(ctx)
}

// branching is the change to a copy of a path of the current session.
type branching struct {
	sessions *sessions
	id       string // of the entry that was chosen
	whole    bool   // the copy has all of the current branch, whatever was chosen
	named    bool   // the copy has the name of the session
	asked    SessionBeforeBranch
	recalled Recalled
}

// replaceNamed makes the copy and interrupts the work for it.
func (b *branching) replaceNamed(ctx context.Context) error {
	b.named = true
	c := b.change()
	c.interrupts = true
	return b.sessions.replace(ctx, c)
}

func (b *branching) change() change {
	return change{reason: "branch", ask: b.ask, make: b.copy, check: func() error {
		if b.sessions.conversation.current().Entry(b.id) == nil {
			return fmt.Errorf("branch: no entry %q", b.id)
		}
		return nil
	}}
}

// ask asks the listeners and reports whether one of them is against it.
func (b *branching) ask(ctx context.Context) (cancelled bool) {
	b.asked = SessionBeforeBranch{EntryID: b.id, EntryIndex: len(b.sessions.conversation.current().Path(b.id)) - 1}
	b.sessions.events.emitUntil(ctx, &b.asked, func() bool { return b.asked.Cancel })
	return b.asked.Cancel
}

// copy makes the new session.
func (b *branching) copy() (_ *session.Session, err error) {
	if b.sessions.copySession == nil {
		return nil, errors.New("branch: sessions cannot be copied here")
	}
	current := b.sessions.conversation.current()
	leaf := current.Leaf()
	if !b.whole && !b.asked.SkipConversationRestore {
		if leaf, b.recalled, err = cutBefore(current, b.id, message.RoleUser); err != nil {
			return nil, fmt.Errorf("branch: %w", err)
		}
	}
	next, err := b.sessions.copySession(current, leaf)
	if err != nil || !b.named || next.Name() == current.Name() {
		return next, err
	}
	if _, err := next.Append(session.TypeSessionInfo, session.SessionInfo{Name: current.Name()}); err != nil && !isSaveError(err) {
		return nil, errors.Join(fmt.Errorf("branch: %w", err), next.Close())
	}
	return next, nil
}
