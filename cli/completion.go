package cli

import (
	"bufio"
	"bytes"
	"context"
	"embed"
	"fmt"
	"io"
	"slices"
	"strings"

	"pi/cli/app"
	"pi/internal/printable"
	"pi/internal/suggest"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A shell completes with the help of a script, which `pi completion SHELL` prints. At each Tab the
// script calls `pi completion SHELL --at -- …` with what stands before the cursor, and
// hands the answer to the shell: a first line that says what else fits (files, folders), and a
// line for each word. No script evaluates what was typed or what it got: both are text.
//
// Which words there are is asked of the flag library, which knows commands, flags and their
// values from the tables that the program itself is made of.

//go:embed completion
var completionScripts embed.FS

// shells lists what `pi completion` has a script for.
func shells() []string { return []string{"bash", "zsh", "fish"} }

const completionHelp = `Prints a script that has your shell complete commands, flags and their values: models,
sessions by their titles, hooks, modes, providers, packages, agents, files. To use it,

  bash   put  source <(pi completion bash)  into ~/.bashrc
  zsh    put  source <(pi completion zsh)  behind compinit in ~/.zshrc, or the script
         as _pi into a folder of $fpath
  fish   pi completion fish > ~/.config/fish/completions/pi.fish

A Tab runs no hook and no command of your settings, asks no server and writes nothing.`

func completionCommand(o *app.Options) *cobra.Command {
	var at bool
	c := &cobra.Command{
		Use: "completion " + strings.Join(shells(), "|"), Short: "Print a script that has a shell complete what you type", Long: completionHelp,
		Args: usageOf(func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 || len(args) > 1 && !at {
				return cobra.ExactArgs(1)(cmd, args)
			}
			return nil
		}),
		ValidArgsFunction: firstOnly(among(func() []string { return shells() })),
		RunE: func(cmd *cobra.Command, args []string) error {
			shell := args[0]
			script, err := completionScripts.ReadFile("completion/pi." + shell)
			if err != nil || !slices.Contains(shells(), shell) {
				return app.UsageError{Err: fmt.Errorf("no completion for %q%s\nshells are %s", shell, suggest.Hint(shell, shells()), strings.Join(shells(), ", "))}
			}
			if !at {
				_, err := cmd.OutOrStdout().Write(script)
				return err
			}
			return answerShell(cmd.Context(), cmd.OutOrStdout(), shell, args[1:], o.Version)
		},
	}
	c.Flags().BoolVar(&at, "at", false, "for the script: answer what fits behind these words")
	c.Flags().Lookup("at").Hidden = true
	return c
}

// answerShell writes what fits at the cursor, as the script of a shell reads it. The words behind
// the name of the program are those of zsh and fish, up to the cursor and without their quotes; bash hands
// over its line and what it says of the last word, see [bashLine].
func answerShell(ctx context.Context, out io.Writer, shell string, words []string, version string) error {
	var line bashLine
	if shell == "bash" {
		line = readBashLine(words)
		words = line.words
	}
	if len(words) == 0 {
		words = []string{""}
	}
	if last := len(words) - 1; shell == "fish" { // it tells of the last word as it was typed
		words[last] = unquoteShell(words[last])
	}
	found := complete(ctx, words, version)
	w := bufio.NewWriter(out)
	fmt.Fprintln(w, found.kind())
	for _, c := range found.words {
		if shell != "bash" {
			fmt.Fprintf(w, "%s\t%s\n", c.text, c.about)
		} else if reply, ok := line.reply(c, len(found.words) > 1); ok {
			fmt.Fprintln(w, reply)
		}
	}
	return w.Flush()
}

// completions are what fits at the cursor.
type completions struct {
	words         []completionWord
	files, dirs   bool // the shell's own fit too
	goesOn        bool // more can follow in the same word
	behindOfFiles string
}

// completionWord is a whole word that fits, and what it is.
type completionWord struct{ text, about string }

