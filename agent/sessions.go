package agent

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"pi/agent/llm"
	"pi/agent/work"
	"pi/session"
	"pi/session/message"
)

// NewSessionOptions say how an empty session begins.
type NewSessionOptions struct {
	Parent string // the file of the session it comes from; may be empty
	// Setup writes into the session before it becomes current; nil: nothing. An
	// error of it leaves the old session current.
	Setup func(*session.Session) error
}

// sessions replace the current session by another one. All methods may be called from
// any goroutine.
type sessions struct {
	newSession   func(parent string) (*session.Session, error) // see [Options], also for the next two
	openSession  func(path string) (*session.Session, error)
	copySession  func(s *session.Session, leaf string) (*session.Session, error)
	busy         *work.Claim
	events       *listeners
	conversation *conversation
	spending     *spending
	choice       *choice
	inbox        *Inbox
	system       *systemPrompts
	modes        *Modes
	compaction   *compactionState
	userShell    *userShell
	leaving      *work.Claim // is claimed while a prompt is interrupted for another session
}

// NewSession leaves the current session and starts an empty one. The listeners
// are asked first: session_before_switch, then session_before_new. The error is
// ErrCancelled if one does not want it; then, as after a failure to make the new
// one, nothing has changed. An error after that, of closing the old one, leaves
// the new one current.
func (a *Agent) NewSession(ctx context.Context, o NewSessionOptions) error {
	return a.sessions.replace(ctx, a.sessions.newSwitch(o))
}

// SwitchSession leaves the current session and goes on with the one at path,
// with the model and thinking level it was left with. The listeners are asked
// first (session_before_switch); the error is ErrCancelled if one does not want
// it. If the other session cannot be opened, the current one stays, as it does,
// without a word, if it is the one at path (unless that is for reading only).
func (a *Agent) SwitchSession(ctx context.Context, path string) error {
	return a.sessions.switchTo(ctx, sessionSwitch{target: path})
}

// SwitchWith is SwitchSession with a function that opens the session.
// The context of open ends when the agent is aborted.
func (a *Agent) SwitchWith(ctx context.Context, path string, open func(context.Context) (*session.Session, error)) error {
	return a.sessions.switchTo(ctx, sessionSwitch{target: path, open: open})
}

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
	c := i.sessions.newSwitch(o)
	c.interrupts = true
	return i.sessions.replace(ctx, c)
}

// SwitchWith is [Agent.SwitchWith]; without open the session is opened as SwitchSession does.
func (i Interrupting) SwitchWith(ctx context.Context, path string, open func(context.Context) (*session.Session, error)) error {
	return i.sessions.switchTo(ctx, sessionSwitch{target: path, open: open, interrupts: true})
}

// Branch is [Agent.Branch], but the new session has the name of the old one.
func (i Interrupting) Branch(ctx context.Context, id string) (Recalled, error) {
	b := &branching{sessions: i.sessions, id: id}
	err := b.replaceNamed(ctx)
	return b.recalled, err
}

// sessionSwitch is one replacement of the session. Either open or make is set.
type sessionSwitch struct {
	reason string                                 // new resume branch
	target string                                 // file of the other session, if it is known before
	check  func() error                           // fails before anybody is asked; nil: it cannot fail
	ask    func(context.Context) (cancelled bool) // instead of the questions about a switch
	open   func(context.Context) (*session.Session, error)
	make   func() (*session.Session, error) // from the current session, when nothing runs

	interrupts bool // also while a prompt runs
}

// newSwitch is the switch to an empty session.
func (s *sessions) newSwitch(o NewSessionOptions) sessionSwitch {
	return sessionSwitch{reason: "new", make: func() (*session.Session, error) {
		next, err := s.newSession(o.Parent)
		if err != nil {
			return nil, fmt.Errorf("new session: %w", err)
		}
		if o.Setup != nil {
			if err := o.Setup(next); err != nil {
				return nil, errors.Join(fmt.Errorf("set up the new session: %w", err), next.Close())
			}
		}
		return next, nil
	}}
}

// switchTo makes the session current that is at the target of c, unless it is already.
func (s *sessions) switchTo(ctx context.Context, c sessionSwitch) error {
	if current := s.conversation.current(); isSameFile(c.target, current.File()) && !current.ReadOnly() {
		return nil
	}
	if c.reason = "resume"; c.open == nil {
		c.open = func(context.Context) (*session.Session, error) { return s.openSession(c.target) }
	}
	return s.replace(ctx, c)
}

