// Package serve has the front ends that need no terminal.
//
// [Print] is the one for scripts. It runs prompts one after the other, those that
// hooks submit meanwhile too, and writes the final answer of each to its standard
// output. Everything else a person may want to know goes to its standard error. It
// is made first, because it is the agent's last listener and the user interface of
// hooks (one that asks nobody), and run when the agent exists:
//
//	p := serve.NewPrint(os.Stdout, os.Stderr)
//	a := agent.New(… Listeners: {…, p} …)
//	err := p.Run(ctx, a, commands, prompts)
//
// Nothing here decides an exit status; the errors are typed for that:
//
//	*command.UnknownError   a prompt that looks like a command and is none; not sent
//	*command.CancelledError a command that a hook cancelled
//	*CommandError           a command that failed otherwise
//	ErrNoAnswer             the model said nothing and did nothing
//	ErrBrokenPipe           nobody reads the output any more; say nothing about it
//	anything else           as agent.Agent.Prompt returned it
package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/term"

	"pi/agent"
	"pi/agent/command"
	"pi/internal/printable"
	"pi/session"
	"pi/session/message"
)

var (
	// ErrNoAnswer ends a prompt that was answered with nothing, neither a word nor a
	// tool call.
	ErrNoAnswer = errors.New("the answer is empty")
	// ErrBrokenPipe ends the run when the output has no reader.
	ErrBrokenPipe = errors.New("nobody reads the output")
)

// CommandError is the failure of a slash command; Name is without the slash.
type CommandError struct {
	Name string
	Err  error
}

func (e *CommandError) Error() string { return fmt.Sprintf("/%s: %v", e.Name, e.Err) }

func (e *CommandError) Unwrap() error { return e.Err }

// Print is the front end that prints answers. As listener and user interface it
// may be used by any goroutine.
type Print struct {
	// Ready, if set, is called before each prompt that goes to the model. After an
	// error the prompt is not sent, and Run returns the error.
	Ready func() error

	out      io.Writer
	terminal bool // out is a terminal, which text of models and tools must not control
	*notices

	mu      sync.Mutex
	answers []string // of the last run
	ran     bool     // the agent has worked
	acted   bool     // a tool has run
	cut     bool     // the last answer is not whole
}

