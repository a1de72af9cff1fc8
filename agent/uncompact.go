package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"pi/session"
	"pi/session/message"
)

// ErrNotCompacted is returned where no compaction can be taken back.
var ErrNotCompacted = errors.New("this branch has no compaction")

// Uncompacted is a compaction that was taken back.
type Uncompacted struct {
	Left          int  // messages that came after the compaction
	Before, After int  // tokens of the context, about
	Full          bool // so full that the next request compacts it again
}

// Uncompact moves the leaf to where the last compaction of the branch was made,
// by an entry that says so: the context is as it was before it. The compaction
// and what came after it stay in the file, on a branch of their own, to which
// [Agent.Redo] comes back. The error is ErrNotCompacted if there is none, else
// what [Agent.Navigate] says; with a *[session.SaveError] comes a result.
func (a *Agent) Uncompact(ctx context.Context) (*Uncompacted, error) {
	u := &Uncompacted{}
	_, err := a.moveLeaf(ctx, func(s *session.Session) (move, error) {
		branch := s.Branch()
		at := lastCompaction(branch)
		if at < 0 {
			return move{}, ErrNotCompacted
		}
		u.Left = messagesIn(branch[at:])
		u.Before = a.tokensOf(a.Seen())
		return moveBack("uncompact", branch[at], s), nil
	})
	if err != nil && !isSaveError(err) {
		return nil, err
	}
	u.After = a.tokensOf(a.Seen())
	u.Full = a.settings.Compaction.full(u.After, a.Model().ContextWindow)
	return u, err
}

func lastCompaction(branch []*session.Entry) int {
	for i, e := range slices.Backward(branch) {
		if e.Type == session.TypeCompaction {
			return i
		}
	}
	return -1
}

func messagesIn(entries []*session.Entry) int {
	n := 0
	for _, e := range entries {
		if m := e.Message(); m != nil && m.Role != message.RoleCompactionSummary {
			n++
		}
	}
	return n
}

// String says in one line what has happened, and what can be done about it.
func (u *Uncompacted) String() string {
	text := fmt.Sprintf("the last compaction is taken back: about %s → %s tokens", grouped(u.Before), grouped(u.After))
	switch {
	case u.Left == 1:
		text += "; 1 message that came after it is left behind"
	case u.Left > 1:
		text += fmt.Sprintf("; %d messages that came after it are left behind", u.Left)
	}
	text += "; /redo comes back to it"
	if u.Full {
		text += "\nthe context is so full that the next prompt compacts it again, unless compaction.enabled is false or the model's window is larger"
	}
	return text
}
