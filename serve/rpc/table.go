package rpc

import "pi/agent"

// known is a command that there is.
type known struct {
	way  way
	open func(r *request) work // checks the fields; it does nothing that waits
}

// newTable returns all commands by their names.
func (s *Server) newTable() map[string]known {
	return map[string]known{
		"prompt":      {inOrder, s.openPrompt},
		"steer":       {inOrder, s.openQueueing(agent.Steer)},
		"follow_up":   {inOrder, s.openQueueing(agent.FollowUp)},
		"abort":       {aside, s.openAbort},
		"clear_queue": {aside, s.openClearQueue},

		"get_state":               reading(s.stateNow),
		"get_messages":            reading(s.messages),
		"get_entries":             {atOnce, s.openEntries},
		"get_tree":                reading(s.tree),
		"get_last_assistant_text": reading(s.lastText),
		"get_session_stats":       reading(s.stats),
		"get_fork_messages":       reading(s.forks),
		"get_commands":            reading(s.offers),

		"set_model":                     {inOrder, s.openSetModel},
		"cycle_model":                   {inOrder, s.openCycleModel},
		"get_available_models":          reading(s.availableModels),
		"set_thinking_level":            {inOrder, s.openSetLevel},
		"cycle_thinking_level":          {inOrder, s.openCycleLevel},
		"get_available_thinking_levels": reading(s.levels),

		"set_steering_mode":   {inOrder, s.openSteeringMode},
		"set_follow_up_mode":  {inOrder, s.openFollowUpMode},
		"set_auto_compaction": {inOrder, s.openAutoCompaction},
		"set_auto_retry":      {inOrder, s.openAutoRetry},
		"abort_retry":         {aside, s.openAbortRetry},

		"compact":    {inOrder, s.openCompact},
		"bash":       {inOrder, s.openBash},
		"abort_bash": {aside, s.openAbortBash},

		"new_session":      {barrier, s.openNew},
		"switch_session":   {barrier, s.openSwitch},
		"fork":             {barrier, s.openFork},
		"clone":            {barrier, s.openClone},
		"set_session_name": {inOrder, s.openSetName},
		"export_html":      {inOrder, s.openExport},
	}
}
