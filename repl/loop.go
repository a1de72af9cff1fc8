package repl

import (
	"context"
	"errors"
	"io"
	"strings"

	"pi/agent"
	"pi/agent/command"
	"pi/internal/printable"
	"pi/repl/terminal"
	"pi/session"
)

var (
	// errQuit ends the loop because the person wants to quit.
	errQuit = errors.New("quit")
	// errPreempted is the error of a prompt that was closed because something else
	// came first.
	errPreempted = errors.New("the prompt was closed for something else")
)

// loop reads and runs one line after the other. It returns nil when the person quits, a
// hook wants the end, or the input ends, else the error that ended it.
func (r *REPL) loop(ctx context.Context) error {
	for {
		p, err := r.next(ctx)
		switch {
		case errors.Is(err, errQuit), errors.Is(err, io.EOF):
			if r.agentQuits() || r.mayQuit(ctx) {
				return nil
			}
			continue
		case err != nil:
			return err
		}
		r.askedToQuit = false
		r.run(ctx, p)
	}
}

// agentQuits reports whether a hook wants the program to end.
func (r *REPL) agentQuits() bool {
	select {
	case <-r.agent.ShutdownRequested():
		return true
	default:
		return false
	}
}

// next returns the next prompt to run: those that hooks handed in come first, then
// lines typed ahead, then the prompt is opened. The error is errQuit or io.EOF if the
// person or a hook wants to quit, else that of ctx.
func (r *REPL) next(ctx context.Context) (agent.Prompt, error) {
	for {
		if err := ctx.Err(); err != nil {
			return agent.Prompt{}, err
		}
		if r.agentQuits() || r.work.quit.Load() {
			return agent.Prompt{}, errQuit
		}
		if r.ranShortcut(ctx) {
			continue
		}
		if p, ok := r.submitted(); ok {
			return p, nil
		}
		line, ok, eof := r.inbox.Take()
		if eof {
			return agent.Prompt{}, io.EOF
		}
		e := terminal.Line{Text: line}
		if ok {
			r.echo(line)
		} else {
			var err error
			if e, err = r.read(ctx); err != nil {
				return agent.Prompt{}, err
			}
		}
		if text := r.entered(e); text != "" {
			return r.typedPrompt(text), nil
		}
	}
}

// submitted removes and returns the oldest prompt that was not typed: one of the
// command line, else one of a hook. It is echoed like a typed one.
func (r *REPL) submitted() (agent.Prompt, bool) {
	if len(r.handed) > 0 {
		p := r.handed[0]
		r.handed = r.handed[1:]
		r.echo(p.Text)
		return p, true
	}
	for p := range r.agent.Inbox().TakeSubmitted() {
		p.Source = "hook"
		if p.Text != "" {
			r.echo(p.Text)
		}
		return p, true
	}
	return agent.Prompt{}, false
}

// echo shows a line that was not typed at the prompt as if it had been.
func (r *REPL) echo(text string) {
	if r.HasUI() {
		r.screen.Print(promptSign + printable.Text(text))
	}
}

// read opens the prompt. The line has errPreempted if the prompt was closed for
// something else; its text is kept for the next prompt.
func (r *REPL) read(ctx context.Context) (terminal.Line, error) {
	if err := r.acquirePrompt(ctx); err != nil {
		return terminal.Line{Err: err}, ctx.Err()
	}
	defer r.floor.releasePrompt()
	r.showStatus()
	sign := promptSign
	if r.before != "" {
		sign = continueSign
	}
	draft := r.draft.take()
	select {
	case <-r.interrupted: // a Ctrl+C for work that had ended by then
	default:
	}
	result := r.prompter.Open(sign, draft.Text, draft.Pos)
	return r.await(ctx, result)
}

// acquirePrompt waits until the prompt may open. The error is errPreempted if a
// submitted prompt or a quit comes first, since a panel may be open for long.
func (r *REPL) acquirePrompt(ctx context.Context) error {
	waiting, cancel := context.WithCancel(ctx)
	ended, called := make(chan struct{}), false
	go func() {
		defer close(ended)
		defer cancel()
		select {
		case <-r.agent.Inbox().Submitted():
			called = true
		case <-r.agent.ShutdownRequested():
		case <-waiting.Done():
		}
	}()
	err := r.floor.acquirePrompt(waiting)
	cancel()
	<-ended
	switch {
	case err == nil && called:
		r.floor.releasePrompt()
		fallthrough
	case err != nil && ctx.Err() == nil:
		return errPreempted
	}
	return err
}

