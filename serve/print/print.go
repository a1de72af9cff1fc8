// Package print is the front end for scripts. A [Printer] runs prompts one after the other, those that
// hooks submit meanwhile too, and writes the final answer of each to its standard
// output, or, in JSON mode, all that happens as records (see package record). Everything
// else a user may want to know goes to its standard error. It is made first, because it
// is the agent's last listener and the user interface of hooks (one that asks nobody), run
// when the agent exists, and closed when that has ended:
//
//	p := print.New(os.Stdout, os.Stderr) // or NewJSON
//	a := agent.New(… Listeners: {…, p} …)
//	err := p.Run(ctx, a, commands, prompts)
//	a.Close(…)
//	err = cmp.Or(err, p.Close())
//
// What both modes have in common is in print.go; text.go and records.go are their outputs, and
// live.go is the row that tells a user at a terminal what goes on.
//
// Nothing here decides an exit status; the errors are typed for that:
//
//	*command.UnknownError   a prompt that looks like a command and is none; not sent
//	*command.CancelledError a command that a hook cancelled
//	*command.FailedError    a command that failed otherwise
//	*agent.LimitError       also of an answer that was cut off at the token limit; it was written
//	ErrNoAnswer             the model said nothing and did nothing
//	ErrBrokenPipe           nobody reads the output any more; say nothing about it
//	anything else           as agent.Agent.Prompt returned it
package print

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"

	"pi/agent"
	"pi/agent/attach"
	"pi/agent/command"
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

// Printer is the front end that prints answers. As listener and user interface it
// may be used by any goroutine.
type Printer struct {
	agent.NoUI // whose notices are lines of beside

	// Ready, if set, is called before each prompt that goes to the model. After an
	// error the prompt is not sent, and Run returns the error.
	Ready func() error
	// Attach, if set, finds what goes along with the text of a prompt of the command line.
	Attach func(text string) attach.Found

	out    output
	mode   string // as the source of prompts is named: print json
	beside *lines

	mu   sync.Mutex // guards what follows, which events change while Run waits for the agent
	last result
	held *ended // of the command that runs; nil: it has waited for no prompt
}

// ended is how the last prompt ended that a command has waited for: its answers are written,
// and its error counts, when the command has ended.
type ended struct {
	answers []string
	err     error
}

// result is what the last run has come to.
type result struct {
	answers []string
	said    string // the last words of the model to the last message of the user, for where its last answer has none
	ran     bool   // the agent has worked
	acted   bool   // a tool has run
	cut     bool   // the last answer is not whole
}

// output is what a Printer writes to its standard output, and when. Its errors are
// ErrBrokenPipe or those of writing.
type output interface {
	// begin is called when the prompts begin, with their context. What it returns is done,
	// too, when nobody reads the output any more.
	begin(ctx context.Context, a *agent.Agent) (context.Context, context.CancelFunc)
	// answers writes the final answers of a prompt.
	answers(texts []string) error
	// status writes what a command has to say.
	status(text string) error
	wants(k agent.Kind) bool
	// handle writes what e comes to, as it comes. Any goroutine may call it.
	handle(e agent.Event)
	// failure returns what writing failed with since begin, whoever was told of it.
	failure() error
	// close waits until everything is written; if the context of begin ends, not for long.
	close() error
}

// New returns a Printer that writes answers to out and the rest to progress. If that is a
// terminal, a row tells there what goes on in a prompt that takes longer, see
// [Printer.NoRow].
func New(out, progress io.Writer) *Printer {
	beside := &lines{w: progress, row: row{columns: columnsOf(progress)}}
	return newPrinter(newTextOutput(out, beside), "print", beside)
}

// NewJSON returns a Printer that writes records to out and lines for a user to progress.
func NewJSON(out, progress io.Writer) *Printer {
	beside := &lines{w: progress}
	return newPrinter(newRecordOutput(out, beside), "json", beside)
}

func newPrinter(out output, mode string, beside *lines) *Printer {
	return &Printer{NoUI: agent.NoUI{Notices: beside.notice}, out: out, mode: mode, beside: beside}
}

// NoRow is for a terminal that cannot take back what was written, or must not. It is called
// before the agent exists.
func (p *Printer) NoRow() { p.beside.row.columns = nil }

