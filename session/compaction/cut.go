package compaction

import (
	"fmt"
	"slices"

	"pi/session"
	"pi/session/message"
)

// Limits bound a compaction, in tokens as the provider counts them.
type Limits struct {
	Keep   int  // about as much of the newest conversation stays as it is
	Room   int  // what is kept may be at most this much; more is shortened by edits; 0: no limit
	Beside int  // about what a request has besides messages
	All    bool // a user asked for it: where Keep would keep everything, all is summarised and nothing kept

	Smaller bool // a plan that does not make the context smaller is an error, see [Plan.IsSmaller]
}

// cut chooses the position on the branch from which entries are kept, about as many as
// l.Keep asks for. ok is false if no cut would leave anything to summarise; at means
// nothing then.
func (c *cutting) cut(tokensBefore int, l Limits) (at int, ok bool) {
	if at = c.cutFor(l.Keep, l); c.useful(at) {
		return at, true
	}
	switch {
	case l.All && c.must >= len(c.branch):
		at = len(c.branch)
	case l.All:
		at = c.latestCut()
	case tokensBefore > l.Keep && l.Keep > 0:
		share := int(float64(l.Keep) * float64(c.total) / float64(tokensBefore))
		at = c.cutFor(min(share, c.total/2), l)
	}
	return at, c.useful(at)
}

// cutFor returns the position of a cut that keeps about so many tokens: the last one
// that keeps at least that many, or the next one behind it, which keeps fewer, if the
// first would keep too much (l.Room) or leave nothing to summarise. -1 if all messages
// together have fewer.
func (c *cutting) cutFor(tokens int, l Limits) int {
	k := len(c.branch) - 1
	for ; k >= c.first && (c.kept[k] < tokens || c.kept[k] == 0); k-- {
	}
	if k < c.first {
		return -1
	}
	before, after := c.lastLegal(min(k, c.must)), c.firstLegal(k+1)
	fits := l.Room == 0 || before >= 0 && (c.kept[before] <= l.Room || c.shortens(before, l.Room))
	if after >= 0 && !(fits && c.useful(before)) {
		return after
	}
	return c.widen(before, l)
}

// widen returns the position of the beginning of the turn in which a cut falls, so that
// the turn is kept whole, or the cut as it is if that would keep over a tenth of l.Keep
// more, exceed l.Room, or leave nothing to summarise.
func (c *cutting) widen(at int, l Limits) int {
	if at < 0 {
		return at
	}
	start, kept := c.splitTurn(at)
	if start == kept || c.items[start].Entry == nil {
		return at
	}
	k := c.keys[start]
	if k > at || !c.legal[k] || !c.useful(k) {
		return at
	}
	fits := l.Room == 0 || c.kept[k] <= l.Room || c.kept[at] > l.Room // or is shortened anyway
	if c.kept[k]-c.kept[at] > l.Keep/10 || !fits {
		return at
	}
	return k
}

// latestCut returns the last position where the branch may be cut; the length of the
// branch, which keeps nothing, if there is none.
func (c *cutting) latestCut() int {
	if k := c.lastLegal(min(c.must, len(c.branch)-1)); k >= 0 {
		return k
	}
	return len(c.branch)
}

// lastLegal is the last legal cut up to k; -1 if there is none.
func (c *cutting) lastLegal(k int) int {
	for k = min(k, len(c.legal)-1); k >= 0 && !c.legal[k]; k-- {
	}
	return k
}

// firstLegal is the first legal cut from k on that is not too late; -1 if there is none.
func (c *cutting) firstLegal(k int) int {
	for ; k < len(c.legal) && k <= c.must; k++ {
		if c.legal[k] {
			return k
		}
	}
	return -1
}

// cutting finds where a branch is cut. Each message has a key, the position on
// the branch from which on it is kept: its own, or for a message that comes from
// no entry that of the latest one before it. So the messages with a key of at
// least the cut's position are kept, in whatever order a hook has put them.
type cutting struct {
	branch []*session.Entry
	core   []session.Item // what the branch itself gives
	items  []session.Item // what the model sees, without the summary
	keys   []int          // of items; -1: before all entries
	tokens []int          // of items; 0 for what is not sent
	calls  []int          // of items that are results: the position of the call's answer; -1: none
	kept   []int          // about how many tokens a cut keeps, by its position, up to len(branch)
	total  int
	legal  []bool // whether the branch may be cut before an entry
	first  int    // the earliest entry that is still in the context
	must   int    // the cut may be no later
}

