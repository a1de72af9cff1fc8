// Package app puts one run of the program together: settings, hooks, models,
// session, agent and front end, in the order in which they need each other.
//
// A [Place] is a directory to work in with what holds there before a session
// begins; commands that ask no model need no more. [Start] runs a session in it.
// Several places, and runs in them, can be made in one process: only the caller
// knows the directory of the process.
//
//	options.go     what the command line says of a run
//	place.go       settings, approvals and keys of a directory
//	app.go         from a place to a front end and its end; run.go: what is made on the
//	               way; messages.go: what it shows the person first
//	hooks.go       hooks are loaded, and told what is before a session; chain.go: which
//	               hooks there are, and what they are given
//	hookcommand.go /hooks and /reload; hooklist.go: the hooks as a list
//	screen.go      what hooks draw
//	session.go     where sessions are kept; opening.go: which one a run works on
//	model.go       which model it begins with; unattended.go: which may answer
//	               where nobody watches
//	prompt.go      prompts of the command line, and those in files
//	tools.go       the program's tools
//	login.go       /login; copy.go: where /copy puts a text
//	settings.go    settings are written; livesettings.go: those that can change in a run
//	changed.go     whether the status line has a star behind the branch
//	banner.go      what a session in the terminal begins with
//	ask.go         what a person is asked before there is a front end; startdialog.go:
//	               in dialogs; early.go:
//	               by hooks; pending.go: about what waits for approval
package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"pi/agent"
	"pi/agent/attach"
	"pi/agent/command"
	"pi/agent/provider/catalogue"
	"pi/cli/providers"
	"pi/internal/printable"
	"pi/luahooks"
	"pi/repl"
	"pi/serve/print"
	"pi/session"
	"pi/stdlib"

	"golang.org/x/term"
)

// Start runs pi in p, with a terminal or without, as the command line says, until it ends.
// Before that it asks about changes that wait for approval, after which the settings may
// be others.
func Start(ctx context.Context, p *Place) error {
	r := p.newRun()
	if settings, err := r.approvePending(ctx); err != nil {
		return err
	} else if settings {
		p.readSettings()
		r.sessions = p.Sessions()
	}
	if err := p.checkNamedHooks(); err != nil {
		return err
	}
	if p.PrintMode() {
		return r.print(ctx)
	}
	return r.interact(ctx)
}

// print runs the prompts of the command line and of standard input without a person, and
// writes the answers to standard output.
func (r *run) print(ctx context.Context) error {
	// A reader that went away is an error of the write, which ends the session in
	// order, and not the end of the program. The signal is caught and not ignored:
	// commands would inherit that.
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, syscall.SIGPIPE)
	defer signal.Stop(caught)
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	texts, piped, err := r.place.printPrompts(os.Stdin)
	if err != nil {
		return err
	}
	var prompts []agent.Prompt
	for _, text := range texts {
		prompts = append(prompts, agent.Prompt{Text: text})
	}
	f := print.New(os.Stdout, os.Stderr)
	f.Ready = func() error { return r.choice.check(r.agent.Model()) }
	r.attached = func(text string) attach.Found {
		// What is piped in was not typed: a text from anywhere names no files.
		return attach.Find(strings.TrimSuffix(text, piped), r.place.attachOptions())
	}
	f.Attach = r.attached
	err = r.with(ctx, front{f, f}, "print", nil, func() error { return f.Run(ctx, r.agent, r.commands, prompts) })
	if errors.Is(err, print.ErrBrokenPipe) {
		return ErrReported
	}
	return err
}