// Close waits until everything is written, but not for long once the context of Run has
// ended. It is called once, when the agent has ended. The error is ErrBrokenPipe if nobody
// read all of it.
func (p *Printer) Close() error { return p.out.close() }

// Run runs the prompts in order, up to the first that fails, or until somebody
// asked for the end of the program (agent.Agent.Shutdown), which is no failure.
// After each it runs the prompts that hooks have submitted meanwhile. A prompt may
// be a command (see command.Set.Reads), unless it is literal: the status of its
// outcome goes to the output, and the prompt of its outcome is sent. Run is for one
// goroutine.
func (p *Printer) Run(ctx context.Context, a *agent.Agent, commands *command.Set, prompts []agent.Prompt) error {
	ctx, end := p.out.begin(ctx, a)
	defer end()
	d := command.Driver{Agent: a, Commands: commands, Prepare: p.attached, Act: p.act}
	d.Ask = func(ctx context.Context, prompt agent.Prompt) error {
		answers, err := p.ask(ctx, d, prompt)
		return cmp.Or(p.out.answers(answers), err)
	}
	d.Await = func(ctx context.Context, prompt agent.Prompt) error { return p.await(ctx, d, prompt) }
	err := p.runAll(ctx, d, prompts)
	return cmp.Or(p.out.failure(), err)
}

// runAll runs the prompts in order, and those that hooks have submitted meanwhile.
func (p *Printer) runAll(ctx context.Context, d command.Driver, prompts []agent.Prompt) error {
	for _, prompt := range prompts {
		if d.IsStopped() {
			return nil
		}
		prompt.Source = cmp.Or(prompt.Source, p.mode)
		if err := p.runPrompt(ctx, d, prompt); err != nil {
			return err
		}
		if err := p.runSubmitted(ctx, d); err != nil {
			return err
		}
	}
	for !d.IsStopped() && !d.Agent.Inbox().CloseIfEmpty() { // a hook submitted something just now
		if err := p.runSubmitted(ctx, d); err != nil {
			return err
		}
	}
	return nil
}

// runSubmitted runs the prompts that hooks have submitted, until there are none or the end
// of the program was requested.
func (p *Printer) runSubmitted(ctx context.Context, d command.Driver) error {
	if d.IsStopped() {
		return nil
	}
	for prompt := range d.Submitted() {
		if err := p.runPrompt(ctx, d, prompt); err != nil || d.IsStopped() {
			return err
		}
	}
	return nil
}

// runPrompt runs one prompt: a command, or a message for the agent.
func (p *Printer) runPrompt(ctx context.Context, d command.Driver, prompt agent.Prompt) error {
	if err := ctx.Err(); err != nil {
		return errors.Join(agent.ErrAborted, err)
	}
	return d.Run(ctx, prompt)
}

// act runs a command and writes what it has to say, behind the answers of the last prompt that
// it has waited for. If that prompt failed, its error is returned when the command is through.
// Where the command has a further prompt asked, that is the last one.
func (p *Printer) act(ctx context.Context, _ string, run command.Action) (command.Outcome, error) {
	stop := p.beside.watch()
	outcome, err := run(ctx)
	stop()
	last := p.takeHeld()
	if err != nil {
		if isTimeUp(ctx) && last != nil {
			return outcome, cmp.Or(p.out.answers(last.answers), err)
		}
		return outcome, err
	}
	if last == nil || outcome.Prompt != nil {
		last = &ended{}
	}
	if err := p.out.answers(last.answers); err != nil {
		return outcome, err
	}
	for _, text := range []string{outcome.Status, outcome.Draft} {
		if err := p.out.status(text); err != nil {
			return outcome, err
		}
	}
	return outcome, last.err
}

// await has the agent work on a prompt that a command waits for, and keeps what came of it.
func (p *Printer) await(ctx context.Context, d command.Driver, prompt agent.Prompt) error {
	answers, err := p.ask(ctx, d, prompt)
	if !errors.Is(err, agent.ErrBusy) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.held = &ended{answers, err}
	}
	return err
}

// takeHeld removes and returns how the last prompt ended that the command has waited for.
func (p *Printer) takeHeld() (last *ended) {
	p.mu.Lock()
	defer p.mu.Unlock()
	last, p.held = p.held, nil
	return last
}

