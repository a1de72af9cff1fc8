package cli

import (
	"fmt"
	"slices"
	"strings"

	"pi/cli/app"
	"pi/internal/suggest"

	"github.com/spf13/cobra"
)

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
