// Package cli is the command line: flags, subcommands, exit statuses, and what is
// printed outside of a session. [Main] is the program. Only this package knows the
// arguments and the directory of the process.
//
//	cli.go          from arguments to an exit status; status.go: what each says
//	args.go         arguments as the flag library understands them; subcommands with a typing mistake
//	flags.go        flags of a run; flagtable.go: the table of them, of which help, manual,
//	                documents and completion are made; sessionflags.go: those that name a session;
//	                limitflags.go: those that limit it; hookflags.go: those that hooks bring
//	subcommand.go   what subcommands share
//	sessions.go     pi sessions; session*.go: its list, show, export and rm
//	hooks.go        pi hooks; hookcheck.go, hookapprove.go: those commands of it;
//	                hooktext.go: what a hook does and what is wrong with it, by its text;
//	                hookadd.go, hookupdate.go: hooks come in and go; hookexamples.go: those of
//	                the program; package*.go: those of others
//	                luatypes.go: what an editor is told
//	trust.go        pi trust
//	mcp.go          pi mcp; mcp*.go: its list, add, remove, import, login and logout
//	models.go       pi models; modeltable.go: its table
//	config.go       pi config
//	docs.go         pi docs
//	completion.go   pi completion; completionvalues.go: what values can be; bashline.go: a line of bash
//	man.go          pi man
//	output.go       what is written for programs, and lines for the user
//	signals.go      an end that others ask for: TERM, HUP, INT
//	crash.go        an end with a report: SIGQUIT, SIGABRT, a panic
//	collector.go    when garbage is collected while the program starts
package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"pi/agent/command"
	"pi/cli/app"
	"pi/internal/printable"
	"pi/internal/version"
)

// Main runs pi with the arguments behind its name and returns the exit status.
func Main(args []string) int { return Run(args, Options{}) }

// Options are for a program that is pi and does something besides.
type Options struct {
	// BeforeFront is called before the front end begins, at a point where panics are caught as
	// in the front end; nil: nothing is.
	BeforeFront func()
}

// Run is [Main] with options.
func Run(args []string, with Options) int {
	began := time.Now()
	if len(args) == 1 && (args[0] == "--version" || args[0] == "-v") {
		tellVersion()
		return exitDone
	}
	asked, end := context.WithCancel(context.Background()) // to end, by a signal
	defer end()
	ctx, cancel := context.WithCancel(asked)
	defer cancel()
	crash := newCrash(cancel)
	signals := newSignals(crash, end)
	defer signals.watch()()
	defer crash.watch(asked, signals.status)()
	o := app.Options{Version: version.Program(), Began: began, Overdue: func() { crash.force(exitTimeLimit) }, Catch: func(run func() error) error {
		return crash.catch(func() error {
			if with.BeforeFront != nil {
				with.BeforeFront()
			}
			return run()
		})
	}}
	o.Broke, o.CatchInterrupts = crash.broke, signals.catchInterrupts
	o.Watcher = app.NewWatcher()
	defer o.Watcher.Close()
	goOn := ""
	o.Left = func(command string) { goOn = command }
	root := newRoot(&o)
	args, promptsOnly := prepareArgs(root, args)
	if !promptsOnly {
		addCommands(root, &o)
	}
	args, o.Hooks.Given = cutHookFlags(root, args)
	root.SetArgs(args)
	err := crash.catch(func() error { return root.ExecuteContext(ctx) })
	if err != nil && isForEditor(args) && ctx.Err() == nil && !errors.Is(err, app.ErrReported) {
		tellError(err) // where editors keep what programs log
		// The editor is told too why its sessions cannot be begun.
		err = crash.catch(func() error {
			cwd, failed := os.Getwd()
			if failed != nil {
				return errors.Join(err, failed)
			}
			return app.ServeRefusing(ctx, o, cwd, err)
		})
	}
	status := exitStatus(err)
	if by := signals.status(); by != 0 {
		status = by
	}
	if err != nil && !errors.Is(err, app.ErrReported) && !(ctx.Err() != nil && errors.Is(err, context.Canceled)) {
		tellError(err)
	}
	status = crash.tell(status)
	if goOn != "" && !signals.hungUp() {
		fmt.Println("to go on: " + printable.Text(goOn))
	}
	return status
}

func tellVersion() { fmt.Println("pi " + version.Program()) }

// tellError says what went wrong, and the next step.
func tellError(err error) {
	tell("pi: " + err.Error())
	if hint := cmp.Or(command.HintOf(err), sessionHint(err)); hint != "" {
		tell("    " + strings.ReplaceAll(printable.Text(hint), "\n", "\n    "))
	}
}

// isForEditor reports whether an editor has started the program to be served, whatever else
// the arguments say.
func isForEditor(args []string) bool {
	if end := slices.Index(args, "--"); end >= 0 {
		args = args[:end]
	}
	mode := slices.Index(args, "--mode") + 1 // where its value stands
	return (slices.Contains(args, "--mode=acp") || mode > 0 && mode < len(args) && args[mode] == "acp") && !slices.Contains(args, "--login")
}