// kind is the first line of an answer: what the script has the shell do besides, and behind which
// beginning of the word files stand.
func (c completions) kind() string {
	switch {
	case c.files:
		return "files " + c.behindOfFiles
	case c.dirs:
		return "folders " + c.behindOfFiles
	case c.goesOn:
		return "open"
	}
	return "words"
}

// complete returns what the last of the words, which is not all typed, can become. The words are
// those behind the name of the program.
func complete(ctx context.Context, words []string, version string) completions {
	o := &app.Options{Version: version}
	root := newRoot(o)
	before, typed := words[:len(words)-1], words[len(words)-1]
	before, promptsOnly := prepareArgs(root, before)
	if !promptsOnly {
		addCommands(root, o)
	}
	before, _ = cutHookFlags(root, before)
	showSeldom(root)
	nameFiles(root)
	// The flag library takes no value behind a flag that may have none, but we do.
	behind := ""
	if last := len(before) - 1; last >= 0 && slices.Contains([]string{"--resume", "-r", "--fork"}, before[last]) && !strings.HasPrefix(typed, "-") {
		behind = before[last] + "="
		if before[last] == "-r" {
			behind = "--resume="
		}
		before = before[:last]
	}
	var out bytes.Buffer
	root.SetOut(&out)
	root.SetErr(io.Discard)
	root.SetArgs(slices.Concat([]string{cobra.ShellCompRequestCmd}, before, []string{behind + typed}))
	if err := root.ExecuteContext(ctx); err != nil {
		return completions{}
	}
	flag := ""
	if name, _, ok := strings.Cut(typed, "="); ok && strings.HasPrefix(typed, "-") && behind == "" {
		flag = name + "=" // the shell wants whole words, the library leaves the flag out
	}
	return parseCompletions(out.String(), flag)
}

// parseCompletions reads what the flag library says, and writes flag in front of each word.
func parseCompletions(said, flag string) (c completions) {
	c.behindOfFiles = flag
	for line := range strings.Lines(said) {
		line = strings.TrimSuffix(line, "\n")
		if number, ok := strings.CutPrefix(line, ":"); ok {
			var d cobra.ShellCompDirective
			if _, err := fmt.Sscan(number, &d); err == nil {
				c.files = d&(cobra.ShellCompDirectiveNoFileComp|cobra.ShellCompDirectiveFilterDirs|cobra.ShellCompDirectiveError) == 0
				c.dirs = d&cobra.ShellCompDirectiveFilterDirs != 0
				c.goesOn = d&cobra.ShellCompDirectiveNoSpace != 0
				return c
			}
		}
		word, about, _ := strings.Cut(line, "\t")
		if strings.HasPrefix(word, "-") { // what a flag does, as help says it
			about = strings.ReplaceAll(about, "`", "")
		}
		short := len(word) == len("-p") && word[0] == '-'
		if word == "" || short || printable.Text(word) != word { // what commands a terminal is not shown
			continue
		}
		c.words = append(c.words, completionWord{flag + word, printable.Cut(printable.Line(about), mostAbout)})
	}
	return c
}

// mostAbout is how many characters are said of a word.
const mostAbout = 70

// showSeldom has also those flags completed that --help leaves out, but for those without an effect.
func showSeldom(root *cobra.Command) {
	root.Flags().VisitAll(func(f *pflag.Flag) { f.Hidden = strings.HasPrefix(f.Usage, nothing) })
}

// nameFiles has files and folders completed where the value of a flag is called so, below c.
func nameFiles(c *cobra.Command) {
	register := func(f *pflag.Flag) {
		var values cobra.CompletionFunc
		switch name, _ := pflag.UnquoteUsage(f); name {
		case "FILE", "PATH":
			values = files
		case "FOLDER", "DIR":
			values = folders
		default:
			return
		}
		if _, given := c.GetFlagCompletionFunc(f.Name); !given {
			_ = c.RegisterFlagCompletionFunc(f.Name, values) // it fails for a flag that has one
		}
	}
	c.LocalFlags().VisitAll(register)
	for _, below := range c.Commands() {
		nameFiles(below)
	}
}