// await returns the line of the open prompt when it ends. If something else comes first
// (a line typed ahead, a dialog, a notice, a prompt of a hook, a shortcut, the end), it
// closes the prompt as withdraw does. result is nil where lines come through the inbox.
func (r *REPL) await(ctx context.Context, result <-chan terminal.Line) (terminal.Line, error) {
	for {
		select {
		case e := <-result:
			return r.promptEnded(e)
		case <-r.interrupted:
			if _, err := r.withdraw(result); err != nil {
				return terminal.Line{}, err
			}
			r.prompter.Ended()
			return terminal.Line{Err: terminal.ErrCtrlC}, nil
		case <-r.inbox.Ready():
			if result != nil && r.inbox.Waiting() {
				return r.withdraw(result)
			}
			if result != nil {
				continue
			}
			line, ok, eof := r.inbox.Take()
			switch {
			case ok:
				return r.promptEnded(terminal.Line{Text: line})
			case eof:
				return r.promptEnded(terminal.Line{Err: io.EOF})
			}
		case <-ctx.Done():
			return r.withdraw(result)
		case <-r.floor.poke:
			if r.floor.wanted() {
				return r.withdraw(result)
			}
		case <-r.agent.Inbox().Submitted():
			return r.withdraw(result)
		case <-r.agent.ShutdownRequested():
			return r.withdraw(result)
		case s := <-r.hot:
			r.pressed = append(r.pressed, s)
			return r.withdraw(result)
		}
	}
}

// promptEnded is called when a prompt has ended by itself. It returns its line, which Ctrl+C
// may have ended, or the error if there is no line: io.EOF for Ctrl+D.
func (r *REPL) promptEnded(e terminal.Line) (terminal.Line, error) {
	r.prompter.Ended()
	if errors.Is(e.Err, io.EOF) && r.HasUI() {
		r.screen.LineEnded("\n")
	}
	if e.Err != nil && !errors.Is(e.Err, terminal.ErrCtrlC) {
		return terminal.Line{}, e.Err
	}
	return e, nil
}

// withdraw closes the prompt for something else and keeps its text for the next one;
// the line then has errPreempted. If the prompt cannot be closed, withdraw waits for
// its end.
func (r *REPL) withdraw(result <-chan terminal.Line) (terminal.Line, error) {
	kept, ok := r.prompter.Cancel()
	if !ok {
		return r.promptEnded(<-result)
	}
	r.draft.put(kept)
	return terminal.Line{Err: errPreempted}, nil
}

// entered adds a typed line to the unfinished lines before it. It returns the input
// once that is complete and not blank, with pasted texts in place, and records it; else
// "". Ctrl+C drops the unfinished lines.
func (r *REPL) entered(e terminal.Line) string {
	switch {
	case errors.Is(e.Err, errPreempted):
		return ""
	case errors.Is(e.Err, terminal.ErrCtrlC):
		r.cleared()
		return ""
	}
	if e.Text != "" {
		r.warned = false
		r.shownStatus = ""
	}
	text, more := joinLines(r.before, e.Text)
	if more {
		r.before = text
		return ""
	}
	r.before = ""
	if r.keyboard != nil {
		text = r.keyboard.Expand(text)
	}
	if strings.TrimSpace(text) == "" {
		return ""
	}
	r.record(text)
	return text
}

// cleared is called for Ctrl+C at the prompt: it drops the unfinished lines and the
// draft, and tells how to quit. The second Ctrl+C in a row, with no key in between,
// quits.
func (r *REPL) cleared() {
	r.before = ""
	r.draft.take()
	if r.warned && (r.keyboard == nil || r.keyboard.Typed() <= 1) {
		r.work.quit.Store(true)
		return
	}
	r.warned = true
	r.screen.Line(terminal.StyleDim, "Ctrl+C again, or Ctrl+D, quits")
}

