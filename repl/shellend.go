package repl

import (
	"fmt"

	"pi/agent"
	"pi/internal/printable"
	"pi/repl/terminal"
)

// shellEnd shows how a command of the person ended, unless all was well.
func (r *REPL) shellEnd(outcome agent.BashOutcome, err error) {
	switch {
	case err != nil:
		r.showError(err)
	case outcome.Cancelled:
		r.screen.Line(terminal.StyleWarning, "interrupted")
	case outcome.ExitCode != nil && *outcome.ExitCode != 0:
		r.screen.Line(terminal.StyleError, fmt.Sprintf("exit status %d", *outcome.ExitCode))
	}
	if outcome.Truncated && outcome.FullOutputPath != "" {
		r.screen.Line(terminal.StyleDim, "full output: "+printable.Text(outcome.FullOutputPath))
	}
}
