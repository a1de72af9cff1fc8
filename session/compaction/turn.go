package compaction

import (
	"pi/session"
	"pi/session/message"
)

// before returns the items that a cut at a position summarises, in the order in which
// the model saw them: those of complete turns, and apart from them those of the turn
// that the cut splits.
func (c *cutting) before(at int) (turns, prefix []session.Item) {
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
