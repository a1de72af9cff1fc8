package session

// before gives what a cut summarises, in the order in which the model saw it:
// complete turns, and apart from them the beginning of the turn that it splits.
func (c *cutting) before(at int) (turns, prefix []Item) {
	start := c.turnStart(at)
	for i, it := range c.items {
		switch {
		case c.keys[i] >= at || c.tokens[i] == 0:
		case start >= 0 && i >= start:
			prefix = append(prefix, it)
		default:
			turns = append(turns, it)
		}
	}
	return turns, prefix
}

// turnStart is the position of the message that begins the turn of the first
// kept one; -1 if its beginning is not there any more, or nothing is kept.
func (c *cutting) turnStart(at int) int {
	starts := turnStarts(c.items)
	for i := range c.items {
		if c.keys[i] < at {
			continue
		}
		for ; i >= 0 && !starts[i]; i-- {
		}
		return i
	}
	return -1
}

// turnStarts marks the messages that begin a turn: each prompt; and where no tool
// is at work, a command, the summary of a branch, and a hook's message that does
// not come with a prompt.
func turnStarts(items []Item) []bool {
	starts := make([]bool, len(items))
	prompted, working := false, false
	for i, it := range items {
		switch m := it.Message; m.Role {
		case RoleAssistant:
			prompted, working = false, !leftOut(m) && len(m.ToolCalls()) > 0
		case RoleToolResult:
			prompted = false
		case RoleUser:
			starts[i], prompted = true, true
		case RoleCustom:
			starts[i] = !working && !prompted
		case RoleBashExecution, RoleBranchSummary:
			starts[i] = !working
		}
	}
	return starts
}