// attached adds to a prompt of the command line what its text names, and tells of it.
func (p *Printer) attached(prompt agent.Prompt) agent.Prompt {
	if p.Attach == nil || prompt.Source != p.mode || prompt.Custom != nil {
		return prompt
	}
	found := p.Attach(prompt.Text)
	for _, problem := range found.Problems {
		p.Notify(problem, agent.LevelWarning)
	}
	if words := found.Words(); words != "" {
		p.Notify(words, agent.LevelInfo)
	}
	prompt.Attachments = append(prompt.Attachments, found.Blocks()...)
	return prompt
}

// ask has the agent work on a prompt and returns its answers. After an error there are none,
// unless only saving the session failed, an answer is not whole, or the time of the program
// is up (*[agent.TimeError] is the cause of ctx). It is ErrNoAnswer if the
// model had nothing to say and called no tool.
func (p *Printer) ask(ctx context.Context, d command.Driver, prompt agent.Prompt) (answers []string, err error) {
	p.note(func(r *result) { *r = result{} })
	if p.Ready != nil {
		if err := p.Ready(); err != nil {
			return nil, err
		}
	}
	stop := p.beside.watch()
	err = d.Agent.Prompt(ctx, prompt)
	stop()
	if errors.Is(err, agent.ErrAborted) && ctx.Err() == nil && d.IsStopped() {
		return nil, nil // a hook ended the program
	}
	p.mu.Lock()
	run := p.last
	p.mu.Unlock()
	if isTimeUp(ctx) && errors.Is(err, agent.ErrAborted) {
		return run.saidSoFar(), err
	}
	var unsaved *session.SaveError
	if err != nil && !errors.As(err, &unsaved) {
		return nil, err
	}
	switch {
	case err != nil:
	case run.cut:
		err = &agent.LimitError{Limit: "max_tokens", Message: "the answer was cut off at the token limit"}
	case run.ran && !run.acted && run.isSilent():
		err = ErrNoAnswer
	}
	return run.answers, err
}

// isTimeUp reports whether ctx has ended because the time of the program is up.
func isTimeUp(ctx context.Context) bool {
	_, over := errors.AsType[*agent.TimeError](context.Cause(ctx))
	return over
}

// note calls change with what is remembered of the last run, under its lock.
func (p *Printer) note(change func(*result)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change(&p.last)
}

// Wants reports whether k is one of the events that Handle uses.
func (p *Printer) Wants(k agent.Kind) bool {
	return k == agent.KindAgentEnd || k == agent.KindToolExecutionEnd || k == agent.KindNotice || p.out.wants(k)
}

// Handle remembers the answers and writes notices and what else the output has, as the
// events come. It never fails.
func (p *Printer) Handle(_ context.Context, e agent.Event) error {
	p.out.handle(e)
	switch e := e.(type) {
	case *agent.Notice:
		p.Notify(e.Text, e.Level)
	case *agent.ToolExecutionEnd:
		p.note(func(r *result) { r.acted = true })
	case *agent.AgentEnd:
		cut := len(e.Messages) > 0 && e.Messages[len(e.Messages)-1].StopReason == message.StopLength
		p.note(func(r *result) {
			r.ran, r.answers, r.cut, r.said = true, finalAnswers(e.Messages), cut, lastWords(e.Messages)
		})
	}
	return nil
}

// isSilent reports whether the last answer has no words.
func (r result) isSilent() bool {
	return len(r.answers) == 0 || strings.TrimSpace(r.answers[len(r.answers)-1]) == ""
}

// saidSoFar returns the answers of a run that was interrupted, whatever of them there is.
func (r result) saidSoFar() []string {
	if !r.isSilent() {
		return r.answers
	}
	before := max(0, len(r.answers)-1)
	return append(r.answers[:before:before], r.said)
}

// lastWords returns the text of the last answer to the last message of the user that has some;
// "" if none has.
func lastWords(messages []*message.Message) string {
	for _, m := range slices.Backward(messages) {
		switch {
		case m.Role == message.RoleUser:
			return ""
		case m.Role == message.RoleAssistant && strings.TrimSpace(m.Text()) != "":
			return m.Text()
		}
	}
	return ""
}

// finalAnswers returns the texts to print after a run: the last answer, and each answer
// without tool calls that is directly followed by a message of the user, which ended the
// work on the message before it.
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
	_ agent.Listener = (*Printer)(nil)
	_ agent.UI       = (*Printer)(nil)
)