// newCutting computes all that the choice of a cut depends on. seen is what the model
// sees of the branch.
func newCutting(branch []*session.Entry, seen []session.Item) *cutting {
	c := &cutting{branch: branch, core: session.ContextOf(branch)}
	_, c.first = session.LastCompaction(branch)
	c.addItems(seen)
	c.countTokens()
	c.markLegal()
	c.must = min(mustKeep(c.items), mustKeep(withoutSummary(c.core)), len(branch))
	return c
}

// addItems sets items, without the summary, their keys and their calls. An item whose
// Index does not lead to its Entry counts as one that comes from no entry.
func (c *cutting) addItems(seen []session.Item) {
	c.items = withoutSummary(seen)
	c.calls = answersOf(c.items)
	c.keys = make([]int, len(c.items))
	latest := -1
	for i := range c.items {
		it := &c.items[i]
		if it.Index < 0 || it.Index >= len(c.branch) || c.branch[it.Index] != it.Entry {
			it.Entry, it.Index = nil, -1
		}
		if c.sent(i) {
			latest = max(latest, it.Index)
		}
		c.keys[i] = it.Index
		if it.Entry == nil {
			c.keys[i] = latest
		}
	}
}

// sent reports whether a request has the i-th item: not a failed answer, and not a result
// without its call.
func (c *cutting) sent(i int) bool {
	m := c.items[i].Message
	return !message.Hidden(m) && (m.Role != message.RoleToolResult || c.calls[i] >= 0)
}

// withoutSummary is a copy of items without summaries of compactions.
func withoutSummary(items []session.Item) []session.Item {
	kept := make([]session.Item, 0, len(items))
	for _, it := range items {
		if it.Message.Role != message.RoleCompactionSummary {
			kept = append(kept, it)
		}
	}
	return kept
}

// countTokens estimates the tokens of each item (tokens) and of all (total), and for
// every position how many a cut there would keep (kept).
func (c *cutting) countTokens() {
	c.tokens = make([]int, len(c.items))
	c.kept = make([]int, len(c.branch)+1)
	for i, it := range c.items {
		if !c.sent(i) {
			continue
		}
		c.tokens[i] = EstimateTokens(it.Message)
		c.total += c.tokens[i]
		if c.keys[i] >= 0 {
			c.kept[c.keys[i]] += c.tokens[i]
		}
	}
	for k := len(c.branch) - 1; k >= 0; k-- {
		c.kept[k] += c.kept[k+1]
	}
}

// answersOf returns for each item that is a tool result the position of the answer that
// has its call, and -1 for every other. Calls and results are paired as
// [session.ForModel] does.
func answersOf(items []session.Item) []int {
	of := make([]int, len(items))
	answer := -1
	var open []message.Block
	for i, it := range items {
		of[i] = -1
		switch m := it.Message; {
		case message.Hidden(m):
		case m.Role == message.RoleAssistant:
			answer, open = i, m.ToolCalls()
		case m.Role == message.RoleToolResult:
			for j := range open {
				if open[j].ID == m.ToolCallID && open[j].Type != "" {
					of[i], open[j].Type = answer, ""
					break
				}
			}
		}
	}
	return of
}

// markLegal marks the entries before which the branch may be cut (legal): those of
// messages that are sent, except tool results, and not between a call and its result,
// neither in the order in which the model sees them nor in that of the branch.
func (c *cutting) markLegal() {
	c.legal = make([]bool, len(c.branch))
	inside := make([]int, len(c.branch)+1) // how many pairs begin or end here
	for i, answer := range c.calls {
		if answer >= 0 {
			forbidBetween(inside, c.keys[i], c.keys[answer])
		}
	}
	for i, answer := range answersOf(c.core) {
		if answer >= 0 {
			forbidBetween(inside, c.core[i].Index, c.core[answer].Index)
		}
	}
	result := map[int]bool{}
	for i, it := range c.items {
		if it.Entry == nil || it.Index < c.first || message.Hidden(it.Message) {
			continue
		}
		if it.Message.Role == message.RoleToolResult {
			result[it.Index] = true
		}
		c.legal[it.Index] = c.keys[i] == it.Index
	}
	pairs := 0
	for k := range c.legal {
		pairs += inside[k]
		c.legal[k] = c.legal[k] && pairs == 0 && !result[k]
	}
}

// forbidBetween counts, in inside, that no cut may fall between two positions: markLegal
// adds the numbers up from the beginning, and where the sum is not 0 it is inside of
// such a pair.
func forbidBetween(inside []int, a, b int) {
	if a != b {
		inside[min(a, b)+1]++
		inside[max(a, b)+1]--
	}
}

