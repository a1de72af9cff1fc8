package command

import (
	"context"

	"pi/agent"
)

// mayLeave asks the person before a session is left of which a part is only in
// memory: it would be gone. Where nobody can be asked, it is left.
func (o Options) mayLeave(ctx context.Context) (bool, error) {
	s := o.Agent.Session()
	err := s.Sync()
	if err == nil {
		err = s.Unsaved()
	}
	if err == nil || !o.UI.HasUI() {
		return true, nil
	}
	return o.UI.Confirm(ctx, "Part of this session is only in memory. Leave it, and lose that?",
		err.Error()+"\n/export FILE writes all of it elsewhere", agent.DialogOptions{})
}

func (o Options) stays() Outcome {
	return Outcome{Status: "session: still " + o.Agent.Session().ID()}
}
