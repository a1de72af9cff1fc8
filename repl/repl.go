// Package repl is the interactive front end: a transcript that is only ever added to,
// and below it a live zone with what runs and the line being typed.
//
// [New] makes a [REPL] before there is an agent, because it is the agent's last
// listener and the user interface of hooks; [REPL.Run] then does one job after the
// other until the user quits:
//
//	/name args   a command            !cmd    a shell command whose output the model sees
//	@path        attaches a file      !!cmd   one whose output it does not see
//
// Package terminal reads keys and paints. Keys come to keys.go, which gives them to the
// panel in view or to a component of a hook (panels.go; dialog.go: questions, pickers),
// or to the line, its menu and its search (line.go). A line that is sent becomes a job
// (jobs.go): between two prompts the loop does it (repl.go), while the agent works it
// steers (work.go). user.go is what hooks and commands ask and tell the user, desk.go what
// of that reaches the clipboard and the desktop.
//
// What the user sees is the screen (screen.go), behind one lock: what the agent does
// becomes rows of the transcript (transcript.go, calls.go, diff.go, fold.go), and what can
// still change is put together as the zone (activity.go: what is waited for; status.go and
// drawn.go: the rows around the line). In plain mode there is no zone, and whole lines are read
// (plain.go).
//
// Everything that others wrote passes package printable before it is shown; what hooks
// draw keeps the colours of the theme and nothing else.
package repl

import (
	"context"
	"errors"
	"io"
	"os"

	"golang.org/x/term"

	"pi/agent"
	"pi/agent/command"
	"pi/internal/edit"
	"pi/internal/printable"
	"pi/repl/completion"
	"pi/repl/terminal"
)

// Options are what [New] makes a REPL from. The zero value is one on the process's
// own terminal, without a history.
type Options struct {
	In, Out *os.File // nil: the process's own

	History    string              // file of what was typed; "": none is kept
	Secret     func(string) bool   // whether a text looks like it holds a key; nil: none does
	NoColor    bool                // NO_COLOR is set
	Plain      bool                // --plain: no live zone, no colours
	Dumb       bool                // the same without any escape sequence, as with TERM=dumb
	Background string              // "light", "dark"; "": the terminal is asked
	Keys       map[string][]string // [keys] of config.toml: keys by action

	ShowThinking bool
	Highlight    bool            // code has colours
	NotifyWith   string          // "bell", "osc9"; else nothing is sent when a long run ends
	MenuWith     string          // "tab": menus do not open as one types
	Banner       func() []string // lines shown at the start; nil: none
	First        []string        // prompts to run before the user is asked for one

	Editor      string                                     // the program that texts are edited with, as VISUAL or EDITOR name it
	Pager       string                                     // the program that long texts are shown with
	Shell       ShellInTerminal                            // runs commands of the user at rest; nil: they have no terminal
	Rich        bool                                       // the terminal has 256 colours
	TrueColor   bool                                       // it has all of them
	Renderer    Renderer                                   // of hooks; nil: none
	Shortcuts   func() []Shortcut                          // of hooks, at this moment; nil: none
	Completions func() []completion.Source                 // of hooks, at this moment; nil: none
	Changed     func(ctx context.Context, dir string) bool // whether git knows changes around dir that are not committed; nil: not known
	Broke       func(value any, stack []byte)              // is told of a panic on a goroutine of the terminal, and ends the run; nil: the panic goes on
	End         func()                                     // is called when the user has quit and still sees the terminal; nil: nothing is
	Alerts      func() []string                            // what a user must know of the hooks at this moment, such as that tools are shut; nil: nothing
	Asked       func() string                              // the hook that is being asked for long; "": none; nil: not known
}

// REPL is the interactive front end. As [agent.Listener] it may be used by any goroutine.
type REPL struct {
	opts     Options
	screen   *screen
	view     *transcript
	jobs     *jobs
	work     *work
	user     *user
	keyboard *keyboard
	worktree *worktree
	agent    *agent.Agent
	driver   command.Driver // does what is to be done; how, restDriver and workDriver say

	first       []string // prompts of the command line that have not run
	refused     string   // plain mode: the last line, if it looked like a command and was none
	compaction  func()   // ends the row of the compaction in progress; nil: none
	askedToQuit bool     // the user was asked whether to quit, and has done nothing since
}

