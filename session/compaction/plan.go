// Package compaction decides what becomes of a context that is too long: where it is
// cut, what is shortened, and what the model that writes the summary is shown. Its
// functions are pure: they look at a branch and at what a model sees of it, ask
// nobody, and write nothing.
//
//	plan, err := compaction.NewPlan(s.Branch(), seen, tokens, compaction.Limits{Keep: 20000})
//	text := compaction.Transcript(plan.Summarize)
//
// [NewPlan] says where the cut falls, by which rules, and what it means. [Transcript] is
// a conversation as text, [Chunks] divides one that is too long for one request.
// The caller that makes the summary appends it as a compaction entry, with the names of
// the files that were read and modified ([FilesOf]) in its details.
//
// A [Gauge] measures how long a context is while it grows: what the provider counted for
// the last good answer, and an estimate for what follows.
package compaction

import (
	"errors"
	"slices"
	"strings"

	"pi/session"
	"pi/session/message"
)

// Settings say when a context is compacted, and what of it stays.
type Settings struct {
	Enabled          bool
	ReserveTokens    int
	KeepRecentTokens int
}

// Within returns the settings lowered to what a window has room for, so that a small one
// still has a reserve and retains something. A window of 0 is unknown and changes
// nothing.
func (s Settings) Within(window int) Settings {
	if window > 0 {
		s.ReserveTokens = min(s.ReserveTokens, window/2)
		s.KeepRecentTokens = min(s.KeepRecentTokens, (window-s.ReserveTokens)/2)
	}
	return s
}

// Full reports whether a context of so many tokens leaves less than the reserve of the
// window free. It is false if compaction is off or the window is not known.
func (s Settings) Full(tokens, window int) bool {
	return s.Enabled && window > 0 && tokens > window-s.Within(window).ReserveTokens
}

// The reserve has room for what a compaction adds to the messages that remain: a summary
// (at most a half), that of the beginning of a turn (a quarter), lists of files (an
// eighth). The rest is for messages that cannot be cut at the best place.
const (
	leastSummary = 512  // tokens, whatever the settings say
	leastInput   = 1000 // likewise
)

// Summary returns how many tokens a summary may have at most.
func (s Settings) Summary() int { return max(s.ReserveTokens/2, leastSummary) }

// Input is how many tokens of a conversation one request for a summary may have, besides
// an earlier summary and the answer; a quarter is left for errors of the estimates. 0 is
// no limit.
func (s Settings) Input(window int) int {
	if window <= 0 {
		return 0
	}
	return max((window-s.ReserveTokens)*3/4, leastInput)
}

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

	counted bool // see isCounted
}

// What [NewPlan] says of a context that is not worth a summary.
var (
	ErrNothingToCompact = errors.New("nothing to compact")
	ErrJustCompacted    = errors.New("already compacted")
	// ErrNotSmaller is only for those who want the context smaller, see [Limits].
	ErrNotSmaller = errors.New("nothing to compact: a summary would be no shorter than the conversation is")
)

// NewPlan decides what a compaction of a branch summarises and what it
// keeps. Seen is what the model sees of the branch, after the hooks: what they
// took out is not summarised. The error is [ErrNothingToCompact],
// [ErrJustCompacted] or [ErrNotSmaller].
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
	p := &Plan{FirstKeptIndex: at, TokensBefore: tokensBefore, counted: isCounted(seen, tokensBefore, l.Beside)}
	if at < len(branch) {
		p.FirstKept = branch[at]
	}
	kept := c.kept[at]
	p.Shorten = c.shorten(at, l.Room, &kept)
	p.KeptTokens = int(float64(kept) * more)
	if !ok && len(p.Shorten) == 0 {
		return nil, ErrNothingToCompact
	}
	p.Summarize, p.TurnPrefix = c.summarised(at)
	p.PreviousSummary = previousSummary(seen)
	if l.Smaller && !p.IsSmaller() {
		return nil, ErrNotSmaller
	}
	p.Files = previousFiles(branch).With(FilesOf(p.Summarize)).With(FilesOf(p.TurnPrefix))
	return p, nil
}

// leastWritten is about how many characters a summary has at least: the headings that it
// is asked for, and hardly anything below them.
const leastWritten = 160

// IsSmaller reports whether the context may get smaller by the plan. It does not only where a
// summary would be no shorter than what it replaces, for it is no shorter than its headings,
// nor than the summary before it, and where what the provider counted bears the estimates out.
func (p *Plan) IsSmaller() bool {
	if len(p.Shorten) > 0 || !p.counted {
		return true
	}
	summary := func(text string) int {
		return EstimateTokens(&message.Message{Role: message.RoleCompactionSummary, Summary: text})
	}
	before, replaced := summary(p.PreviousSummary), 0
	for _, it := range slices.Concat(p.Summarize, p.TurnPrefix) {
		replaced += EstimateTokens(it.Message)
	}
	return before+replaced > max(before, summary(strings.Repeat(" ", leastWritten)))
}

// isCounted reports whether a provider has counted the messages seen, and about as many
// tokens as are estimated with those beside them.
func isCounted(seen []session.Item, tokens, beside int) bool {
	estimated := beside
	for _, it := range seen {
		estimated += EstimateTokens(it.Message)
	}
	return lastMeasured(seen) >= 0 && tokens >= estimated/2 && tokens <= 2*estimated
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
