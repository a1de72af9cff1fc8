// Package cli is the command line: flags, subcommands, exit statuses, and what is
// said outside of a session. [Main] is the program; only it, and what stands here,
// knows the arguments and the directory of the process.
//
//	cli.go          from arguments to an exit status; status.go: what each says
//	flags.go        flags of a run; sessionflags.go: those that name a session;
//	                hookflags.go: those that hooks bring
//	subcommand.go   what subcommands share
//	sessions.go     pi sessions; session*.go: its list, show, export and rm
//	hooks.go        pi hooks; hookcheck.go, hookapprove.go: those commands of it;
//	                luatypes.go: what an editor is told
//	trust.go        pi trust
//	models.go       pi models; modeltable.go: its table
//	config.go       pi config
//	output.go       what is written for programs, and lines for the person
//	crash.go        an end with a report: SIGQUIT, SIGABRT, a panic
//	collector.go    when garbage is collected while the program starts
package cli

import (
	"cmp"
	"context"
	"errors"
	"os/signal"
	"strings"
	"syscall"

	"pi/agent/command"
	"pi/cli/app"
	"pi/internal/printable"
)

// Main runs pi with the arguments behind its name and returns the exit status.
func Main(args []string) int {
	if len(args) == 1 && (args[0] == "--version" || args[0] == "-v") {
		printVersion()
		return exitDone
	}
	return TestOnlyMain(args, func() {})
}

// TestOnlyMain is Main, and does work before the front end begins, under the net
// that catches its panics.
func TestOnlyMain(args []string, work func()) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	crash := newCrash(cancel)
	defer crash.watch()()
	o := app.Options{Version: version, Catch: func(run func() error) error {
		return crash.catch(func() error {
			work()
			return run()
		})
	}}
	args = joinResume(splitDoubleShort(args))
	root := newRoot(&o, asksToPrint(args))
	args, o.Hooks.Given = cutHookFlags(root, args)
	root.SetArgs(args)
	err := crash.catch(func() error { return root.ExecuteContext(ctx) })
	status := exitStatus(err)
	if ctx.Err() != nil {
		status = exitTerminated
	}
	if err != nil && !errors.Is(err, app.ErrReported) && !(ctx.Err() != nil && errors.Is(err, context.Canceled)) {
		tell("pi: " + err.Error())
		if hint := cmp.Or(command.HintOf(err), sessionHint(err)); hint != "" {
			tell("    " + strings.ReplaceAll(printable.Text(hint), "\n", "\n    "))
		}
	}
	return crash.tell(status)
}

// splitDoubleShort turns -na, which is one flag, into its long form.
func splitDoubleShort(args []string) []string {
	out := make([]string, len(args))
	for i, a := range args {
		if a == "--" {
			copy(out[i:], args[i:])
			break
		}
		if a == "-na" {
			a = "--no-approve"
		}
		out[i] = a
	}
	return out
}

// asksToPrint reports whether -p is among the flags: then every word is a prompt
// and none the name of a subcommand.
func asksToPrint(args []string) bool {
	for _, a := range args {
		switch a {
		case "--":
			return false
		case "-p", "--print":
			return true
		}
	}
	return false
}
