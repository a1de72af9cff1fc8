// Package repl is the interactive front end: a prompt, and below it what the
// agent does, in plain output that is only ever added to.
//
// [New] makes a [REPL] before there is an agent, because it is the agent's last
// listener and the user interface of hooks; [REPL.Run] then reads lines and runs
// them until the person quits:
//
//	/name args   a command            !cmd    a shell command whose output the model sees
//	@path        attaches a file      !!cmd   one whose output it does not see
//	text \       continues in the next line
//
// Keys and lines are the business of package terminal. While a prompt is open the
// line editor has the keys; while a panel is open, a dialog (dialog.go, field.go)
// or a component of a hook (panel.go), that has them, and so has the line that a
// compaction shows (compacting.go), or the wait for another attempt (retrying.go);
// otherwise lines are collected, which steer the agent while it works (work.go) or
// wait for the next prompt (loop.go). Where only whole lines can be read, they
// answer dialogs too.
//
// A dialog, a notice, a status that changed, a prompt of a hook or a shortcut that needs
// the floor while a prompt is open has the prompt closed, and opened again with its text
// (floor.go, draft.go, shortcut.go). An editor gets the
// terminal as a whole (editor.go).
//
// Everything that others wrote passes the [printable.Cleaner] before it is shown
// (transcript.go); what hooks draw (widget.go, custom.go) keeps the colours of the
// theme and nothing else.
package repl

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/peterh/liner"
	"golang.org/x/term"

	"pi/agent"
	"pi/agent/command"
	"pi/internal/printable"
	"pi/repl/terminal"
	"pi/session/message"
)

// Options are what [New] makes a REPL from. The zero value is one on the process's
// own terminal, without a history.
type Options struct {
	In, Out *os.File // nil: the process's own; only these get line editing

	History string // file of what was typed; "": none is kept
	NoColor bool   // NO_COLOR is set
	Plain   bool   // --plain: no colours
	Dumb    bool   // no line editing and no colours, as with TERM=dumb

	ShowThinking bool
	Banner       func() []string // lines shown at the start; nil: none
	First        []string        // prompts to run before the person is asked for one

	Editor    string            // the program that texts are edited with, as VISUAL or EDITOR name it
	Rich      bool              // the terminal has 256 colours
	Renderer  Renderer          // of hooks; nil: none
	Shortcuts func() []Shortcut // of hooks, at this moment; nil: none
}

// REPL is the interactive front end. As [agent.Listener] and [agent.UI] it may
// be used by any goroutine.
type REPL struct {
	opts     Options
	screen   *terminal.Screen
	view     *transcript
	status   *status
	inbox    *terminal.Inbox
	floor    *floor
	history  *terminal.History
	agent    *agent.Agent
	commands *command.Set

	start    sync.Once
	startErr error
	stop     sync.Once
	keyboard *terminal.Keyboard
	prompter terminal.Editor

	surfaces surfaces
	widgets  widgets
	title    sync.Once // the terminal stores the title it had
	titled   atomic.Bool

	work        work
	compacting  compacting
	interrupted chan struct{} // Ctrl+C without work to stop, a buffer of one
	warned      bool          // Ctrl+C was pressed at the last prompt
	askedToQuit bool          // the person was asked whether to quit, and has done nothing since
	draft       draft
	hot         chan Shortcut // pressed, a buffer of one
	pressed     []Shortcut    // shortcuts that closed the prompt and are run next
	before      string        // the lines so far of an input whose last one ended in a backslash
	handed      []agent.Prompt
	refused     string // the last line, if it looked like a command and was none
	shownStatus string
	shownWidth  int
}

// New returns a REPL. It touches the terminal only when it is first used.
func New(o Options) *REPL {
	if o.In == nil {
		o.In = os.Stdin
	}
	if o.Out == nil {
		o.Out = os.Stdout
	}
	o.Dumb = o.Dumb || !liner.TerminalSupported()
	colours := !o.NoColor && !o.Plain && !o.Dumb && isTerminal(o.Out)
	s := terminal.NewScreen(o.Out, terminal.Palette{On: colours, Rich: o.Rich})
	view := &transcript{Screen: s, showThinking: o.ShowThinking, renderer: o.Renderer, columns: func() int { return terminal.Columns(o.Out) }}
	return &REPL{
		opts: o, screen: s, view: view, status: &status{},
		inbox: terminal.NewInbox(), floor: newFloor(), history: terminal.NewHistory(o.History),
		interrupted: make(chan struct{}, 1), hot: make(chan Shortcut, 1),
	}
}

func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// Run reads and runs lines until the person quits (nil), the input ends (nil)
// or ctx does (its error). Ctrl+C is taken care of here and must not cancel ctx.
// The terminal is restored when Run returns, also by a panic.
func (r *REPL) Run(ctx context.Context, a *agent.Agent, commands *command.Set) error {
	r.agent, r.commands = a, commands
	if err := r.begin(); err != nil {
		return err
	}
	defer r.Close()
	defer r.watchInterrupts()()
	for _, text := range r.opts.First {
		r.handed = append(r.handed, r.typedPrompt(text))
	}
	if r.opts.Banner != nil {
		for _, line := range r.opts.Banner() {
			r.screen.Print(printable.Text(line))
		}
	}
	return r.loop(ctx)
}

