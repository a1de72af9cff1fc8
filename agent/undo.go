package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"pi/internal/printable"
	"pi/session"
	"pi/session/message"
)

// Going back and forth. A move back notes the leaf that was left; redo looks for
// the nearest such note that nothing was said after. A redo leads to the leaf as
// it was, which may be another note, so that moves back are taken back one after
// the other; it leaves a note too, which does not count.

var (
	// ErrNothingToUndo is returned if the user has sent nothing on this branch.
	ErrNothingToUndo = errors.New("nothing to undo")
	// ErrNothingToRedo is returned if nothing was undone since the last message.
	ErrNothingToRedo = errors.New("nothing to redo")
)

// Undo moves the leaf to before the n-th last user message of the branch, and
// returns the text of that. Those that an edit has removed from the context do not
// count, for nobody would see a difference. Files stay as they are. See
// [Agent.Navigate] for the rest.
func (a *Agent) Undo(ctx context.Context, n int) (Moved, error) {
	return a.tree.moveLeaf(ctx, func(s *session.Session) (move, error) {
		sent := userMessages(s.Branch())
		switch {
		case len(sent) == 0:
			return move{}, ErrNothingToUndo
		case n < 1 || n > len(sent):
			return move{}, fmt.Errorf("undo: %d is not from 1 to %d, the number of prompts on this branch", n, len(sent))
		}
		e := sent[len(sent)-n]
		return moveBack("undo", e, s), nil
	})
}

// moveBack returns the move to the entry before e, which takes e and what follows off the
// branch. Its note has the present leaf, so that [Agent.Redo] finds the way back.
func moveBack(kind string, e *session.Entry, s *session.Session) move {
	m := move{target: e.ID, to: e.ParentID, note: LeafNote{kind, s.Leaf()}, anyway: true}
	if said := e.Message(); said != nil && said.Role == message.RoleUser {
		m.recalled = recall(said)
	}
	return m
}

// userMessages returns the entries of path that are messages of the user, but for those
// that an edit has removed from the context.
func userMessages(path []*session.Entry) []*session.Entry {
	var sent []*session.Entry
	edits := session.EditsOn(path)
	for _, e := range path {
		if edit, edited := edits[e.ID]; e.Type != session.TypeMessage || edited && edit.Replacement == nil {
			continue
		}
		if m := e.Message(); m != nil && m.Role == message.RoleUser {
			sent = append(sent, e)
		}
	}
	return sent
}

// Redo takes back the last Undo or Uncompact that was not taken back yet. It is
// ErrNothingToRedo if there is none, or if a message or an edit came since.
func (a *Agent) Redo(ctx context.Context) (Moved, error) {
	return a.tree.moveLeaf(ctx, func(s *session.Session) (move, error) {
		from := lastNote(s)
		if from == "" {
			return move{}, ErrNothingToRedo
		}
		return move{target: from, to: from, note: LeafNote{"redo", s.Leaf()}, anyway: true}, nil
	})
}

// lastNote returns the id of the leaf that the last Undo or Uncompact has left, if the
// conversation has not changed since; else "".
func lastNote(s *session.Session) string {
	for _, e := range slices.Backward(s.Branch()) {
		if e.Message() != nil || e.Type == session.TypeContextEdit { // the model sees something else since then
			return ""
		}
		if !session.IsLeafMove(e) {
			continue
		}
		body, err := session.Body[struct{ Data LeafNote }](e)
		if n := body.Data; err == nil && n.Kind != "" && n.Kind != "redo" && s.Entry(n.From) != nil {
			return n.From
		}
	}
	return ""
}

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
	_, err := a.tree.moveLeaf(ctx, func(s *session.Session) (move, error) {
		branch := s.Branch()
		at := len(branch) - 1
		for at >= 0 && branch[at].Type != session.TypeCompaction {
			at--
		}
		if at < 0 {
			return move{}, ErrNotCompacted
		}
		for _, e := range branch[at+1:] {
			if e.Message() != nil {
				u.Left++
			}
		}
		u.Before = a.meter.tokensSeen()
		return moveBack("uncompact", branch[at], s), nil
	})
	if err != nil && !isSaveError(err) {
		return nil, err
	}
	u.After = a.meter.tokensSeen()
	u.Full = a.settings.get().Compaction.Full(u.After, a.Model().ContextWindow)
	return u, err
}

// String says in a line or two what was undone, how full the context is now, and what the
// user can do about that.
func (u *Uncompacted) String() string {
	text := fmt.Sprintf("the last compaction is taken back: about %s → %s tokens", printable.Grouped(u.Before), printable.Grouped(u.After))
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
