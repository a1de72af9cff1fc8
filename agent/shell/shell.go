// Package shell runs the shell commands of the person, not of the model, and adds them to
// the session.
//
// A command goes past whoever is asked about it, who may rewrite it, answer in its place, or
// keep it from running. It then runs with [Options.Shell], or with the shell that the command
// brings along, and its end becomes a message of the session, which the model sees unless
// that is excluded: at once when nothing else goes on, between two requests while a prompt
// runs, and else at the end of that. The message has the command that ran.
package shell

import (
	"context"
	"errors"
	"time"

	"pi/agent/work"
	"pi/internal/printable"
	"pi/session"
	"pi/session/message"
)

// Shell runs a command and reports its output as it comes.
type Shell func(ctx context.Context, command string, output func(string)) (Outcome, error)

// Command is a shell command of the person.
type Command struct {
	Line    string
	Exclude bool         // the model does not see it
	Output  func(string) // gets what the command prints as it comes; may be nil
	Shell   Shell        // runs the command in place of [Options.Shell], such as with a terminal; may be nil

	// Detached is for a command that a program sends. It does not occupy the agent, so any
	// number runs at once, whatever else goes on; only [Commands.Abort] ends it. Its end is
	// added to the session as soon as no prompt runs. Its output, which is what the shell
	// prints and not what somebody answers in its place, has no control characters but line
	// ends and tabs.
	Detached bool
}

// Outcome is how a shell command of the person ended.
type Outcome struct {
	Output         string
	ExitCode       *int   // 128 and its number if a signal killed the command, as shells have it
	Signal         string // "SIGSEGV": what killed the command, if the person did not
	Cancelled      bool
	Truncated      bool
	FullOutputPath string
}

// Options are what commands need of the agent around them.
type Options struct {
	// Ask returns the command to run, or the outcome that stands in its place. The error is
	// why nothing runs.
	Ask   func(ctx context.Context, c Command) (line string, instead *Outcome, err error)
	Shell Shell
	Tell  func(text string) // a failure, to the person

	Busy    *work.Claim
	Session func() *session.Session // the current one
	// KeepBeside stores a message for the run in progress, which adds it where it disturbs
	// no call and its result; it is false without a run. TakeBeside returns those of a run
	// that has ended.
	KeepBeside func(*message.Message) bool
	TakeBeside func() []*message.Message
	Now        func() time.Time
}

// Commands runs the commands of the person. All methods may be called from any goroutine.
type Commands struct {
	Options
	running work.Group
}

// Do runs a command and adds it to the session. Nothing begins after Close; the error is
// then [work.ErrClosed]. A Detached command that was ended has Cancelled in its outcome, and
// no error.
func (s *Commands) Do(ctx context.Context, c Command) (Outcome, error) {
	ctx, end, err := s.running.Begin(ctx)
	if err != nil {
		return Outcome{}, err
	}
	defer end()
	add := s.addLate
	if !c.Detached {
		claimed, err := s.Busy.Begin(ctx)
		switch {
		case err == nil:
			defer s.Busy.End()
			ctx, add = claimed, s.add
		case errors.Is(err, work.ErrBusy):
			add = s.addBeside
		default:
			return Outcome{}, err
		}
	}
	if s.Session().ReadOnly() {
		return Outcome{}, session.ErrReadOnly
	}
	outcome, err := s.perform(ctx, &c)
	switch {
	case err != nil && c.Detached && ctx.Err() != nil:
		return Outcome{Cancelled: true}, nil
	case err != nil:
		return outcome, err
	}
	return outcome, add(s.message(c, outcome))
}

// perform runs a command, unless Ask is against it or answers in its place. It leaves in c
// what ran.
func (s *Commands) perform(ctx context.Context, c *Command) (Outcome, error) {
	if c.Output == nil {
		c.Output = func(string) {}
	}
	if c.Shell == nil {
		c.Shell = s.Shell
	}
	line, instead, err := s.Ask(ctx, *c)
	c.Line = line
	switch {
	case err != nil:
		return Outcome{}, err
	case instead != nil:
		if !c.Detached {
			c.Output(instead.Output)
		}
		return *instead, nil
	case c.Detached:
		return runClean(ctx, c)
	}
	return c.Shell(ctx, c.Line, c.Output)
}

// runClean runs a command whose output a program reads.
func runClean(ctx context.Context, c *Command) (Outcome, error) {
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
func (s *Commands) message(c Command, o Outcome) *message.Message {
	return &message.Message{
		Role: message.RoleBashExecution, Command: c.Line, Output: o.Output, ExitCode: o.ExitCode,
		Cancelled: o.Cancelled, Truncated: o.Truncated, FullOutputPath: o.FullOutputPath,
		ExcludeFromContext: c.Exclude, Timestamp: s.Now().UnixMilli(),
	}
}

// add adds a message to the session; the caller has claimed the agent.
func (s *Commands) add(m *message.Message) error {
	_, err := s.Session().AppendMessage(m)
	return err
}

// addBeside adds a message that came while a prompt ran.
func (s *Commands) addBeside(m *message.Message) error {
	if s.KeepBeside(m) {
		return nil
	}
	return s.addLate(m)
}

// addLate adds a message when no prompt runs. A failure is told to the person.
func (s *Commands) addLate(m *message.Message) error {
	s.Busy.AfterRun(func() { s.addTelling(m) })
	return nil
}

// addTelling adds a message and tells the person if that fails, unless the session had
// failed to be saved before.
func (s *Commands) addTelling(m *message.Message) {
	unsaved := s.Session().Unsaved() != nil
	err := s.add(m)
	if _, again := errors.AsType[*session.SaveError](err); err != nil && !(unsaved && again) {
		s.Tell(err.Error())
	}
}

// Abort ends all commands, and does not wait.
func (s *Commands) Abort() { s.running.Abort() }

// AddWaiting adds all messages that wait for the end of a run to the session. Nothing
// else may add to it meanwhile.
func (s *Commands) AddWaiting() {
	for _, m := range s.TakeBeside() {
		s.addTelling(m)
	}
	s.Busy.DoLate()
}

// Stop ends all commands, waits for them, and adds them to the session. The caller has
// claimed the agent. The error is ctx's, if that ends before; what has ended by then is added.
func (s *Commands) Stop(ctx context.Context) error {
	defer s.AddWaiting()
	return s.running.Stop(ctx)
}

// Close is Stop for good: no command begins any more.
func (s *Commands) Close(ctx context.Context) {
	defer s.AddWaiting()
	_ = s.running.Close(ctx) // what ends too late is not added
}
