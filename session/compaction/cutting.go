package compaction

import (
	"pi/session"
	"pi/session/message"
)

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
