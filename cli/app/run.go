package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"pi/agent"
	"pi/agent/attach"
	"pi/agent/children"
	"pi/agent/command"
	"pi/agent/llm"
	"pi/agent/mcp"
	"pi/agent/provider"
	"pi/agent/tool"
	"pi/cli/mcplogin"
	"pi/cli/providers"
	"pi/internal/printable"
	"pi/internal/process"
	"pi/luahooks"
	"pi/luahooks/trust"
	"pi/repl"
	"pi/session"

	"golang.org/x/term"
)

// run is one run in a place, put together in the order in which its parts need
// each other: hooks, models, session, agent, front end.
type run struct {
	place      *Place
	sessions   Sessions // those of the place, unless a hook named another folder
	later      messages
	typed      repl.Typed // before there was a front end
	files      tool.Files // of the front end
	models     *llm.Models
	chain      *luahooks.Chain
	hookTables *hookTables
	skipped    []trust.Source // project hooks that nobody approved
	client     []mcp.Entry    // the servers that a client has handed over
	servers    MCPServers     // that are configured
	mcp        runServers     // those of the session
	logins     *mcplogin.Logins
	signIn     func(ctx context.Context, e mcp.Entry, missing []string) bool // see mcp.Options; nil: the user of the session is asked
	choice     modelChoice
	prompt     agent.SystemPrompt
	prompts    *command.Prompts               // skills and templates
	attached   func(text string) attach.Found // what goes along with a text that a user typed
	ready      func() error                   // the last step before the session starts; nil: there is none
	mode       string                         // the name that hooks have for the front end
	front      front                          // unset until it is attached
	agent      *agent.Agent                   // nil until there is a session
	family     *children.Family               // of the agents of the user's session that use each other
	children   *ownChildren                   // the agents that its hooks use
	commands   *command.Set                   // nil until there is a front end
	settings   *command.Settings              // likewise
	end        ending

	script *Script // what there is instead of the world outside; nil: that itself
	child  *child  // what the run is of; nil: of a user, or a program
}

// front is a front end as a run sees it.
type front struct {
	agent.Listener
	agent.UI
}

func (p *Place) newRun() *run {
	r := &run{place: p, sessions: p.Sessions()}
	r.attached = r.attachedTo
	r.children = newChildren(r)
	r.prompts = &command.Prompts{Library: p.library(r.folders), UI: agent.NoUI{}, Cwd: p.Cwd, Reserved: func(name string) bool { return slices.Contains(ReservedCommands(), name) }}
	return r
}

// open makes the run ready to work: hooks, models, session, agent and commands, and then
// tells the hooks that the session has started. f shows what happens and asks the user;
// own are the commands that only f has; mode is the name that hooks have for f. ctx is
// that of the whole run. After an error nothing is open any more.
//
// A run is opened once. Runs in several places, or several in one, may be open in one
// process at a time: they share no settings, hooks, models or sessions.
func (r *run) open(ctx context.Context, f front, mode string, own []command.Command) error {
	if err := r.begin(ctx, f, mode, own); err != nil {
		return err
	}
	r.agent.Start(ctx)
	if mode == "interactive" {
		r.watchHooks(ctx)
	}
	return nil
}

// begin is open, but for telling the hooks that the session has started.
func (r *run) begin(ctx context.Context, f front, mode string, own []command.Command) error {
	p := r.place
	if err := provider.CheckProxies(p.Env.getenv); err != nil {
		return UsageError{Err: err}
	}
	r.mode = mode
	r.family = children.New(children.Limits(p.Config.Agents), nil)
	r.end.life, r.end.isServed = ctx, mode == ModeRPC || mode == ModeACP || r.script != nil
	r.models = providers.New(p.Config, p.Keys, p.Catalogue.Models)
	if r.script != nil {
		r.models.Register(r.script.Model)
		r.models.AnswerWith(r.script.Model.Stream)
	}
	r.later.warn(providers.Problems(p.Config, p.Keys)...)
	if err := r.prepare(ctx, mode); err != nil {
		// The model or the flag that is missing may be that of a hook that did not load.
		for _, line := range r.chain.PendingNotices() {
			fmt.Fprintln(os.Stderr, printable.Text(line))
		}
		r.closeHooks(context.WithoutCancel(ctx))
		return err
	}
	r.attach(ctx, f, mode, own)
	if name := r.place.ModeName; name != "" {
		if err := r.agent.Modes().Select(ctx, name, agent.ModeByFlag); err != nil {
			defer r.closeHooks(context.WithoutCancel(ctx))
			return errors.Join(UsageError{Err: fmt.Errorf("--mode-name: %w", err)}, r.agent.Session().Close())
		}
	}
	return nil
}

