package compaction

import (
	"errors"

	"pi/session"
	"pi/session/message"
)

// Plan says what a compaction would do. It is made by [NewPlan]. Summarize and TurnPrefix may
// both be empty: then all that can be done is to shorten, and the previous
// summary stays as it is.
type Plan struct {
	FirstKept       *session.Entry        // nil: nothing is kept
	FirstKeptIndex  int                   // position on the branch; its length if nothing is kept
	Summarize       []session.Item        // what the model saw before the cut, in complete turns, without the previous summary
	TurnPrefix      []session.Item        // the beginning of the turn that the cut splits
	Shorten         []session.ContextEdit // of tool results that are kept and too large; the entries themselves stay
	TokensBefore    int
	KeptTokens      int     // estimate of what is kept, shortened
	PreviousSummary string  // "" if there was none, or a hook took it out of the context
	Files           FileOps // of the summarised tool calls, and those carried over from earlier summaries
}

// What [NewPlan] says of a context that is not worth a summary.
var (
	ErrNothingToCompact = errors.New("nothing to compact")
	ErrJustCompacted    = errors.New("already compacted")
)

// NewPlan decides what a compaction of a branch summarises and what it
// keeps. Seen is what the model sees of the branch, after the hooks: what they
// took out is not summarised. The error is [ErrNothingToCompact] or
// [ErrJustCompacted].
//
// Where the cut falls:
//   - the kept entries are the newest with together about l.Keep tokens, and
//     what is before them on the branch is summarised, wherever a hook has put
//     it. A message that comes from no entry is summarised if it stands before
//     the first kept one;
//   - a call and its results stay together, whatever stands between them;
//   - a prompt that nobody answered yet is kept, and so is an answer whose calls
//     were the last thing that happened;
//   - a turn that is much larger than l.Keep is split. Its beginning is kept
//     too if it is small;
//   - what is kept and larger than l.Room has its tool results shortened, the
//     largest first; or the cut is a later one, if there is one and too little
//     would be left of them.
//
// The limits and tokensBefore are in tokens as the provider counts them. Where its
// answers show that it counts more than is estimated, as for text that is not in
// Latin letters, the estimates are raised. If tokensBefore is more than l.Keep and
// yet all messages together are estimated to be less, the same share of them is
// kept.
func NewPlan(branch []*session.Entry, seen []session.Item, tokensBefore int, l Limits) (*Plan, error) {
	if justCompacted(branch) {
		return nil, ErrJustCompacted
	}
	c, more := newCutting(branch, seen), countedMore(seen)
	if len(c.core) == 0 { // the branch is empty; messages that hooks add come again after a compaction
		return nil, ErrNothingToCompact
	}
	l.Keep, l.Room = int(float64(l.Keep)/more), min(l.Room, int(float64(l.Room)/more)+1)
	at, ok := c.cut(int(float64(tokensBefore)/more), l)
	if !ok {
		at = c.latestCut()
	}
	p := &Plan{FirstKeptIndex: at, TokensBefore: tokensBefore}
	if at < len(branch) {
		p.FirstKept = branch[at]
	}
	kept := c.kept[at]
	p.Shorten = c.shorten(at, l.Room, &kept)
	p.KeptTokens = int(float64(kept) * more)
	if !ok && len(p.Shorten) == 0 {
		return nil, ErrNothingToCompact
	}
	p.Summarize, p.TurnPrefix = c.before(at)
	p.PreviousSummary = previousSummary(seen)
	p.Files = previousFiles(branch).With(FilesOf(p.Summarize)).With(FilesOf(p.TurnPrefix))
	return p, nil
}

// justCompacted reports whether no message came after the last compaction.
func justCompacted(branch []*session.Entry) bool {
	for i := len(branch) - 1; i >= 0; i-- {
		if branch[i].Type == session.TypeCompaction {
			return true
		}
		if branch[i].Message() != nil {
			return false
		}
	}
	return false
}

// previousSummary returns the text of the summaries among the messages that the model
// saw; "" if a hook has taken it out.
func previousSummary(seen []session.Item) string {
	var text string
	for _, it := range seen {
		if m := it.Message; m.Role == message.RoleCompactionSummary && m.Summary != "" {
			if text != "" {
				text += "\n\n"
			}
			text += m.Summary
		}
	}
	return text
}
