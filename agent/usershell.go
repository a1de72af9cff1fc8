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

// Shell runs a command of the person (not of the model) and reports its output as it
// comes.
type Shell func(ctx context.Context, command string, output func(string)) (BashOutcome, error)

// UserCommand is a shell command of the person.
type UserCommand struct {
	Line    string
	Exclude bool         // the model does not see it
	Output  func(string) // gets what the command prints as it comes; may be nil
	Shell   Shell        // runs the command in place of [Options.Shell], such as with a terminal; may be nil

	// Detached is for a command that a program sends. It does not occupy the agent, so any
	// number runs at once, whatever else goes on. [Agent.Abort] does not end it, AbortBash
	// does. Its end is added to the session as soon as no prompt runs. Its output, which is
	// what the shell prints and not what a listener answers, has no control characters but
	// line ends and tabs.
	Detached bool
}

// Bash runs a command of the person and adds it to the session, where the model
// sees it unless that is excluded. Listeners may answer for the command or keep it from
// running. While a prompt runs the command runs beside it, and is added before the next
// request to the model, or at the end of the run.
//
// A Detached command that was ended has Cancelled in its outcome, and no error.
func (a *Agent) Bash(ctx context.Context, c UserCommand) (BashOutcome, error) {
	return a.userShell.run(ctx, c)
}

// AbortBash ends all commands of the person, and does not wait.
func (a *Agent) AbortBash() { a.userShell.running.Abort() }

// userShell runs the commands of the person and adds them to the session. All methods may
// be called from any goroutine.
type userShell struct {
	busy         *work.Claim
	events       *listeners
	conversation *conversation
	inbox        *Inbox
	shell        Shell
	cwd          string
	now          func() time.Time

	running work.Group
}

// run is [Agent.Bash].
func (u *userShell) run(ctx context.Context, c UserCommand) (BashOutcome, error) {
	ctx, end, err := u.running.Begin(ctx)
	if err != nil {
		return BashOutcome{}, ErrEnded
	}
	defer end()
	add := u.addLate
	if !c.Detached {
		claimed, err := u.busy.Begin(ctx)
		switch {
		case err == nil:
			defer u.busy.End()
			ctx, add = claimed, u.add
		case errors.Is(err, ErrBusy):
			add = u.addBeside
		default:
			return BashOutcome{}, err
		}
	}
	if u.conversation.current().ReadOnly() {
		return BashOutcome{}, session.ErrReadOnly
	}
	outcome, err := u.perform(ctx, c)
	switch {
	case err != nil && c.Detached && ctx.Err() != nil:
		return BashOutcome{Cancelled: true}, nil
	case err != nil:
		return outcome, err
	}
	return outcome, add(u.message(c, outcome))
}

// perform has the shell run a command, unless a listener gives a result in its place,
// blocks it or fails: the first that does so decides.
func (u *userShell) perform(ctx context.Context, c UserCommand) (BashOutcome, error) {
	if c.Output == nil {
		c.Output = func(string) {}
	}
	if c.Shell == nil {
		c.Shell = u.shell
	}
	e := &UserBash{Command: c.Line, ExcludeFromContext: c.Exclude, Cwd: u.cwd}
	err := u.events.emitGate(ctx, e, func() bool { return e.Result != nil || e.Blocked != "" })
	switch {
	case ctx.Err() != nil:
		return BashOutcome{}, ErrAborted
	case err != nil:
		return BashOutcome{}, err
	case e.Blocked != "":
		return BashOutcome{}, errors.New(e.Blocked)
	case e.Result != nil && c.Detached:
		return *e.Result, nil
	case e.Result != nil:
		c.Output(e.Result.Output)
		return *e.Result, nil
	case c.Detached:
		return runClean(ctx, c)
	}
	return c.Shell(ctx, c.Line, c.Output)
}

// runClean runs a command whose output a program reads.
func runClean(ctx context.Context, c UserCommand) (BashOutcome, error) {
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
func (u *userShell) message(c UserCommand, o BashOutcome) *message.Message {
	return &message.Message{
		Role: message.RoleBashExecution, Command: c.Line, Output: o.Output, ExitCode: o.ExitCode,
		Cancelled: o.Cancelled, Truncated: o.Truncated, FullOutputPath: o.FullOutputPath,
		ExcludeFromContext: c.Exclude, Timestamp: u.now().UnixMilli(),
	}
}

// add adds a message to the session; the caller has claimed the agent.
func (u *userShell) add(m *message.Message) error {
	_, err := u.conversation.current().AppendMessage(m)
	return err
}

// addBeside adds a message that came while a prompt ran: the run adds it where it disturbs
// no call and its result, or else it is added at the end.
func (u *userShell) addBeside(m *message.Message) error {
	if u.inbox.putBeside(m) {
		return nil
	}
	return u.addLate(m)
}

// addLate adds a message when no prompt runs. A failure is told to the person.
func (u *userShell) addLate(m *message.Message) error {
	u.busy.AfterRun(func() { u.addTelling(m) })
	return nil
}

// addTelling adds a message and tells the person if that fails, unless the session had
// failed to be saved before.
func (u *userShell) addTelling(m *message.Message) {
	unsaved := u.conversation.current().Unsaved() != nil
	if err := u.add(m); err != nil && !(unsaved && isSaveError(err)) {
		u.events.Notify(context.Background(), LevelError, err.Error())
	}
}

// addWaiting adds all messages that wait for the end of a run to the session. Nothing
// else may add to it meanwhile.
func (u *userShell) addWaiting() {
	for _, m := range u.inbox.takeBeside() {
		u.addTelling(m)
	}
	u.busy.DoLate()
}

// stop ends all commands, waits for them, and adds them to the session. The caller has
// claimed the agent. The error is ctx's, if that ends before; what has ended by then is added.
func (u *userShell) stop(ctx context.Context) error {
	defer u.addWaiting()
	return u.running.Stop(ctx)
}

// close is stop for good: no command begins any more.
func (u *userShell) close(ctx context.Context) {
	defer u.addWaiting()
	_ = u.running.Close(ctx) // what ends too late is not added
}