// with opens the run, calls work, and closes the run however work returns.
func (r *run) with(ctx context.Context, f front, mode string, own []command.Command, work func() error) error {
	if err := r.open(ctx, f, mode, own); err != nil {
		return err
	}
	err := r.guard(work)
	return joinSaved(err, r.close(context.WithoutCancel(ctx)))
}

// guard calls work where a panic becomes an error, if the program has a place for that.
func (r *run) guard(work func() error) error {
	if r.place.Catch == nil {
		return work()
	}
	return r.place.Catch(work)
}

// joinSaved joins the error of a run and that of its end, which may say the same of saving.
func joinSaved(err, end error) error {
	_, unsaved := errors.AsType[*session.SaveError](err)
	if _, again := errors.AsType[*session.SaveError](end); unsaved && again {
		return err
	}
	return errors.Join(err, end)
}

// attach connects the agent, the hooks and the front end: who listens to whom, and which
// commands there are. It then shows the messages that were collected before there was a
// front end.
func (r *run) attach(ctx context.Context, f front, mode string, own []command.Command) {
	p := r.place
	r.front = f
	if r.script != nil && r.child == nil {
		r.agent.Listen(r.script.Before)
	}
	r.mcp.ui.Store(&f.UI)
	r.agent.Listen(r.chain.ToolWatch(), lookAtTheEnd{p.Watcher}, &directTools{run: r}, r.children, r.chain, f)
	if r.script != nil && r.child != nil && r.script.Child != nil {
		r.agent.Listen(r.script.Child(r.child.Identity()))
	}
	switch {
	case r.script != nil, r.child != nil:
	case mode == ModeRPC || mode == ModeACP:
		r.agent.Listen(&watchLater{begin: func() { r.watchHooks(ctx) }})
	case mode != "interactive":
		r.chain.WatchFrom(ctx, time.After(unwatched), func(err error) { r.tellUnwatched(ctx, err) })
	}
	r.mcp.events.begin(r.agent.TellServer)
	r.agent.AskAt(f.UI)
	r.chain.Attach(r.agent, f.UI) // itself: it may be more than its methods say
	// Bars may be more than ASCII where they are drawn for a user.
	blocks := !p.isPlain() && term.IsTerminal(int(os.Stdout.Fd()))
	hooks := hookCommands{chain: r.chain, skipped: r.skipped, places: p.Places(), log: p.hookLog(), ui: f.UI,
		session: r.agent.Session, tools: p.ProgramTools, models: r.models}
	live := &liveSettings{run: r, front: f.UI, config: p.Config}
	r.settings = &command.Settings{List: live.list, Apply: live.apply, Write: live.write}
	core := command.Core(command.Options{Agent: r.agent, UI: f.UI, Sessions: r.sessions.forResume(), Settings: r.settings, Copy: r.copier(f.UI), Prompts: r.prompts, Agents: r.inUse(), Blocks: blocks, KnowsType: r.chain.KnowsType})
	program := slices.Concat(core, hooks.list(), r.mcpCommands(f.UI), []command.Command{p.loginCommand(f, &hookAccounts{r.chain.ProviderSettings, r.models}, r.beginWith)})
	if r.child != nil {
		program = commandsOfChild(program)
	}
	commands := command.NewSet(withFront(program, own), r.chain.Commands)
	commands.Refresh = func() { r.chain.CatchUp(ctx) }
	r.prompts.UI, r.prompts.Attach = f, r.attached
	r.addServerPrompts()
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
	if err := r.loadServers(ctx); err != nil {
		return err
	}
	r.openServers()
	if err := r.beforeSession(ctx); err != nil {
		return err
	}
	opening := opening{r.sessions, r.place.Session, r.place.Attended(), r.startUser(), &r.later, r.chain.KnowsType}
	s, err := opening.open(ctx)
	if err != nil {
		return err
	}
	if name := r.place.Session.Name; name != "" && name != s.Name() {
		if _, err := s.Append(session.TypeSessionInfo, session.SessionInfo{Name: name}); err != nil {
			r.later.warn("--name: " + err.Error())
		}
	}
	err = r.newAgent(s)
	if err == nil && r.ready != nil {
		err = r.ready()
	}
	if err != nil {
		return errors.Join(err, s.Close())
	}
	return nil
}

