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
	"pi/cli/mcpfile"
	"pi/serve/acp"
)

// editors serves a client that drives agents by the Agent Client Protocol. Its sessions
// are runs of their own, each in a place of its own, for which the options of the command
// line hold as well.
type editors struct{ place *Place }

// serveACP serves the client at standard input and output until it is gone.
func (p *Place) serveACP(ctx context.Context) error {
	if err := p.refusePrompts(); err != nil {
		return err
	}
	if f := p.Session; f.Last || f.Fork || f.ReadOnly || f.Wait || f.Ref+f.Resume.Ref+f.ID+f.Name != "" {
		fmt.Fprintln(os.Stderr, "warning: with --mode acp the client says which sessions are opened; flags that name one are ignored")
	}
	return serveEditor(ctx, acp.New(acp.Options{
		In: os.Stdin, Out: os.Stdout, Version: p.Version,
		Opener: editors{p}, Root: p.Sessions().Root, Catch: p.Catch, SignIn: []string{"--login"},
	}))
}

// ServeRefusing serves the client of an editor that has started the program in a way that
// cannot be: why is the answer to each session that it would begin, since editors show no
// other. Sessions can be listed and removed meanwhile.
func ServeRefusing(ctx context.Context, o Options, cwd string, why error) error {
	server := acp.New(acp.Options{In: os.Stdin, Out: os.Stdout, Version: o.Version, Opener: refusing{why: why}, Catch: o.Catch})
	if p, err := New(o, cwd); err == nil {
		server.Root, server.Opener = p.Sessions().Root, refusing{editors{p}, why}
	}
	return serveEditor(ctx, server)
}

// refusing opens no session.
type refusing struct {
	sessions editors // those that there are
	why      error
}

// Open fails.
func (r refusing) Open(context.Context, acp.SessionRequest) (*acp.Run, error) {
	return nil, oneLine{r.why}
}

// Remove moves a session to the trash.
func (r refusing) Remove(path string) error { return r.sessions.Remove(path) }

// oneLine is an error of several lines in one.
type oneLine struct{ error }

func (e oneLine) Error() string { return strings.ReplaceAll(e.error.Error(), "\n", "; ") }
func (e oneLine) Unwrap() error { return e.error }

// serveEditor serves a client until it is gone.
func serveEditor(ctx context.Context, server *acp.Server) error {
	defer catchBrokenPipes()()
	if err := server.Run(ctx); errors.Is(err, acp.ErrGone) {
		return ErrReported
	} else if err != nil {
		return err
	}
	return nil
}

// Open makes a run in the directory that the client wants. An error is one line.
func (e editors) Open(ctx context.Context, o acp.SessionRequest) (*acp.Run, error) {
	run, err := e.open(ctx, o)
	if err != nil {
		return nil, oneLine{err}
	}
	return run, nil
}

func (e editors) open(ctx context.Context, o acp.SessionRequest) (*acp.Run, error) {
	options := e.place.Options
	options.Session = SessionFlags{Ref: o.Path, ID: o.ID, Given: true, Dir: e.place.Session.Dir, None: e.place.Session.None}
	place, err := New(options, o.Cwd)
	if err != nil {
		return nil, err
	}
	r := place.newRun()
	r.ready = r.checkNamedModel
	servers, unused := mcpfile.FromClient(o.Servers)
	r.client = servers
	r.later.warn(unused...)
	if !place.OwnFiles {
		r.files = o.Files
		r.files.Except = place.ownFiles()
	}
	if err := r.approve(ctx); err != nil {
		return nil, err
	}
	for _, problem := range place.lost {
		r.later.warn(fmt.Sprint(problem))
	}
	if err := r.begin(ctx, front{o.Listener, o.UI}, ModeACP, nil); err != nil {
		return nil, err
	}
	return &acp.Run{Agent: r.agent, Commands: r.commands, Ready: r.readyForClient, Answered: r.mcp.beginClient, Close: r.close}, nil
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