// isSameFile reports whether both paths lead to one file that is there.
func isSameFile(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// replace replaces the current session by the one that c opens or makes, unless a listener
// is against it (ErrCancelled). The agent is claimed for that, so that no prompt can begin:
// from the start, or if c interrupts one, from its end. Commands of the user are ended.
func (s *sessions) replace(ctx context.Context, c sessionSwitch) error {
	claimed, err := s.busy.Begin(ctx)
	works := err != nil
	switch {
	case !works:
		ctx = claimed
		defer s.busy.End()
	case !c.interrupts:
		return ErrNotIdle
	}
	about := s.conversation.current()
	next, err := s.prepare(ctx, c)
	if err != nil {
		return err
	}
	if works {
		if _, err := s.leaving.Begin(ctx); err == nil {
			defer s.leaving.End()
		}
		if ctx, err = s.busy.Interrupt(ctx); err != nil {
			return errors.Join(ErrAborted, closeUnused(next))
		}
		defer s.busy.End()
		if s.conversation.current() != about { // whoever replaced it had other answers
			return errors.Join(ErrNotIdle, closeUnused(next))
		}
	}
	if err := s.userShell.stop(ctx); err != nil { // what they did is part of the session that is left
		return errors.Join(ErrAborted, closeUnused(next))
	}
	if next == nil {
		if next, err = c.make(); err != nil {
			return err
		}
	}
	return s.swap(ctx, next, c.reason)
}

// prepare asks the listeners and opens the other session. It is nil if c makes one later.
func (s *sessions) prepare(ctx context.Context, c sessionSwitch) (next *session.Session, err error) {
	if c.check != nil {
		if err := c.check(); err != nil {
			return nil, err
		}
	}
	if c.ask == nil {
		c.ask = func(ctx context.Context) bool { return s.askSwitch(ctx, c) }
	}
	cancelled := c.ask(ctx)
	switch {
	case ctx.Err() != nil:
		return nil, ErrAborted
	case cancelled:
		return nil, ErrCancelled
	case c.open == nil:
		return nil, nil
	}
	return c.open(ctx)
}

// closeUnused closes a session that did not become current; nil is none.
func closeUnused(s *session.Session) error {
	if s == nil {
		return nil
	}
	return s.Close()
}

// askSwitch asks the listeners and reports whether one of them does not want the session
// to be left.
func (s *sessions) askSwitch(ctx context.Context, c sessionSwitch) (cancelled bool) {
	before := &SessionBeforeSwitch{Reason: c.reason, TargetSessionFile: c.target}
	s.events.emitUntil(ctx, before, func() bool { return before.Cancel })
	fresh := &SessionBeforeNew{SessionID: s.conversation.current().ID()}
	if c.reason == "new" && !before.Cancel {
		s.events.emitUntil(ctx, fresh, func() bool { return fresh.Cancel })
	}
	return before.Cancel || fresh.Cancel
}

// swap is the one place where the current session is replaced. An interrupt does not
// stop it. Messages that waited for a prompt of the old session are dropped; those that
// are sent from then on wait for one of the new session.
func (s *sessions) swap(ctx context.Context, next *session.Session, reason string) error {
	s.events.emitAfter(ctx, KindSessionShutdown, func() Event {
		return &SessionShutdown{Reason: reason, TargetSessionFile: next.File()}
	})
	is, gone := s.choice.chosen(), ""
	if reason != "branch" { // a branch continues with the present choice
		is, gone = s.lastUsed(next)
	}
	var previous *session.Session
	refused := s.inbox.forget(func() { previous = s.conversation.replace(next) })
	s.spending.move(previous, next)
	s.system.forgetSession()
	was := s.choice.restore(is)
	modeWas, modeIs := "", ""
	if reason == "resume" {
		modeWas, modeIs = s.modes.Restore(next)
	} else {
		s.modes.Stay(next) // the mode goes along
	}
	s.compaction.tried.Store(false)
	refused.refuse(errLeft)
	err := previous.Close()
	s.emitReplaced(ctx, reason, previous)
	s.emitStart(ctx, reason, previous.File())
	s.choice.emitChange(ctx, was, is, "restore")
	if reason == "resume" {
		s.modes.Changed(ctx, modeWas, modeIs)
	}
	if gone != "" {
		s.events.Notify(ctx, LevelWarning, gone)
	}
	s.conversation.refresh(ctx)
	return err
}

// emitReplaced emits the events of a session that has replaced previous; which ones depends on
// reason.
func (s *sessions) emitReplaced(ctx context.Context, reason string, previous *session.Session) {
	if reason == "branch" {
		s.events.emitAfter(ctx, KindSessionBranch, func() Event { return &SessionBranch{previous.File()} })
		return
	}
	s.events.emitAfter(ctx, KindSessionSwitch, func() Event { return &SessionSwitch{Reason: reason, PreviousSessionFile: previous.File()} })
	if reason == "new" {
		s.events.emitAfter(ctx, KindSessionNew, func() Event { return &SessionNew{SessionID: s.conversation.current().ID()} })
	}
}

// emitStart tells the listeners which session is current.
func (s *sessions) emitStart(ctx context.Context, reason, previous string) {
	is := s.conversation.current()
	s.events.emitAfter(ctx, KindSessionStart, func() Event {
		return &SessionStart{Reason: reason, SessionID: is.ID(), SessionFile: is.File(), PreviousSessionFile: previous}
	})
}

// lastUsed returns the model and thinking level that next was used with last, as far as
// it records them and they are still there. For those that are gone it returns the
// present choice, and a text that tells the user.
func (s *sessions) lastUsed(next *session.Session) (is selection, gone string) {
	is = s.choice.chosen()
	provider, id := next.Model()
	if found := s.choice.models.Find(provider, id); found != nil {
		is.model = found
	} else if id != "" {
		gone = ModelGone(provider, id, is.model)
	}
	switch level := next.ThinkingLevel(); {
	case llm.ValidThinking(level):
		is.wish = llm.WishLeft(is.model, level, next.Thinking().Wished, is.wish)
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

// SetSessionName names the session; "" removes the name.
func (a *Agent) SetSessionName(ctx context.Context, name string) error {
	_, err := a.Session().Append(session.TypeSessionInfo, session.SessionInfo{Name: name})
	if err == nil {
		a.events.emitIf(ctx, KindSessionInfoChanged, func() Event { return &SessionInfoChanged{name} })
	}
	return err
}

// Branch leaves the current session and goes on in a new one that has the path
// up to an entry: with the entry, or before it if it is a user message, which is
// returned then. The listeners are asked first (session_before_branch); the
// error is ErrCancelled if one does not want it. If one wants the conversation
// left as it is, the new session has all of the current branch, and nothing is
// returned. Model and thinking level stay. A failure to make the new session
// leaves the old one current; an error after that, of closing the old one, comes
// with what is recalled.
func (a *Agent) Branch(ctx context.Context, id string) (Recalled, error) {
	b := &branching{sessions: a.sessions, id: id}
	err := a.sessions.replace(ctx, b.asSwitch())
	return b.recalled, err
}

// Clone leaves the current session and goes on in a new one that has all of its current
// branch, and its name. The listeners are asked as for Branch, about the last entry. A
// session that has nothing to copy is refused.
func (i Interrupting) Clone(ctx context.Context) error {
	s := i.sessions.conversation.current()
	if s.File() != "" {
		if _, err := os.Stat(s.File()); errors.Is(err, fs.ErrNotExist) {
			return errors.New("clone: the session has not been saved yet, so there is nothing to copy")
		}
	}
	if s.Leaf() == "" {
		return errors.New("clone: there is no current entry, so there is nothing to copy")
	}
	b := &branching{sessions: i.sessions, id: s.Leaf(), whole: true}
	return b.replaceNamed(ctx)
}

// branching is the switch to a copy of a path of the current session.
type branching struct {
	sessions *sessions
	id       string // of the entry that was chosen
	whole    bool   // the copy has all of the current branch, whatever was chosen
	named    bool   // the copy has the name of the session
	asked    SessionBeforeBranch
	recalled Recalled
}

// replaceNamed makes the copy and interrupts the work for it.
func (b *branching) replaceNamed(ctx context.Context) error {
	b.named = true
	c := b.asSwitch()
	c.interrupts = true
	return b.sessions.replace(ctx, c)
}

func (b *branching) asSwitch() sessionSwitch {
	return sessionSwitch{reason: "branch", ask: b.ask, make: b.copy, check: func() error {
		if b.sessions.conversation.current().Entry(b.id) == nil {
			return fmt.Errorf("branch: no entry %q", b.id)
		}
		return nil
	}}
}

// ask asks the listeners and reports whether one of them is against it.
func (b *branching) ask(ctx context.Context) (cancelled bool) {
	b.asked = SessionBeforeBranch{EntryID: b.id, EntryIndex: len(b.sessions.conversation.current().Path(b.id)) - 1}
	b.sessions.events.emitUntil(ctx, &b.asked, func() bool { return b.asked.Cancel })
	return b.asked.Cancel
}

// copy makes the new session.
func (b *branching) copy() (_ *session.Session, err error) {
	if b.sessions.copySession == nil {
		return nil, errors.New("branch: sessions cannot be copied here")
	}
	current := b.sessions.conversation.current()
	leaf := current.Leaf()
	if !b.whole && !b.asked.SkipConversationRestore {
		if leaf, b.recalled, err = cutBefore(current, b.id, message.RoleUser); err != nil {
			return nil, fmt.Errorf("branch: %w", err)
		}
	}
	next, err := b.sessions.copySession(current, leaf)
	if err != nil || !b.named || next.Name() == current.Name() {
		return next, err
	}
	if _, err := next.Append(session.TypeSessionInfo, session.SessionInfo{Name: current.Name()}); err != nil && !isSaveError(err) {
		return nil, errors.Join(fmt.Errorf("branch: %w", err), next.Close())
	}
	return next, nil
}
