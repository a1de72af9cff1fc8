package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"pi/internal/printable"
	"pi/serve/rpc"
)

// rpcEnd is how long the end of RPC may take: a client kills what does not end soon.
const rpcEnd = 2 * time.Second

// rpc serves the client at standard input and output until it is gone, or the run is to end.
// What is wrong with the start is said on standard error, before anything is read or written.
func (r *run) rpc(ctx context.Context) error {
	defer catchBrokenPipes()()
	p := r.place
	if err := p.refusePrompts(); err != nil {
		return err
	}
	r.ready = func() error { return errors.Join(r.checkNamedModel(), r.checkNamedSession()) }
	s := rpc.New(os.Stdin, os.Stdout, os.Stderr, rpc.Options{
		Ready: func() error { return r.choice.check(r.agent.Model()) }, Cycle: p.Config.Models, Sessions: &r.sessions, Version: p.Version})
	if err := r.begin(ctx, front{s, s.UI()}, ModeRPC, nil); err != nil {
		return err
	}
	s.Begin(ctx, r.agent, r.commands)
	r.agent.Start(ctx)
	err := r.guard(s.Run)
	// A client that has asked for the end may not wait for that of the hooks.
	err = errors.Join(err, r.agent.Session().Sync())
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), rpcEnd)
	defer cancel()
	err = joinSaved(err, r.close(last))
	switch unread := s.Close(last); {
	case errors.Is(unread, rpc.ErrUnread): // a client that is stuck is no failure of this side
		fmt.Fprintf(os.Stderr, "warning: %v\n", unread)
	default:
		err = errors.Join(err, unread)
	}
	if errors.Is(err, rpc.ErrBrokenPipe) {
		return ErrReported
	}
	return err
}

// refusePrompts says that nobody sends the prompts of the command line where a client does. A
// file among them is a usage error: whoever names it counts on its text.
func (p *Place) refusePrompts() error {
	for _, text := range p.Prompts {
		if strings.HasPrefix(text, "@") {
			return UsageError{Err: fmt.Errorf("--mode %s takes no files: %s", p.Mode, printable.VisibleLine(text))}
		}
	}
	if len(p.Prompts) > 0 || p.Print {
		fmt.Fprintf(os.Stderr, "warning: with --mode %s the client sends the prompts; -p and the words behind the flags are ignored\n", p.Mode)
	}
	return nil
}

// checkNamedModel returns an error if the command line names a model that cannot be asked.
func (r *run) checkNamedModel() error {
	if r.choice.by != byFlag {
		return nil
	}
	return r.choice.check(r.agent.Model())
}

// checkNamedSession returns an error if the command line names the session of another directory
// by its id: a client may not know that it is of another one, and nobody can be asked.
func (r *run) checkNamedSession() error {
	flags, s := r.place.Session, r.agent.Session()
	if flags.Ref == "" || isPath(flags.Ref) || flags.Fork || s.Cwd() == "" || s.Cwd() == r.place.Cwd {
		return nil
	}
	return SessionError{Err: fmt.Errorf("session %s was started in %s, not here: --fork %s goes on in a copy, and --session with its file, %s, goes on with it here",
		s.ID(), s.Cwd(), flags.Ref, s.File())}
}
