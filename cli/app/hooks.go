package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"pi/agent"
	"pi/agent/command"
	"pi/agent/llm"
	"pi/cli/config"
	"pi/cli/providers"
	"pi/internal/suggest"
	"pi/luahooks"
	"pi/luahooks/api"
	"pi/luahooks/trust"
	"pi/repl"
	"pi/session/message"
	"pi/stdlib"
)

// loadHooks makes the chain and loads the hooks into it.
func (r *run) loadHooks(ctx context.Context, mode string) error {
	p := r.place
	if p.Config.HookEdits == "ask" {
		p.Guard.AskEdits()
	}
	o := p.chainOptions(p.Places(), r.models)
	o.Mode, o.LogPath = mode, p.hookLog()
	o.ApproveProject = p.Hooks.Approve
	if !p.PrintMode() && !p.Hooks.NoApprove {
		o.AskProject = Terminal().AskProject
	}
	o.CommandEnv, o.Grace = p.locale, time.Duration(p.Config.HookGrace)*time.Millisecond
	o.Tools, o.Inactive = p.tools(r.toolOptions())
	o.Only, o.Flags = p.onlyTools(), p.Hooks.Given.Values
	o.Commands = func() []command.Command {
		if r.commands == nil {
			return r.chain.Commands()
		}
		return r.commands.All()
	}
	r.chain = luahooks.New(o)
	r.models.Register(llm.ProviderSpec{Name: "demo", ByNameOnly: true, Models: llm.Listed(TourModel()), Stream: r.chain.Builtin("demo/tour", stdlib.Tour())})
	if !p.PrintMode() {
		r.chain.Meet(early{person: Terminal()})
	}
	r.skipped = r.chain.Load(ctx)
	if err := errors.Join(p.checkHookFlags(r.chain.Flags()), p.checkTools(r.chain.ToolNames(), &r.said)); err != nil {
		return err
	}
	return p.reportSkipped(r.skipped, &r.said)
}

func (p *Place) hookLog() string { return filepath.Join(p.AgentDir, "hooks.log") }

// chainOptions are those of every chain of this place.
func (p *Place) chainOptions(places trust.Places, models *llm.Models) luahooks.Options {
	return luahooks.Options{
		Places: places, Cwd: p.Cwd, Mode: "print", Version: p.Version, Guard: p.Guard, Models: models,
		Timeout: time.Duration(p.Config.HookTimeout) * time.Millisecond, Memory: int64(p.Config.HookMemory) << 20,
		Reserved: reservedCommands(), CheckSwitches: providers.CheckSwitches,
		Overlay: func(below *llm.ProviderSpec, settings llm.ProviderSettings) llm.ProviderSpec {
			return providers.Overlay(p.Keys, below, settings)
		},
	}
}

// Chain is a chain of the hooks at places that no session uses: it has no tools
// and nobody to ask.
func (p *Place) Chain(places trust.Places, models *llm.Models) *luahooks.Chain {
	return luahooks.New(p.chainOptions(places, models))
}

// Places says where hooks are looked for.
func (p *Place) Places() trust.Places {
	places := trust.Places{
		AgentDir: p.AgentDir, Cwd: p.Cwd, Configured: p.Config.Hooks, ConfiguredIn: p.Config.ProjectHooks,
		NoHooks: p.Hooks.None, NoProject: p.Hooks.NoApprove, Disable: p.Config.Disable,
		DisableProject: p.Config.ProjectDisable, Lost: p.Config.Lost,
	}
	for _, h := range p.Hooks.Files {
		places.CommandLine = append(places.CommandLine, absolute(p.Cwd, config.Expand(h, config.Home(os.Getenv))))
	}
	return places
}

// reservedCommands are the names of the program's own commands, in any front end, and
// of those that are to come.
func reservedCommands() []string {
	own := slices.Concat(command.Core(command.Options{Sessions: &command.Sessions{}}), new(hookCommands).list(), new(repl.REPL).Commands()) // only their names are looked at
	names := []string{"copy", "settings"}
	for _, c := range command.NewSet(own, nil).All() {
		names = append(append(names, c.Name), c.Aliases...)
	}
	return names
}

// checkNamedHooks refuses a --hook that names no file.
func (p *Place) checkNamedHooks() error {
	if len(p.Hooks.Files) == 0 {
		return nil
	}
	places := p.Places()
	places.NoHooks = true
	for _, s := range places.Discover(p.Guard).Sources {
		if s.Missing() {
			return UsageError{Err: fmt.Errorf("--hook: %w", s.Err)}
		}
	}
	return nil
}

// checkHookFlags refuses flags that no hook has, and those that lack a value.
func (p *Place) checkHookFlags(flags []api.Flag) error {
	known, names := map[string]api.Flag{}, slices.Clone(p.FlagNames)
	for _, f := range flags {
		known[f.Name], names = f, append(names, f.Name)
	}
	for name := range p.Hooks.Given.Values {
		f, ok := known[name]
		switch {
		case !ok:
			near := suggest.Nearest(name, names)
			if near != "" {
				near = ", did you mean --" + near + "?"
			}
			return UsageError{Err: fmt.Errorf("unknown flag: --%s%s\nrun `pi --help` for the flags of pi, `pi hooks check` for those of hooks", name, near)}
		case f.Type != "boolean" && p.Hooks.Given.Bare[name]:
			return UsageError{Err: fmt.Errorf("--%s of hook %s wants a value behind =, such as --%s=VALUE", name, f.Hook, name)}
		}
	}
	return nil
}

// beforeSession asks the hooks what is to be known before there is a session: in
// which folder the sessions of this run are.
func (r *run) beforeSession(ctx context.Context) error {
	p := r.place
	if r.chain.Wants(agent.KindAppStart) {
		_ = r.chain.Handle(ctx, &agent.AppStart{})
	}
	if p.Session.Dir != "" || p.Session.None || !r.chain.Wants(agent.KindSessionDirectory) {
		return ctx.Err()
	}
	e := &agent.SessionDirectory{Cwd: p.Cwd}
	_ = r.chain.Handle(ctx, e)
	if e.Dir != "" {
		dir := absolute(p.Cwd, config.Expand(e.Dir, config.Home(os.Getenv)))
		if err := os.MkdirAll(dir, 0o700); err != nil {
			r.said.warn(fmt.Sprintf("the session directory that a hook wants: %v; the usual one is used", err))
		} else {
			r.sessions.Root = dir
		}
	}
	return ctx.Err()
}

// watchHooks makes what a person saves in a hook take effect.
func (r *run) watchHooks(ctx context.Context) {
	if err := r.chain.Watch(ctx); err != nil {
		r.agent.Notify(ctx, agent.LevelWarning, fmt.Sprintf("hooks are not watched: %v; /reload loads them anew", err))
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
	if m, ok := e.(*agent.MessageStart); ok && m.Message.Role == message.RoleAssistant {
		w.once.Do(w.begin)
	}
	return nil
}
