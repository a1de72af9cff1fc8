package rpc

import "pi/agent"

// known is a command that there is.
type known struct {
	way  way
	open func(f *fields, r *request) work // checks the fields; it does nothing that waits
}

// newTable returns all commands by their names.
func newTable(p *parts, prompt *prompter, shell *shells, compact *compactions) map[string]known {
	reads, model, change, turn := &readings{p}, &models{p}, &changes{p}, &switches{parts: p}
	return map[string]known{
		"prompt":      {inOrder, prompt.open},
		"steer":       {inOrder, prompt.openQueueing(agent.Steer)},
		"follow_up":   {inOrder, prompt.openQueueing(agent.FollowUp)},
		"abort":       {aside, prompt.openAbort},
		"clear_queue": {aside, prompt.openClearQueue},

		"get_state":               reads.of(reads.now),
		"get_messages":            reads.of(reads.messages),
		"get_entries":             {atOnce, reads.openEntries},
		"get_tree":                reads.of(reads.tree),
		"get_last_assistant_text": reads.of(reads.lastText),
		"get_session_stats":       reads.of(reads.stats),
		"get_fork_messages":       reads.of(reads.forks),
		"get_commands":            reads.of(reads.offers),

		"set_model":                     {inOrder, model.openSet},
		"cycle_model":                   {inOrder, model.openCycle},
		"get_available_models":          reads.of(reads.models),
		"set_thinking_level":            {inOrder, model.openSetLevel},
		"cycle_thinking_level":          {inOrder, model.openCycleLevel},
		"get_available_thinking_levels": reads.of(reads.levels),

		"set_steering_mode":   {inOrder, turn.openSteeringMode},
		"set_follow_up_mode":  {inOrder, turn.openFollowUpMode},
		"set_auto_compaction": {inOrder, turn.openAutoCompaction},
		"set_auto_retry":      {inOrder, turn.openAutoRetry},
		"abort_retry":         {aside, prompt.openAbortRetry},

		"compact":    {inOrder, compact.open},
		"bash":       {inOrder, shell.open},
		"abort_bash": {aside, shell.openAbort},

		"new_session":      {barrier, change.openNew},
		"switch_session":   {barrier, change.openSwitch},
		"fork":             {barrier, change.openFork},
		"clone":            {barrier, change.openClone},
		"set_session_name": {inOrder, change.openSetName},
		"export_html":      {inOrder, change.openExport},
	}
}
