package rpc

import (
	"context"

	"pi/agent"
)

// setting makes the work of a command that changes the settings of this process. They stay
// when the session changes, and are written nowhere.
func (s *Server) setting(change func(*agent.Settings, *facts)) work {
	return func(context.Context, func()) (any, error) {
		s.note(func(f *facts) {
			settings := s.agent.Settings()
			change(&settings, f)
			s.agent.SetSettings(settings)
		})
		return nil, nil
	}
}

// openSteeringMode is the command set_steering_mode.
func (s *Server) openSteeringMode(r *request) work {
	all := r.word("mode", "all", "one-at-a-time") == "all"
	return s.setting(func(now *agent.Settings, _ *facts) { now.SteerAll = all })
}

// openFollowUpMode is the command set_follow_up_mode.
func (s *Server) openFollowUpMode(r *request) work {
	all := r.word("mode", "all", "one-at-a-time") == "all"
	return s.setting(func(now *agent.Settings, _ *facts) { now.FollowUpAll = all })
}

// openAutoCompaction is the command set_auto_compaction.
func (s *Server) openAutoCompaction(r *request) work {
	on := r.flag("enabled")
	return s.setting(func(now *agent.Settings, _ *facts) { now.Compaction.Enabled = on })
}

// usualAttempts are made where the settings had none when they were turned on.
const usualAttempts = 3

// openAutoRetry is the command set_auto_retry.
func (s *Server) openAutoRetry(r *request) work {
	on := r.flag("enabled")
	return s.setting(func(now *agent.Settings, f *facts) {
		attempts := &now.Retry.MaxAttempts
		switch {
		case !on && *attempts > 0:
			f.attempts, *attempts = *attempts, 0
		case on && *attempts == 0 && f.attempts > 0:
			*attempts = f.attempts
		case on && *attempts == 0:
			*attempts = usualAttempts
		}
	})
}
