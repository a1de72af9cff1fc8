package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"pi/agent"
	"pi/agent/llm"
	"pi/cli/config"
	"pi/internal/printable"
	"pi/serve/acp"
)

// editors serves a client that drives agents by the Agent Client Protocol. Its sessions
// are runs of their own, each in a place of its own, for which the options of the command
// line hold as well.
type editors struct{ place *Place }

// serveACP serves the client at standard input and output until it is gone.
func (p *Place) serveACP(ctx context.Context) error {
	defer catchBrokenPipes()()
	if err := p.refusePrompts(); err != nil {
		return err
	}
	if f := p.Session; f.Last || f.Fork || f.ReadOnly || f.Wait || f.Ref+f.Resume.Ref+f.ID+f.Name != "" {
		fmt.Fprintln(os.Stderr, "warning: with --mode acp the client says which sessions are opened; flags that name one are ignored")
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
// because a file that holds everywhere was changed and nobody has approved that.
func (p *Place) checkBeforeSessions(ctx context.Context) error {
	if err := p.refusePending(); err != nil {
		return err
	}
	if err := errors.Join(p.checkNamedHooks(), p.checkNamedPrompts()); err != nil {
		return err
	}
	if len(p.Hooks.Given.Values)+len(p.Tools.Named)+len(p.Tools.Excluded) == 0 && p.Model+p.Provider+p.Models+p.Thinking+p.ModeName == "" {
		return nil
	}
	return p.tryFlags(ctx)
}

// tryFlags makes a run of a session that is not kept, for what is wrong with flags is found
// on the way: they may be those of hooks, or name what only hooks bring.
func (p *Place) tryFlags(ctx context.Context) error {
	trial := *p
	trial.Session = SessionFlags{None: true}
	r := trial.newRun()
	r.ready = r.checkNamedModel
	if err := r.begin(ctx, front{noListener{}, agent.NoUI{}}, modeACP, nil); err != nil {
		return err
	}
	defer r.closeHooks(context.WithoutCancel(ctx))
	return r.agent.Session().Close()
}

// noListener is a listener that wants nothing.
type noListener struct{}

// Wants is false.
func (noListener) Wants(agent.Kind) bool { return false }

// Handle does nothing.
func (noListener) Handle(context.Context, agent.Event) error { return nil }

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
