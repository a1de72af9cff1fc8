package agent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"pi/agent/llm"
	"pi/session"
)

// NewSessionOptions say how an empty session begins.
type NewSessionOptions struct {
	Parent string // the file of the session it comes from; may be empty
	// Setup writes into the session before it becomes current; nil: nothing. An
	// error of it leaves the old session current.
	Setup func(*session.Session) error
}

// NewSession leaves the current session and starts an empty one. The listeners
// are asked first: session_before_switch, then session_before_new. The error is
// ErrCancelled if one does not want it; then, as after a failure to make the new
// one, nothing has changed. An error after that, of closing the old one, leaves
// the new one current.
func (a *Agent) NewSession(ctx context.Context, o NewSessionOptions) error {
	return a.replace(ctx, change{reason: "new", open: func(context.Context) (*session.Session, error) {
		s, err := a.newSession(o.Parent)
		if err != nil {
			return nil, fmt.Errorf("new session: %w", err)
		}
		if o.Setup != nil {
			if err := o.Setup(s); err != nil {
				return nil, errors.Join(fmt.Errorf("set up the new session: %w", err), s.Close())
			}
		}
		return s, nil
	}})
}

// SwitchSession leaves the current session and goes on with the one at path,
// with the model and thinking level it was left with. The listeners are asked
// first (session_before_switch); the error is ErrCancelled if one does not want
// it. If the other session cannot be opened, the current one stays, as it does,
// without a word, if it is the one at path (unless that is for reading only).
func (a *Agent) SwitchSession(ctx context.Context, path string) error {
	return a.SwitchWith(ctx, path, func(context.Context) (*session.Session, error) { return a.openSession(path) })
}

// SwitchWith is SwitchSession for who opens the session in a way of their own.
// The context of open ends when the agent is aborted.
func (a *Agent) SwitchWith(ctx context.Context, path string, open func(context.Context) (*session.Session, error)) error {
	if s := a.Session(); sameFile(path, s.File()) && !s.ReadOnly() {
		return nil
	}
	return a.replace(ctx, change{reason: "resume", target: path, open: open})
}

// change is one replacement of the session.
type change struct {
	reason string                                 // new resume branch
	target string                                 // file of the other session, if it is known before
	ask    func(context.Context) (cancelled bool) // instead of the questions about a switch
	open   func(context.Context) (*session.Session, error)
}

func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// replace swaps the session while no prompt can begin.
func (a *Agent) replace(ctx context.Context, c change) error {
	ctx, err := a.begin(ctx)
	if errors.Is(err, ErrBusy) {
		return ErrNotIdle
	}
	defer a.end()
	if err := a.agreed(ctx, c); err != nil {
		return err
	}
	next, err := c.open(ctx)
	if err != nil {
		return err
	}
	return a.swap(ctx, next, c.reason)
}

// agreed asks the listeners about a change; the first that is against it
// decides. One that fails has no say.
func (a *Agent) agreed(ctx context.Context, c change) error {
	ask := c.ask
	if ask == nil {
		ask = func(ctx context.Context) bool { return a.askSwitch(ctx, c) }
	}
	cancelled := ask(ctx)
	switch {
	case ctx.Err() != nil:
		return ErrAborted
	case cancelled:
		return ErrCancelled
	}
	return nil
}

func (a *Agent) askSwitch(ctx context.Context, c change) (cancelled bool) {
	before := &SessionBeforeSwitch{Reason: c.reason, TargetSessionFile: c.target}
	a.emitUntil(ctx, before, func() bool { return before.Cancel })
	fresh := &SessionBeforeNew{SessionID: a.Session().ID()}
	if c.reason == "new" && !before.Cancel {
		a.emitUntil(ctx, fresh, func() bool { return fresh.Cancel })
	}
	return before.Cancel || fresh.Cancel
}

// swap is the one place where the current session is replaced. It happens whole,
// also after an interrupt. What waited for a prompt of the old session is gone
// with it.
func (a *Agent) swap(ctx context.Context, next *session.Session, reason string) error {
	a.emitAfter(ctx, KindSessionShutdown, func() Event {
		return &SessionShutdown{Reason: reason, TargetSessionFile: next.File()}
	})
	is, gone := a.chosen(), ""
	if reason != "branch" { // which goes on from here, with what is used here
		is, gone = a.leftWith(next)
	}
	previous := a.current.Swap(next)
	a.inForce.forgetDate()
	a.lastSeen.forget()
	was := a.restore(is)
	a.compacting.noteGoodAnswer()
	a.inbox.forget()
	a.refuseAsked(errLeft)
	err := previous.Close()
	a.replaced(ctx, reason, previous)
	a.announce(ctx, reason, previous.File())
	a.tellSelected(ctx, was, is, "restore")
	if gone != "" {
		a.Notify(ctx, LevelWarning, gone)
	}
	a.refresh(ctx)
	return err
}

// replaced tells how the current session became another one.
func (a *Agent) replaced(ctx context.Context, reason string, previous *session.Session) {
	if reason == "branch" {
		a.emitAfter(ctx, KindSessionBranch, func() Event { return &SessionBranch{previous.File()} })
		return
	}
	a.emitAfter(ctx, KindSessionSwitch, func() Event { return &SessionSwitch{Reason: reason, PreviousSessionFile: previous.File()} })
	if reason == "new" {
		a.emitAfter(ctx, KindSessionNew, func() Event { return &SessionNew{SessionID: a.Session().ID()} })
	}
}

// leftWith returns what s was used with last, as far as it says so and the model
// is still there; else the present choice, and what is to be told about that.
func (a *Agent) leftWith(s *session.Session) (is selection, gone string) {
	is = a.chosen()
	provider, id := s.Model()
	if found := a.models.Find(provider, id); found != nil {
		is.model = found
	} else if id != "" {
		gone = ModelGone(provider, id, is.model)
	}
	switch level := s.ThinkingLevel(); {
	case llm.ValidThinking(level):
		is.wish = llm.WishLeft(is.model, level, is.wish)
	case level != "":
		gone = strings.TrimPrefix(gone+"\n"+LevelGone(level, is.wish), "\n")
	}
	return is, gone
}

// ModelGone says that a session was left with a model that is not there any
// more, what is used instead, and how to choose.
func ModelGone(provider, id string, instead *llm.Model) string {
	return fmt.Sprintf("the session was left with the model %s/%s, which is not known here; %s is used instead (/model or --model chooses)",
		provider, id, instead.Ref())
}

// LevelGone says likewise that a session was left with a thinking level that
// nobody knows here.
func LevelGone(level, instead string) string {
	return fmt.Sprintf("the session was left with the thinking level %q, which is not known here; %s is used instead (/thinking or --thinking chooses)", level, instead)
}

// announce tells the listeners which session is current.
func (a *Agent) announce(ctx context.Context, reason, previous string) {
	s := a.Session()
	a.emitAfter(ctx, KindSessionStart, func() Event {
		return &SessionStart{Reason: reason, SessionID: s.ID(), SessionFile: s.File(), PreviousSessionFile: previous}
	})
}

// SetSessionName names the session; "" takes the name away.
func (a *Agent) SetSessionName(ctx context.Context, name string) error {
	_, err := a.Session().Append(session.TypeSessionInfo, session.SessionInfo{Name: name})
	if err == nil {
		a.emitIf(ctx, KindSessionInfoChanged, func() Event { return &SessionInfoChanged{name} })
	}
	return err
}
