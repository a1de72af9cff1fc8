package repl

import (
	"context"

	"pi/agent"
)

// mayQuit asks before the program ends while a part of the session is only in
// memory, for then it is gone. Who wants to leave twice without doing anything in
// between leaves; so does an input that has ended, which answers nothing.
func (r *REPL) mayQuit(ctx context.Context) bool {
	s := r.agent.Session()
	err := s.Sync()
	if err == nil {
		err = s.Unsaved()
	}
	if err == nil || r.askedToQuit || !r.HasUI() {
		return true
	}
	r.askedToQuit = true
	yes, failed := r.Confirm(ctx, "Part of this session is only in memory. Quit, and lose that?",
		err.Error()+"\n/export FILE writes all of it elsewhere, if that is not done yet", agent.DialogOptions{})
	if failed != nil || yes {
		return true
	}
	r.work.cancelQuit()
	return false
}
