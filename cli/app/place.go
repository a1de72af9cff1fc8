package app

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"pi/agent/provider/catalogue"
	"pi/agent/tool"
	"pi/cli/config"
	"pi/cli/keyring"
	"pi/cli/mcpfile"
	"pi/cli/packages"
	"pi/internal/filelock"
	"pi/internal/printable"
	"pi/internal/process"
	"pi/luahooks"
	"pi/luahooks/trust"
)

// Place is a directory to work in with everything that holds there before a
// session begins: what a command needs that asks no model.
type Place struct {
	Options
	Config   config.Config // in force here
	AgentDir string
	// Catalogue is the list of models, which is not read before somebody asks for some.
	Catalogue *catalogue.Catalogue
	Cwd       string
	Guard     *trust.Guard
	Keys      *keyring.Ring
	Locks     *filelock.Locks // of files that tools and hooks change

	lost   []config.Problem // settings that have no effect
	locale func() []string  // of the commands that tools and hooks run, see tool.NewLocale
}

// New reads the settings and approvals that are in force in cwd, an absolute path.
// Problems with them are written to standard error; the error says only that there is no
// agent directory.
func New(o Options, cwd string) (*Place, error) {
	agentDir, err := config.AgentDir(o.Env.getenv)
	if err != nil {
		return nil, err
	}
	o.Compiled = cmp.Or(o.Compiled, new(luahooks.Compiled)) // of the runs that get these options
	o.ClientFiles = cmp.Or(o.ClientFiles, new(trust.ClientFiles))
	p := &Place{Options: o, AgentDir: agentDir, Cwd: cwd, locale: tool.NewLocale(os.Environ()), Catalogue: catalogue.Open(agentDir),
		Locks: filelock.New(filepath.Join(agentDir, "locks"))}
	places := func() trust.Places { // of the hooks that the settings on the disk name, which may not be in force
		cfg, _ := config.Load(agentDir, cwd, o.Env.getenv, nil)
		return trust.Places{AgentDir: agentDir, Cwd: cwd, Configured: cfg.Hooks}
	}
	p.Guard, err = trust.NewGuard(trust.GuardOptions{AgentDir: agentDir, Project: cwd, Home: o.Env.home(), Alive: process.Alive, Own: process.Own(), Clients: o.ClientFiles, Places: places, Team: packages.ParseTeam, Around: packages.Around, Mask: config.MaskKeys, Entries: config.HookEntries, MaskServers: mcpfile.Mask, Judge: o.Hooks.Judge})
	if err != nil { // it does not stop pi
		fmt.Fprintln(p.Env.stderr(), "pi: "+printable.Text(err.Error()))
	}
	if err := p.Packages().Recover(); err != nil { // what was broken off is a package that a user wants
		fmt.Fprintln(p.Env.stderr(), "pi: "+printable.Text(err.Error()))
	}
	p.Keys = keyring.New(keyring.Options{AgentDir: agentDir, MayRun: p.Guard.MayRunCommand, Getenv: o.Env.getenv})
	p.readSettings()
	return p, nil
}

// Look is [New] for those who only look, as a shell does that completes a word: nothing is recovered or
// written, no command that prints a key is run, no approval counts, and no problem is told.
func Look(o Options, cwd string) (*Place, error) {
	agentDir, err := config.AgentDir(o.Env.getenv)
	if err != nil {
		return nil, err
	}
	p := &Place{Options: o, AgentDir: agentDir, Cwd: cwd, Catalogue: catalogue.Open(agentDir), Guard: trust.NewForRun(cwd)}
	p.Keys = keyring.New(keyring.Options{AgentDir: agentDir, MayRun: func(string) error { return errOnlyLooks }, Getenv: o.Env.getenv})
	p.Config, p.lost = config.Load(agentDir, cwd, o.Env.getenv, nil)
	return p, nil
}

// errOnlyLooks is why a place of [Look] runs nothing.
var errOnlyLooks = errors.New("nothing is run by those who only look")

// Problems are the settings that have no effect, and why.
func (p *Place) Problems() []config.Problem { return p.lost }

// unreadFile is the settings file of which nothing could be used, and where the mistake is; ""
// if there is none.
func (p *Place) unreadFile() string {
	for _, problem := range p.lost {
		if problem.Unread && problem.File == filepath.Join(p.AgentDir, "config.toml") {
			return problem.Where()
		}
	}
	return ""
}

// commandEnv returns the variables of the commands that tools and hooks run, beside those of
// the process.
func (p *Place) commandEnv() []string { return append(p.locale(), p.Env.Variables...) }

// readSettings reads the configuration as far as it is approved, and writes its problems
// to standard error. They do not end the program (see unattended.go for runs without a
// user).
func (p *Place) readSettings() {
	p.Config, p.lost = config.Load(p.AgentDir, p.Cwd, p.Env.getenv, p.Guard.Config)
	for _, problem := range p.lost {
		text := fmt.Sprint(problem)
		if problem.Unread {
			text = "error: " + text + "; nothing of this file is used"
		}
		fmt.Fprintln(p.Env.stderr(), printable.Text(text))
	}
	if p.Models != "" {
		changed, err := p.Config.Change("models", p.Models, "--models", p.Env.getenv)
		if err != nil {
			fmt.Fprintln(p.Env.stderr(), printable.Text("--models: "+err.Error()))
			return
		}
		p.Config = changed
	}
}

// absolute makes a path that a user wrote absolute; a relative one begins in cwd.
func absolute(cwd, path string) string {
	switch {
	case filepath.IsAbs(path):
	case path != "" && os.IsPathSeparator(path[0]): // on Windows it names no drive
		path = filepath.VolumeName(cwd) + path
	default:
		path = filepath.Join(cwd, path)
	}
	return filepath.Clean(path)
}

// Environment is what a run takes for the environment of the process. The zero value is
// that itself.
type Environment struct {
	// Getenv is what the settings, the keys and os.getenv of hooks see; nil: os.Getenv.
	Getenv func(name string) string
	// Variables (NAME=value) are given to programs that tools and hooks start, beside those
	// of the process.
	Variables []string
	// Problems of the settings are written here; nil: standard error.
	Stderr io.Writer
}

func (e Environment) stderr() io.Writer {
	if e.Stderr != nil {
		return e.Stderr
	}
	return os.Stderr
}

// getenv returns a variable of the run's environment, "" if it is not set.
func (e Environment) getenv(name string) string {
	if e.Getenv != nil {
		return e.Getenv(name)
	}
	return os.Getenv(name)
}

// home returns the home directory that the environment names; "" if it names none.
func (e Environment) home() string { return config.Home(e.getenv) }
