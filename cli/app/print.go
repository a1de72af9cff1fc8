package app

import (
	"cmp"
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"

	"pi/agent/attach"
	"pi/serve/print"
)

// print runs the prompts of the command line and of standard input without a user, and
// writes the answers to standard output, or all that happens in JSON mode.
func (r *run) print(ctx context.Context) error {
	defer catchBrokenPipes()()
	var in input
	// What is wrong with the command line is said before anything is waited for.
	r.ready = func() (err error) {
		in, err = r.place.readInput(ctx, os.Stdin)
		if in.image != nil {
			r.later.inform("attached " + in.image.Words)
		}
		return err
	}
	r.attached = func(text string) attach.Found { return r.attachedTo(in.typed(text)) }
	f, mode := print.New(os.Stdout, os.Stderr), "print"
	if r.place.Mode == ModeJSON {
		f, mode = print.NewJSON(os.Stdout, os.Stderr), "json"
	}
	if r.place.isPlain() {
		f.NoRow()
	}
	f.Ready = func() error { return r.choice.check(r.agent.Model()) }
	f.Attach = r.attached
	err := r.with(ctx, front{f, f}, mode, nil, func() error { return f.Run(ctx, r.agent, r.commands, in.prompts()) })
	err = cmp.Or(err, f.Close())
	if errors.Is(err, print.ErrBrokenPipe) {
		return ErrReported
	}
	return err
}

// catchBrokenPipes makes a reader that went away an error of the write, which ends the session
// in order, and not the end of the program. The signal is caught and not ignored: commands
// would inherit that.
func catchBrokenPipes() (stop func()) {
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, syscall.SIGPIPE)
	return func() { signal.Stop(caught) }
}