// NewPrint returns a Print that writes answers to out and the rest to progress.
func NewPrint(out, progress io.Writer) *Print {
	return &Print{out: out, terminal: isTerminal(out), notices: &notices{w: progress}}
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Run runs the prompts in order, up to the first that fails, or until somebody
// asked for the end of the program (agent.Agent.Shutdown), which is no failure.
// After each it runs the prompts that hooks have submitted meanwhile. A prompt may
// be a command (see command.Set.Reads), unless it is literal: the status of its
// outcome goes to the output, and the prompt of its outcome is sent. Run is for one
// goroutine.
func (p *Print) Run(ctx context.Context, a *agent.Agent, commands *command.Set, prompts []agent.Prompt) error {
	for _, prompt := range prompts {
		if quitting(a) {
			return nil
		}
		if prompt.Source == "" {
			prompt.Source = "print"
		}
		if err := p.runPrompt(ctx, a, commands, prompt); err != nil {
			return err
		}
		if err := p.runSubmitted(ctx, a, commands); err != nil {
			return err
		}
	}
	for !quitting(a) && !a.Inbox().CloseIfEmpty() { // a hook submitted something just now
		if err := p.runSubmitted(ctx, a, commands); err != nil {
			return err
		}
	}
	return nil
}

// runSubmitted runs the prompts that hooks have submitted until there are none.
func (p *Print) runSubmitted(ctx context.Context, a *agent.Agent, commands *command.Set) error {
	if quitting(a) {
		return nil
	}
	for prompt := range a.Inbox().TakeSubmitted() {
		prompt.Source = "hook"
		if err := p.runPrompt(ctx, a, commands, prompt); err != nil || quitting(a) {
			return err
		}
	}
	return nil
}

// quitting reports whether somebody asked for the end of the program.
func quitting(a *agent.Agent) bool {
	select {
	case <-a.ShutdownRequested():
		return true
	default:
		return false
	}
}

// runPrompt runs one prompt: a command, or a message for the agent.
func (p *Print) runPrompt(ctx context.Context, a *agent.Agent, commands *command.Set, prompt agent.Prompt) error {
	if err := ctx.Err(); err != nil {
		return errors.Join(agent.ErrAborted, err)
	}
	isCommand := false
	if !prompt.Literal && prompt.Custom == nil {
		var err error
		if isCommand, err = commands.Reads(prompt.Text); err != nil {
			return err
		}
	}
	if !isCommand {
		return p.ask(ctx, a, prompt)
	}
	outcome, err := commands.Run(a.CommandContext(ctx, prompt), prompt.Text)
	var cancelled *command.CancelledError
	if errors.As(err, &cancelled) {
		return err
	}
	if err != nil {
		name, _ := command.Split(prompt.Text)
		return &CommandError{Name: name, Err: err}
	}
	if err := p.print(outcome.Status); err != nil {
		return err
	}
	if err := p.print(outcome.Draft); err != nil {
		return err
	}
	if outcome.Prompt == nil {
		return nil
	}
	return p.ask(ctx, a, *outcome.Prompt)
}

// ask has the agent work on a prompt and prints its answer. After a failure there
// is no answer, unless only saving it failed.
func (p *Print) ask(ctx context.Context, a *agent.Agent, prompt agent.Prompt) error {
	p.reset()
	if p.Ready != nil {
		if err := p.Ready(); err != nil {
			return err
		}
	}
	err := a.Prompt(ctx, prompt)
	if errors.Is(err, agent.ErrAborted) && ctx.Err() == nil && quitting(a) {
		return nil // a hook ended the program
	}
	var unsaved *session.SaveError
	if err != nil && !errors.As(err, &unsaved) {
		return err
	}
	answers, ran, acted := p.result()
	last := ""
	for _, last = range answers {
		if printErr := p.print(last); printErr != nil {
			return printErr
		}
	}
	p.tellCut()
	if err == nil && ran && !acted && strings.TrimSpace(last) == "" {
		return ErrNoAnswer
	}
	return err
}

// tellCut says so if the printed answer is not whole.
func (p *Print) tellCut() {
	p.mu.Lock()
	cut := p.cut
	p.mu.Unlock()
	if cut {
		p.Notify("the answer was cut off at the token limit", agent.LevelWarning)
	}
}

// print writes text to the output, as lines of its own.
func (p *Print) print(text string) error {
	if p.terminal {
		text = printable.Text(text)
	}
	if text == "" {
		return nil
	}
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	_, err := io.WriteString(p.out, text)
	switch {
	case errors.Is(err, syscall.EPIPE), errors.Is(err, io.ErrClosedPipe):
		return ErrBrokenPipe
	case err != nil:
		return fmt.Errorf("write the answer: %w", err)
	}
	return nil
}

func (p *Print) reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answers, p.ran, p.acted, p.cut = nil, false, false, false
}

func (p *Print) result() (answers []string, ran, acted bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.answers, p.ran, p.acted
}

// Wants reports whether k is of a run's answer and progress, or a notice.
func (p *Print) Wants(k agent.Kind) bool {
	return k == agent.KindAgentEnd || k == agent.KindToolExecutionStart || k == agent.KindToolExecutionEnd || k == agent.KindNotice ||
		k == agent.KindAutoCompactionStart || k == agent.KindAutoCompactionEnd || k == agent.KindAutoRetryStart
}

// Handle keeps the answer and writes progress and notices. It never fails.
func (p *Print) Handle(_ context.Context, e agent.Event) error {
	switch e := e.(type) {
	case *agent.Notice:
		p.Notify(e.Text, e.Level)
	case *agent.ToolExecutionStart:
		p.progress(e)
	case *agent.AutoRetryStart:
		p.line(printable.Text(e.Text(e.Delay())))
	case *agent.CompactionStart:
		p.line(e.Text())
	case *agent.CompactionEnd:
		if text := e.Text(); text != "" {
			p.line(printable.Text(text))
		}
	case *agent.ToolExecutionEnd:
		p.mu.Lock()
		defer p.mu.Unlock()
		p.acted = true
	case *agent.AgentEnd:
		p.mu.Lock()
		defer p.mu.Unlock()
		p.ran = true
		p.answers = finalAnswers(e.Messages)
		p.cut = len(e.Messages) > 0 && e.Messages[len(e.Messages)-1].StopReason == message.StopLength
	}
	return nil
}

// finalAnswers lists the texts of the last answer and of each answer that a queued
// message follows at once.
func finalAnswers(messages []*message.Message) []string {
	var answers []string
	next := message.Role("")
	for _, m := range slices.Backward(messages) {
		ends := next == message.RoleUser && len(m.ToolCalls()) == 0 || len(answers) == 0
		if m.Role == message.RoleAssistant && ends {
			answers = append(answers, m.Text())
		}
		next = m.Role
	}
	slices.Reverse(answers)
	return answers
}

var (
	_ agent.Listener = (*Print)(nil)
	_ agent.UI       = (*Print)(nil)
)
