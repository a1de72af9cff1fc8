package app

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"pi/agent"
	"pi/agent/attach"
	"pi/serve/print"
)

// print runs the prompts of the command line and of standard input without a person, and
// writes the answers to standard output.
func (r *run) print(ctx context.Context) error {
	// A reader that went away is an error of the write, which ends the session in
	// order, and not the end of the program. The signal is caught and not ignored:
	// commands would inherit that.
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, syscall.SIGPIPE)
	defer signal.Stop(caught)
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	texts, piped, err := r.place.printPrompts(os.Stdin)
	if err != nil {
		return err
	}
	var prompts []agent.Prompt
	for _, text := range texts {
		prompts = append(prompts, agent.Prompt{Text: text})
	}
	f := print.New(os.Stdout, os.Stderr)
	f.Ready = func() error { return r.choice.check(r.agent.Model()) }
	r.attached = func(text string) attach.Found {
		// What is piped in was not typed: a text from anywhere names no files.
		return attach.Find(strings.TrimSuffix(text, piped), r.place.attachOptions())
	}
	f.Attach = r.attached
	err = r.with(ctx, front{f, f}, "print", nil, func() error { return f.Run(ctx, r.agent, r.commands, prompts) })
	if errors.Is(err, print.ErrBrokenPipe) {
		return ErrReported
	}
	return err
}