// mustKeep returns the position of the first message that has to be kept: a prompt that
// has no answer yet, or the last answer if it has calls. If there is neither, it is
// larger than every position.
func mustKeep(items []session.Item) int {
	const rest = int(^uint(0) >> 1)
	i, at := len(items)-1, rest
	for ; i >= 0 && (items[i].Message.Role != message.RoleAssistant || message.Hidden(items[i].Message)); i-- {
		if items[i].Message.Role == message.RoleAssistant && at != rest {
			break
		}
		if items[i].Message.Role == message.RoleUser && items[i].Entry != nil {
			at = min(at, items[i].Index)
		}
	}
	for ; i >= 0; i-- {
		if m := items[i].Message; m.Role == message.RoleAssistant && !message.Hidden(m) {
			if items[i].Entry != nil && len(m.ToolCalls()) > 0 {
				at = min(at, items[i].Index)
			}
			break
		}
	}
	return at
}

// useful reports whether at is a position and a cut there leaves anything to summarise.
func (c *cutting) useful(at int) bool { return at >= 0 && c.total > c.kept[at] }

// Difference returns by how many estimated tokens now is larger than then. Only what
// follows the common beginning of the lists is estimated, which is nearly nothing as a
// rule.
func Difference(then, now []session.Item) int {
	n := 0
	for n < len(then) && n < len(now) && then[n].Message == now[n].Message {
		n++
	}
	return EstimateAll(now[n:]) - EstimateAll(then[n:])
}

// EstimateAll returns about how many tokens the messages have.
func EstimateAll(items []session.Item) (tokens int) {
	for _, it := range items {
		tokens += EstimateTokens(it.Message)
	}
	return tokens
}

// CanKeepFrom returns an error if a compaction cannot retain a branch from the entry id
// on: the entry is not there, or it lies between a call and its result.
func CanKeepFrom(branch []*session.Entry, id string) error {
	at := slices.IndexFunc(branch, func(e *session.Entry) bool { return e.ID == id })
	if at < 0 {
		return fmt.Errorf("entry %q is not on the branch", id)
	}
	open := map[string]bool{} // the calls of the last answer before it that have no result there
	for _, e := range branch[:at] {
		switch m := e.Message(); {
		case m == nil:
		case m.Role == message.RoleAssistant:
			clear(open)
			for _, c := range m.ToolCalls() {
				open[c.ID] = true
			}
		case m.Role == message.RoleToolResult:
			delete(open, m.ToolCallID)
		}
	}
	for _, e := range branch[at:] {
		m := e.Message()
		switch {
		case m == nil:
		case m.Role == message.RoleAssistant:
			return nil
		case m.Role == message.RoleToolResult && open[m.ToolCallID]:
			return fmt.Errorf("entry %q lies between a tool call and its result", id)
		}
	}
	return nil
}

// summarised returns the items that a cut at a position summarises, in the order in which
// the model saw them: those of complete turns, and apart from them those of the turn
// that the cut splits.
func (c *cutting) summarised(at int) (turns, prefix []session.Item) {
	start, kept := c.splitTurn(at)
	for i, it := range c.items {
		switch {
		case c.keys[i] >= at || c.tokens[i] == 0:
		case start <= i && i < kept:
			prefix = append(prefix, it)
		default:
			turns = append(turns, it)
		}
	}
	return turns, prefix
}

// splitTurn returns the index among the items of the first kept one, and of the one that
// begins the turn it belongs to. They are equal if no turn is split: the first kept one
// begins its turn, the beginning is not there any more, or nothing is kept.
func (c *cutting) splitTurn(at int) (start, kept int) {
	for kept = 0; kept < len(c.items) && c.keys[kept] < at; kept++ {
	}
	if kept == len(c.items) {
		return kept, kept
	}
	starts := turnStarts(c.items)
	for start = kept; start >= 0 && !starts[start]; start-- {
	}
	if start < 0 {
		return kept, kept
	}
	return start, kept
}

// turnStarts marks the messages that begin a turn: each prompt; and where no tool
// is at work, a command, the summary of a branch, and a hook's message that does
// not come with a prompt.
func turnStarts(items []session.Item) []bool {
	starts := make([]bool, len(items))
	prompted, working := false, false
	for i, it := range items {
		switch m := it.Message; m.Role {
		case message.RoleAssistant:
			prompted, working = false, !message.Hidden(m) && len(m.ToolCalls()) > 0
		case message.RoleToolResult:
			prompted = false
		case message.RoleUser:
			starts[i], prompted = true, true
		case message.RoleCustom:
			starts[i] = !working && !prompted
		case message.RoleBashExecution, message.RoleBranchSummary:
			starts[i] = !working
		}
	}
	return starts
}
