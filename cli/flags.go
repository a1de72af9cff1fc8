package cli

import (
	"fmt"
	"slices"
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
  pi --model anthropic/claude-sonnet-4-6:high
  pi --hook ./gate.lua                   with one more hook`

// newRoot returns the command line of pi, which fills o and starts what it asks for. With
// promptsOnly there are no subcommands, so that every word is a prompt.
func newRoot(o *app.Options, promptsOnly bool) *cobra.Command {
	var showVersion bool
	root := &cobra.Command{
		Use:           "pi [flags] [prompt...]",
		Short:         "A coding agent in a plain shell whose behaviour is Lua that you edit while it runs.",
		Example:       usageExamples,
		Args:          cobra.ArbitraryArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if showVersion {
				printVersion()
				return nil
			}
			o.Prompts = args
			if err := checkMode(cmd.Flags(), o); err != nil {
				return err
			}
			if err := checkSessionFlags(cmd.Flags(), o); err != nil {
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
		return app.UsageError{Err: fmt.Errorf("%w\nrun `%s --help` for the flags", err, c.CommandPath())}
	})
	root.CompletionOptions.HiddenDefaultCmd = true
	addFlags(root, o, &showVersion)
	root.Flags().VisitAll(func(f *pflag.Flag) { o.FlagNames = append(o.FlagNames, f.Name) })
	if !promptsOnly {
		root.AddCommand(
			group("sessions", "List, show, export and remove sessions", sessionsList(o), sessionsShow(o), sessionsExport(o), sessionsRemove(o)),
			group("hooks", "List and check hooks, and list the events they can listen to", hooksList(o), hooksCheck(o), hooksEvents(), hooksApprove(o), hooksTypes()),
			trustCommand(o), modelsCommand(o), configCommand())
	}
	return root
}

func addFlags(root *cobra.Command, o *app.Options, showVersion *bool) {
	f := root.Flags()
	f.SortFlags = false
	f.BoolVarP(&o.Print, "print", "p", false, "print the answer and leave; also when standard input is no terminal")
	f.StringVar(&o.Mode, "mode", "", "how to speak without a person: "+strings.Join(app.Modes(), ", "))
	f.StringVarP(&o.Model, "model", "m", "", "provider/id, an id or a part of one, with :level for thinking")
	f.StringVar(&o.Thinking, "thinking", "", "off, minimal, low, medium, high, xhigh or max")
	f.StringVar(&o.APIKey, "api-key", "", "key for the provider of the model, for this run")
	addSessionFlags(f, o)
	f.StringSliceVar(&o.Tools, "tools", nil, "the only tools, by name, those of hooks among them")
	f.BoolVar(&o.NoTools, "no-tools", false, "no tools, not even those of hooks")
	f.StringVar(&o.SystemPrompt, "system-prompt", "", "replace the system prompt (text)")
	f.StringVar(&o.AppendPrompt, "append-system-prompt", "", "add to the system prompt (text)")
	f.StringArrayVarP(&o.Hooks.Files, "hook", "e", nil, "load one more hook file; repeatable (--extension)")
	f.BoolVar(&o.Hooks.None, "no-hooks", false, "load no hooks but those of --hook, and no skills or templates")
	f.BoolVarP(&o.Hooks.Approve, "approve", "a", false, "run this project's hooks in this run (--trust-project)")
	f.BoolVar(&o.Hooks.NoApprove, "no-approve", false, "do not run this project's hooks, nor use its skills and templates (-na)")
	f.BoolVar(&o.Hooks.Require, "require-hooks", false, "end with status 7 if a hook of this project is not approved")
	f.BoolVar(&o.Plain, "plain", false, "no colours")
	f.BoolVarP(showVersion, "version", "v", false, "print the version and leave")
	root.PersistentFlags().StringVar(&o.Session.Dir, "session-dir", "", "keep sessions here")
	f.SetNormalizeFunc(otherName)
}

// otherName maps the second name of a flag to its first, for the flag library.
func otherName(_ *pflag.FlagSet, name string) pflag.NormalizedName {
	switch name {
	case "extension":
		name = "hook"
	case "trust-project":
		name = "approve"
	}
	return pflag.NormalizedName(name)
}

// checkMode returns a usage error if --mode says what there is not.
func checkMode(f *pflag.FlagSet, o *app.Options) error {
	if known := app.Modes(); f.Changed("mode") && !slices.Contains(known, o.Mode) {
		return app.UsageError{Err: fmt.Errorf("--mode %q%s; modes are %s", o.Mode, suggest.Hint(o.Mode, known), strings.Join(known, ", "))}
	}
	return nil
}
