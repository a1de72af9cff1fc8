package rpc

import (
	"context"

	"pi/agent"
)

// setting is a command that changes the settings of this process to what one of its fields
// says. They stay when the session changes, and are written nowhere.
func (s *Server) setting(read func(*request) bool, change func(now *agent.Settings, f *facts, on bool)) known {
	return known{ordered, func(r *request) work {
		on := read(r)
		return func(context.Context, func()) (any, error) {
			s.note(func(f *facts) {
				settings := s.agent.Settings()
				change(&settings, f, on)
				s.agent.SetSettings(settings)
			})
			return nil, nil
		}
	}}
}

// isAll reads how many messages of a queue are delivered at a time: all, or one.
func (r *request) isAll() bool { return r.word("mode", "all", "one-at-a-time") == "all" }

// isEnabled reads whether something is turned on.
func (r *request) isEnabled() bool { return r.flag("enabled") }

// usualAttempts are made where the settings had none when they were turned on.
const usualAttempts = 3

// retryAgain turns the attempts on that follow a call that failed, or off.
func retryAgain(now *agent.Settings, f *facts, on bool) {
	attempts := &now.Retry.MaxAttempts
	switch {
	case !on && *attempts > 0:
		f.attempts, *attempts = *attempts, 0
	case on && *attempts == 0 && f.attempts > 0:
		*attempts = f.attempts
	case on && *attempts == 0:
		*attempts = usualAttempts
	}
}
