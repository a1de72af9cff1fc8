package cli

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"pi/cli/app"
	"pi/internal/suggest"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

const usageExamples = `  pi                                     talk in the terminal
  pi "explain this repository"           the same, beginning with a prompt
  pi -p "list the files"                 print the answer and leave
  pi -p "explain @main.go:10-40"         a file, or some lines of it, goes along
  git diff | pi -p "review this"         the input goes along
  pi -p /review                          a command, or a prompt template
  pi --continue                          go on with the last session here; --resume lets you pick one
  pi --model anthropic/claude-sonnet-5-5:high
  pi --hook ./gate.lua                   with one more hook`

// newRoot returns the command line of pi without its subcommands, which fills o and starts what
// it asks for.
func newRoot(o *app.Options) *cobra.Command {
	var showVersion bool
	root := &cobra.Command{
		Use:               "pi [flags] [prompt...]",
		Short:             "A coding agent in a plain shell whose behaviour is Lua that you edit while it runs.",
		Example:           usageExamples,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: attachable,
		SilenceErrors:     true,
		SilenceUsage:      true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if showVersion {
				tellVersion()
				return nil
			}
			if err := refuseMisspelt(cmd, args); err != nil {
				return err
			}
			o.Prompts = args
			if known := app.Modes(); cmd.Flags().Changed("mode") && !slices.Contains(known, o.Mode) {
				return app.UsageError{Err: fmt.Errorf("no --mode %q%s\nmodes are %s", o.Mode, suggest.Hint(o.Mode, known), strings.Join(known, ", "))}
			}
			if err := o.Tools.Check(); err != nil {
				return err
			}
			if err := checkSessionFlags(cmd.Flags(), o); err != nil {
				return err
			}
			if err := checkLimitFlags(cmd.Flags(), o); err != nil {
				return err
			}
			time.AfterFunc(startTime, quietStart())
			p, err := here(*o)
			if err != nil {
				return err
			}
			return app.Start(cmd.Context(), p)
		},
	}
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return app.UsageError{Err: fmt.Errorf("%w\nrun `%s --help` for the flags", flagError(err), c.CommandPath())}
	})
	root.CompletionOptions.DisableDefaultCmd = true
	root.CompletionOptions.SetDefaultShellCompDirective(cobra.ShellCompDirectiveNoFileComp)
	addFlags(root, flagTable(o, &showVersion))
	root.Flags().VisitAll(func(f *pflag.Flag) { o.FlagNames = append(o.FlagNames, f.Name) })
	return root
}

// flagError says what is wrong with the command line where the flag library says it in words
// of the language that it is written in.
func flagError(err error) error {
	if invalid, ok := errors.AsType[*pflag.InvalidValueError](err); ok && errors.Is(err, strconv.ErrSyntax) {
		f := invalid.GetFlag()
		return fmt.Errorf("--%s: %q is no %s", f.Name, invalid.GetValue(), map[string]string{"int": "whole number", "bool": "true or false"}[f.Value.Type()])
	}
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok && strings.Trim(unknown.GetSpecifiedName(), "0123456789.") == "" {
		return fmt.Errorf("%w; a value that begins with - goes behind --", err)
	}
	return err
}

// addCommands adds the subcommands of pi.
func addCommands(root *cobra.Command, o *app.Options) {
	root.AddCommand(
		group("sessions", "List, show, export and remove sessions", sessionsList(o), sessionsShow(o), sessionsExport(o), sessionsRemove(o)),
		group("hooks", "List, add, check, replay and begin hooks, and list the events they can listen to", hooksAdd(o), hooksUpdate(o), hooksRemove(o), hooksPackages(o), hooksPublish(o), hooksExamples(o), hooksList(o), hooksCheck(o), hooksReplay(o), hooksNew(o), hooksEvents(), hooksApprove(o), hooksAdopt(o), hooksTypes()),
		loginCommand(o), logoutCommand(o), mcpCommand(o), testCommand(o), trustCommand(o), modelsCommand(o), configCommand(), docsCommand(), flagsCommand(root), completionCommand(o), manCommand(root), doctorCommand(o), pathsCommand(o))
}

func flagsCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{Use: "flags", Short: "List all flags, those that are seldom used among them", Args: exactly(0),
		Run: func(*cobra.Command, []string) { fmt.Print(allFlags(root)) }}
}

// allFlags describes every flag of root, one a line.
func allFlags(root *cobra.Command) string {
	all := pflag.NewFlagSet("", pflag.ContinueOnError)
	all.SortFlags = false
	add := func(f *pflag.Flag) {
		if all.Lookup(f.Name) != nil {
			return
		}
		shown := *f
		shown.Hidden = false
		all.AddFlag(&shown)
	}
	root.Flags().VisitAll(add)
	root.PersistentFlags().VisitAll(add)
	return all.FlagUsages()
}
