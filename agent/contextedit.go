package agent

import (
	"context"
	"fmt"
	"slices"

	"pi/session"
	"pi/session/message"
)

// EditContext makes a lasting edit of what the model sees of one entry of the
// current branch: r nil takes it out, else only its content changes. The history
// of the session stays as it is. It returns the id of the edit. Messages of the
// person, answers, tool results and custom messages can be edited.
func (a *Agent) EditContext(_ context.Context, id string, r *session.Replacement) (string, error) {
	s := a.Session()
	if err := editTarget(s, id); err != nil {
		return "", fmt.Errorf("edit context: %w", err)
	}
	e, err := s.Append(session.TypeContextEdit, session.ContextEdit{TargetID: id, Replacement: r})
	if e == nil {
		return "", fmt.Errorf("edit context: %w", err)
	}
	a.lastSeen.edit(s, id)
	return e.ID, err
}

// editTarget refuses an entry that no edit reaches.
func editTarget(s *session.Session, id string) error {
	e := s.Entry(id)
	if e == nil {
		return fmt.Errorf("no entry %q", id)
	}
	if !slices.Contains(s.Branch(), e) {
		return fmt.Errorf("entry %q is not on the current branch", id)
	}
	kind := e.Type
	if m := e.Message(); m != nil {
		switch m.Role {
		case message.RoleUser, message.RoleAssistant, message.RoleToolResult, message.RoleCustom:
			return nil
		}
		kind = string(m.Role)
	}
	return fmt.Errorf("entry %q is a %s; only messages of the roles user, assistant, toolResult and custom can be edited", id, kind)
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
