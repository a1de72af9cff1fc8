package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"pi/agent"
	"pi/agent/command"
	"pi/agent/llm"
	"pi/cli/config"
	"pi/cli/providers"
	"pi/internal/printable"
	"pi/internal/suggest"
	"pi/luahooks"
	"pi/luahooks/trust"
	"pi/session/message"
	"pi/stdlib"
)

func (r *run) loadHooks(ctx context.Context, mode string) error {
	if r.Config.HookEdits == "ask" {
		r.Guard.AskEdits()
	}
	o := r.chainOptions(r.Places(), r.models)
	o.Mode, o.LogPath = mode, r.hookLogPath()
	o.ApproveProject, o.AskProject = r.Hooks.Approve, r.askProject()
	o.CommandEnv, o.Grace = r.locale, time.Duration(r.Config.HookGrace)*time.Millisecond
	o.Tools, o.Inactive = r.tools()
	o.Only, o.Flags, o.Commands = r.onlyTools(), r.Hooks.Given.Values, r.allCommands
	r.chain = luahooks.New(o)
	r.models.Register(llm.ProviderSpec{Name: "demo", Aside: true, Models: llm.Listed(TourModel()), Stream: r.chain.Builtin("demo/tour", stdlib.Tour())})
	if !r.PrintMode() {
		r.chain.Meet(early{Person: Terminal()})
	}
	r.skipped = r.chain.Load(ctx)
	if err := errors.Join(r.checkHookFlags(), r.checkTools()); err != nil {
		return err
	}
	return r.reportSkipped()
}

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
		places.CommandLine = append(places.CommandLine, p.abs(config.Expand(h, config.Home(os.Getenv))))
	}
	return places
}

func reservedCommands() []string {
	return []string{"help", "model", "thinking", "new", "clear", "resume", "branch", "fork", "tree", "label", "name",
		"session", "context", "compact", "uncompact", "undo", "redo", "export", "copy", "hooks", "reload", "tools",
		"settings", "hotkeys", "quit", "exit"}
}

func (r *run) allCommands() []command.Command {
	if r.commands == nil {
		return r.chain.Commands()
	}
	return r.commands.All()
}

func names(sources []trust.Source) []string {
	var n []string
	for _, s := range sources {
		n = append(n, s.Name)
	}
	return n
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
func (r *run) checkHookFlags() error {
	known := map[string]luahooks.Flag{}
	for _, f := range r.chain.Flags() {
		known[f.Name] = f
	}
	for name := range r.Hooks.Given.Values {
		f, ok := known[name]
		switch {
		case !ok:
			return UsageError{Err: fmt.Errorf("unknown flag: --%s%s\nrun `pi --help` for the flags of pi, `pi hooks check` for those of hooks", name, nearFlag(name, r.FlagNames, r.chain.Flags()))}
		case f.Type != "boolean" && r.Hooks.Given.Bare[name]:
			return UsageError{Err: fmt.Errorf("--%s of hook %s wants a value behind =, such as --%s=VALUE", name, f.Hook, name)}
		}
	}
	return nil
}

func nearFlag(name string, own []string, flags []luahooks.Flag) string {
	names := slices.Clone(own)
	for _, f := range flags {
		names = append(names, f.Name)
	}
	if near := suggest.Nearest(name, names); near != "" {
		return ", did you mean --" + near + "?"
	}
	return ""
}

// beforeSession lets hooks have their say while there is no session yet.
func (r *run) beforeSession(ctx context.Context) error {
	if r.chain.Wants(agent.KindAppStart) {
		_ = r.chain.Handle(ctx, &agent.AppStart{})
	}
	if r.Session.Dir != "" || r.Session.None || !r.chain.Wants(agent.KindSessionDirectory) {
		return ctx.Err()
	}
	e := &agent.SessionDirectory{Cwd: r.Cwd}
	_ = r.chain.Handle(ctx, e)
	dir, err := r.sessionDirectory(e.Dir)
	if err != nil {
		r.warnings = append(r.warnings, err.Error())
	} else if dir != "" {
		r.Session.Dir = dir
	}
	return ctx.Err()
}

// sessionDirectory is a directory that a hook named; it must be one, or be
// possible to make.
func (p *Place) sessionDirectory(dir string) (string, error) {
	if dir == "" {
		return "", nil
	}
	dir = p.abs(config.Expand(dir, config.Home(os.Getenv)))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("the session directory that a hook wants: %w; the usual one is used", err)
	}
	return dir, nil
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

// tellUnheard says what hooks had to say before a start that failed: the model
// or the flag that is missing may be that of a hook that did not load.
func (r *run) tellUnheard() {
	for _, line := range r.chain.Unheard() {
		fmt.Fprintln(os.Stderr, printable.Text(line))
	}
}

func (r *run) closeHooks() {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	r.chain.Close(ctx)
}
