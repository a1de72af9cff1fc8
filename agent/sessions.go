package agent

import (
	"context"
	"fmt"

	"pi/session"
)

// NewSession leaves the current session and starts an empty one.
func (a *Agent) NewSession(ctx context.Context) error {
	if !a.IsIdle() {
		return ErrNotIdle
	}
	s, err := a.newSession()
	if err != nil {
		return fmt.Errorf("new session: %w", err)
	}
	return a.swap(ctx, s, "new")
}

// SwitchSession leaves the current session and goes on with the one at path. If
// that cannot be opened, the current one stays.
func (a *Agent) SwitchSession(ctx context.Context, path string) error {
	if !a.IsIdle() {
		return ErrNotIdle
	}
	s, err := a.openSession(path)
	if err != nil {
		return err
	}
	return a.swap(ctx, s, "resume")
}

// swap is the one place where the current session is replaced.
func (a *Agent) swap(ctx context.Context, next *session.Session, reason string) error {
	a.emitIf(ctx, KindSessionShutdown, func() Event {
		return &SessionShutdown{Reason: reason, TargetSessionFile: next.File()}
	})
	a.mu.Lock()
	previous := a.session
	a.session, a.today, a.seen = next, "", nil
	a.mu.Unlock()
	err := previous.Close()
	a.announce(ctx, reason, previous.File())
	return err
}

// announce tells the listeners which session is current, then lets them see its
// context.
func (a *Agent) announce(ctx context.Context, reason, previous string) {
	s := a.Session()
	a.emitIf(ctx, KindSessionStart, func() Event {
		return &SessionStart{Reason: reason, SessionID: s.ID(), SessionFile: s.File(), PreviousSessionFile: previous}
	})
	if a.wants(KindContext) {
		a.Context(ctx)
	}
}

// Reloaded lets the listeners see the context again after hooks changed.
func (a *Agent) Reloaded(ctx context.Context) {
	if a.wants(KindContext) {
		a.Context(ctx)
	}
}
