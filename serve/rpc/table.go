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
		"prompt":      {ordered, s.openPrompt},
		"steer":       {ordered, s.openQueueing(agent.Steer)},
		"follow_up":   {ordered, s.openQueueing(agent.FollowUp)},
		"abort":       {concurrent, s.openAbort},
		"clear_queue": {concurrent, s.openClearQueue},

		"get_state":               reading(s.stateNow),
		"get_messages":            reading(s.messages),
		"get_entries":             {read, s.openEntries},
		"get_tree":                reading(s.tree),
		"get_last_assistant_text": reading(s.lastText),
		"get_session_stats":       reading(s.stats),
		"get_fork_messages":       reading(s.forks),
		"get_commands":            reading(s.offers),

		"set_model":                     {ordered, s.openSetModel},
		"cycle_model":                   {ordered, s.openCycleModel},
		"get_available_models":          reading(s.availableModels),
		"set_thinking_level":            {ordered, s.openSetLevel},
		"cycle_thinking_level":          {ordered, s.openCycleLevel},
		"get_available_thinking_levels": reading(s.levels),

		"set_steering_mode":   s.setting((*request).isAll, func(now *agent.Settings, _ *facts, on bool) { now.SteerAll = on }),
		"set_follow_up_mode":  s.setting((*request).isAll, func(now *agent.Settings, _ *facts, on bool) { now.FollowUpAll = on }),
		"set_auto_compaction": s.setting((*request).isEnabled, func(now *agent.Settings, _ *facts, on bool) { now.Compaction.Enabled = on }),
		"set_auto_retry":      s.setting((*request).isEnabled, retryAgain),
		"abort_retry":         {concurrent, s.openAbortRetry},

		"compact":    {ordered, s.openCompact},
		"bash":       {ordered, s.openBash},
		"abort_bash": {concurrent, s.openAbortBash},

		"new_session":      {exclusive, s.openNew},
		"switch_session":   {exclusive, s.openSwitch},
		"fork":             {exclusive, s.openFork},
		"clone":            {exclusive, s.openClone},
		"set_session_name": {ordered, s.openSetName},
		"export_html":      {ordered, s.openExport},
	}
}
