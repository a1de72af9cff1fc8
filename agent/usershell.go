package agent

import (
	"context"
	"errors"
	"time"

	"pi/agent/work"
	"pi/internal/printable"
	"pi/session"
	"pi/session/message"
)

// A command of the user goes past the listeners, who may rewrite it, answer in its place, or
// keep it from running. It then runs with the shell of [Options], or with the one that the
// command brings along, and its end becomes a message of the session, which the model sees
// unless that is excluded: at once when nothing else goes on, between two requests while a
// prompt runs, and else at the end of that. The message has the command that ran.

// Shell runs a command of the user (not of the model) and reports its output as it comes.
type Shell func(ctx context.Context, command string, output func(string)) (BashOutcome, error)

// UserCommand is a shell command of the user.
type UserCommand struct {
	Line    string
	Exclude bool         // the model does not see it
	Output  func(string) // gets what the command prints as it comes; may be nil
	Shell   Shell        // runs the command instead of that of [Options], such as with a terminal; may be nil

	// Detached is for a command that a program sends. It does not occupy the agent, so any
	// number runs at once, whatever else goes on; only [Agent.AbortBash] ends it. Its end is
	// added to the session as soon as no prompt runs. Its output, which is what the shell
	// prints and not what somebody answers in its place, has no control characters but line
	// ends and tabs.
	Detached bool
}

// BashOutcome is how a shell command of the user ended.
type BashOutcome struct {
	Output         string
	ExitCode       *int   // 128 and its number if a signal killed the command, as shells have it
	Signal         string // "SIGSEGV": what killed the command, if the user did not
	Cancelled      bool
	Truncated      bool
	FullOutputPath string
}

// Bash runs a command of the user and adds it to the session, where the model
// sees it unless that is excluded. Listeners may rewrite the command, answer for it or keep
// it from running. While a prompt runs the command runs beside it, and is added before the
// next request to the model, or at the end of the run.
//
// A Detached command, which [Agent.Abort] does not end, that was ended has Cancelled in its
// outcome, and no error.
func (a *Agent) Bash(ctx context.Context, c UserCommand) (BashOutcome, error) {
	outcome, err := a.userShell.do(ctx, c)
	if errors.Is(err, work.ErrClosed) {
		err = ErrEnded
	}
	return outcome, err
}

// AbortBash ends all commands of the user, and does not wait.
func (a *Agent) AbortBash() { a.userShell.running.Abort() }

// userShell runs the commands of the user. All methods may be called from any goroutine.
type userShell struct {
	events       *listeners
	conversation *conversation
	inbox        *Inbox
	busy         *work.Claim
	shell        Shell
	cwd          string
	now          func() time.Time

	running work.Group
}

// do is [Agent.Bash]. Nothing begins after close; the error is then [work.ErrClosed].
func (s *userShell) do(ctx context.Context, c UserCommand) (BashOutcome, error) {
	ctx, end, err := s.running.Begin(ctx)
	if err != nil {
		return BashOutcome{}, err
	}
	defer end()
	owns := false // nothing else goes on, and nothing begins
	if !c.Detached {
		claimed, err := s.busy.Begin(ctx)
		switch {
		case err == nil:
			defer s.busy.End()
			ctx, owns = claimed, true
		case !errors.Is(err, work.ErrBusy):
			return BashOutcome{}, err
		}
	}
	if s.conversation.current().ReadOnly() {
		return BashOutcome{}, session.ErrReadOnly
	}
	outcome, err := s.perform(ctx, &c)
	switch {
	case err != nil && c.Detached && ctx.Err() != nil:
		return BashOutcome{Cancelled: true}, nil
	case err != nil:
		return outcome, err
	}
	m := s.events.askMessage(ctx, s.message(c, outcome))
	switch {
	case owns:
		_, err = s.conversation.current().AppendMessage(m)
	case !c.Detached && s.inbox.putSide(m): // the run adds it
	default:
		s.busy.AfterRun(func() { s.addTelling(m) })
	}
	return outcome, err
}

// perform runs a command, unless a listener is against it or answers in its place. It leaves in c
// what ran. The error of a command that did not run is that of the first listener that blocks or
// fails, or of an interrupt.
func (s *userShell) perform(ctx context.Context, c *UserCommand) (BashOutcome, error) {
	if c.Output == nil {
		c.Output = func(string) {}
	}
	if c.Shell == nil {
		c.Shell = s.shell
	}
	e := &UserBash{Command: c.Line, ExcludeFromContext: c.Exclude, Cwd: s.cwd}
	err := s.events.emitGate(ctx, e, func() bool { return e.Result != nil || e.Blocked != "" })
	c.Line = e.Command
	switch {
	case ctx.Err() != nil:
		return BashOutcome{}, ErrAborted
	case err != nil:
		return BashOutcome{}, err
	case e.Blocked != "":
		return BashOutcome{}, errors.New(e.Blocked)
	case e.Result != nil:
		if !c.Detached {
			c.Output(e.Result.Output)
		}
		return *e.Result, nil
	case c.Detached:
		return runClean(ctx, c)
	}
	return c.Shell(ctx, c.Line, c.Output)
}

// runClean runs a command whose output a program reads.
func runClean(ctx context.Context, c *UserCommand) (BashOutcome, error) {
	stream := printable.Cleaner{Data: true}
	tell := func(text []byte) {
		if len(text) > 0 {
			c.Output(string(text))
		}
	}
	outcome, err := c.Shell(ctx, c.Line, func(text string) { tell(stream.Append(nil, text)) })
	tell(stream.Finish(nil))
	whole := printable.Cleaner{Data: true}
	outcome.Output = string(whole.Finish(whole.Append(nil, outcome.Output)))
	return outcome, err
}

// message is what the session gets of a command that has ended.
func (s *userShell) message(c UserCommand, o BashOutcome) *message.Message {
	return &message.Message{
		Role: message.RoleBashExecution, Command: c.Line, Output: o.Output, ExitCode: o.ExitCode,
		Cancelled: o.Cancelled, Truncated: o.Truncated, FullOutputPath: o.FullOutputPath,
		ExcludeFromContext: c.Exclude, Timestamp: s.now().UnixMilli(),
	}
}

// addTelling adds a message and tells the user if that fails, unless the session had
// failed to be saved before.
func (s *userShell) addTelling(m *message.Message) {
	unsaved := s.conversation.current().Unsaved() != nil
	var err error
	if m.Role == message.RoleCustom {
		_, err = s.conversation.appendCustom(context.Background(), m)
	} else {
		_, err = s.conversation.current().AppendMessage(m)
	}
	if _, again := errors.AsType[*session.SaveError](err); err != nil && !(unsaved && again) {
		s.events.Notify(context.Background(), LevelError, err.Error())
	}
}

// addWaiting adds all messages that wait for the end of a run to the session. Nothing
// else may add to it meanwhile.
func (s *userShell) addWaiting() {
	for _, m := range s.inbox.takeSide() {
		s.addTelling(m)
	}
	s.busy.DoLate()
}

// stop ends all commands, waits for them, and adds them to the session. The caller has
// claimed the agent. The error is ctx's, if that ends before; what has ended by then is added.
func (s *userShell) stop(ctx context.Context) error {
	defer s.addWaiting()
	return s.running.Stop(ctx)
}

// close is stop for good: no command begins any more.
func (s *userShell) close(ctx context.Context) {
	defer s.addWaiting()
	_ = s.running.Close(ctx) // what ends too late is not added
}
