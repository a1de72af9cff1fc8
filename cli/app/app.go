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
//	app.go         from a place to a front end and its end
//	hooks.go       which hooks are loaded, and what they are told before a session
//	hookcommand.go /hooks and /reload
//	screen.go      what hooks draw, and their keys
//	session.go     which session a run works on
//	model.go       which model it begins with; unattended.go: which may answer
//	               where nobody watches
//	prompt.go      prompts of the command line, and those in files
//	tools.go       the program's tools
//	banner.go      what a session in the terminal begins with
//	ask.go         what a person is asked before there is a front end; early.go:
//	               by hooks
package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"pi/agent"
	"pi/agent/command"
	"pi/agent/instructions"
	"pi/agent/llm"
	"pi/agent/provider/catalogue"
	"pi/agent/tool"
	"pi/cli/config"
	"pi/cli/providers"
	"pi/luahooks"
	"pi/luahooks/trust"
	"pi/repl"
	"pi/serve"
	"pi/session"

	"golang.org/x/term"
)

// run is one run in a place, put together in the order in which its parts need
// each other: hooks, models, session, agent, front end.
type run struct {
	*Place
	models   *llm.Models
	chain    *luahooks.Chain
	skipped  []trust.Source // project hooks that nobody approved
	agent    *agent.Agent
	commands *command.Set        // nil until there is a front end
	warnings []string            // for the person, once a front end is there
	notices  []string            // likewise, of what is in order
	begun    begun               // the model that the run began with
	files    []instructions.File // instructions that the model is given
}

// front is a front end as a run sees it.
type front interface {
	agent.Listener
	agent.UI
}

// Start runs a session in the front end that the command line asks for.
func Start(ctx context.Context, p *Place) error {
	r := &run{Place: p}
	if settings, err := r.settlePending(ctx); err != nil {
		return err
	} else if settings {
		p.readSettings()
	}
	if err := p.checkNamedHooks(); err != nil {
		return err
	}
	if p.PrintMode() {
		return r.print(ctx)
	}
	return r.interact(ctx)
}

// print answers the prompts of the command line and of standard input.
func (r *run) print(ctx context.Context) error {
	defer noticeBrokenPipes()()
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	texts, err := r.printPrompts(os.Stdin)
	if err != nil {
		return err
	}
	var prompts []agent.Prompt
	for _, text := range texts {
		prompts = append(prompts, agent.Prompt{Text: text})
	}
	f := serve.NewPrint(os.Stdout, os.Stderr)
	f.Ready = r.checkAnswerer
	err = r.with(ctx, f, "print", nil, func(commands *command.Set) error {
		return f.Run(ctx, r.agent, commands, prompts)
	})
	if errors.Is(err, serve.ErrBrokenPipe) {
		return ErrReported
	}
	return err
}

// noticeBrokenPipes makes a reader that went away an error of the write, which
// ends the session in order, instead of the end of the program. The signal is
// caught and not ignored: commands would inherit that.
func noticeBrokenPipes() (stop func()) {
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, syscall.SIGPIPE)
	return func() { signal.Stop(caught) }
}

// interact talks with a person.
func (r *run) interact(ctx context.Context) error {
	f := repl.New(repl.Options{
		History: filepath.Join(r.AgentDir, "history", session.FolderName(r.Cwd)),
		NoColor: os.Getenv("NO_COLOR") != "",
		Plain:   r.Plain || r.Config.UI.Plain, ShowThinking: r.Config.UI.ShowThinking,
		Banner: r.banner, First: r.firstLines(),
		Editor:   cmp.Or(os.Getenv("VISUAL"), os.Getenv("EDITOR")),
		Rich:     strings.Contains(os.Getenv("TERM"), "256color") || os.Getenv("COLORTERM") != "",
		Renderer: drawnByHooks{r}, Shortcuts: r.shortcuts,
	})
	defer f.Close()
	return r.with(ctx, f, "interactive", f.Commands(), func(commands *command.Set) error {
		return f.Run(ctx, r.agent, commands)
	})
}

// with puts the rest together around a front end, runs it, and says goodbye to
// everybody on every way out.
func (r *run) with(ctx context.Context, f front, mode string, own []command.Command, work func(*command.Set) error) error {
	r.models = providers.New(r.Config, r.Keys, catalogue.Models)
	r.warnings = append(r.warnings, providers.Problems(r.Config, r.Keys)...)
	defer r.closeHooks()
	if err := r.prepare(ctx, mode); err != nil {
		r.tellUnheard()
		return err
	}
	r.agent.Listen(r.chain.Watcher(), r.chain, f)
	if mode != "interactive" {
		r.agent.Listen(&watchLater{begin: func() { r.watchHooks(ctx) }})
	}
	r.chain.Attach(r.agent, f)
	commands := command.NewSet(append(r.coreCommands(f), append(r.hookCommands(f), own...)...), r.chain.Commands)
	commands.Refresh = func() { r.chain.CatchUp(ctx) }
	r.commands = commands
	for _, w := range r.warnings {
		r.agent.Notify(ctx, agent.LevelWarning, w)
	}
	for _, line := range r.Guard.TakeChangedInstructions() {
		r.agent.Notify(ctx, agent.LevelWarning, line)
	}
	for _, n := range r.notices {
		r.agent.Notify(ctx, agent.LevelInfo, n)
	}
	r.agent.Start(ctx)
	if mode == "interactive" {
		r.watchHooks(ctx)
	}
	err := r.catch(func() error { return work(commands) })
	return sayOnce(err, r.goodbye())
}

