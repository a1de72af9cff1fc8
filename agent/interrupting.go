package agent

import (
	"context"

	"pi/session"
)

// Interrupting replaces the session as those methods of [Agent] do that have the same
// names, but also while a prompt runs. The listeners are asked while it goes on, so that a
// no changes nothing, and a session to switch to is opened then. After that the prompt is
// interrupted; when its last events are out the session is left, and with it what waited
// in the queues. The error is ErrAborted if ctx ends before that.
type Interrupting struct{ sessions *sessions }

// Interrupting returns what replaces the session also while a prompt runs.
func (a *Agent) Interrupting() Interrupting { return Interrupting{a.sessions} }

// NewSession is [Agent.NewSession].
func (i Interrupting) NewSession(ctx context.Context, o NewSessionOptions) error {
	c := i.sessions.toNew(o)
	c.interrupts = true
	return i.sessions.replace(ctx, c)
}

// SwitchWith is [Agent.SwitchWith]; without open the session is opened as SwitchSession does.
func (i Interrupting) SwitchWith(ctx context.Context, path string, open func(context.Context) (*session.Session, error)) error {
	return i.sessions.switchTo(ctx, change{target: path, open: open, interrupts: true})
}

// Branch is [Agent.Branch], but the new session has the name of the old one.
func (i Interrupting) Branch(ctx context.Context, id string) (Recalled, error) {
	b := &branching{sessions: i.sessions, id: id}
	err := b.replaceNamed(ctx)
	return b.recalled, err
}