// interact runs the interactive front end on the terminal until the person leaves it.
func (r *run) interact(ctx context.Context) error {
	p := r.place
	o := p.look()
	o.History = filepath.Join(p.AgentDir, "history", session.FolderName(p.Cwd))
	o.Pager = os.Getenv("PAGER")
	o.Banner, o.First = func() []string { return p.banner(r.agent, r.chain.Summary(), r.prompt.Files) }, p.firstLines()
	o.Editor = cmp.Or(os.Getenv("VISUAL"), os.Getenv("EDITOR"))
	o.Completions = r.completedByHooks
	o.Shell = r.shellInTerminal()
	o.Renderer = drawnByHooks{func() *luahooks.Chain { return r.chain }}
	o.Changed = hasChanges
	o.Asked = func() string { return r.chain.Asked() }
	o.Secret = stdlib.NewSecretFinder()
	o.Shortcuts = func() (all []repl.Shortcut) {
		for _, s := range r.chain.Shortcuts() {
			all = append(all, repl.Shortcut{Key: s.Key, Help: s.Description, Hook: s.Hook, Run: s.Run})
		}
		return all
	}
	f := repl.New(o)
	defer f.Close()
	defer func() {
		if p.Left != nil && r.agent != nil {
			p.Left(p.resumeCommand(r.agent.Session().File(), r.agent.Session().ID()))
		}
	}()
	return r.with(ctx, front{f, f.UI()}, "interactive", f.Commands(), func() error {
		f.Type(r.typed.lines, r.typed.draft)
		return f.Run(ctx, r.agent, r.commands)
	})
}

// look is how the terminal is used, whoever asks in it.
func (p *Place) look() repl.Options {
	return repl.Options{
		NoColor: os.Getenv("NO_COLOR") != "",
		Plain:   p.Plain || p.Config.UI.Plain, Dumb: os.Getenv("TERM") == "dumb", ShowThinking: p.Config.UI.ShowThinking,
		Highlight: p.Config.UI.Highlight, NotifyWith: p.Config.UI.Notify, Background: p.background(), Keys: p.Config.Bindings(),
		TrueColor: trueColor(),
		Broke:     p.Broke,
		Rich:      strings.Contains(os.Getenv("TERM"), "256color") || os.Getenv("COLORTERM") != "",
	}
}

// trueColor reports whether the terminal says that it has all colours.
func trueColor() bool {
	word := os.Getenv("COLORTERM")
	return word == "truecolor" || word == "24bit"
}

// background returns the background of the terminal as the person has set it; "" if the
// terminal is to be asked.
func (p *Place) background() string {
	if p.Config.UI.Background == "auto" {
		return ""
	}
	return p.Config.UI.Background
}

// with prepares the hooks, the agent and the session for the front end f, calls work, and
// ends session and hooks however work returns. own are the commands that only f has.
func (r *run) with(ctx context.Context, f front, mode string, own []command.Command, work func() error) error {
	p := r.place
	r.models = providers.New(p.Config, p.Keys, catalogue.Models)
	r.later.warn(providers.Problems(p.Config, p.Keys)...)
	defer func() {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		r.chain.Close(ctx)
	}()
	if err := r.prepare(ctx, mode); err != nil {
		// The model or the flag that is missing may be that of a hook that did not load.
		for _, line := range r.chain.PendingNotices() {
			fmt.Fprintln(os.Stderr, printable.Text(line))
		}
		return err
	}
	r.attach(ctx, f, mode, own)
	r.agent.Start(ctx)
	if mode == "interactive" {
		r.watchHooks(ctx)
	}
	guarded := work
	if p.Catch != nil {
		guarded = func() error { return p.Catch(work) }
	}
	err := guarded()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second) // nobody may delay the end for long
	defer cancel()
	end := r.agent.Close(ctx)
	_, unsaved := errors.AsType[*session.SaveError](err)
	if _, again := errors.AsType[*session.SaveError](end); unsaved && again {
		return err // both say the same
	}
	return errors.Join(err, end)
}

