package repl

import (
	"context"
	"errors"
	"fmt"
	"os"
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
	command := agent.UserCommand{Line: line, Exclude: exclude, Output: out.write}
	if r.opts.Shell != nil && r.screen.mayLend() {
		command.Shell = shellInTerminal(r.screen, r.opts)
	}
	r.work.do(ctx, r.screen, "!"+line, func(ctx context.Context) {
		outcome, err := r.agent.Bash(ctx, command)
		out.end()
		if outcome.Cancelled && ctx.Err() == nil { // no key of ours has told it
			r.screen.print(r.screen.palette.Paint("warning", "interrupted"))
		}
		r.shellEnd(outcome, err)
		if err == nil && outcome.ExitCode != nil && *outcome.ExitCode == 0 && onlyChangesDirectory(line) {
			r.screen.notify("this changes nothing: each command has a shell of its own; to work there, leave and run `"+line+" && pi`", agent.LevelInfo)
		}
	})
}

// onlyChangesDirectory reports whether a command is cd and nothing else.
func onlyChangesDirectory(line string) bool {
	words := strings.Fields(line)
	return len(words) > 0 && words[0] == "cd" && !strings.ContainsAny(line, ";&|()\n")
}

// ShellInTerminal runs a command with a terminal, whose two ends are in and out, and leaves
// the cursor at the start of a row. unread was typed meanwhile, and the command did not read it.
type ShellInTerminal func(ctx context.Context, line string, in, out *os.File) (outcome agent.BashOutcome, unread []byte, err error)

// shellInTerminal is a shell whose commands have the terminal of the person. What they
// write is shown as it comes and is no concern of the screen.
func shellInTerminal(s *screen, o Options) agent.Shell {
	return func(ctx context.Context, line string, _ func(string)) (outcome agent.BashOutcome, err error) {
		s.change(func() {
			s.term.Print(s.take()...) // the terminal writes them before it gives itself away
			s.flow.last = kindRows
		})
		err = s.term.Lend(func() (err error) {
			var unread []byte
			outcome, unread, err = o.Shell(ctx, line, o.In, o.Out)
			s.term.Unread(unread)
			s.mu.Lock()
			defer s.mu.Unlock()
			s.busy.answered = s.now() // what is left to do is no work that one waits for
			return err
		})
		return outcome, err
	}
}

// mayLend reports whether there is a terminal to give: nothing runs, and it is no terminal
// of lines.
func (s *screen) mayLend() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.plain && len(s.busy.works) == 0
}

// shellOutput shows the output of a command line by line, as it comes.
type shellOutput struct {
	screen *screen
	line   string // what has come of the line that has not ended
}

func (o *shellOutput) write(text string) {
	o.line += text
	end := strings.LastIndexByte(o.line, '\n')
	if end < 0 {
		return
	}
	lines := o.line[:end]
	o.line = o.line[end+1:]
	o.screen.print(strings.Split(printable.Text(lastStates(lines)), "\n")...)
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
	case outcome.Signal != "":
		s.print(s.palette.Paint("error", "killed by "+outcome.Signal))
	case outcome.ExitCode != nil && *outcome.ExitCode != 0 && !outcome.Cancelled:
		s.print(s.palette.Paint("error", fmt.Sprintf("exit status %d", *outcome.ExitCode)))
	}
	if outcome.Truncated && outcome.FullOutputPath != "" {
		s.print(s.palette.Paint("dim", "full output: "+printable.Text(outcome.FullOutputPath)))
	}
}
