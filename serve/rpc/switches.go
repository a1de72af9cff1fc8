package rpc

import (
	"context"
	"sync"

	"pi/agent"
)

// switches are the commands that change settings.
type switches struct {
	*parts

	mu       sync.Mutex // guards what follows, and the way from the settings to the changed ones
	attempts int        // of a call that fails, before they were turned off
}

// setting makes the work of a switch: change changes the settings of this process. They stay
// when the session changes, and are written nowhere.
func (s *switches) setting(r *request, change func(*agent.Settings)) work {
	return func(context.Context, func()) {
		s.change(change)
		s.out.succeed(r, nil)
	}
}

// change changes the settings. No other change of a client comes between.
func (s *switches) change(change func(*agent.Settings)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	settings := s.agent.Settings()
	change(&settings)
	s.agent.SetSettings(settings)
}

// openSteeringMode is the command set_steering_mode.
func (s *switches) openSteeringMode(f *fields, r *request) work {
	all := f.word("mode", "all", "one-at-a-time") == "all"
	return s.setting(r, func(now *agent.Settings) { now.SteerAll = all })
}

// openFollowUpMode is the command set_follow_up_mode.
func (s *switches) openFollowUpMode(f *fields, r *request) work {
	all := f.word("mode", "all", "one-at-a-time") == "all"
	return s.setting(r, func(now *agent.Settings) { now.FollowUpAll = all })
}

// openAutoCompaction is the command set_auto_compaction.
func (s *switches) openAutoCompaction(f *fields, r *request) work {
	on := f.flag("enabled")
	return s.setting(r, func(now *agent.Settings) { now.Compaction.Enabled = on })
}

// usualAttempts are made where the settings had none when they were turned on.
const usualAttempts = 3

// openAutoRetry is the command set_auto_retry.
func (s *switches) openAutoRetry(f *fields, r *request) work {
	on := f.flag("enabled")
	return s.setting(r, func(now *agent.Settings) {
		attempts := &now.Retry.MaxAttempts
		switch {
		case !on && *attempts > 0:
			s.attempts, *attempts = *attempts, 0
		case on && *attempts == 0 && s.attempts > 0:
			*attempts = s.attempts
		case on && *attempts == 0:
			*attempts = usualAttempts
		}
	})
}
