package app

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"pi/agent"
	"pi/agent/llm"
	"pi/cli/providers"
	"pi/internal/suggest"
	"pi/luahooks"
	"pi/luahooks/api"
	"pi/luahooks/replay"
	"pi/luahooks/trust"
)

func (p *Place) hookLog() string { return filepath.Join(p.AgentDir, "hooks.log") }

// chainOptions returns the options that every set of hooks in this place is loaded with.
// The caller adds what only a session needs.
func (p *Place) chainOptions(places trust.Places, models *llm.Models) luahooks.Options {
	return luahooks.Options{
		Settings: p.newHookTables(p.hookSecret).of,
		Places:   places, Paths: p.paths(), Cwd: p.Cwd, Mode: "print", Version: p.Version, Guard: p.Guard, Models: models, Compiled: p.Compiled,
		Timeout: time.Duration(p.Config.HookTimeout) * time.Millisecond, Memory: int64(p.Config.HookMemory) << 20,
		Reserved: ReservedCommands(), Getenv: p.Env.Getenv, CheckSwitches: providers.CheckSwitches,
		Overlay: func(below *llm.ProviderSpec, settings llm.ProviderSettings) llm.ProviderSpec {
			return providers.Overlay(p.Keys, p.Catalogue.Models, below, settings)
		},
	}
}

// paths are what hooks are told of where things are.
func (p *Place) paths() api.Paths {
	paths := api.Paths{Agent: p.AgentDir, Project: p.Cwd}
	paths.Program, _ = os.Executable() // "" where the system cannot tell
	if root := p.Sessions().Root; root != "" {
		paths.Sessions = &root
	}
	return paths
}

// Chain returns hooks that can be loaded and looked at, but are used in no session: they
// have no tools and nobody to ask.
func (p *Place) Chain(places trust.Places, models *llm.Models) *luahooks.Chain {
	return luahooks.New(p.chainOptions(places, models))
}

// ChainToReplay is Chain for hooks that are only loaded to be replayed: nothing that they are
// asked meanwhile has an effect.
func (p *Place) ChainToReplay(places trust.Places, models *llm.Models) *luahooks.Chain {
	o := p.chainOptions(places, models)
	o.Confine = replay.Confine
	o.Settings = p.newHookTables(func(context.Context, string) (string, error) { return "secret", nil }).of
	return luahooks.New(o)
}

// Places returns where hooks are looked for: the agent directory, the project, the
// settings and the command line, and which of them are switched off.
func (p *Place) Places() trust.Places {
	places := trust.Places{
		AgentDir: p.AgentDir, Cwd: p.Cwd, Configured: p.Config.Hooks, ConfiguredIn: p.Config.ProjectHooks,
		NoHooks: p.Hooks.None, NoProject: p.Hooks.NoApprove, Disable: p.Config.Disable,
		DisableProject: p.Config.ProjectDisable, Lost: p.Config.Lost,
	}
	places.Servers, places.Programs = p.serverFiles()
	for _, h := range p.Hooks.Files {
		places.CommandLine = append(places.CommandLine, p.namedPath(h))
	}
	return places
}

// ReservedCommands returns the names that commands of hooks come behind: those of the
// program in any front end, with aliases.
func ReservedCommands() []string {
	return []string{
		"agents", "branch", "clear", "compact", "context", "copy", "exit", "expand", "export", "fork", "help", "hooks", "hotkeys", "label", "login", "logout",
		"mcp", "mode", "model", "name", "new", "quit", "redo", "reload", "resume", "session", "settings", "skills", "thinking", "tools", "tree",
		"uncompact", "undo",
	}
}

// checkNamedHooks returns a usage error if a --hook names a file that does not exist.
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

// checkModeName returns a usage error if --mode-name is none of the modes that hooks have.
func (p *Place) checkModeName(known []string) error {
	name := p.ModeName
	if agent.IsNoMode(name) || slices.Contains(known, name) {
		return nil
	}
	switch hint := suggest.Hint(name, known); {
	case hint != "":
		return UsageError{Err: fmt.Errorf("--mode-name: no mode %q%s", name, hint)}
	case len(known) > 0:
		return UsageError{Err: fmt.Errorf("--mode-name: no mode %q; there are %s", name, strings.Join(known, ", "))}
	}
	return UsageError{Err: fmt.Errorf("--mode-name: no mode %q; no hook has a mode", name)}
}

// checkHookFlags returns a usage error if the command line has a flag that neither pi nor
// a hook has, or one of a hook that lacks its value. flags are those that the hooks have.
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