// joinLines adds a line to those before it; more reports that it ends in a
// backslash, so that another one follows.
func joinLines(before, line string) (text string, more bool) {
	n := len(line) - len(strings.TrimRight(line, `\`))
	if n%2 == 1 {
		return before + line[:len(line)-1] + "\n", true
	}
	return before + line, false
}

// record keeps a line so that it can be called up again.
func (r *REPL) record(text string) {
	r.prompter.Remember(text)
	if err := r.history.Add(text); err != nil {
		r.Notify(err.Error(), agent.LevelWarning)
	}
}

// typedPrompt makes the prompt of a typed text, with the files that it names with @.
// Commands name none.
func (r *REPL) typedPrompt(text string) agent.Prompt {
	p := agent.Prompt{Text: text, Source: "interactive"}
	if isCommand, err := r.reads(text); isCommand || err != nil || strings.HasPrefix(text, "!") {
		return p
	}
	return r.attached(p)
}

// run runs a prompt: a command, a shell command of a person, or a message for the
// agent.
func (r *REPL) run(ctx context.Context, p agent.Prompt) {
	if p.Custom != nil || p.Literal {
		r.prompt(ctx, p)
		return
	}
	isCommand, err := r.reads(p.Text)
	r.refused = ""
	switch {
	case err != nil:
		r.refuse(p.Text, p.Source == "interactive", err)
	case strings.HasPrefix(p.Text, "!") && p.Source == "interactive":
		r.shell(ctx, p.Text)
	case isCommand:
		r.runAlone(ctx, func(ctx context.Context) (command.Outcome, error) {
			return r.commands.Run(r.agent.CommandContext(ctx, p), p.Text)
		})
	default:
		r.prompt(ctx, p)
	}
}

// reads reports whether a line is a command; the error says that it looks like one and
// is none. A line that was refused for that and is sent again is a message.
func (r *REPL) reads(text string) (isCommand bool, err error) {
	if r.refused != "" && strings.TrimSpace(text) == r.refused {
		return false, nil
	}
	return r.commands.Reads(text)
}

// refuse shows that a line looks like a command and is none. If a person typed it, it is
// put into the prompt again.
func (r *REPL) refuse(text string, typed bool, err error) {
	r.showError(err)
	if typed && r.HasUI() {
		r.screen.Line(terminal.StyleDim, "  Enter again sends it to the model as it is")
		r.refused = strings.TrimSpace(text)
		r.SetEditorText(text)
	}
}

// runAlone runs a command between two prompts, and then the prompt that its outcome
// has, if any.
func (r *REPL) runAlone(ctx context.Context, run func(context.Context) (command.Outcome, error)) {
	var wanted *agent.Prompt
	r.busy(ctx, nil, func(ctx context.Context) {
		out, err := run(ctx)
		r.outcome(ctx, out, err, func(_ context.Context, p agent.Prompt) bool {
			wanted = &p
			return true
		})
	})
	if wanted != nil {
		r.prompt(ctx, *wanted)
	}
}

// outcome carries out the outcome of a command: it shows its text or error, puts its
// draft into the prompt line, quits, or calls send with its prompt.
func (r *REPL) outcome(ctx context.Context, out command.Outcome, err error, send func(context.Context, agent.Prompt) bool) {
	if errors.Is(err, agent.ErrAborted) || errors.Is(err, context.Canceled) && ctx.Err() != nil {
		r.screen.Line(terminal.StyleWarning, "interrupted")
		return
	}
	if out.Draft != "" { // also after a failure, so that no text of the person is lost
		r.SetEditorText(out.Draft)
	}
	var unsaved *session.SaveError // the command has taken effect in memory
	if out.Status != "" && (err == nil || errors.As(err, &unsaved)) {
		r.screen.Print(strings.TrimRight(printable.Text(out.Status), "\n"))
	}
	if err != nil {
		r.showError(err)
		return
	}
	if out.Prompt != nil {
		send(ctx, *out.Prompt)
	}
	if out.Quit {
		r.work.quit.Store(true)
		r.work.interrupt()
	}
}

// shell runs a command of the person: with ! the model sees its output, with !!
// it does not.
func (r *REPL) shell(ctx context.Context, text string) {
	line, exclude := strings.CutPrefix(strings.TrimPrefix(text, "!"), "!")
	line = strings.TrimSpace(line)
	if line == "" {
		r.showError(errors.New("no command after the exclamation mark"))
		return
	}
	r.busy(ctx, nil, func(ctx context.Context) {
		var s printable.Cleaner
		outcome, err := r.agent.Bash(ctx, line, exclude, func(output string) { r.screen.Stream(&s, output) })
		r.screen.EndLine()
		r.shellEnd(outcome, err)
	})
}
