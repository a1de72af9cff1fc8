package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"pi/agent/llm"
	"pi/agent/provider/catalogue"
	"pi/cli/config"
	"pi/cli/providers"
	"pi/internal/printable"
	"pi/serve/acp"
	"pi/session"
)

// editors serves a client that drives agents by the Agent Client Protocol. Its sessions
// are runs of their own, each in a place of its own, for which the options of the command
// line hold as well.
type editors struct{ place *Place }

// serveACP serves the client at standard input and output until it is gone.
func (p *Place) serveACP(ctx context.Context) error {
	defer catchBrokenPipes()()
	if len(p.Prompts) > 0 {
		fmt.Fprintln(os.Stderr, "pi: the words behind the flags are ignored: with --mode acp the client sends the prompts")
	}
	if err := p.checkBeforeSessions(ctx); err != nil {
		return err
	}
	server := acp.New(acp.Options{
		In: os.Stdin, Out: os.Stdout, Log: os.Stderr, Version: p.Version,
		Host: editors{p}, Root: p.Sessions().Root, Catch: p.Catch,
	})
	if err := server.Run(ctx); errors.Is(err, acp.ErrGone) {
		return ErrReported
	} else if err != nil {
		return err
	}
	return nil
}

// checkBeforeSessions finds what is wrong for every session: with the command line, or
// because a file that holds everywhere was changed and nobody has approved that. Hooks
// are only loaded for it where the command line has flags that may be theirs.
func (p *Place) checkBeforeSessions(ctx context.Context) error {
	if err := p.refusePending(); err != nil {
		return err
	}
	if err := errors.Join(p.checkNamedHooks(), p.checkNamedPrompts()); err != nil {
		return err
	}
	if len(p.Hooks.Given.Values)+len(p.Tools.Named)+len(p.Tools.Excluded) == 0 && p.Model+p.Provider+p.Models+p.Thinking == "" {
		return nil
	}
	r := p.newRun()
	r.models = providers.New(p.Config, p.Keys, catalogue.Models)
	err := r.loadHooks(ctx, modeACP)
	defer r.closeHooks(context.WithoutCancel(ctx))
	if err != nil {
		return err
	}
	r.choice = modelChoice{place: p, models: r.models, later: &r.later}
	_, _, err = r.choice.choose(session.New(session.Options{Cwd: p.Cwd}))
	return err
}

// refusePending returns an error if changes wait for approval that concern the runs in all
// directories.
func (p *Place) refusePending() error {
	places := p.Places()
	places.Cwd = p.AgentDir // no project
	var names []string
	for _, w := range p.Guard.ShowPending() {
		if w.Concerns(places) {
			names = append(names, printable.VisibleLine(config.Tilde(w.Path))+" was "+w.Change)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return &UntrustedError{Text: "not run: changed while the agent was at work and not approved: " + strings.Join(names, ", ")}
}

// Open makes a run in the directory that the client wants.
func (e editors) Open(ctx context.Context, o acp.Opening) (*acp.Run, error) {
	options := e.place.Options
	options.Session = SessionFlags{Ref: o.Path, Dir: e.place.Session.Dir, None: e.place.Session.None}
	place, err := New(options, o.Cwd)
	if err != nil {
		return nil, err
	}
	r := place.newRun()
	r.files = o.Files
	r.files.Except = place.ownFiles()
	if err := r.approve(ctx); err != nil {
		return nil, err
	}
	if err := r.begin(ctx, front{o.Listener, o.UI}, modeACP, nil); err != nil {
		return nil, err
	}
	return &acp.Run{Agent: r.agent, Commands: r.commands, Ready: r.readyForClient, Close: r.close}, nil
}

// ownFiles are those that are read and written on the disk though the client has files:
// where hooks, skills and settings are, changes are noticed by who looks at the disk.
func (p *Place) ownFiles() []string {
	places := p.Places()
	own := []string{p.AgentDir, filepath.Join(p.Cwd, ".pi"), filepath.Join(p.Cwd, ".agents")}
	return slices.DeleteFunc(slices.Concat(own, places.CommandLine, places.Configured), func(path string) bool { return !filepath.IsAbs(path) })
}

// Remove moves a session to the trash.
func (e editors) Remove(path string) error {
	_, err := e.place.Sessions().Remove(path, false)
	return err
}

// readyForClient is what says before each prompt of a client whether it can be sent. chosen
// says that the client has chosen the model: then that one is meant, be it the demo.
func (r *run) readyForClient(chosen bool) error {
	choice := r.choice
	if chosen {
		choice.by = byFlag
	}
	err := choice.check(r.agent.Model())
	if missing, ok := errors.AsType[*NoKeyError](err); ok {
		return &llm.ProviderError{Provider: "No API key found", Message: strings.TrimPrefix(missing.text, "not sent: "), NextStep: missing.hint, Err: err}
	}
	return err
}