// New returns a REPL. It touches the terminal only when it is first used.
func New(o Options) *REPL {
	if o.In == nil {
		o.In = os.Stdin
	}
	if o.Out == nil {
		o.Out = os.Stdout
	}
	plain := o.Plain || o.Dumb || !isTerminal(o.In) || !isTerminal(o.Out)
	palette := terminal.Palette{On: !o.NoColor && !plain, Rich: o.Rich, True: o.TrueColor}
	s := newScreen(palette, plain, terminal.Columns(o.Out))
	s.showThinking, s.highlight, s.notifyWith, s.menuWith = o.ShowThinking, o.Highlight, o.NotifyWith, o.MenuWith
	s.activity.hook = o.Asked
	r := &REPL{opts: o, screen: s, view: newTranscript(s, o.Renderer), jobs: newJobs(), work: newWork(s), first: o.First}
	r.user = &user{opts: o, screen: s, work: r.work, closed: make(chan struct{}), ended: make(chan struct{}), focusing: focusing{changed: make(chan struct{}, 1)}}
	r.keyboard = newKeyboard(o, r.user, r.jobs)
	r.work.queued = r.keyboard.queued
	r.worktree = &worktree{changed: o.Changed}
	return r
}

// UI is the user at the terminal, as hooks and commands ask and tell them.
func (r *REPL) UI() agent.UI { return r.user }

// Typed is what was typed: lines that were sent, and the one that was begun behind them.
// The zero value is nothing.
type Typed struct {
	lines []job
	draft edit.Draft
}

// Typed takes what was typed so far.
func (r *REPL) Typed() (t Typed) {
	t.lines = r.jobs.takeLines()
	r.screen.change(func() {
		if l := r.screen.line; l != nil {
			t.draft = l.buffer.Save()
			l.clear()
		}
	})
	return t
}

// Type does as if a user had typed that here.
func (r *REPL) Type(t Typed) {
	for _, line := range t.lines {
		r.jobs.add(line)
	}
	if t.draft.Text != "" {
		r.screen.change(func() { r.screen.line.buffer.Restore(t.draft) })
	}
}

// Close gives the terminal back as it was found. It may be called at any time,
// from any goroutine and more than once; a crash handler calls it first.
func (r *REPL) Close() {
	r.user.close() // first, since the others wait for what they began
	r.worktree.stop()
	r.keyboard.close()
}

func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// Run reads and runs lines until the user quits (nil), the input ends (nil)
// or ctx does (its error). Ctrl+C is taken care of here and must not cancel ctx.
// The terminal is restored when Run returns, also by a panic.
func (r *REPL) Run(ctx context.Context, a *agent.Agent, commands *command.Set) error {
	r.agent, r.driver = a, command.Driver{Agent: a, Commands: commands}
	commands.Front = r.keyboard.helpFront
	r.keyboard.attach(a, commands)
	if err := r.user.begin(); err != nil {
		return err
	}
	defer r.worktree.looks.Wait() // after its end
	defer r.view.drawings.stop()
	defer r.Close()
	defer r.startFocusTeller(ctx)()
	defer context.AfterFunc(ctx, r.screen.stopWaiting)()
	if r.opts.Banner != nil {
		for _, line := range r.opts.Banner() {
			r.screen.print(printable.Text(line))
		}
	}
	r.showLastExchange()
	r.refresh()
	err := r.loop(ctx)
	if err == nil && r.opts.End != nil {
		r.opts.End()
	}
	return err
}

