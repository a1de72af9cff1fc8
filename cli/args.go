package cli

import (
	"fmt"
	"slices"
	"strings"

	"pi/cli/app"
	"pi/internal/suggest"

	"github.com/spf13/cobra"
)

// prepareArgs rewrites args into what the flag library understands: flags get their first
// names, and --resume and --fork take the next word as their value if
// that can name a session. Values of other flags stay as they are. promptsOnly reports whether
// no word is a subcommand, because the flags say that there are prompts.
func prepareArgs(root *cobra.Command, args []string) (prepared []string, promptsOnly bool) {
	long := furtherNames(flagTable(new(app.Options), new(bool)))
	forks := !slices.ContainsFunc(args, takesSession)
	for i := 0; i < len(args); i++ {
		name, value, given := strings.Cut(args[i], "=")
		arg := args[i]
		if first, ok := long[name]; ok { // the flag library would take the letters of -nt for several flags
			name, arg = first, first
			if given {
				arg += "=" + value
			}
		}
		next := i+1 < len(args)
		switch {
		case arg == "--":
			return append(prepared, args[i:]...), promptsOnly
		case name == "-p" || name == "--print" || name == "--mode":
			promptsOnly = true
		case next && (arg == "--resume" || arg == "-r") && namesSession(args[i+1]):
			i++
			arg = "--resume=" + args[i]
		case next && arg == "--fork" && forks && namesSession(args[i+1]):
			i++
			arg = "--fork=" + args[i]
		}
		prepared = append(prepared, arg)
		if next && hasNext(root, arg) {
			i++
			prepared = append(prepared, args[i])
		}
	}
	return prepared, promptsOnly
}

// takesSession reports whether arg names the session that a bare --fork is about.
func takesSession(arg string) bool {
	name, _, _ := strings.Cut(arg, "=")
	return slices.Contains([]string{"--continue", "-c", "--resume", "-r", "--session"}, name)
}

// namesSession reports whether a word behind --resume or --fork is its value, and no prompt.
func namesSession(word string) bool {
	return word != "" && word[0] != '-' && (!strings.ContainsAny(word, " \t\n") || strings.HasSuffix(word, ".jsonl"))
}

// refuseMisspelt returns an error if the prompts of a command line are probably a
// subcommand with a typing mistake, as in "pi modles" or "pi session list": the model would
// be asked, and might run something. Nothing that stands behind -- or beside -p is one.
func refuseMisspelt(root *cobra.Command, args []string) error {
	if len(args) == 0 || root.ArgsLenAtDash() >= 0 {
		return nil
	}
	meant := likeSubcommand(root, args[0])
	if meant == nil {
		return nil
	}
	if len(args) > 1 && !slices.ContainsFunc(meant.Commands(), func(below *cobra.Command) bool { return below.Name() == args[1] }) {
		return nil
	}
	return app.UsageError{Err: fmt.Errorf("no command %q, did you mean %q?\nto send it to the model: pi -- %s", args[0], meant.Name(), strings.Join(args, " "))}
}

// likeSubcommand returns the subcommand that differs from a word by one typing mistake; nil
// if there is none, or the word is too short to tell.
func likeSubcommand(root *cobra.Command, word string) *cobra.Command {
	if len(word) < len("test") {
		return nil
	}
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() && suggest.Distance(strings.ToLower(word), c.Name()) <= 1 {
			return c
		}
	}
	return nil
}
