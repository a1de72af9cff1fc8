package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/term"

	"pi/agent"
	"pi/agent/command"
	"pi/agent/provider/catalogue"
	"pi/agent/tool"
	"pi/luahooks"
	"pi/repl"
	"pi/serve"
	"pi/session"
	"pi/stdlib"
)

// app is the program of one run, put together in the order in which its parts
// need each other: settings, hooks, models, session, agent.
type app struct {
	options
	cfg      Config
	lost     []Problem // settings that have no effect
	agentDir string
	cwd      string
	keys     *keyring
	models   *agent.Models
	chain    *luahooks.Chain
	guard    *luahooks.Guard
	skipped  []luahooks.Source // project hooks that nobody approved
	agent    *agent.Agent
	commands *command.Set        // nil until there is a front end
	warnings []string            // for the person, once a front end is there
	notices  []string            // likewise, of what is in order
	hookDir  string              // where a hook wants sessions to be kept
	locale   func() []string     // of the commands that tools and hooks run, see tool.NewLocale
	begun    begun               // the model that the run began with
	files    []agent.ContextFile // instructions that the model is given
}

// front is a front end as main sees it.
type front interface {
	agent.Listener
	agent.UI
}

// start runs a session in the front end that the command line asks for.
func start(ctx context.Context, o options) error {
	time.AfterFunc(startTime, quietStart())
	a, err := newApp(o)
	if err != nil {
		return err
	}
	if settings, err := a.settlePending(ctx); err != nil {
		return err
	} else if settings {
		a.cfg, a.lost = loadSettings(a.agentDir, a.cwd, a.guard)
	}
	if err := a.checkNamedHooks(); err != nil {
		return err
	}
	if a.printMode() {
		return a.print(ctx)
	}
	return a.interact(ctx)
}

func newApp(o options) (*app, error) {
	agentDir, err := AgentDir(os.Getenv)
	if err != nil {
		return nil, err
	}
	cwd, err := os.Getwd()
	if err != nil {
		return nil, fmt.Errorf("find the working directory: %w", err)
	}
	guard := newGuard(agentDir, cwd)
	keys := newKeyring(agentDir)
	keys.mayRun = guard.MayRunCommand
	cfg, lost := loadSettings(agentDir, cwd, guard)
	return &app{options: o, cfg: cfg, lost: lost, agentDir: agentDir, cwd: cwd, guard: guard,
		keys: keys, locale: tool.NewLocale(os.Environ())}, nil
}

// loadSettings reads the configuration that is in force and shows its problems,
// which do not stop pi by themselves (see unattended.go).
func loadSettings(agentDir, cwd string, guard *luahooks.Guard) (Config, []Problem) {
	cfg, problems := Load(agentDir, cwd, os.Getenv, guard.Config)
	for _, p := range problems {
		fmt.Fprintln(os.Stderr, harmless(fmt.Sprint(p)))
	}
	return cfg, problems
}

