package repl

import (
	"fmt"

	"pi/agent"
	"pi/internal/printable"
)

// shellEnd says how a command of the person ended, unless all went well.
func (r *REPL) shellEnd(outcome agent.BashOutcome, err error) {
	switch {
	case err != nil:
		r.showError(err)
	case outcome.Cancelled:
		r.screen.line(styleWarning, "interrupted")
	case outcome.ExitCode != nil && *outcome.ExitCode != 0:
		r.screen.line(styleError, fmt.Sprintf("exit status %d", *outcome.ExitCode))
	}
	if outcome.Truncated && outcome.FullOutputPath != "" {
		r.screen.line(styleDim, "full output: "+printable.Text(outcome.FullOutputPath))
	}
}