// begin takes over the terminal on its first call, and returns the error of that on
// each. After Close it fails.
func (r *REPL) begin() error {
	r.start.Do(func() { r.startErr = r.open() })
	return r.startErr
}

// open loads the history and begins to read the terminal. If the history cannot be
// read, the person is told, and there is none.
func (r *REPL) open() error {
	entries, err := r.history.Load()
	if err != nil {
		r.Notify(err.Error(), agent.LevelWarning)
	}
	r.keyboard, r.prompter, err = terminal.Open(terminal.Setup{
		In: r.opts.In, Screen: r.screen, Inbox: r.inbox, Edit: r.edits(), History: entries,
		Complete: r.suggest, Shortcut: r.hotkey, Late: r.lateKey,
	})
	return err
}

// edits reports whether lines can be edited: only on the terminal that is the
// process's own input and output.
func (r *REPL) edits() bool {
	return !r.opts.Dumb && r.opts.In == os.Stdin && r.opts.Out == os.Stdout &&
		isTerminal(r.opts.In) && isTerminal(r.opts.Out)
}

// Close gives the terminal back as it was found. It may be called at any time,
// from any goroutine and more than once; a crash handler calls it first.
func (r *REPL) Close() {
	r.stop.Do(func() {
		r.start.Do(func() { r.startErr = errors.New("the terminal is closed") })
		if r.startErr != nil {
			return
		}
		r.surfaces.close()
		r.prompter.Close()
		if r.keyboard != nil {
			r.keyboard.Stop()
		}
		r.screen.CloseRegion()
		r.screen.EndLine()
		if r.titled.Load() {
			r.screen.Control(titleBack)
		}
	})
}

// Commands returns the commands that only this front end has.
func (r *REPL) Commands() []command.Command {
	return []command.Command{{
		Name: "quit", Aliases: []string{"exit"}, Help: "leave; Ctrl+D on an empty line does the same",
		Run: func(context.Context, string) (command.Outcome, error) { return command.Outcome{Quit: true}, nil },
	}, {
		Name: "hotkeys", Help: "list what the keys do, those of hooks too",
		Run: func(context.Context, string) (command.Outcome, error) {
			return command.Outcome{Status: r.hotkeys()}, nil
		},
	}}
}

// showCustom shows a message of a hook, above the prompt if one is open. A message
// in the role of the user looks as if it had been typed.
func (r *REPL) showCustom(ctx context.Context, m *message.Message) {
	var lines []string
	switch {
	case m.Role == message.RoleUser && !r.HasUI():
		return
	case m.Role == message.RoleUser:
		lines = strings.Split(promptSign+printable.Text(m.Text()), "\n")
	case m.Display:
		lines = r.view.message(ctx, m)
	default:
		return
	}
	r.floor.notice(func() { r.view.show(lines) })
}

// Wants reports whether the REPL shows or follows events of kind k.
func (r *REPL) Wants(k agent.Kind) bool {
	switch k {
	case agent.KindNotice, agent.KindAgentStart, agent.KindAgentEnd, agent.KindCustomShow, agent.KindCompactionStart,
		agent.KindCompactionEnd, agent.KindAutoCompactionStart, agent.KindAutoCompactionEnd, agent.KindSessionTree,
		agent.KindAutoRetryStart, agent.KindAutoRetryWaited, agent.KindMessageUpdate, agent.KindMessageEnd,
		agent.KindToolExecutionStart, agent.KindToolExecutionEnd, agent.KindToolCall:
		return true
	}
	return false
}

// Handle shows an event, and follows those that tell what the agent does. It never
// fails.
func (r *REPL) Handle(ctx context.Context, e agent.Event) error {
	switch e := e.(type) {
	case *agent.Notice:
		r.Notify(e.Text, e.Level)
	case *agent.AgentStart:
		if text := r.work.agentStarted(); text != "" {
			r.showWorking(text)
		}
	case *agent.CustomShow:
		r.showCustom(ctx, e.Message)
	case *agent.AgentEnd:
		r.work.agentEnded()
		r.status.spend(e.Usage.Cost.Total)
	case *agent.SessionTree:
		r.status.spend(e.Cost())
	case *agent.CompactionStart:
		r.compactionStarts(e)
	case *agent.CompactionEnd:
		r.compactionEnds(e)
	case *agent.AutoRetryStart:
		r.view.handle(e)
		r.retryStarts(e)
	case *agent.AutoRetryWaited:
		r.compacting.waitIsOver()
	default:
		r.view.handle(e)
	}
	return nil
}

const (
	promptSign   = "> "
	continueSign = "... "
)