// Wants reports whether the REPL shows or follows events of kind k.
func (r *REPL) Wants(k agent.Kind) bool {
	switch k {
	case agent.KindNotice, agent.KindAgentStart, agent.KindAgentEnd, agent.KindCustomShow, agent.KindCompactionStart,
		agent.KindCompactionEnd, agent.KindAutoCompactionStart, agent.KindAutoCompactionEnd, agent.KindSessionTree,
		agent.KindAutoRetryStart, agent.KindAutoRetryWaited, agent.KindMessageUpdate, agent.KindMessageEnd,
		agent.KindToolExecutionStart, agent.KindToolExecutionUpdate, agent.KindToolExecutionEnd, agent.KindToolClock, agent.KindToolRan, agent.KindToolCall,
		agent.KindTurnStart, agent.KindModelSelect, agent.KindThinkingLevelSelect, agent.KindModeSelect, agent.KindSessionStart,
		agent.KindEntryAppended, agent.KindChildStart, agent.KindChildUpdate, agent.KindChildEnd:
		return true
	}
	return false
}

// Handle shows an event, and follows those that tell what the agent does. It never
// fails.
func (r *REPL) Handle(ctx context.Context, e agent.Event) error {
	s := r.screen
	switch e := e.(type) {
	case *agent.Notice:
		r.user.Notify(e.Text, e.Level)
		r.refreshAlerts()
	case *agent.AgentStart:
		s.change(func() { s.activity.note(waitsForAnswer, s.now()) })
	case *agent.TurnStart:
		s.change(func() { s.activity.note(waitsForAnswer, s.now()) })
		r.keyboard.showQueue()
	case *agent.AgentEnd:
		s.change(func() { s.status.spent = s.status.spent || e.Usage.Cost.Total > 0 })
	case *agent.SessionTree:
		s.change(func() { s.status.spent = s.status.spent || e.Cost() > 0 })
	case *agent.EntryAppended:
		r.countsUsage(e.Entry)
	case *agent.CompactionStart:
		r.compactionStarts(e)
	case *agent.CompactionEnd:
		r.compactionEnds(e)
	case *agent.AutoRetryStart:
		r.retryStarts(e)
	case *agent.AutoRetryWaited:
		s.change(func() { s.activity.waited(); s.activity.note(waitsForAnswer, s.now()) })
	case *agent.SessionStart:
		if r.agent != nil && e.Reason == "resume" {
			r.showLastExchange()
		}
		r.refreshLater()
	case *agent.ModelSelect, *agent.ThinkingLevelSelect, *agent.ModeSelect:
		r.refreshLater()
	case *agent.ChildStart:
		r.agentStarts(e)
	case *agent.ChildUpdate:
		r.agentWorks(e)
	case *agent.ChildEnd:
		r.agentEnds(e)
	default:
		r.view.handle(ctx, e)
	}
	return nil
}

// errQuit ends the loop because the user wants to quit.
var errQuit = errors.New("quit")

// loop does one job after the other. It returns nil when the user quits, a hook wants
// the end, or the input ends, else the error that ended it.
func (r *REPL) loop(ctx context.Context) error {
	for {
		err := r.next(ctx)
		switch {
		case errors.Is(err, errQuit), errors.Is(err, io.EOF):
			if r.driver.IsStopped() || r.mayQuit(ctx) {
				return nil
			}
		case err != nil:
			return err
		}
	}
}

// next waits for something to do and does it: prompts of the command line and of hooks
// come first, then what was typed. The error is errQuit or io.EOF if the user or a
// hook wants to quit, else that of ctx.
func (r *REPL) next(ctx context.Context) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		if r.driver.IsStopped() || r.work.quit.Load() {
			return errQuit
		}
		if in, ok := r.submitted(ctx); ok {
			r.user.closePrompt()
			r.run(ctx, in, job{text: in.Text})
			return nil
		}
		x, ok, ended := r.jobs.take()
		switch {
		case ok:
			r.user.closePrompt()
			r.askedToQuit = false
			r.do(ctx, x)
			return nil
		case ended:
			return io.EOF
		}
		r.keyboard.showQueue()
		r.user.openPrompt()
		select {
		case <-r.jobs.ready:
		case <-r.agent.Inbox().Submitted():
		case <-r.agent.ShutdownRequested():
		case <-r.work.wake:
		case <-ctx.Done():
		}
	}
}

