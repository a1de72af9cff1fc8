package agent

import (
	"context"
	"fmt"
	"slices"

	"pi/session"
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
	a.showEdited(id)
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
		case session.RoleUser, session.RoleAssistant, session.RoleToolResult, session.RoleCustom:
			return nil
		}
		kind = string(m.Role)
	}
	return fmt.Errorf("entry %q is a %s; only messages of the roles user, assistant, toolResult and custom can be edited", id, kind)
}

// showEdited puts the message of an edited entry into what is shown of the last
// context chain; the chain itself runs again before the next request.
func (a *Agent) showEdited(id string) {
	s := a.Session()
	var now []session.Item // what the entry gives to the context, if anything
	for _, it := range s.Context() {
		if it.Entry != nil && it.Entry.ID == id {
			now = append(now, it)
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.session != s || a.seen == nil {
		return
	}
	seen := make([]session.Item, 0, len(a.seen))
	for _, it := range a.seen {
		if it.Entry != nil && it.Entry.ID == id {
			seen = append(seen, now...)
			now = nil
		} else {
			seen = append(seen, it)
		}
	}
	a.seen = seen
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