// prepare loads the hooks and makes the agent that they are for.
func (r *run) prepare(ctx context.Context, mode string) error {
	if err := r.loadHooks(ctx, mode); err != nil {
		return err
	}
	if err := r.beforeSession(ctx); err != nil {
		return err
	}
	s, err := r.openSession(ctx)
	if err != nil {
		return err
	}
	if err := r.newAgent(s); err != nil {
		return errors.Join(err, s.Close())
	}
	return nil
}

// coreCommands are those that every front end has.
func (r *run) coreCommands(f front) []command.Command {
	return command.Core(command.Options{Agent: r.agent, UI: f, Sessions: r.keptSessions(), Blocks: r.drawsBlocks()})
}

// drawsBlocks reports whether bars may be more than ASCII.
func (p *Place) drawsBlocks() bool {
	return !p.Plain && !p.Config.UI.Plain && os.Getenv("TERM") != "dumb" && term.IsTerminal(int(os.Stdout.Fd()))
}

// sayOnce joins how the work ended with how the session did, which is nothing
// new if both could not be saved.
func sayOnce(work, end error) error {
	var unsaved *session.SaveError
	if errors.As(work, &unsaved) && errors.As(end, &unsaved) {
		return work
	}
	return errors.Join(work, end)
}

// goodbye ends the session; nobody may hold it up for long.
func (r *run) goodbye() error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	return r.agent.Close(ctx)
}

// toolOptions say where the tools work; commands learn which session and model
// they run for.
func (r *run) toolOptions() tool.Options {
	return tool.Options{Cwd: r.Cwd, Shell: r.Config.Tools.Shell, Confine: r.Config.Tools.Confine, Locale: r.locale, Session: r.sessionID, Env: func() []string {
		if r.agent == nil {
			return nil
		}
		s, m := r.agent.Session(), r.agent.Model()
		return []string{"PI_SESSION_ID=" + s.ID(), "PI_SESSION_FILE=" + s.File(), "PI_PROVIDER=" + m.Provider, "PI_MODEL=" + m.ID}
	}}
}

func (r *run) sessionID() string {
	if r.agent == nil {
		return ""
	}
	return r.agent.Session().ID()
}

// modelToolOptions are those of the tools that a model calls: what they start is
// known, and what decides about hooks is not theirs to write.
func (r *run) modelToolOptions() tool.Options {
	o := r.toolOptions()
	o.Started = r.Guard.NoteGroup
	o.Protect = []string{r.Guard.Store().Path(), r.Guard.Store().Dir()}
	return o
}

func (r *run) newAgent(s *session.Session) error {
	model, thinking, err := r.chooseModel(s)
	if err != nil {
		return err
	}
	prompt := &agent.SystemPrompt{Replace: r.SystemPrompt, Append: r.AppendPrompt}
	r.readPromptFiles(prompt)
	r.agent = agent.New(agent.Options{
		Session: s, Models: r.models, Model: model, Thinking: thinking, Cycle: r.Config.Models, Prompt: prompt, Cwd: r.Cwd,
		Settings: settingsOfLoop(r.Config),
		NewSession: func(parent string) (*session.Session, error) {
			o := r.SessionOptions()
			o.Parent = parent
			return session.New(o), nil
		},
		OpenSession: func(path string) (*session.Session, error) {
			if _, err := os.Stat(path); err != nil { // session.Open would begin one there
				return nil, fmt.Errorf("open session: %w", err)
			}
			return session.Open(path, r.SessionOptions())
		},
		CopySession: func(s *session.Session, leaf string) (*session.Session, error) {
			return s.CopyPath(leaf, r.SessionOptions())
		},
		Shell: r.shell,
	})
	return nil
}

// settingsOfLoop are the settings that the agent obeys.
func settingsOfLoop(c config.Config) agent.Settings {
	return agent.Settings{MaxTurns: c.MaxTurns, MaxRepeats: c.MaxRepeats, MaxContinuations: c.MaxContinuations, MaxCost: c.MaxCost, MaxAnswerBytes: c.MaxAnswerBytes,
		SteerAll: c.Steering == "all", FollowUpAll: c.FollowUp == "all",
		Compaction: agent.CompactionSettings(c.Compaction), Retry: agent.RetrySettings(c.Retry),
		StreamIdleTimeout: time.Duration(c.StreamIdleTimeout) * time.Second}
}

// shell runs a command of the person.
func (r *run) shell(ctx context.Context, line string, output func(string)) (agent.BashOutcome, error) {
	o, err := tool.RunShell(ctx, r.toolOptions(), line, output)
	return agent.BashOutcome{Output: o.Output, ExitCode: o.ExitCode, Cancelled: o.Cancelled || o.TimedOut,
		Truncated: o.Truncation.Truncated, FullOutputPath: o.FullOutputPath}, err
}