// print answers the prompts of the command line and of standard input.
func (a *app) print(ctx context.Context) error {
	defer noticeBrokenPipes()()
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	texts, err := a.printPrompts(os.Stdin)
	if err != nil {
		return err
	}
	var prompts []agent.Prompt
	for _, text := range texts {
		prompts = append(prompts, agent.Prompt{Text: text})
	}
	f := serve.NewPrint(os.Stdout, os.Stderr)
	f.Ready = a.checkAnswerer
	err = a.run(ctx, f, "print", nil, func(commands *command.Set) error {
		return f.Run(ctx, a.agent, commands, prompts)
	})
	if errors.Is(err, serve.ErrBrokenPipe) {
		return errReported
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

// printPrompts joins what stands on the command line with what is piped in.
func (a *app) printPrompts(stdin *os.File) ([]string, error) {
	piped, err := readPiped(stdin)
	if err != nil {
		return nil, err
	}
	prompts := a.prompts
	if piped != "" {
		if len(prompts) == 0 {
			return []string{piped}, nil
		}
		prompts = append([]string{prompts[0] + "\n\n" + piped}, prompts[1:]...)
	}
	if len(prompts) == 0 || strings.TrimSpace(strings.Join(prompts, "")) == "" {
		return nil, usageError{errors.New(`no prompt: pi -p "what to do", or pipe it in`)}
	}
	return prompts, nil
}

const maxPiped = 64 << 20

// readPiped reads standard input where it cannot be a person.
func readPiped(f *os.File) (string, error) {
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice != 0 {
		return "", nil
	}
	b, err := io.ReadAll(io.LimitReader(f, maxPiped+1))
	if err != nil {
		return "", fmt.Errorf("read standard input: %w", err)
	}
	if len(b) > maxPiped {
		return "", fmt.Errorf("read standard input: more than %d MiB", maxPiped>>20)
	}
	return strings.TrimRight(strings.ToValidUTF8(string(b), "\uFFFD"), "\n"), nil
}

// interact talks with a person.
func (a *app) interact(ctx context.Context) error {
	f := repl.New(repl.Options{
		History: filepath.Join(a.agentDir, "history", session.FolderName(a.cwd)),
		NoColor: os.Getenv("NO_COLOR") != "",
		Plain:   a.plain || a.cfg.UI.Plain, ShowThinking: a.cfg.UI.ShowThinking,
		Banner: a.banner, First: a.firstLines(),
		Editor:   cmp.Or(os.Getenv("VISUAL"), os.Getenv("EDITOR")),
		Rich:     strings.Contains(os.Getenv("TERM"), "256color") || os.Getenv("COLORTERM") != "",
		Renderer: drawnByHooks{a}, Shortcuts: a.shortcuts,
	})
	defer f.Close()
	return a.run(ctx, f, "interactive", f.Commands(), func(commands *command.Set) error {
		return f.Run(ctx, a.agent, commands)
	})
}

// run puts the rest together around a front end, runs it, and says goodbye to
// everybody on every way out.
func (a *app) run(ctx context.Context, f front, mode string, own []command.Command, work func(*command.Set) error) error {
	a.models = newModels(a.cfg, a.keys, catalogue.Models)
	a.warnings = append(a.warnings, providerProblems(a.cfg, a.keys)...)
	defer a.closeHooks()
	if err := a.prepare(ctx, mode); err != nil {
		a.tellUnheard()
		return err
	}
	a.agent.Listen(a.chain.Watcher(), a.chain, f)
	if mode != "interactive" {
		a.agent.Listen(&watchLater{begin: func() { a.watchHooks(ctx) }})
	}
	a.chain.Attach(a.agent, f)
	commands := command.NewSet(append(a.coreCommands(f), append(a.hookCommands(f), own...)...), a.chain.Commands)
	commands.Refresh = func() { a.chain.CatchUp(ctx) }
	a.commands = commands
	for _, w := range a.warnings {
		a.agent.Notify(ctx, agent.LevelWarning, w)
	}
	for _, line := range a.guard.TakeSpoken() {
		a.agent.Notify(ctx, agent.LevelWarning, line)
	}
	for _, n := range a.notices {
		a.agent.Notify(ctx, agent.LevelInfo, n)
	}
	a.agent.Start(ctx)
	if mode == "interactive" {
		a.watchHooks(ctx)
	}
	err := a.crash.catch(func() error {
		if a.testOnlyWork != nil {
			a.testOnlyWork()
		}
		return work(commands)
	})
	return sayOnce(err, a.goodbye())
}

// watchHooks makes what a person saves in a hook take effect.
func (a *app) watchHooks(ctx context.Context) {
	if err := a.chain.Watch(ctx); err != nil {
		a.agent.Notify(ctx, agent.LevelWarning, fmt.Sprintf("hooks are not watched: %v; /reload loads them anew", err))
	}
}

// watchLater is the listener that begins to watch the hooks behind the first
// request, where nobody could have saved one before: a start pays nothing for it.
type watchLater struct {
	begin func()
	once  sync.Once
}

// Wants reports whether k may be the first of an answer.
func (*watchLater) Wants(k agent.Kind) bool { return k == agent.KindMessageStart }

// Handle never fails.
func (w *watchLater) Handle(_ context.Context, e agent.Event) error {
	if m, ok := e.(*agent.MessageStart); ok && m.Message.Role == session.RoleAssistant {
		w.once.Do(w.begin)
	}
	return nil
}

// prepare loads the hooks and makes the agent that they are for.
func (a *app) prepare(ctx context.Context, mode string) error {
	if err := a.loadHooks(ctx, mode); err != nil {
		return err
	}
	if err := a.beforeSession(ctx); err != nil {
		return err
	}
	s, err := a.openSession(ctx)
	if err != nil {
		return err
	}
	if err := a.newAgent(s); err != nil {
		return errors.Join(err, s.Close())
	}
	return nil
}

// tellUnheard says what hooks had to say before a start that failed: the model
// or the flag that is missing may be that of a hook that did not load.
func (a *app) tellUnheard() {
	for _, line := range a.chain.Unheard() {
		fmt.Fprintln(os.Stderr, harmless(line))
	}
}

// coreCommands are those that every front end has.
func (a *app) coreCommands(f front) []command.Command {
	return command.Core(command.Options{Agent: a.agent, UI: f, Sessions: a.keptSessions(), Blocks: a.drawsBlocks()})
}

// drawsBlocks reports whether bars may be more than ASCII.
func (a *app) drawsBlocks() bool {
	return !a.plain && !a.cfg.UI.Plain && os.Getenv("TERM") != "dumb" && term.IsTerminal(int(os.Stdout.Fd()))
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
func (a *app) goodbye() error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	return a.agent.Close(ctx)
}

func (a *app) closeHooks() {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	a.chain.Close(ctx)
}

// places says where hooks are looked for.
func (a *app) places() luahooks.Places {
	p := luahooks.Places{
		AgentDir: a.agentDir, Cwd: a.cwd, Configured: a.cfg.Hooks, ConfiguredIn: a.cfg.ProjectHooks,
		NoHooks: a.noHooks, NoProject: a.noApprove, Disable: a.cfg.Disable,
		DisableProject: a.cfg.ProjectDisable, Lost: a.cfg.Lost,
	}
	for _, h := range a.hooks {
		if abs, err := filepath.Abs(expandHome(h, homeDir(os.Getenv))); err == nil {
			h = abs
		}
		p.CommandLine = append(p.CommandLine, h)
	}
	return p
}

func (a *app) loadHooks(ctx context.Context, mode string) error {
	if a.cfg.HookEdits == "ask" {
		a.guard.AskEdits()
	}
	active, others := a.tools()
	a.chain = luahooks.New(luahooks.Options{
		Places: a.places(), Cwd: a.cwd, Mode: mode, Version: version,
		Guard: a.guard, ApproveProject: a.approveProject, AskProject: a.askProject(),
		LogPath:    a.hookLogPath(),
		Timeout:    a.hookTimeout(),
		CommandEnv: a.locale,
		Grace:      time.Duration(a.cfg.HookGrace) * time.Millisecond,
		Memory:     int64(a.cfg.HookMemory) << 20,
		Models:     a.models, Tools: active, Inactive: others, Only: a.onlyTools(), Flags: a.hookFlags.values,
		Reserved: reservedCommands(), Commands: a.allCommands,
		ResolveKey: a.keys.resolve, Server: a.hookServer, CheckSwitches: hookSwitches,
	})
	a.models.Register(agent.ProviderSpec{Name: "demo", Aside: true, Models: agent.Listed(tourModel()), Stream: a.chain.Builtin("demo/tour", stdlib.Tour())})
	if !a.printMode() {
		a.chain.Meet(early{person: terminal()})
	}
	a.skipped = a.chain.Load(ctx)
	if err := errors.Join(a.checkHookFlags(), a.checkTools()); err != nil {
		return err
	}
	return a.reportSkipped()
}

func (a *app) hookTimeout() time.Duration { return time.Duration(a.cfg.HookTimeout) * time.Millisecond }

func reservedCommands() []string {
	return []string{"help", "model", "thinking", "new", "clear", "resume", "branch", "fork", "tree", "label", "name",
		"session", "context", "compact", "uncompact", "undo", "redo", "export", "copy", "hooks", "reload", "tools",
		"settings", "hotkeys", "quit", "exit"}
}

func names(sources []luahooks.Source) []string {
	var n []string
	for _, s := range sources {
		n = append(n, s.Name)
	}
	return n
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// toolOptions say where the tools work; commands learn which session and model
// they run for.
func (a *app) toolOptions() tool.Options {
	return tool.Options{Cwd: a.cwd, Shell: a.cfg.Tools.Shell, Confine: a.cfg.Tools.Confine, Locale: a.locale, Session: a.sessionID, Env: func() []string {
		if a.agent == nil {
			return nil
		}
		s, m := a.agent.Session(), a.agent.Model()
		return []string{"PI_SESSION_ID=" + s.ID(), "PI_SESSION_FILE=" + s.File(), "PI_PROVIDER=" + m.Provider, "PI_MODEL=" + m.ID}
	}}
}

func (a *app) sessionID() string {
	if a.agent == nil {
		return ""
	}
	return a.agent.Session().ID()
}

// modelToolOptions are those of the tools that a model calls: what they start is
// known, and what decides about hooks is not theirs to write.
func (a *app) modelToolOptions() tool.Options {
	o := a.toolOptions()
	o.Started = a.guard.Started
	o.Protect = []string{a.guard.Store().Path(), a.guard.Store().Dir()}
	return o
}

func (a *app) newAgent(s *session.Session) error {
	model, thinking, err := a.chooseModel(s)
	if err != nil {
		return err
	}
	prompt := &agent.SystemPrompt{Replace: a.systemPrompt, Append: a.appendPrompt}
	a.readPromptFiles(prompt)
	a.agent = agent.New(agent.Options{
		Session: s, Models: a.models, Model: model, Thinking: thinking, Cycle: a.cfg.Models, Prompt: prompt, Cwd: a.cwd,
		Settings: settingsOfLoop(a.cfg),
		NewSession: func(parent string) (*session.Session, error) {
			o := a.sessionOptions()
			o.Parent = parent
			return session.New(o), nil
		},
		OpenSession: func(path string) (*session.Session, error) {
			if _, err := os.Stat(path); err != nil { // session.Open would begin one there
				return nil, fmt.Errorf("open session: %w", err)
			}
			return session.Open(path, a.sessionOptions())
		},
		CopySession: func(s *session.Session, leaf string) (*session.Session, error) {
			return s.CopyPath(leaf, a.sessionOptions())
		},
		Shell: a.shell,
	})
	return nil
}

// settingsOfLoop are the settings that the agent obeys.
func settingsOfLoop(c Config) agent.Settings {
	return agent.Settings{MaxTurns: c.MaxTurns, MaxRepeats: c.MaxRepeats, MaxContinuations: c.MaxContinuations, MaxCost: c.MaxCost, MaxAnswerBytes: c.MaxAnswerBytes,
		SteerAll: c.Steering == "all", FollowUpAll: c.FollowUp == "all",
		Compaction: agent.CompactionSettings(c.Compaction), Retry: agent.RetrySettings(c.Retry),
		StreamIdleTimeout: time.Duration(c.StreamIdleTimeout) * time.Second}
}

// readPromptFile reads a file of the agent directory, unless the command line
// said something else.
func (a *app) readPromptFile(name string, into *string) {
	path := filepath.Join(a.agentDir, name)
	b, err := os.ReadFile(path)
	if err == nil && *into == "" {
		*into = strings.TrimSpace(string(b))
		if err := agent.HiddenIn(path, string(b)); err != nil {
			a.warnings = append(a.warnings, err.Error())
		}
	} else if err != nil && !os.IsNotExist(err) {
		a.warnings = append(a.warnings, err.Error())
	}
}

// readPromptFiles adds what stands in files: SYSTEM.md and APPEND_SYSTEM.md of
// the agent directory, and the instructions of the directories.
func (a *app) readPromptFiles(p *agent.SystemPrompt) {
	a.readPromptFile("SYSTEM.md", &p.Replace)
	a.readPromptFile("APPEND_SYSTEM.md", &p.Append)
	files, problems := agent.FindContextFiles(agent.ContextPlaces{
		AgentDir: a.agentDir, Cwd: a.cwd, Home: homeDir(os.Getenv), Allowed: a.cfg.Instructions})
	p.Files, a.files = files, files
	for _, err := range problems {
		a.warnings = append(a.warnings, err.Error())
	}
}

// shell runs a command of the person.
func (a *app) shell(ctx context.Context, line string, output func(string)) (agent.BashOutcome, error) {
	o, err := tool.RunShell(ctx, a.toolOptions(), line, output)
	return agent.BashOutcome{Output: o.Output, ExitCode: o.ExitCode, Cancelled: o.Cancelled || o.TimedOut,
		Truncated: o.Truncation.Truncated, FullOutputPath: o.FullOutputPath}, err
}
