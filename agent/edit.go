package agent

import (
	"context"
	"fmt"

	"pi/session"
)

// EditContext makes a lasting edit of what the model sees of one entry of the
// current branch: r nil takes it out, else only its content changes. The history
// of the session stays as it is. It returns the id of the edit.
func (a *Agent) EditContext(_ context.Context, id string, r *session.Replacement) (string, error) {
	s := a.Session()
	target := s.Entry(id)
	if target == nil {
		return "", fmt.Errorf("edit context: no entry %q", id)
	}
	e, err := s.Append(session.TypeContextEdit, session.ContextEdit{TargetID: id, Replacement: r})
	if e == nil {
		return "", fmt.Errorf("edit context: %w", err)
	}
	return e.ID, err
}

// SetSessionName names the session; "" takes the name away.
func (a *Agent) SetSessionName(ctx context.Context, name string) error {
	_, err := a.Session().Append(session.TypeSessionInfo, session.SessionInfo{Name: name})
	if err == nil {
		a.emitIf(ctx, KindSessionInfoChanged, func() Event { return &SessionInfoChanged{name} })
	}
	return err
}

// SetLabel names an entry of the session; "" takes the name away.
func (a *Agent) SetLabel(_ context.Context, id, label string) error {
	if a.Session().Entry(id) == nil {
		return fmt.Errorf("set label: no entry %q", id)
	}
	_, err := a.Session().Append(session.TypeLabel, session.Label{TargetID: id, Label: label})
	return err
}
