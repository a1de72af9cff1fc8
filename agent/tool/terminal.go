package tool

import (
	"cmp"
	"context"
	"errors"
	"os"

	"pi/internal/relay"
	"pi/internal/shown"
)

// CanRunInTerminal says whether RunInTerminal works on this system.
const CanRunInTerminal = relay.Possible

// RunInTerminal is [RunShell] for a command that gets the terminal of a user, whose two
// ends are in and out. It has a terminal of its own, and all that is typed goes to it; what
// it writes is shown as it is. The outcome has the text of what was shown: the last state
// of each row, and nothing of programs that took the whole screen. A command that Ctrl+C
// ended counts as cancelled. What it leaves in the background ends with it, unless that
// takes precautions.
//
// unread was typed, and the command did not read it.
func RunInTerminal(ctx context.Context, o Options, command string, in, out *os.File) (outcome BashOutcome, unread []byte, err error) {
	if err := ctx.Err(); err != nil {
		return BashOutcome{}, nil, err
	}
	cmd, err := o.command(ctx, command, os.Environ())
	if err != nil {
		return BashOutcome{}, nil, err
	}
	kept := newOutput(o.TempDir)
	record := shown.New(0, 0, kept)
	started := o.starting()
	end, err := relay.Run(cmd, relay.Options{
		In: in, Out: out, Output: record, Resized: record.Resize, Modes: record.Modes, AtRowStart: record.AtRowStart,
		Started: started, Watcher: o.Watcher, Stop: ctx.Done(), Grace: cmp.Or(o.testOnlyGrace, killGrace),
	})
	if err != nil {
		started(0)
		return BashOutcome{}, nil, err
	}
	record.Finish()
	outcome = BashOutcome{Background: end.Open, Signal: end.Signal}
	outcome.Output, outcome.Truncation, outcome.FullOutputPath, outcome.FullOutputErr = kept.finish()
	outcome.FullOutputCut = kept.cut
	switch {
	case end.Ended && errors.Is(ctx.Err(), context.DeadlineExceeded):
		outcome.TimedOut, outcome.Signal = true, ""
	case end.Ended, end.Signal == "SIGINT":
		outcome.Cancelled, outcome.Signal = true, ""
	case end.Signal == "":
		outcome.ExitCode = &end.ExitCode
	}
	return outcome, end.Unread, nil
}
