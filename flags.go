package main

import (
	"fmt"
	"os"
	"strings"

	"pi/internal/suggest"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"
)

// options are what the command line says.
type options struct {
	print        bool
	prompts      []string
	model        string
	thinking     string
	apiKey       string
	tools        []string
	noTools      bool
	systemPrompt string
	appendPrompt string

	last       bool
	resume     resumeFlag
	session    string
	fork       bool
	readOnly   bool
	wait       bool
	sessionDir string
	noSession  bool

	hooks          []string
	hookFlags      hookFlags
	noHooks        bool
	approveProject bool
	noApprove      bool
	requireHooks   bool

	plain   bool
	version bool

	crash        *crash // of the run, not of the command line
	testOnlyWork func() // before the front end's; nil
}

const usageExamples = `  pi                                     talk in the terminal
  pi "explain this repository"           the same, beginning with a prompt
  pi -p "list the files"                 print the answer and leave
  git diff | pi -p "review this"         the input goes along
  pi --continue                          go on with the last session here; --resume lets you pick one
  pi --model anthropic/claude-sonnet-4-6:high
  pi --hook ./gate.lua                   with one more hook`

// newRoot is the command line that fills o; promptsOnly leaves the subcommands
// out.
func newRoot(o *options, promptsOnly bool) *cobra.Command {
	root := &cobra.Command{
		Use:           "pi [flags] [prompt...]",
		Short:         "A coding agent in a plain shell whose behaviour is Lua that you edit while it runs.",
		Example:       usageExamples,
		Args:          cobra.ArbitraryArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.version {
				printVersion()
				return nil
			}
			o.prompts = args
			if err := o.checkSessionFlags(cmd.Flags()); err != nil {
				return err
			}
			return start(cmd.Context(), *o)
		},
	}
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return usageError{fmt.Errorf("%w\nrun `%s --help` for the flags", err, c.CommandPath())}
	})
	root.CompletionOptions.HiddenDefaultCmd = true
	addFlags(root, o)
	if !promptsOnly {
		root.AddCommand(sessionsCommand(o), hooksCommand(o), trustCommand(o), modelsCommand(o), configCommand())
	}
	return root
}

// exactly wants n arguments; another number is a mistake in the usage.
func exactly(n int) cobra.PositionalArgs { return usageOf(cobra.ExactArgs(n)) }

// subcommand is for a command that only has others below it.
func subcommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return usageError{fmt.Errorf("%s: no command %q%s\nthere are: %s", cmd.CommandPath(), args[0], suggest.Hint(args[0], names), strings.Join(names, ", "))}
}

// usageOf makes what is wrong with arguments a mistake in the usage.
func usageOf(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return usageError{fmt.Errorf("%s: %w\nusage: %s", cmd.CommandPath(), err, cmd.UseLine())}
		}
		return nil
	}
}

func addFlags(root *cobra.Command, o *options) {
	f := root.Flags()
	f.SortFlags = false
	f.BoolVarP(&o.print, "print", "p", false, "print the answer and leave; also when standard input is no terminal")
	f.StringVarP(&o.model, "model", "m", "", "provider/id, an id or a part of one, with :level for thinking")
	f.StringVar(&o.thinking, "thinking", "", "off, minimal, low, medium, high, xhigh or max")
	f.StringVar(&o.apiKey, "api-key", "", "key for the provider of the model, for this run")
	addSessionFlags(f, o)
	f.StringSliceVar(&o.tools, "tools", nil, "the only tools, by name, those of hooks among them")
	f.BoolVar(&o.noTools, "no-tools", false, "no tools, not even those of hooks")
	f.StringVar(&o.systemPrompt, "system-prompt", "", "replace the system prompt (text)")
	f.StringVar(&o.appendPrompt, "append-system-prompt", "", "add to the system prompt (text)")
	f.StringArrayVarP(&o.hooks, "hook", "e", nil, "load one more hook file; repeatable (--extension)")
	f.BoolVar(&o.noHooks, "no-hooks", false, "load no hooks but those of --hook")
	f.BoolVarP(&o.approveProject, "approve", "a", false, "run this project's hooks in this run (--trust-project)")
	f.BoolVar(&o.noApprove, "no-approve", false, "do not run this project's hooks (-na)")
	f.BoolVar(&o.requireHooks, "require-hooks", false, "end with status 7 if a hook of this project is not approved")
	f.BoolVar(&o.plain, "plain", false, "no colours")
	f.BoolVarP(&o.version, "version", "v", false, "print the version and leave")
	root.PersistentFlags().StringVar(&o.sessionDir, "session-dir", "", "keep sessions here")
	f.SetNormalizeFunc(otherName)
}

// otherName gives a flag that has two names the one it was made with.
func otherName(_ *pflag.FlagSet, name string) pflag.NormalizedName {
	switch name {
	case "extension":
		name = "hook"
	case "trust-project":
		name = "approve"
	}
	return pflag.NormalizedName(name)
}

// printMode reports whether this run prints and leaves.
func (o options) printMode() bool {
	return o.print || !term.IsTerminal(int(os.Stdin.Fd()))
}

func configCommand() *cobra.Command {
	var origin bool
	c := &cobra.Command{
		Use: "config", Short: "Print the settings in force", Args: exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			a, err := newApp(options{})
			if err != nil {
				return err
			}
			return printSettings(a.cfg, origin)
		},
	}
	c.Flags().BoolVar(&origin, "origin", false, "with where each came from")
	return c
}
