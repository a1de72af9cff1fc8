package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"pi/session"
	"pi/session/message"
)

// Recalled is what a person once sent, for the prompt line: a move that goes
// back to before a prompt gives it back, to be sent again or changed.
type Recalled struct {
	Text        string
	Attachments int // that went with it and are no part of the text
}

// Branch leaves the current session and goes on in a new one that has the path
// up to an entry: with the entry, or before it if it is a user message, which is
// returned then. The listeners are asked first (session_before_branch); the
// error is ErrCancelled if one does not want it. If one wants the conversation
// left as it is, the new session has all of the current branch, and nothing is
// returned. Model and thinking level stay. A failure to make the new session
// leaves the old one current; an error after that, of closing the old one, comes
// with what is recalled.
func (a *Agent) Branch(ctx context.Context, id string) (Recalled, error) {
	var recalled Recalled
	before := &SessionBeforeBranch{EntryID: id}
	err := a.replace(ctx, change{
		reason: "branch",
		ask: func(ctx context.Context) bool {
			before.EntryIndex = len(a.Session().Path(id)) - 1
			if before.EntryIndex >= 0 {
				a.emitUntil(ctx, before, func() bool { return before.Cancel })
			}
			return before.Cancel
		},
		open: func(context.Context) (_ *session.Session, err error) {
			s, leaf := a.Session(), ""
			if before.SkipConversationRestore {
				leaf = s.Leaf()
			} else if leaf, recalled, err = cutBefore(s, id, message.RoleUser); err != nil {
				return nil, fmt.Errorf("branch: %w", err)
			}
			if a.copySession == nil {
				return nil, errors.New("branch: sessions cannot be copied here")
			}
			return a.copySession(s, leaf)
		},
	})
	return recalled, err
}

// cutBefore returns where the conversation ends that an entry is chosen for: at
// the entry, or before it if it has one of these roles, and its message then.
func cutBefore(s *session.Session, id string, roles ...message.Role) (leaf string, sent Recalled, err error) {
	e := s.Entry(id)
	if e == nil {
		return "", Recalled{}, fmt.Errorf("no entry %q", id)
	}
	if m := e.Message(); m != nil && slices.Contains(roles, m.Role) {
		return e.ParentID, recall(m), nil
	}
	return id, Recalled{}, nil
}

// recall takes a message apart: what was typed is its first text, and what goes
// with it stands behind that.
func recall(m *message.Message) Recalled {
	if len(m.Content) == 0 {
		return Recalled{}
	}
	if first := m.Content[0]; first.Type == message.BlockText {
		return Recalled{first.Text, len(m.Content) - 1}
	}
	return Recalled{"", len(m.Content)}
}
