package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"pi/agent/work"
	"pi/internal/printable"
	"pi/session"
	"pi/session/compaction"
	"pi/session/message"
)

// NavigateOptions say how the leaf moves.
type NavigateOptions struct {
	Summarize    bool   // what is left behind is summed up where the leaf goes
	Instructions string // what the summary should look at
	Replace      bool   // Instructions are all that the model is told about it
	Label        string // a name for the place
}

// Moved says what a move in the tree has done.
type Moved struct {
	Recalled
	Stayed  bool           // the leaf was there already; at most a label was given
	Leaf    string         // the entry that the conversation ends with now; "" is the root
	Summary *session.Entry // of what was left behind; nil: none
}

// tree moves the leaf of the session. All methods may be called from any goroutine.
type tree struct {
	busy         *work.Claim
	events       *listeners
	conversation *conversation
	choice       *choice
	modes        *Modes
	meter        *Meter
	asker        *asker
	settings     *inForce
}

// Navigate makes an entry the one that the conversation goes on from; of
// something that was sent, the one before it, and what was sent is returned.
// Listeners are asked first (session_before_tree); the error is ErrCancelled if
// one does not want it, ErrAborted if ctx ends before the leaf has moved, also
// while the model sums up the branch that is left: then nothing has moved. With a
// *[session.SaveError] the leaf has moved, but only in memory.
func (a *Agent) Navigate(ctx context.Context, id string, o NavigateOptions) (Moved, error) {
	m, err := a.tree.moveLeaf(ctx, func(s *session.Session) (p move, err error) {
		p.target, p.options = id, o
		p.to, p.recalled, err = cutBefore(s, id, message.RoleUser, message.RoleCustom)
		return p, err
	})
	if err != nil && !isSaveError(err) {
		err = fmt.Errorf("move to %s: %w", id, err)
	}
	return m, err
}

func isSaveError(err error) bool {
	var unsaved *session.SaveError
	return errors.As(err, &unsaved)
}

// move says where the leaf moves and how.
type move struct {
	target   string // the entry that was chosen
	left     string // the leaf before
	to       string // the new position; "" is the root
	recalled Recalled
	options  NavigateOptions
	note     LeafNote // goes with the record of the move
	anyway   bool     // also if the conversation ends there already
}

// LeafNote is the data of the entry that records a move of the leaf which can be
// taken back.
type LeafNote struct {
	Kind string `json:"kind,omitempty"` // undo redo uncompact
	From string `json:"from,omitempty"` // the leaf that was left
}

// moveLeaf makes and carries out a move of the leaf, that is, of the entry at which the
// conversation goes on. plan says where to. The agent is claimed meanwhile, so that no
// prompt runs. Every move goes through here.
func (t *tree) moveLeaf(ctx context.Context, plan func(*session.Session) (move, error)) (Moved, error) {
	ctx, err := t.busy.Begin(ctx)
	if err != nil {
		return Moved{}, ErrNotIdle
	}
	defer t.busy.End()
	s := t.conversation.current()
	if s.ReadOnly() {
		return Moved{}, session.ErrReadOnly
	}
	m, err := plan(s)
	if err != nil {
		return Moved{}, err
	}
	m.left = s.Leaf()
	result := Moved{Recalled: m.recalled, Leaf: s.EndOf(m.to)}
	if !m.anyway && s.EndOf(m.left) == s.EndOf(m.to) {
		result.Stayed = true
		if m.options.Label == "" {
			return result, nil
		}
		return result, cmp.Or(m.label(s, result), s.Flush())
	}
	summary, err := t.askMove(ctx, s, &m)
	if err != nil {
		return Moved{}, err
	}
	return t.carryOut(ctx, s, m, summary, result)
}

// askMove asks the listeners whether the leaf may move; they may change the options of m.
// It returns the summary of the branch that is left, nil if none is wanted or there is
// nothing to sum up.
func (t *tree) askMove(ctx context.Context, s *session.Session, m *move) (*session.BranchSummary, error) {
	common := s.CommonAncestor(m.left, m.to)
	before := &SessionBeforeTree{Preparation: TreePreparation{TargetID: m.target, OldLeafID: m.left, CommonAncestorID: common,
		EntriesToSummarize: s.Path(m.left)[len(s.Path(common)):], UserWantsSummary: m.options.Summarize}}
	t.events.emitUntil(ctx, before, func() bool { return before.Cancel })
	switch {
	case ctx.Err() != nil:
		return nil, ErrAborted
	case before.Cancel:
		return nil, ErrCancelled
	}
	if before.CustomInstructions != "" {
		m.options.Instructions, m.options.Replace = before.CustomInstructions, before.ReplaceInstructions
	}
	m.options.Label = cmp.Or(before.Label, m.options.Label)
	if !m.options.Summarize {
		return nil, nil
	}
	return t.summarize(ctx, before, m.options)
}

