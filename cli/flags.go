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
		Use:           "pi [flags] [prompt...]",
		Short:         "A coding agent in a plain shell whose behaviour is Lua that you edit while it runs.",
		Example:       usageExamples,
		Args:          cobra.ArbitraryArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
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
	root.CompletionOptions.HiddenDefaultCmd = true
	addFlags(root, o, &showVersion)
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
		mcpCommand(o), testCommand(o), trustCommand(o), modelsCommand(o), configCommand(), docsCommand(), flagsCommand(root))
}

func addFlags(root *cobra.Command, o *app.Options, showVersion *bool) {
	f := root.Flags()
	f.SortFlags = false
	f.BoolVarP(&o.Print, "print", "p", false, "print the answer and leave; also when standard input is no terminal")
	f.StringVar(&o.Mode, "mode", "", "speak to a program in this `MODE`: "+strings.Join(app.Modes(), ", "))
	f.StringVarP(&o.Model, "model", "m", "", "provider/id, an id or words of one, with :level for thinking")
	f.StringVar(&o.Provider, "provider", "", "whose model; without --model its default one")
	f.StringVar(&o.Models, "models", "", "`PATTERNS` with commas: what Ctrl+P goes through")
	f.StringVar(&o.Thinking, "thinking", "", "off, minimal, low, medium, high, xhigh or max")
	f.StringVar(&o.ModeName, "mode-name", "", "begin in this `MODE` of a hook; default for none")
	f.StringVar(&o.APIKey, "api-key", "", "key for the provider of the model, for this run")
	addSessionFlags(f, o)
	f.StringSliceVarP(&o.Tools.Named, "tools", "t", nil, "the only tools, by name or `PATTERN`, those of hooks among them; or +NAME and -NAME")
	f.StringSliceVar(&o.Tools.Excluded, "exclude-tools", nil, "not these tools, by name or `PATTERN` (-xt)")
	f.BoolVar(&o.Tools.None, "no-tools", false, "no tools, not even those of hooks (-nt)")
	f.BoolVar(&o.Tools.NoBuiltIn, "no-builtin-tools", false, "no tools but those of hooks, and those that --tools names (-nbt)")
	f.StringVar(&o.Texts.SystemPrompt, "system-prompt", "", "replace the system prompt by this `TEXT`")
	f.StringArrayVar(&o.Texts.AppendPrompt, "append-system-prompt", nil, "add this `TEXT`, or what is in this file, to the system prompt; repeatable")
	f.BoolVar(&o.Texts.NoContext, "no-context-files", false, "read no AGENTS.md and CLAUDE.md (-nc)")
	f.StringArrayVar(&o.Texts.Skills, "skill", nil, "load one more skill, a `FILE` or folder; repeatable")
	f.BoolVar(&o.Texts.NoSkills, "no-skills", false, "no skills but those of --skill (-ns)")
	f.StringArrayVar(&o.Texts.Templates, "prompt-template", nil, "load one more prompt template, a `FILE` or folder; repeatable")
	f.BoolVar(&o.Texts.NoTemplates, "no-prompt-templates", false, "no prompt templates but those of --prompt-template (-np)")
	f.StringArrayVarP(&o.Hooks.Files, "hook", "e", nil, "load one more hook `FILE`; repeatable (--extension)")
	f.BoolVar(&o.Hooks.None, "no-hooks", false, "load no hooks but those of --hook, and no skills or templates (-ne, --no-extensions)")
	f.BoolVarP(&o.Hooks.Approve, "approve", "a", false, "run this project's hooks and MCP servers in this run (--trust-project)")
	f.BoolVar(&o.Hooks.NoApprove, "no-approve", false, "do not run this project's hooks and MCP servers, nor use its skills and templates (-na)")
	f.BoolVar(&o.Hooks.Require, "require-hooks", false, "end with status 7 if a hook or server of this project is not approved")
	f.BoolVar(&o.NoMCP, "no-mcp", false, "no MCP servers but those that an editor hands over")
	f.BoolVar(&o.OwnFiles, "no-client-files", false, "with --mode acp: read and write files on the disk, not through the editor")
	f.BoolVar(&o.Login, "login", false, "ask for the key of a provider in this terminal, keep it, and leave; editors start it")
	f.BoolVar(&o.Plain, "plain", false, "no colours")
	f.BoolVarP(showVersion, "version", "v", false, "print the version and leave")
	// What programs pass that were made for others of this kind changes nothing: there are no
	// themes, a start fetches nothing and says all that there is.
	const nothing = "accepted, changes nothing"
	for _, name := range []string{"offline", "verbose", "no-themes"} {
		f.Bool(name, false, nothing)
	}
	f.StringArray("theme", nil, nothing)
	f.String("use-theme", "", nothing)
	f.String("tui-mode", "", nothing)
	root.PersistentFlags().StringVar(&o.Session.Dir, "session-dir", "", "keep sessions in this `FOLDER`")
	for _, name := range seldom() {
		f.Lookup(name).Hidden = true
	}
	f.SetNormalizeFunc(otherName)
}

// seldom lists the flags that --help leaves to `pi flags`, so that it is one screen.
func seldom() []string {
	return []string{"provider", "models", "session-id", "exclude-tools", "no-builtin-tools", "require-hooks", "no-client-files", "login", "no-context-files", "skill", "no-skills", "prompt-template", "no-prompt-templates",
		"offline", "verbose", "no-themes", "no-mcp", "theme", "use-theme", "tui-mode"}
}

// otherName maps the second name of a flag to its first, for the flag library.
func otherName(_ *pflag.FlagSet, name string) pflag.NormalizedName {
	switch name {
	case "extension":
		name = "hook"
	case "no-extensions":
		name = "no-hooks"
	case "trust-project":
		name = "approve"
	}
	return pflag.NormalizedName(name)
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
