package repl

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"pi/agent"
	"pi/internal/printable"
)

// shell runs a command of the person: with ! the model sees its output, with !! it does
// not. At rest the command has the terminal, while the agent works it has not.
func (r *REPL) shell(ctx context.Context, text string) {
	line, exclude := strings.CutPrefix(strings.TrimPrefix(text, "!"), "!")
	line = strings.TrimSpace(line)
	if line == "" {
		r.person.showError(errors.New("no command after the exclamation mark"))
		return
	}
	out := &shellOutput{screen: r.screen}
	r.work.do(ctx, r.screen, "!"+line, func(ctx context.Context) {
		outcome, err := r.agent.Bash(ctx, line, exclude, out.write)
		out.end()
		r.shellEnd(outcome, err)
	})
}

// shellOutput shows the output of a command line by line, as it comes.
type shellOutput struct {
	screen *screen
	line   string // what has come of the line that has not ended
}

func (o *shellOutput) write(text string) {
	o.line += text
	lines, rest, ok := cutLast(o.line)
	if !ok {
		return
	}
	o.line = rest
	o.screen.print(strings.Split(printable.Text(lastStates(lines)), "\n")...)
}

// cutLast cuts a text at its last line end.
func cutLast(text string) (lines, rest string, ok bool) {
	i := strings.LastIndexByte(text, '\n')
	if i < 0 {
		return "", text, false
	}
	return text[:i], text[i+1:], true
}

func (o *shellOutput) end() {
	if o.line != "" {
		o.screen.print(printable.Text(lastStates(o.line)))
	}
	o.line = ""
}

// shellEnd shows how a command of the person ended, unless all was well.
func (r *REPL) shellEnd(outcome agent.BashOutcome, err error) {
	s := r.screen
	switch {
	case err != nil && !errors.Is(err, agent.ErrAborted):
		r.person.showError(err)
	case outcome.ExitCode != nil && *outcome.ExitCode != 0 && !outcome.Cancelled:
		s.print(s.palette.Paint("error", fmt.Sprintf("exit status %d", *outcome.ExitCode)))
	}
	if outcome.Truncated && outcome.FullOutputPath != "" {
		s.print(s.palette.Paint("dim", "full output: "+printable.Text(outcome.FullOutputPath)))
	}
}
