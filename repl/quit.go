package repl

import (
	"context"

	"pi/agent"
)

// mayQuit reports whether the program may end. While a part of the session is only
// in memory, and would be lost, the person is asked first, unless they were asked
// just before and have done nothing since. If the input has ended there is nobody to
// ask, and the program ends.
func (r *REPL) mayQuit(ctx context.Context) bool {
	s := r.agent.Session()
	err := s.Sync()
	if err == nil {
		err = s.Unsaved()
	}
	if err == nil || r.askedToQuit || !r.person.HasUI() || r.person.hasEnded() {
		return true
	}
	r.askedToQuit = true
	answer, failed := r.person.Confirm(ctx, "Part of this session is only in memory. Quit, and lose that?",
		err.Error()+"\n/export FILE writes all of it elsewhere, if that is not done yet", agent.DialogOptions{})
	if failed != nil || answer != agent.No {
		return true
	}
	r.work.quit.Store(false)
	r.jobs.reopen()
	return false
}