// attach connects the agent, the hooks and the front end: who listens to whom, and which
// commands there are. It then shows the messages that were collected before there was a
// front end.
func (r *run) attach(ctx context.Context, f front, mode string, own []command.Command) {
	p := r.place
	r.agent.Listen(r.chain.Watcher(), r.chain, f)
	if mode != "interactive" {
		r.agent.Listen(&watchLater{begin: func() { r.watchHooks(ctx) }})
	}
	r.chain.Attach(r.agent, f)
	// Bars may be more than ASCII where they are drawn for a person.
	blocks := !p.Plain && !p.Config.UI.Plain && os.Getenv("TERM") != "dumb" && term.IsTerminal(int(os.Stdout.Fd()))
	hooks := hookCommands{chain: r.chain, skipped: r.skipped, globalDir: p.Places().GlobalDir(), log: p.hookLog(), ui: f.UI}
	r.settings = r.newLiveSettings(f.UI).port()
	core := command.Core(command.Options{Agent: r.agent, UI: f.UI, Sessions: r.sessions.forResume(), Settings: r.settings, Copy: r.copier(f.UI), Prompts: r.prompts, Blocks: blocks})
	commands := command.NewSet(withFront(slices.Concat(core, hooks.list(), []command.Command{p.loginCommand(f)}), own), r.chain.Commands)
	commands.Refresh = func() { r.chain.CatchUp(ctx) }
	r.prompts.UI, r.prompts.Attach = f, r.attached
	commands.AddPrompts(r.prompts)
	r.commands = commands
	for _, line := range append(r.later.warnings, p.Guard.TakeChangedInstructions()...) {
		r.agent.Notify(ctx, agent.LevelWarning, line)
	}
	for _, line := range r.later.notices {
		r.agent.Notify(ctx, agent.LevelInfo, line)
	}
}

// withFront returns the commands of the program with those of the front end. Where both
// have one of the same name, that of the front end counts.
func withFront(program, own []command.Command) []command.Command {
	has := func(c command.Command) bool {
		return slices.ContainsFunc(own, func(o command.Command) bool { return o.Name == c.Name })
	}
	return append(slices.DeleteFunc(program, has), own...)
}

// prepare loads the hooks, opens the session and makes the agent. If it fails, the session
// is closed again.
func (r *run) prepare(ctx context.Context, mode string) error {
	if err := r.loadHooks(ctx, mode); err != nil {
		return err
	}
	if err := r.beforeSession(ctx); err != nil {
		return err
	}
	s, err := opening{r.sessions, r.place.Session, !r.place.PrintMode(), r.startPerson(), &r.later}.open(ctx)
	if err != nil {
		return err
	}
	if err := r.newAgent(s); err != nil {
		return errors.Join(err, s.Close())
	}
	return nil
}

// newAgent chooses the model and makes the agent for the session s.
func (r *run) newAgent(s *session.Session) error {
	p, c := r.place, r.place.Config
	r.choice = modelChoice{place: p, models: r.models, later: &r.later}
	model, thinking, err := r.choice.choose(s)
	if err != nil {
		return err
	}
	r.prompt = agent.SystemPrompt{Replace: p.SystemPrompt, Append: p.AppendPrompt, Skills: r.prompts.SkillList}
	p.readPromptFiles(&r.prompt, &r.later)
	r.agent = agent.New(agent.Options{
		Session: s, Models: r.models, Model: model, Thinking: thinking, Cycle: c.Models, Prompt: &r.prompt, Cwd: p.Cwd,
		Settings: agentSettings(c),
		NewSession: func(parent string) (*session.Session, error) {
			o := r.sessions.Options()
			o.Parent = parent
			return session.New(o), nil
		},
		OpenSession: func(path string) (*session.Session, error) {
			if _, err := os.Stat(path); err != nil { // session.Open would begin one there
				return nil, fmt.Errorf("open session: %w", err)
			}
			return session.Open(path, r.sessions.Options())
		},
		CopySession: func(s *session.Session, leaf string) (*session.Session, error) {
			return s.CopyPath(leaf, r.sessions.Options())
		},
		Shell: r.shell,
	})
	return nil
}