// carryOut moves the leaf, also after an interrupt, and tells the listeners. The session
// records the move with an entry, which is the summary, if there is one.
func (t *tree) carryOut(ctx context.Context, s *session.Session, m move, summary *session.BranchSummary, result Moved) (Moved, error) {
	draft := leafMoved(m.note)
	if summary != nil {
		draft = session.Draft{Type: session.TypeBranchSummary, Body: summary}
	}
	e, saving := s.MoveTo(m.to, draft)
	if e == nil {
		return Moved{}, saving
	}
	if summary != nil {
		result.Summary, result.Leaf = e, e.ID
	}
	t.modes.Stay(s)
	saving = cmp.Or(saving, m.label(s, result), t.modes.Record(), s.Flush(), s.Sync())
	t.conversation.forgetChain()
	t.events.emitAfter(ctx, KindSessionTree, func() Event {
		return &SessionTree{NewLeafID: result.Leaf, OldLeafID: m.left, SummaryEntry: result.Summary, FromHook: summary != nil && summary.FromHook}
	})
	t.conversation.refresh(ctx)
	return result, saving
}

// leafMoved is the entry that records a move of the leaf.
func leafMoved(note LeafNote) session.Draft {
	body := session.Custom{CustomType: session.LeafMove}
	if note != (LeafNote{}) {
		body.Data, _ = json.Marshal(note) // two strings always encode
	}
	return session.Draft{Type: session.TypeCustom, Body: body}
}

// label sets the label that the options have, if any: on the summary that was made, or
// else on the entry that was chosen.
func (m *move) label(s *session.Session, at Moved) error {
	if m.options.Label == "" {
		return nil
	}
	target := m.target
	if at.Summary != nil {
		target = at.Summary.ID
	}
	return setLabel(s, target, m.options.Label)
}

// Recalled is what a user once sent, for the prompt line: a move that goes
// back to before a prompt returns it, to be sent again or changed.
type Recalled struct {
	Text        string
	Attachments int // that went with it and are no part of the text
}

// cutBefore returns the leaf with which the conversation goes on from the entry id. If
// that is a message of one of these roles, it is the entry before it, and sent is the
// message, for the user to send again.
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

// recall returns the text of a message that was sent once, as it was typed, and how many
// attachments went with it.
func recall(m *message.Message) Recalled {
	if len(m.Content) == 0 {
		return Recalled{}
	}
	if first := m.Content[0]; first.Type == message.BlockText {
		return Recalled{first.Text, len(m.Content) - 1}
	}
	return Recalled{"", len(m.Content)}
}

// SetLabel names an entry of the session; "" removes the name.
func (a *Agent) SetLabel(_ context.Context, id, label string) error {
	return setLabel(a.Session(), id, label)
}

// setLabel records a label for the entry id; an empty one removes it. It is an error if
// there is no such entry.
func setLabel(s *session.Session, id, label string) error {
	if s.Entry(id) == nil {
		return fmt.Errorf("set label: no entry %q", id)
	}
	_, err := s.Append(session.TypeLabel, session.Label{TargetID: id, Label: label})
	return err
}

// summarize returns the summary of the branch that is left, by a listener or by the
// model; nil if there is nothing to sum up. The model gets the branch as it would see
// it now: with the summary of a compaction instead of what that left out, without what
// hooks remove, and with what they put in its place.
func (t *tree) summarize(ctx context.Context, before *SessionBeforeTree, o NavigateOptions) (*session.BranchSummary, error) {
	p := before.Preparation
	from := cmp.Or(p.OldLeafID, "root")
	if d := before.Summary; d != nil && d.Summary != "" {
		return &session.BranchSummary{FromID: from, Summary: d.Summary, Details: d.Details, FromHook: true}, nil
	}
	items := abandoned(t.conversation.runChain(ctx).items, p.EntriesToSummarize)
	switch {
	case ctx.Err() != nil: // the chain may have been cut short, and items lack the changes of hooks
		return nil, ErrAborted
	case len(session.ForModel(items)) == 0:
		return nil, nil
	}
	t.events.Notify(ctx, LevelInfo, "summing up the branch that is left")
	model := t.choice.model()
	limits := t.settings.get().Compaction.Within(model.ContextWindow)
	w := summaryWriter{Ask: t.asker.askOutside, Now: t.asker.now, Model: model, Instructions: o.Instructions,
		Longest: limits.Summary(), InputLimit: limits.Input(model.ContextWindow)}
	if o.Replace {
		w.Instructions, w.Prompt = "", o.Instructions
	}
	text, err := w.branch(ctx, items)
	if err != nil {
		t.asker.spending.record(ctx, session.UsageEntry{Kind: session.TypeBranchSummary, Provider: model.Provider, Model: model.ID, Usage: &w.Usage})
		return nil, err
	}
	if w.CutAt > 0 {
		t.events.notifyf(ctx, LevelWarning, "the summary was cut off at %d tokens, so its end is missing; /redo comes back to the branch that was left", w.CutAt)
	}
	return &session.BranchSummary{FromID: from, Summary: text, Details: compaction.FilesOf(items).Details(), Usage: &w.Usage}, nil
}

// abandoned returns the messages of seen that belong to entries, a branch that is left.
// Messages that hooks made, which have no entry, count if no message that stays comes
// after them.
func abandoned(seen []session.Item, entries []*session.Entry) []session.Item {
	if !slices.ContainsFunc(entries, func(e *session.Entry) bool { return e.Message() != nil }) {
		return nil
	}
	left := make(map[*session.Entry]bool, len(entries))
	for _, e := range entries {
		left[e] = true
	}
	var items []session.Item
	for _, it := range seen {
		if it.Entry == nil || left[it.Entry] {
			items = append(items, it)
		} else {
			items = slices.DeleteFunc(items, func(it session.Item) bool { return it.Entry == nil })
		}
	}
	return items
}

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