// submitted removes and returns the oldest prompt that was not typed: one of the command
// line, else one of a hook. It is echoed like a typed one.
func (r *REPL) submitted(ctx context.Context) (input, bool) {
	if len(r.first) > 0 {
		text := r.first[0]
		r.first = r.first[1:]
		in := r.readLine(ctx, &job{text: text}, "")
		r.echo(text, nil, in.attached)
		return in, true
	}
	for p := range r.driver.Submitted() {
		if p.Text != "" {
			r.echo(p.Text, nil, nil)
		}
		return r.read(ctx, p, ""), true
	}
	return input{}, false
}

// echo shows a line as a prompt, where a user sees it.
func (r *REPL) echo(text string, shown, attached []string) {
	if r.user.HasUI() {
		r.screen.change(func() { r.screen.echo(text, shown, attached) })
	}
}

// do does a job between two prompts.
func (r *REPL) do(ctx context.Context, x job) {
	if x.run != nil {
		_ = r.restDriver(x).Do(asUser(ctx, x.at), x.doing, x.run) // it was shown
		return
	}
	early := r.agent.HearsLines() && !r.screen.plain && !x.byKey // hooks may show something
	if early {
		r.echo(x.text, x.shown, nil)
	}
	in := r.readLine(ctx, &x, "")
	switch {
	case early:
		for _, words := range in.attached {
			r.screen.change(func() { r.screen.answerKey(words) })
		}
	case (!r.screen.plain || in.attached != nil) && !x.byKey: // in plain mode the line stands where it was typed
		r.echo(x.text, x.shown, in.attached)
	}
	r.run(ctx, in, x)
}

// run does between two prompts what x, or a prompt that nobody typed, was read as.
func (r *REPL) run(ctx context.Context, in input, x job) {
	switch in.is {
	case refusedInput:
		r.refuse(x, in.Source == "interactive", in.err)
	case shellInput:
		r.shell(ctx, in.Text)
		r.refresh() // it may have changed the branch
	case commandInput:
		_ = r.restDriver(x).RunCommand(asUser(ctx, x.at), in.Prompt) // it was shown
	case textInput:
		r.ask(ctx, in.Prompt)
	}
}

// restDriver runs commands, and the actions of keys, between two prompts, and then the prompts that
// they make.
func (r *REPL) restDriver(x job) command.Driver {
	d := r.driver
	d.Act = func(ctx context.Context, doing string, run command.Action) (command.Outcome, error) {
		defer r.refresh()
		return r.act(ctx, x, doing, run)
	}
	d.Ask = func(ctx context.Context, p agent.Prompt) error {
		r.ask(ctx, p)
		return nil
	}
	d.Await = r.await
	return d
}

// act runs a command, or the action of a key, as a task of its own, and shows what came of it.
func (r *REPL) act(ctx context.Context, x job, doing string, run command.Action) (out command.Outcome, err error) {
	r.work.do(ctx, r.screen, doing, func(ctx context.Context) {
		out, err = run(ctx)
		r.showOutcome(ctx, x, out, err)
	})
	return out, err
}

// mayQuit reports whether the program may end. While a part of the session is only
// in memory, and would be lost, the user is asked first, unless they were asked
// just before and have done nothing since. If the input has ended there is nobody to
// ask, and the program ends.
func (r *REPL) mayQuit(ctx context.Context) bool {
	s := r.agent.Session()
	err := s.Sync()
	if err == nil {
		err = s.Unsaved()
	}
	if err == nil || r.askedToQuit || !r.user.HasUI() || r.user.hasEnded() {
		return true
	}
	r.askedToQuit = true
	answer, failed := r.user.Confirm(ctx, "Part of this session is only in memory. Quit, and lose that?",
		err.Error()+"\n/export FILE writes all of it elsewhere, if that is not done yet", agent.DialogOptions{})
	if failed != nil || answer != agent.No {
		return true
	}
	r.work.quit.Store(false)
	r.jobs.reopen()
	return false
}