// newAgent chooses the model and makes the agent for the session s.
func (r *run) newAgent(s *session.Session) error {
	p := r.place
	r.choice = modelChoice{place: p, models: r.models, later: &r.later}
	model, thinking, err := r.choice.choose(s)
	if err != nil {
		return err
	}
	if p.Limits.Cost > 0 && !model.Cost.Known() {
		return UsageError{Err: &unattendedError{fmt.Sprintf("--max-cost: what %s costs is not known", model.Ref()),
			fmt.Sprintf("write it down as cost = { input = …, output = … } of its [[providers.%s.models]] in config.toml, or name another model", model.Provider)}}
	}
	appended, err := p.appended()
	if err != nil {
		return err
	}
	r.prompt = agent.SystemPrompt{Replace: p.Texts.SystemPrompt, Append: appended, Skills: r.prompts.SkillList, Servers: r.mcp.section, Docs: p.docsLine()}
	p.readPromptFiles(&r.prompt, &r.later)
	r.agent = agent.New(r.agentOptions(s, model, thinking))
	return nil
}

// agentOptions are those of the agent for the session s. The system prompt is known.
func (r *run) agentOptions(s *session.Session, model *llm.Model, thinking string) agent.Options {
	p, c := r.place, r.place.Config
	return agent.Options{
		Session: s, Now: r.sessions.now, Models: r.models, Model: model, Thinking: thinking, Cycle: c.Models, Prompt: &r.prompt, Cwd: p.Cwd,
		Settings: agentSettings(c), IsChild: p.Env.getenv(process.CommandID) != "",
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
		Shell: r.shell, EachUpdate: r.script != nil, MaxCost: p.Limits.Cost,
	}
}

// filesOfClient are the files of the front end. Hooks are told of what it writes.
func (r *run) filesOfClient() tool.Files {
	files := r.files
	if write := files.Write; write != nil {
		files.Write = func(ctx context.Context, path, text string) error {
			r.chain.NoteClientWrites(path)
			defer r.chain.NoteClientWrites(path)
			return write(ctx, path, text)
		}
	}
	return files
}

// toolOptions returns the options of the tools. Commands that they start find the session
// and the model in environment variables.
func (r *run) toolOptions() tool.Options {
	o := tool.Options{Cwd: r.place.Cwd, Shell: r.place.Config.Tools.Shell, Confine: r.place.Config.Tools.Confine, Locale: r.place.locale, Home: r.place.Env.home(), Files: r.filesOfClient(), Wrap: r.wrapper("tool"), Watcher: r.place.Watcher}
	if r.child != nil {
		o.Grace = childGrace
	}
	if r.script != nil && r.script.Started != nil {
		o.Starting = func() func(int) {
			return func(group int) {
				if group > 0 {
					r.script.Started(group)
				}
			}
		}
	}
	o.ImageScale = func() bool { return r.agent != nil && r.agent.Settings().ImageScale }
	o.Session = func() string {
		if r.agent == nil {
			return ""
		}
		return r.agent.Session().ID()
	}
	o.Env = func() []string {
		own := r.place.Env.Variables
		if r.agent == nil {
			return own
		}
		s, m := r.agent.Session(), r.agent.Model()
		return append(own[:len(own):len(own)], "PI_SESSION_ID="+s.ID(), "PI_SESSION_FILE="+s.File(), "PI_PROVIDER="+m.Provider, "PI_MODEL="+m.ID)
	}
	return o
}

// messages are for the user, once a front end is there.
type messages struct {
	warnings []string
	notices  []string // of what is in order
}

func (m *messages) warn(lines ...string) { m.warnings = append(m.warnings, lines...) }

func (m *messages) inform(line string) { m.notices = append(m.notices, line) }
